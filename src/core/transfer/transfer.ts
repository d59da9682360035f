// The transfer of one session: which of its parts may go, and when all of it is settled. It owns no slots; the engine
// asks it for the next part when one frees. What an attempt's end means is decided in attempt-end.

import { createAttemptEnd } from './attempt-end.ts'
import { addressOf, createAttempts, type AttemptsOptions } from './attempts.ts'
import type { AttemptPorts } from '../attempt/send-part.ts'
import { summarize } from '../errors.ts'
import { named } from './file-failure.ts'
import { createFeeder } from './feeder.ts'
import { createFinisher } from './finisher.ts'
import { createHostWatch } from './host-watch.ts'
import { countSettled, fileAt, isSettled, type LedgerFile } from '../journal/ledger.ts'
import { createLifetime } from './lifetime.ts'
import { missingUnits } from './missing-units.ts'
import { createMovedFiles } from './moved-files.ts'
import { onAbort } from '../on-abort.ts'
import type { Random } from '../ports.ts'
import { createSchedule, type Turn } from './schedule.ts'
import { createSessionAddresses } from './session-addresses.ts'
import type { TransferJob } from './transfer-job.ts'

export interface TransferSettings {
  /** Attempts of a part that reached the host, the first included. */
  readonly retries: number
  readonly giveUpAfterMs: number
}

/** What all transfers of an engine share. */
export interface TransferPorts extends AttemptPorts, Pick<AttemptsOptions, 'onBytes' | 'watchStragglers'> {
  readonly random: Random
  /** Something changed: there may be work for a slot. */
  readonly wake: () => void
}

export interface TransferResult {
  readonly confirmedCount: number
  readonly failedCount: number
}

export interface Transfer {
  /** Parts that could start at a time, monotonic ms. */
  readyCount(nowMs: number): number
  /**
   * Takes the next part and sends it once; undefined when none is ready. `onFree`: its slot is free already, while what the
   * answer means is still looked into. Never rejects; gives whether the part was taken.
   */
  attemptNext(onFree?: () => void): Promise<boolean | undefined> | undefined
  /** When to look again although nothing changed, monotonic ms, later than `nowMs`. */
  nextDueMs(nowMs: number): number | undefined
  /** The network may be back. */
  probeNow(): void
  /**
   * Gets addresses for more files when few parts are ready for so many slots; or, where the host takes no more at once, for fewer,
   * but not fewer than a request gets: it may take as long as many short parts.
   */
  feed(slots: number, nowMs: number): void
  /** Once a second or so: an attempt that holds up the end alone goes again; see straggler. `isIdle`: slots are free. */
  resetStraggler(nowMs: number, isIdle: boolean): void
  /** Settles when every file has; rejects when the session cannot go on, or with the signal's reason. No attempt runs by then. */
  readonly done: Promise<TransferResult>
}

/**
 * Addresses for more files are asked for while fewer parts than so many for each slot are ready. A batch of them is a call and two
 * writes of the journal: with two parts for each slot, 300 small files on a short line stood still for it twice.
 */
const LOOKAHEAD = 8

