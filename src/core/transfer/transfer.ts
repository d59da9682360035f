// The transfer of one session: which of its parts may go, and when all of it is settled. It owns no slots: the engine asks it
// for the next part when a slot frees. What the end of an attempt means is decided in attempt-end.

import { createAttemptEnd } from './attempt-end.ts'
import { addressOf, createAttempts, type AttemptsOptions } from './attempts.ts'
import type { Attempt } from '../attempt/attempt.ts'
import type { AttemptPorts } from '../attempt/send-part.ts'
import { summarize } from '../errors.ts'
import { named } from './file-failure.ts'
import { createFeeder } from './feeder.ts'
import { createFinisher } from './finisher.ts'
import { createHostWatch } from './host-watch.ts'
import { fileAt, isSettled, type Ledger, type LedgerFile } from '../journal/ledger.ts'
import { createLifetime } from './lifetime.ts'
import { missingUnits } from './missing-units.ts'
import { createMovedFiles } from './moved-files.ts'
import { onAbort } from '../on-abort.ts'
import type { Random } from '../ports.ts'
import { createSchedule } from './schedule.ts'
import { createSessionAddresses } from './session-addresses.ts'
import type { TransferJob } from './transfer-job.ts'
import type { Turn } from './turn.ts'

/** What all transfers of an engine share. */
export interface TransferPorts extends AttemptPorts, Pick<AttemptsOptions, 'onBytes' | 'watchStragglers'> {
  readonly random: Random
  /** The maximum number of tries of a part, the first included. An attempt that never reached the host uses none up. */
  readonly retries: number
  readonly giveUpAfterMs: number
  /** Called when something changed: there may be work for a slot. */
  readonly wake: () => void
}

/** Counts of files, not of parts. They add up to all files of the session when a transfer came to its end. */
export interface TransferResult {
  readonly confirmedCount: number
  readonly failedCount: number
}

export interface Transfer {
  /** Number of parts that could start at this time, monotonic ms. */
  readyCount(nowMs: number): number
  /**
   * Takes the next part and sends it once; undefined when no part is ready. Never rejects; resolves with whether the storage
   * took the part. `onFree` is called when its slot is free already; see Attempt.
   */
  attemptNext(onFree: Attempt['onFree']): Promise<boolean | undefined> | undefined
  /** When to look again although nothing has changed, monotonic ms, later than `nowMs`. */
  nextDueMs(nowMs: number): number | undefined
  /** A hint that the network may be back. */
  probeNow(): void
  /**
   * Gets addresses for more files when too few parts are ready for this many slots. Where the host takes fewer parts at once,
   * fewer suffice, but never fewer than one request gets: that request may take as long as many short parts.
   */
  feed(slots: number, nowMs: number): void
  /**
   * Called about once a second. Resets an attempt that alone holds up the end of the session; see straggler. `isIdle`: slots
   * are free.
   */
  resetStraggler(nowMs: number, isIdle: boolean): void
  /**
   * Resolves when every file is settled; rejects when the session cannot go on, or with the signal's reason. No attempt is
   * running by then.
   */
  readonly done: Promise<TransferResult>
}

/**
 * More addresses are requested while fewer than this many parts per slot are ready. A batch costs one call and two writes of
 * the journal: with two parts per slot, 300 small files on a short line stalled twice for it.
 */
const LOOKAHEAD = 8

