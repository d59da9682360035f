// An engine among a host's transports and sources that do not do as their ports say, on a clock that jumps: whatever they do, a
// session comes to its end, holds no slot and no timer after that, and confirms nothing twice.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createEngine } from '../../src/core/adaptive-engine.ts'
import { wholeBodies } from '../../src/core/attempt/whole-body.ts'
import { TransportError } from '../../src/core/errors.ts'
import type { Reader, Source, Transport, TransportReply, TransportRequest } from '../../src/core/ports.ts'
import type { TransferEvent } from '../../src/core/transfer/transfer-job.ts'
import { seededRandom } from '../helpers/seeded-random.ts'
import { createWorld, type World } from '../simulation/world.ts'
import type { WatchedSource } from '../simulation/watched-source.ts'

const HOUR_MS = 3_600_000
const never = (): Promise<never> => new Promise(() => undefined)
const foreign = (): Promise<never> => Promise.reject(new Error('foreign'))
const thrown = (): never => {
  throw new TypeError('thrown at once')
}

/** Chance, and what is drawn by it. */
interface Dice {
  is(chance: number): boolean
  pick<T>(...values: readonly T[]): T
}

function diceOf(seed: number): Dice {
  const random = seededRandom(seed)
  return { is: (chance) => random() < chance, pick: (...values) => values[Math.floor(random() * values.length)]! }
}

function replyOf({ pick, is }: Dice, status: number): TransportReply {
  const headers = {
    'retry-after': pick('-1', 'soon', '999999999999', 'Sat, 32 Feb 2020 00:00:00 GMT', '0'),
    date: pick('never', 'Fri, 20 Nov 2026 20:00:00 GMT', ''),
    etag: pick('', '"', 'W/', '"a"', 'null', `"${'a'.repeat(300)}"`),
  }
  return { status, headers, body: new Uint8Array(), isBodyCut: is(0.5) }
}

/** Something else than the storage would do with a request. */
function mistreat(dice: Dice, { clock }: World, request: TransportRequest, bytes: number): Promise<TransportReply> {
  const { pick } = dice
  const tell = (sentBytes: number): void => request.onSent?.(sentBytes)
  const answer = (...statuses: readonly number[]) => Promise.resolve(replyOf(dice, pick(...statuses)))
  const late = <T>(end: () => T): Promise<T> =>
    new Promise((resolve) => clock.setTimeout(() => resolve(end()), pick(10, 40_000, 400_000)))
  const lost = { phase: pick('connect', 'send', 'answer'), ending: pick('neverWhole', 'doubtful') } as const
  return pick<() => Promise<TransportReply>>(
    ...[thrown, foreign, never],
    () => Promise.reject(new TransportError('ERR_UPLOAD_NETWORK', 'Lost.', lost)),
    () => {
      for (const sent of [bytes, bytes / 2, -5, NaN]) tell(sent)
      return answer(200)
    },
    () => {
      tell(bytes)
      tell(bytes)
      return answer(100, 204, 206, 301, 304, 403, 408, 429, 500, 503, 599)
    },
    () => answer(200, 204),
    () => {
      tell(bytes * 10)
      request.onStarted?.()
      return never()
    },
    () =>
      late(() => {
        tell(bytes)
        return replyOf(dice, 200)
      }),
  )()
}

function hostileSource(source: WatchedSource, dice: Dice, { clock }: World, chance: number): WatchedSource {
  const { is, pick } = dice
  const slow = (): Promise<void> => new Promise((resolve) => clock.setTimeout(() => resolve(), 60_000))
  const mistreated = (reader: Reader): Reader => ({
    ...reader,
    read: (...from) => (is(chance) ? pick(thrown, foreign, never, slow)() : reader.read(...from)),
    verify: () => (is(chance) ? pick(thrown, foreign, never, slow)() : reader.verify()),
    close: () => (is(chance) ? pick(thrown, foreign, never, slow)() : reader.close()),
  })
  const open: Source['open'] = async (expected) => {
    if (is(chance)) await pick(thrown, foreign, never)()
    return mistreated(await source.open(expected))
  }
  return { ...source, open }
}

/** Runs a session until it ends, or for hours, and then stops it. */
async function endOf(seed: number) {
  const dice = diceOf(seed)
  const { is, pick } = dice
  const world = createWorld({ windowMs: pick(0, 10, 500), ...(is(0.5) ? { hashMs: () => 0 } : {}) })
  const { clock, store, hasher } = world
  const hostility = pick(0.05, 0.2, 0.6)
  const isBlob = is(0.3)
  const transport: Transport = {
    ...{ ...store, isProgressLive: is(0.8), hasQueue: is(0.2), isResetByAbort: is(0.5) },
    send(request) {
      const { body } = request
      const bytes = body?.kind === 'bytes' ? body.bytes.byteLength : (body?.lengthBytes ?? 0)
      return is(hostility) ? mistreat(dice, world, request, bytes) : store.send(request)
    },
  }
  const engine = createEngine({
    ...{ clock, transport, random: () => pick(0, 0.5, 0.9), concurrency: pick(1, 2, 4) },
    ...{ retries: pick(1, 3, 8), giveUpAfterMs: pick(0, 60_000, HOUR_MS), isBackground: is(0.2) },
    ...(hasher && !isBlob ? { hasher } : {}),
    ...(is(0.5) ? { wholeBodies: wholeBodies() } : {}),
  })
  const sizes = Array.from({ length: pick(1, 2, 4) }, () => pick(0, 50, 1_000, 3_500))
  const sources = world.sources(sizes, { isBlob }).map((source) => hostileSource(source, dice, world, hostility / 6))
  const made = world.job({ sources, partSizeBytes: pick(500, 1_000), renew: () => is(0.5) })
  const stop = new AbortController()
  let untilStop = is(0.7) ? pick(1, 2, 3, 5, 8, 13, 21, 34) : Infinity
  const report = (event: TransferEvent): void => {
    made.report(event)
    untilStop -= 1
    if (untilStop === 0) stop.abort(new Error('stopped'))
  }
  const end = { isOver: false }
  const over = (): void => void (end.isOver = true)
  engine.run({ ...made, report }, stop.signal).then(over, over)
  for (let step = 0; step < 200 && !end.isOver; step += 1) {
    if (is(0.03)) clock.shiftWall(pick(-5, 5) * HOUR_MS)
    if (is(0.02)) clock.suspend(2 * HOUR_MS)
    await clock.advance(pick(0, 1, 100, 5_000, 60_000))
  }
  stop.abort(new Error('stopped at last'))
  await clock.advance(15_000)
  const { inFlight } = engine.stats()
  await clock.advance(48 * HOUR_MS)
  return { ...end, inFlight, timers: clock.pending, violations: made.violations }
}

it('ends, whatever a host’s transport and sources do', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer(), async (seed) => {
      expect(await endOf(seed)).toEqual({ isOver: true, inFlight: 0, timers: 0, violations: [] })
    }),
  )
})
