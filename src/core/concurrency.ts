// How many parts may be in flight, found by trying: more as long as more brings more. Pure: it learns from samples and answers with
// a number. No fixed number is right: a long lossy line wants sixty-four connections, a short clean one two, and any more would only
// delay everyone else's traffic. It doubles while the line has no queue. Later it measures the current limit, tries another, keeps
// the better one, and rests between trials. What a storage refuses is another matter: its congestion window keeps parts from
// starting, and slots that are not used teach nothing here.
//
// The round trip decides what a rate means. While a queue stands, the line is full, and more connections would take from
// others. Without one, losses hold the connections back. Young connections carry much more than they can keep up once they have
// lost packets, so a rate that falls is the sign to try more at once. And more is not taken back for having brought nothing
// yet: nobody waits for it, and going back would cost what the older connections are about to lose.

import type { Concurrency, ConcurrencySample } from './line/concurrency-sample.ts'
import type { EarlyGrowth } from './line/early-growth.ts'
import { createGoodput } from './line/goodput.ts'
import type { Hearing } from './line/hearing.ts'
import { UNHEARD } from './line/line-room.ts'
import { judgeTrial, type Trial } from './line/trial.ts'
import { createTrialRest } from './line/trial-rest.ts'
import { createUsualRate } from './line/usual-rate.ts'

/** The factors of trials: the first upwards where queues cannot be seen; upwards after the rate fell or rose; later ones; downwards. */
const FIRST_GROWTH = 1.5
const FAST_GROWTH = 2
const LATE_GROWTH = 1.25
const SHRINKAGE = 1.25
/** Where queues cannot be seen: how long a sign that the line has changed must last, ms. */
const LOOK_MS = 400
/** A failed trial downwards costs more, because what is in flight must end first. So it comes only after a rest of this length, ms. */
const CALM_REST_MS = 30_000
/** How long to wait for room to last, ms: only then does it say that nobody else is there. */
const PATIENCE_MS = 3_000
/** A longer gap between samples means that the machine slept, ms. */
const GAP_MS = 5_000

export interface ConcurrencyOptions {
  /** Default 4. */
  readonly start?: number
  /** Default 64. */
  readonly max?: number
  /**
   * Parts to begin with at a host so near that no line lies between. More is better where parts are prepared many at a time.
   * Default 4.
   */
  readonly near?: number
}

/** One number, whatever the line is. */
export function fixedConcurrency(limit: number): Concurrency {
  return { limit: () => limit, onSample: () => undefined, isCurious: () => false }
}