export function createTransfer(ports: TransferPorts, job: TransferJob, signal: AbortSignal): Transfer {
  const { clock } = ports
  const schedule = createSchedule(job.protocol.traits.order)
  const addresses = createSessionAddresses(clock, job.ledger, job.protocol, () => host.isInReach(clock.monotonicNow()))
  const hold = (fileIndex: number, isHeld: boolean): void => {
    // Where a file has one part, nothing else of it would go. The schedule itself holds each whose source has failed.
    const hasOthers = fileAt(job.ledger, fileIndex).parts.length > 1
    if (hasOthers || !isHeld) schedule.hold(fileIndex, isHeld)
    // The part that waited goes first. If it still waits, somebody must look again when it no longer counts.
    if (hasOthers || isHeld) void Promise.resolve().then(ports.wake)
  }
  const attempts = createAttempts({ ...ports, job, addresses, hold })
  const life = createLifetime(signal, () => outcomeOf(job.ledger), ports.wake)
  onAbort(life.signal, () => attempts.abortAll(life.signal.reason))
  const host = createHostWatch({
    ...ports,
    ...attempts,
    report: (event) => job.report(event),
    onGiveUp(error, isThere) {
      // A storage that has taken other files of this session is not away. Only the files that are not complete yet fail.
      if (!isThere || job.ledger.confirmedCount === 0) {
        life.stop(error)
        return false
      }
      const left = job.ledger.files.filter(({ state }) => state === 'planned' || state === 'ready')
      void life.track(() => Promise.all(left.map((file) => failFile(file, error))))
      // Files that are being confirmed go on, and some of their parts may have to be sent again.
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
  const finish = createFinisher({ ...life, job, schedule, failFile, deadlineOf })
  const processEnd = createAttemptEnd({
    ...ports,
    ...life,
    job,
    schedule,
    host,
    failFile,
    lifeOf,
    onComplete: finish,
    onMoved: createMovedFiles(job, schedule, attempts, deadlineOf),
  })
  const attempt = async (turn: Turn, onFree: Attempt['onFree']): Promise<boolean> => {
    const { unit } = turn
    const file = fileAt(job.ledger, unit.fileIndex)
    const { addressedAtMs, addressesWere, generation } = file
    const beganAtMs = clock.monotonicNow()
    const address = addressOf(file, unit)
    const start = { turn, file, address, addressedAtMs, addressesWere, generation, beganAtMs }
    const result = addresses.ended(start, await attempts.send(start, onFree))
    const ending = processEnd(start, result)
    if (ending) await ending
    return result.kind === 'received'
  }
  const takeUp = (file: LedgerFile): void => {
    if (file.state === 'ready') schedule.add(missingUnits(file), deadlineOf(file))
    if (file.state === 'received' || file.state === 'confirming') finish(file)
  }
  const feeder = createFeeder(job, (file) => {
    takeUp(file)
    job.report({ type: 'fileState', file })
  })
  for (const file of job.ledger.files) takeUp(file)
  life.settleIfOver()

  const openSlots = (nowMs: number): number => (life.signal.aborted ? 0 : host.openSlots(nowMs))
  // A probe goes when the host is due, whatever wait its own part has left, unless that waits for its source.
  const readyParts = (nowMs: number): number => schedule.readyCount(nowMs, !host.isInReach(nowMs))
  return {
    done: life.done,
    readyCount: (nowMs) => Math.min(openSlots(nowMs), readyParts(nowMs)),
    attemptNext(onFree) {
      const nowMs = clock.monotonicNow()
      const turn = openSlots(nowMs) < 1 ? undefined : schedule.take(nowMs, !host.isInReach(nowMs))
      if (!turn) return undefined
      host.tried()
      return life.track(() => attempt(turn, onFree))
    },
    nextDueMs: (nowMs) => (life.signal.aborted ? undefined : (host.dueMs(nowMs) ?? schedule.nextDueMs(nowMs))),
    probeNow: host.probeNow,
    resetStraggler(nowMs, isIdle) {
      const isTail = isIdle && schedule.readyCount(nowMs) === 0 && feeder.isDone() && host.isInReach(nowMs)
      attempts.resetStraggler(nowMs, isTail)
    },
    feed(slots, nowMs) {
      if (!feeder.isHungry()) return
      const open = openSlots(nowMs)
      // Out of reach, only the probe needs a part. There may be none: the parts that were ready may have failed with their
      // addresses.
      const soon = Math.max((open + attempts.running.length) * LOOKAHEAD, job.protocol.traits.batchSize)
      const wanted = host.isInReach(nowMs) ? Math.min(slots * LOOKAHEAD, soon) : open
      // Written so that files are also asked for where a host's protocol gives no batch size: the request then says what is wrong.
      if (!(readyParts(nowMs) >= wanted)) void life.track(() => feeder.feed(life.signal))
    },
  }
}

/** The result of the session; undefined until every file is settled. */
export function outcomeOf({ files, confirmedCount, failedCount }: Ledger): TransferResult | undefined {
  return confirmedCount + failedCount === files.length ? { confirmedCount, failedCount } : undefined
}
