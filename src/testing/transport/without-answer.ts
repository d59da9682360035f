// Of a transport: what it says when no answer comes, and its end.

import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { httpAnswer } from '../scripted-server.ts'
import { bodyOf, failureOf, pattern, requestTo } from './requests.ts'
import type { TransportRig } from './rig.ts'

const MIB = 1024 * 1024

/** Connections that fail, far ends that babble, and what no error may hold; then closing. */
export function describeWithoutAnswer(rig: TransportRig): void {
  const { traits, serve, send } = rig

  describe('no answer', () => {
    test('a refused connection is phase connect and never whole, where the platform tells', async () => {
      const server = await rig.refuse()
      const request = requestTo(server, { body: bodyOf('windows', pattern(100)) })

      const error = await failureOf(rig.transport.send(request))

      const how = traits.isBrowser
        ? { phase: 'answer', ending: 'doubtful' }
        : { phase: 'connect', ending: 'neverWhole' }
      expect(error).toMatchObject({ code: 'ERR_UPLOAD_NETWORK', ...how })
      expect(error.isRetryable).toBe(true)
      expect(error.message).toContain(`127.0.0.1:${String(server.port)}`)
      expect(rig.transport.endingOf(request)).toBe(how.ending)
    })

    test('a reset in the middle of the body is a failure to send', async () => {
      const server = await serve(async (connection) => {
        await connection.readHead()
        await connection.readBytes(MIB)
        connection.reset()
      })
      const request = requestTo(server, { body: bodyOf('windows', pattern(32 * MIB), MIB) })

      const error = await failureOf(rig.transport.send(request))

      expect(error.code).toBe('ERR_UPLOAD_NETWORK')
      expect(error.ending).toBe(traits.hasReset ? 'neverWhole' : 'doubtful')
      expect(rig.transport.endingOf(request)).toBe(error.ending)
      if (traits.hasReset) expect(error.phase).toBe('send')
    })

    const kinds = ['windows', 'bytes', 'blob', 'nothing'] as const
    const lostAnswers = kinds.flatMap((kind) => (['reset', 'end'] as const).map((how) => [kind, how] as const))
    test.each(lostAnswers)('an answer lost after the last byte of %s (%s) is doubtful', async (kind, how) => {
      const server = await serve(async (connection) => {
        await connection.readRequest()
        connection[how]()
      })
      const request = requestTo(server, kind === 'nothing' ? {} : { body: bodyOf(kind, pattern(200_000)) })

      const error = await failureOf(rig.transport.send(request))

      expect(error).toMatchObject({ code: 'ERR_UPLOAD_NETWORK', phase: 'answer', ending: 'doubtful' })
      expect(rig.transport.endingOf(request)).toBe('doubtful')
    })

    // In a page the platform decides about a kept connection that ended.
    test.skipIf(traits.isBrowser)('sends once, whether the answer is lost or says to come back', async () => {
      let asked = 0
      const server = await serve(async (connection) => {
        await connection.readRequest()
        asked += 1
        // Only the first request goes wrong, so a repeated one would end well.
        if (asked === 1) connection.reset()
        else await connection.write(httpAnswer(asked === 2 ? 503 : 200))
      })
      const body = bodyOf('bytes', pattern(100))

      expect((await failureOf(send(server, { body }))).code).toBe('ERR_UPLOAD_NETWORK')
      expect(asked).toBe(1)
      expect((await send(server, { body })).status).toBe(503)
      expect(asked).toBe(2)
    })

    test('a far end that does not speak HTTP is a failure', async () => {
      const server = await serve(async (connection) => {
        await connection.readRequest()
        await connection.write('SSH-2.0-OpenSSH_9.2\r\n\r\n')
      })

      await expect(failureOf(send(server))).resolves.toMatchObject({ code: 'ERR_UPLOAD_NETWORK', phase: 'answer' })
    })

    test.each([
      ['is of another scheme', 'ftp://host/?secret=hush'],
      ['has no host', 'https://?secret=hush'],
      ['is none', '/part?secret=hush'],
    ])('a URL that %s is refused without being repeated', async (_what, url) => {
      const request = { ...requestTo({ origin: '' }), url }

      const error: unknown = await rig.transport.send(request).catch((caught: unknown) => caught)

      expect(error).toMatchObject({ code: 'ERR_UPLOAD_INVALID_ARGUMENT' })
      expect(inspect(error)).not.toContain('hush')
    })

    test('no error holds the path, the query, a header or the body', async () => {
      const refused = await rig.refuse()
      const resetting = await serve(async (connection) => {
        await connection.readHead()
        connection.reset()
      })
      const babbling = await serve(async (connection) => {
        const { path } = await connection.readHead()
        await connection.write(`HTTP/1.1 200 OK\r\nlocation ${path}\r\n\r\n`)
      })
      const failing = traits.isBrowser ? [refused, resetting] : [refused, resetting, babbling]
      const secret = fc.array(fc.constantFrom('a', 'e', 'k', 'q', 'x', 'z'), { minLength: 12, maxLength: 24 })

      await fc.assert(
        fc.asyncProperty(secret, fc.constantFrom(...failing), async (letters, server) => {
          const hidden = `sec${letters.join('')}`
          const error = await failureOf(
            rig.transport.send({
              ...requestTo(server, { headers: { 'x-api-key': hidden } }),
              url: `${server.origin}/${hidden}?X-Amz-Signature=${hidden}&${hidden}=1`,
              body: bodyOf('bytes', new TextEncoder().encode(hidden)),
            }),
          )

          expect(error.code).toBe('ERR_UPLOAD_NETWORK')
          const shown =
            inspect(error, { depth: Infinity, showHidden: true }) + JSON.stringify(error) + String(error.stack)
          expect(shown).not.toContain(hidden)
        }),
        { numRuns: 30 },
      )
    })
  })

  describe('closing', () => {
    test('ends what is under way and what comes later, and may be repeated', async () => {
      let arrived: () => void = () => undefined
      const hasArrived = new Promise<void>((resolve) => (arrived = resolve))
      const server = await serve(async (connection) => {
        await connection.readRequest()
        arrived()
        await connection.readToEnd()
      })
      const underWay = failureOf(send(server))
      await hasArrived

      await Promise.all([rig.transport.close(), rig.transport.close()])

      expect((await underWay).code).toBe('ERR_UPLOAD_NETWORK')
      expect(await failureOf(send(server))).toMatchObject({ code: 'ERR_UPLOAD_NETWORK', isRetryable: false })
      await rig.transport.close()
    })
  })
}