/** Makes a controller that finds its number. Without `hearing` it goes by rates alone. */
export function createConcurrency(
  { max = 64, start = Math.min(4, max), near = 4 }: ConcurrencyOptions = {},
  hearing?: Pick<Hearing, 'room' | 'earlyGrowth'>,
): Concurrency {
  let limit = start
  let trial: Trial | undefined
  let growth = FAST_GROWTH
  let hasTried = false
  /** More brought nothing, or little for its size: fewer may do as well. */
  let isSaturated = false
  let nextDirection: 'up' | 'down' = 'up'
  let firstMs: number | undefined
  let lastMs: number | undefined
  let isEarly = true
  /** Doubles without measuring, while that is possible. */
  let early: EarlyGrowth | undefined = hearing?.earlyGrowth(near)
  const goodput = createGoodput()
  const room = hearing?.room() ?? UNHEARD
  const usual = createUsualRate()
  const rest = createTrialRest()

  const up = (): number => {
    const factor = room.isDeaf() && !hasTried ? FIRST_GROWTH : growth
    return Math.min(Math.max(limit + 1, Math.floor(limit * factor)), max)
  }
  const down = (): number => Math.min(limit, Math.max(2, Math.floor(limit / SHRINKAGE)))
  const moveTo = (next: number, nowMs: number): void => {
    goodput.restart(nowMs, Math.max(0, next - limit))
    limit = next
  }
  const relax = (nowMs: number, atLeastMs = nextDirection === 'down' ? CALM_REST_MS : 0): void => {
    growth = LATE_GROWTH
    isEarly = false
    early = undefined
    rest.begin(nowMs, atLeastMs)
  }
  /** Starts a trial. Returns false when this is no other limit, or there is no rate to compare with. */
  const begin = (next: number, rate: number, nowMs: number, isAlone = room.isAlone()): boolean => {
    if (next === limit || rate === 0) return false
    // At a near host the rate falls whenever the machine has other work: more parts must bring more than fewer did at their
    // best.
    const fromRate = room.isNear() ? Math.max(rate, usual.best()) : rate
    trial = { limit: next, fromLimit: limit, fromRate, isAlone, isFirst: !hasTried }
    moveTo(next, nowMs)
    hasTried = true
    return true
  }
  const end = (ended: Trial, rate: number, nowMs: number): void => {
    trial = undefined
    const { fromLimit, fromRate, isAlone } = ended
    const isUp = limit > fromLimit
    const line = { hasRoom: room.hasRoom(), leastRoundTripMs: room.leastMs() }
    const { isKept, hasGained, isFull, hasPaid } = judgeTrial(ended, rate, line)
    if (isUp) isSaturated = isFull
    nextDirection = isKept === isUp && !isFull ? 'up' : 'down'
    // What young connections carried is not usual. What a limit brought before, it should bring again.
    usual.afterTrial(rate, isKept ? undefined : fromRate, hasGained)
    // The next step is as large as what this one brought, so that it does not pass the end of the line by much.
    if (isUp && !hasPaid) growth = Math.min(growth, Math.max(LATE_GROWTH, rate / fromRate))
    if (isKept) rest.renew()
    else moveTo(fromLimit, nowMs)
    if (isKept && !isFull && begin(isUp ? up() : down(), rate, nowMs, isAlone)) return
    relax(nowMs)
  }
  /** Between trials: looks whether the line is still the same, and whether it is time for another trial. */
  const watch = (rate: number, nowMs: number): void => {
    const isDeaf = room.isDeaf()
    const change = usual.compare(rate, !isDeaf)
    if (!isDeaf && room.queue() === 'unknown' && (change !== 'usual' || rest.isOver(nowMs))) {
      // No round trips were measured of late: the next rates are judged with some beside them.
      rest.listen(nowMs)
      return
    }
    usual.follow(rate)
    const isFree = isDeaf || room.isAlone()
    // While there is a queue, another rate says that others came or went, not that the line has changed. At a near host, no
    // line changed.
    if (isFree && !room.isNear() && change !== 'usual') {
      nextDirection = 'up'
      growth = FAST_GROWTH
      const canGrow = up() > limit
      usual.renew(rate, canGrow)
      if (canGrow || isDeaf) rest.renew()
      rest.endBy(isDeaf ? nowMs + LOOK_MS : nowMs)
      // Where the limit cannot grow and carries less than it did, it may be more than is needed.
      isSaturated = change === 'fallen' && limit === max
    }
    if (rest.isOver(nowMs)) tryAnother(rate, nowMs, isFree)
  }
  const tryAnother = (rate: number, nowMs: number, isFree: boolean): void => {
    const isDeaf = room.isDeaf()
    const hasRoom = isDeaf || room.hasRoom()
    // On a line without a queue nobody gains by fewer, and in a queue that stands more would only wait. Young connections may
    // be what fills the line, but not for long.
    if (!isDeaf && hasRoom) nextDirection = 'up'
    if (nextDirection === 'up' && !hasRoom) {
      if (nowMs - Math.max(room.emptyAtMs(), rest.endsAtMs(), firstMs ?? nowMs) < CALM_REST_MS) return
      isSaturated = true
      nextDirection = 'down'
    }
    if (nextDirection === 'up' && !isFree) {
      if (nowMs - rest.endsAtMs() >= PATIENCE_MS) relax(nowMs)
      return
    }
    const [first, second] = nextDirection === 'up' ? [up(), down()] : [down(), up()]
    if (begin(first, rate, nowMs)) return
    nextDirection = 'up'
    if (!(isSaturated && (isDeaf || !hasRoom) && begin(second, rate, nowMs))) relax(nowMs)
  }

  const isNear = (rate: number): boolean => {
    const isSo = room.isNear(rate)
    if (isSo) room.took(rate)
    return isSo
  }
  /** Returns whether early growth goes on. */
  const growEarly = (sample: ConcurrencySample): boolean => {
    const { queue, leastMs } = room
    const next = early?.next({ queue: queue(), leastRoundTripMs: leastMs(), isNear, ...sample }, limit)
    if (next === undefined) {
      // What is known to do for a near host is kept for a while: a trial costs more than it brings there.
      if (early !== undefined && room.isNear()) relax(sample.atMs)
      early = undefined
    } else if (next !== limit) moveTo(Math.min(next, max), sample.atMs)
    return early !== undefined
  }

  return {
    limit: () => limit,
    onSample(sample) {
      const nowMs = sample.atMs
      const sinceMs = nowMs - (lastMs ?? nowMs)
      firstMs ??= nowMs
      lastMs = nowMs
      room.add(sample.roundTripMs, nowMs, sample.lateMs)
      // Slots that are not used say nothing about what more of them would bring; nor do those of an earlier limit.
      const isOther = sample.inFlight < limit * 0.75 || sample.inFlight > limit
      if (sinceMs <= 0 || sinceMs > GAP_MS || isOther) {
        goodput.restart(nowMs, 0)
        return
      }
      if (growEarly(sample)) return
      const rate = goodput.add(sample, sinceMs, limit, rest.isHasty())
      if (rate === undefined) return
      room.took(rate)
      if (trial !== undefined) end(trial, rate, nowMs)
      else watch(rate, nowMs)
    },
    isCurious: () => isEarly || trial !== undefined || rest.isListening(lastMs ?? 0),
  }
}
