// How an upload that must not be felt hears the line: by round trips, or by its answers where there are none.

import { describe, expect, it } from 'vitest'
import { bodyLength } from '../../../src/core/body-length.ts'
import { createLineDelay } from '../../../src/core/line/line-delay.ts'
import type { Body, Transport } from '../../../src/core/ports.ts'
import { createSimulatedClock } from '../../helpers/simulated-clock.ts'

const PART_BYTES = 100_000
const NOTHING = { status: 200, headers: {}, body: new Uint8Array(), isBodyCut: false }

/** A transport that takes the bytes for so long, and is answered after so long, ms. */
function setUp(traits: Partial<Transport> = {}) {
  const clock = createSimulatedClock()
  const line = { sendMs: 100, answerMs: 20, isTold: true }
  const rates: number[] = []
  const wait = (ms: number): Promise<void> => new Promise((resolve) => void clock.setTimeout(resolve, ms))
  const transport: Transport = {
    ...traits,
    async send({ body, onSent }) {
      const lengthBytes = body ? bodyLength(body) : 0
      if (line.isTold) onSent?.(1)
      await wait(line.sendMs)
      delay.addBytes(lengthBytes)
      if (line.isTold) onSent?.(lengthBytes)
      await wait(line.answerMs)
      return NOTHING
    },
    endingOf: () => 'doubtful',
    close: () => Promise.resolve(),
  }
  const delay = createLineDelay({ transport, clock }, (rate) => rates.push(rate))
  const put = async (body: Body, url = 'https://store.test/a'): Promise<number[]> => {
    const sent: number[] = []
    const signal = new AbortController().signal
    const request = { method: 'PUT', url, headers: {}, body, signal, onSent: (bytes: number) => sent.push(bytes) }
    const sending = delay.transport.send(request)
    await clock.advance(line.sendMs + line.answerMs)
    expect(await sending).toBe(NOTHING)
    return sent
  }
  return { clock, line, rates, delay, put }
}

const bytes: Body = { kind: 'bytes', bytes: new Uint8Array(PART_BYTES) }

describe('the line of a background upload', () => {
  it.each<Body>([
    bytes,
    { kind: 'windows', lengthBytes: PART_BYTES, windows: () => expect.unreachable('Nobody reads it.') },
    { kind: 'blob', lengthBytes: PART_BYTES, blob: new Blob([]) },
  ])('is heard by how long answers take from the last byte on, however long the part took: $kind', async (body) => {
    const { line, rates, delay, put } = setUp()
    delay.setActive(true)
    for (line.sendMs of [100, 100, 100, 100, 100, 100, 700, 900, 800]) expect(await put(body)).toEqual([1, PART_BYTES])
    const before = rates.at(-1)!
    expect(rates).toHaveLength(10)
    // It may use all that the line carried, and some more, to learn whether that was all.
    const carried = PART_BYTES / 0.12
    expect([before > carried, before < 2 * carried]).toEqual([true, true])

    line.answerMs = 400
    await put(body)
    await put(body)

    expect(rates.at(-1)).toBeLessThan(before)
  })

  it('is not heard by the answer to what was not handed over', async () => {
    const { line, rates, put } = setUp()
    line.isTold = false
    await put(bytes)

    expect(rates).toHaveLength(1)
  })

  it('is heard by two round trips a second to the newest address, where the transport has them, while it is active', async () => {
    const asked: string[] = []
    let newest: AbortSignal | undefined
    const roundTrip: Transport['roundTrip'] = (url, signal) => {
      asked.push(url)
      newest = signal
      // The second hangs.
      return asked.length === 2
        ? new Promise((_, reject) => signal.addEventListener('abort', reject))
        : Promise.resolve()
    }
    const { clock, rates, delay, put } = setUp({ roundTrip })
    delay.setActive(true)
    await clock.advance(1_200)
    await put(bytes, 'https://store.test/b')
    await put(bytes, 'https://store.test/c')
    expect([asked, rates.length]).toEqual([[], 1])

    await clock.advance(100)
    expect([asked, rates.length]).toEqual([['https://store.test/c'], 2])
    await clock.advance(600)
    expect([asked.length, newest?.aborted]).toEqual([2, false])

    delay.setActive(false)
    expect(newest?.aborted).toBe(true)
    await clock.advance(10_000)
    expect([asked.length, rates.length, clock.pending]).toEqual([2, 2, 0])
  })
})
