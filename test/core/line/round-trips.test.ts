// Round trips beside the parts: when they are measured, and that nothing of them disturbs an upload.

import { describe, expect, it } from 'vitest'
import type { Transport, TransportRequest } from '../../../src/core/ports.ts'
import { createRoundTrips } from '../../../src/core/line/round-trips.ts'
import { createSimulatedClock } from '../../helpers/simulated-clock.ts'

const request: TransportRequest = {
  method: 'PUT',
  url: 'https://storage.example/a?signature=secret',
  headers: {},
  signal: new AbortController().signal,
}

/** A transport whose round trips take `tookMs`, or never end. */
function createWorld(tookMs: number | undefined, failure?: Error) {
  const clock = createSimulatedClock()
  let measured = 0
  const transport: Transport = {
    send: () => Promise.resolve({ status: 200, headers: {}, body: new Uint8Array(), isBodyCut: false }),
    endingOf: () => 'doubtful',
    close: () => Promise.resolve(),
    roundTrip: (_url, signal) =>
      new Promise((resolve, reject) => {
        measured += 1
        signal.addEventListener('abort', () => reject(signal.reason as Error))
        if (failure !== undefined) reject(failure)
        else if (tookMs !== undefined) clock.setTimeout(resolve, tookMs)
      }),
  }
  return { clock, transport, roundTrips: createRoundTrips({ transport, clock }), measured: () => measured }
}

describe('round trips', () => {
  it('begin with the first request, while the line is empty, and are told once', async () => {
    const { clock, roundTrips, measured } = createWorld(40)
    await clock.advance(5_000)
    roundTrips.measure()
    expect(measured()).toBe(0)
    await roundTrips.transport.send(request)
    await clock.advance(40)

    expect([measured(), roundTrips.takeNewest(), roundTrips.takeNewest()]).toEqual([1, 40, undefined])
    expect(clock.pending).toBe(0)
  })

  it('are measured one at a time, with a pause between', async () => {
    const { clock, roundTrips, measured } = createWorld(40)
    await roundTrips.transport.send(request)
    roundTrips.measure()
    await clock.advance(40)
    roundTrips.measure()
    expect(measured()).toBe(1)
    await clock.advance(100)
    roundTrips.measure()
    expect(measured()).toBe(2)
  })

  it('count as two seconds when they take longer, and not at all when the host refuses or nobody waits any more', async () => {
    const silent = createWorld(undefined)
    await silent.roundTrips.transport.send(request)
    await silent.clock.advance(2_000)
    expect(silent.roundTrips.takeNewest()).toBe(2_000)

    const refused = createWorld(1, new Error('ECONNREFUSED'))
    await refused.roundTrips.transport.send(request)
    await refused.clock.advance(5_000)
    expect(refused.roundTrips.takeNewest()).toBeUndefined()

    const stopped = createWorld(undefined)
    await stopped.roundTrips.transport.send(request)
    stopped.roundTrips.stop()
    await stopped.clock.advance(5_000)
    expect([stopped.roundTrips.takeNewest(), stopped.clock.pending]).toEqual([undefined, 0])
  })

  it('leave a transport without them as it is', async () => {
    const { clock, transport } = createWorld(1)
    const without = { ...transport }
    delete without.roundTrip
    const roundTrips = createRoundTrips({ transport: without, clock })
    const reply = await roundTrips.transport.send(request)
    roundTrips.measure()
    await clock.advance(5_000)

    expect([reply.status, roundTrips.transport.endingOf(request), roundTrips.takeNewest()]).toEqual([
      200,
      'doubtful',
      undefined,
    ])
  })
})
