// Of a transport: what it tells while a request goes out, and of itself.

import { describe, expect, test } from 'vitest'
import { answering, httpAnswer } from '../scripted-server.ts'
import { bodyOf, pattern } from './requests.ts'
import type { TransportRig } from './rig.ts'

const MIB = 1024 * 1024

/** Progress, the queue, and traits that must be true. */
export function describeTelling(rig: TransportRig): void {
  const { traits, serve, send } = rig

  describe('what it tells', () => {
    test('reports bytes sent, never falling, up to the length', async () => {
      const sent: number[] = []
      let sentBeforeLast = 0
      async function* windows() {
        yield* Array.from({ length: 15 }, () => new Uint8Array(65_536))
        sentBeforeLast = sent.at(-1) ?? 0
        yield new Uint8Array(65_536)
      }
      const server = await serve(answering(() => httpAnswer(200)))

      await send(server, { body: { kind: 'windows', lengthBytes: MIB, windows }, onSent: (bytes) => sent.push(bytes) })

      expect(sent.at(-1)).toBe(MIB)
      expect([...sent].sort((a, b) => a - b)).toEqual(sent)
      // A page collects what it sends.
      if (traits.isBrowser !== true) expect(sentBeforeLast > 0).toBe(traits.isProgressLive)
      expect(sent.filter((bytes) => bytes > 0).length > 1).toBe(traits.isProgressLive)
    })

    test('says of bytes, where it tells live, that they begin to go, and when all have gone', async () => {
      const sent: number[] = []
      const server = await serve(answering(() => httpAnswer(200)))

      await send(server, { body: bodyOf('bytes', pattern(20_000)), onSent: (bytes) => sent.push(bytes) })

      // A browser says it twice: as its last progress and as its end.
      expect([...new Set(sent.filter((bytes) => bytes > 0))]).toEqual([20_000])
      if (traits.isProgressLive && traits.isBrowser !== true) expect(sent[0]).toBe(0)
    })

    const bodies = (['bytes', 'windows', 'blob'] as const).flatMap((kind) =>
      [0, 200_000].map((length) => [kind, length] as const),
    )
    test.each(bodies)(
      'has said of a body of %s that all of it went, %d bytes, when it answers',
      async (kind, lengthBytes) => {
        const sent: number[] = []
        const server = await serve(answering(() => httpAnswer(200)))

        await send(server, { body: bodyOf(kind, pattern(lengthBytes)), onSent: (bytes) => sent.push(bytes) })

        expect(sent.at(-1)).toBe(lengthBytes)
      },
    )

    test('promises no more than it keeps: no reset by an abort, and no news of a body under way, that does not come', () => {
      const { isResetByAbort = false, isProgressLive = true } = rig.transport

      expect(isResetByAbort && !traits.hasReset, 'isResetByAbort, and yet no reset').toBe(false)
      // What a page's transport says of itself, only the page knows.
      if (traits.isBrowser !== true)
        expect(isProgressLive && !traits.isProgressLive, 'isProgressLive is not false').toBe(false)
    })

    test('says when a request leaves its queue, if it has one, before any byte goes', async () => {
      const told: string[] = []
      const server = await serve(answering(() => httpAnswer(200)))

      await send(server, {
        body: bodyOf('bytes', pattern(100)),
        onStarted: () => told.push('started'),
        onSent: () => told.push('sent'),
      })

      if (rig.transport.hasQueue === true) expect(told[0]).toBe('started')
      expect(told.filter((what) => what === 'started').length).toBeLessThanOrEqual(1)
    })
  })
}