export function createTransfer(
  ports: TransferPorts,
  job: TransferJob,
  settings: TransferSettings,
  signal: AbortSignal,
): Transfer {
  const { clock, random, onBytes, watchStragglers } = ports
  const schedule = createSchedule({ order: job.protocol.traits.order })
  const addresses = createSessionAddresses(clock, job.ledger, job.protocol)
  const attempts = createAttempts({ ports, job, addresses, onBytes, watchStragglers })
  const life = createLifetime(signal, () => outcomeOf(job), ports.wake)
  onAbort(life.signal, () => attempts.abortAll(life.signal.reason))
  const host = createHostWatch({
    clock,
    random,
    giveUpAfterMs: settings.giveUpAfterMs,
    inFlight: attempts.count,
    report: (event) => job.report(event),
    onGiveUp(error, isThere) {
      // A storage that has taken other files of the session is no more away than that: those fail that it never took.
      if (!isThere || job.ledger.confirmedCount === 0) {
        life.stop(error)
        return false
      }
      const left = job.ledger.files.filter(({ state }) => state === 'planned' || state === 'ready')
      void life.track(() => Promise.all(left.map((file) => failFile(file, error))))
      // Those that are being confirmed go on, and parts of them may have to go again.
      return true
    },
  })
  const failing = new Set<LedgerFile>()
  const failFile = async (file: LedgerFile, failure: unknown, turn?: Turn): Promise<void> => {
    if (isSettled(file) || failing.has(file)) return
    failing.add(file)
    const error = named(file, failure, turn)
    const { fileIndex } = file.plan
    schedule.drop(fileIndex)
    attempts.abortFile(fileIndex, error)
    await job.record({ type: 'file.failed', fileIndex, error: summarize(error) })
    job.report({ type: 'fileState', file })
  }
  const { deadlineOf, lifeOf } = addresses
  const finisher = createFinisher({ job, schedule, track: life.track, failFile, deadlineOf, signal: life.signal })
  const attemptEnd = createAttemptEnd({
    job,
    schedule,
    host,
    clock,
    random,
    failFile,
    lifeOf,
    retries: settings.retries,
    signal: life.signal,
    onComplete: (file) => finisher.add(file),
    onMoved: createMovedFiles({ job, schedule, attempts, deadlineOf }),
  })
  const attempt = async (turn: Turn, onFree?: () => void): Promise<boolean> => {
    const { unit } = turn
    const file = fileAt(job.ledger, unit.fileIndex)
    const { addressedAtMs, generation } = file
    const beganAtMs = clock.monotonicNow()
    const address = addressOf(file, unit)
    // Whatever was mended since, they may never be taken; they are tried, and renewed without a doubt.
    const isLeftOver = file.wereAddressesRefused
    const start = { turn, file, address, addressedAtMs, generation, beganAtMs, isLeftOver }
    const result = addresses.ended(start, await attempts.send(start, onFree))
    const ending = attemptEnd.ended(start, result)
    if (ending !== undefined) await ending
    return result.kind === 'received'
  }
  const takeUp = (file: LedgerFile): void => {
    if (file.state === 'ready') schedule.add(missingUnits(file), deadlineOf(file))
    if (file.state === 'received' || file.state === 'confirming') finisher.add(file)
  }
  const feeder = createFeeder(job, (file) => {
    takeUp(file)
    job.report({ type: 'fileState', file })
  })
  for (const file of job.ledger.files) takeUp(file)
  life.settleIfOver()

  const openSlots = (nowMs: number): number => (life.signal.aborted ? 0 : host.openSlots(nowMs))
  // A probe has the host's time, and none of its part's own.
  const readyParts = (nowMs: number): number => schedule.readyCount(host.isInReach(nowMs) ? nowMs : Infinity)
  return {
    done: life.done,
    readyCount: (nowMs) => Math.min(openSlots(nowMs), readyParts(nowMs)),
    attemptNext(onFree) {
      const nowMs = clock.monotonicNow()
      const turn = openSlots(nowMs) < 1 ? undefined : schedule.take(nowMs, !host.isInReach(nowMs))
      if (turn === undefined) return undefined
      host.tried()
      return life.track(() => attempt(turn, onFree))
    },
    nextDueMs: (nowMs) => (life.signal.aborted ? undefined : (host.dueMs(nowMs) ?? schedule.nextDueMs(nowMs))),
    probeNow: () => host.probeNow(),
    resetStraggler(nowMs, isIdle) {
      const isTail = isIdle && schedule.readyCount(nowMs) === 0 && feeder.isDone() && host.isInReach(nowMs)
      attempts.resetStraggler(nowMs, isTail)
    },
    feed(slots, nowMs) {
      if (!feeder.isHungry()) return
      const open = openSlots(nowMs)
      // Out of reach, a part is wanted for the probe alone: those that were there may have failed with their addresses.
      const soon = Math.max((open + attempts.count()) * LOOKAHEAD, job.protocol.traits.batchSize)
      const wanted = host.isInReach(nowMs) ? Math.min(slots * LOOKAHEAD, soon) : open
      if (readyParts(nowMs) < wanted) void life.track(() => feeder.feed(life.signal))
    },
  }
}

/** Says how the session ended, once every file has. */
function outcomeOf({ ledger }: TransferJob): TransferResult | undefined {
  const settled = countSettled(ledger)
  return settled.confirmedCount + settled.failedCount === ledger.files.length ? settled : undefined
}
