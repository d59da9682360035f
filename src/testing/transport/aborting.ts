// Of a transport: how an attempt ends that nobody wants any more.

import { describe, expect, test } from 'vitest'
import { TransportError } from '../../core/errors.ts'
import { answering, httpAnswer } from '../scripted-server.ts'
import { bodyOf, pattern, requestTo, textOf } from './requests.ts'
import type { TransportRig } from './rig.ts'

const MIB = 1024 * 1024

/** Aborts before, during and after the body, and what they leave. */
export function describeAborting(rig: TransportRig): void {
  const { traits, serve, send } = rig

  describe('aborting', () => {
    test('rejects with the reason itself before anything is sent', async () => {
      const server = await serve(answering(() => httpAnswer(200)))
      const reason = { mine: true }
      const request = requestTo(server, { signal: AbortSignal.abort(reason), body: bodyOf('bytes', pattern(10)) })

      await expect(rig.transport.send(request)).rejects.toBe(reason)

      expect(rig.transport.endingOf(request)).toBe('neverWhole')
      expect(server.connections).toHaveLength(0)
    })

    test('rejects with the reason itself while it connects', async () => {
      const controller = new AbortController()
      const reason = new Error('no longer wanted')
      const server = await serve((connection) => void connection.readToEnd())

      const sending = send(server, { signal: controller.signal, body: bodyOf('windows', pattern(100)) })
      controller.abort(reason)

      await expect(sending).rejects.toBe(reason)
    })

    test('rejects with the reason itself in the middle of the body', async () => {
      const controller = new AbortController()
      const reason = new Error('paused')
      const lengthBytes = 32 * MIB
      let outcome: (value: [number, string]) => void
      const seen = new Promise<[number, string]>((resolve) => (outcome = resolve))
      let goOn: () => void
      const hasRejected = new Promise<void>((resolve) => (goOn = resolve))
      const server = await serve(async (connection) => {
        await connection.readHead()
        const first = await connection.readBytes(MIB)
        controller.abort(reason)
        await hasRejected
        const rest = await connection.readToEnd()
        outcome([first.byteLength + rest.byteLength, await connection.ended])
      })
      let sentBytes = 0
      const request = requestTo(server, {
        signal: controller.signal,
        body: bodyOf('windows', pattern(lengthBytes), MIB),
        onSent: (bytes) => (sentBytes = bytes),
      })

      await expect(rig.transport.send(request).finally(() => goOn())).rejects.toBe(reason)

      expect(sentBytes).toBeLessThan(lengthBytes)

      expect(rig.transport.endingOf(request)).toBe(traits.hasReset ? 'neverWhole' : 'doubtful')
      const [receivedBytes, end] = await seen
      expect(receivedBytes).toBeLessThan(lengthBytes)
      if (traits.hasReset) expect(end).toBe('ECONNRESET')
    })

    test('rejects with the reason itself while the answer is awaited; the body is then doubtful', async () => {
      const controller = new AbortController()
      const reason = 'a string is a reason too'
      let ended: Promise<string> | undefined
      const server = await serve(async (connection) => {
        await connection.readRequest()
        ended = connection.ended
        controller.abort(reason)
        await connection.readToEnd()
      })
      const request = requestTo(server, { signal: controller.signal, body: bodyOf('windows', pattern(MIB)) })

      await expect(rig.transport.send(request)).rejects.toBe(reason)

      expect(rig.transport.endingOf(request)).toBe('doubtful')
      if (traits.hasReset) expect(await ended).toBe('ECONNRESET')
    })

    test('leaves nothing on a signal whose request was answered, where signals are used again', async () => {
      const controller = rig.transport.controllers?.take() ?? new AbortController()
      const server = await serve(answering(() => httpAnswer(200)))
      for (const body of [undefined, bodyOf('bytes', pattern(20_000)), bodyOf('windows', pattern(MIB))])
        await send(server, { signal: controller.signal, ...(body === undefined ? {} : { body }) })
      rig.transport.controllers?.giveBack(controller)

      expect(rig.transport.controllers?.take() ?? controller).toBe(controller)
    })

    test('rejects with the reason itself while the answer arrives', async () => {
      const controller = new AbortController()
      const reason = new Error('enough')
      const server = await serve(async (connection) => {
        await connection.readRequest()
        await connection.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf')
        // The answer is on its way or has arrived: both must do.
        setImmediate(() => controller.abort(reason))
        await connection.readToEnd()
      })

      await expect(send(server, { signal: controller.signal })).rejects.toBe(reason)
    })

    // A page has a test of its own for this, in which it knows when the head is there.
    test.skipIf(traits.isBrowser)(
      'answers with what it has when a wait took too long and the head has come',
      async () => {
        const tooLong = new TransportError('ERR_UPLOAD_TIMEOUT', 'Too long', { phase: 'answer', ending: 'doubtful' })
        const server = await serve(async (connection) => {
          await connection.readRequest()
          await connection.write('HTTP/1.1 200 OK\r\netag: "e"\r\ncontent-length: 10\r\n\r\nhalf')
          await connection.readToEnd()
        })
        /** Waits for so many rounds of the loop: only the transport knows when the head has come. */
        const afterRounds = async (rounds: number): Promise<unknown> => {
          const controller = new AbortController()
          const outcome = send(server, { signal: controller.signal }).catch((error: unknown) => error)
          for (let round = 0; round < rounds; round += 1) await new Promise((resolve) => setImmediate(resolve))
          controller.abort(tooLong)
          return outcome
        }

        let outcome: unknown = tooLong
        for (let rounds = 1; outcome === tooLong && rounds <= 65_536; rounds *= 2) outcome = await afterRounds(rounds)

        expect(outcome).toMatchObject({ status: 200, headers: { etag: '"e"' }, isBodyCut: true })
      },
    )

    test('no longer listens to the signal of a request that was answered, while its connection carries another', async () => {
      const controller = new AbortController()
      let goOn: () => void = () => undefined
      const isAborted = new Promise<void>((resolve) => (goOn = resolve))
      let arrived: () => void = () => undefined
      const hasArrived = new Promise<void>((resolve) => (arrived = resolve))
      const server = await serve(async (connection) => {
        for (;;) {
          const { path } = await connection.readRequest()
          if (path === '/next') {
            arrived()
            await isAborted
          }
          await connection.write(httpAnswer(200, { body: path }))
        }
      })
      await send(server, { signal: controller.signal })
      const next = rig.transport.send({ ...requestTo(server), url: `${server.origin}/next` })
      await hasArrived

      controller.abort(new Error('late'))
      goOn()

      expect(textOf(await next)).toBe('/next')
    })

    test('leaves other requests alone', async () => {
      const controller = new AbortController()
      let release: () => void = () => undefined
      const isAborted = new Promise<void>((resolve) => (release = resolve))
      const server = await serve(async (connection) => {
        const { path } = await connection.readRequest()
        if (path === '/aborted') controller.abort(new Error('one of two'))
        await isAborted
        await connection.write(httpAnswer(200, { body: path }))
      })
      const kept = rig.transport.send({ ...requestTo(server), url: `${server.origin}/kept` })

      const aborted = rig.transport.send({
        ...requestTo(server, { signal: controller.signal }),
        url: `${server.origin}/aborted`,
      })

      await expect(aborted).rejects.toThrow('one of two')
      release()
      expect(textOf(await kept)).toBe('/kept')
    })
  })
}
