// What the end of an attempt means for its part, its file and its host. What the next life must know is recorded before
// the part may go again.

import { addressOf, type AttemptStart } from './attempts.ts'
import type { AttemptResult } from '../attempt/attempt.ts'
import { UploadError } from '../errors.ts'
import { isFatal, named } from './file-failure.ts'
import type { HostWatch } from './host-watch.ts'
import { isSettled, partAt, type LedgerFile } from '../journal/ledger.ts'
import type { Clock, Random, Receipt, Verdict } from '../ports.ts'
import { decideRetry } from '../retry.ts'
import type { RetryAccount } from './retry-budget.ts'
import type { Schedule, Turn } from './schedule.ts'
import type { RenewalReason, TransferJob } from './transfer-job.ts'

export interface AttemptEndOptions {
  readonly job: TransferJob
  readonly schedule: Schedule
  readonly host: HostWatch
  readonly clock: Clock
  readonly random: Random
  readonly account: RetryAccount
  /** Attempts of a part that reached the host, the first included. */
  readonly retries: number
  readonly signal: AbortSignal
  readonly failFile: (file: LedgerFile, error: UploadError) => Promise<void>
  /** Every receipt of the file is there. */
  readonly onComplete: (file: LedgerFile) => void
  /** Files went to a new session: what was scheduled of them is void. */
  readonly onMoved: () => Promise<void>
}

export interface AttemptEnd {
  /** Takes the end of an attempt in. Undefined: that is done. */
  ended(start: AttemptStart, result: AttemptResult): Promise<void> | undefined
  /** None was made, because its address is dead. */
  expired(start: AttemptStart): Promise<void>
}

export function createAttemptEnd(options: AttemptEndOptions): AttemptEnd {
  const { job, schedule, host, failFile } = options
  const now = (): number => options.clock.monotonicNow()
  const retry = createRetry(options)
  const renew = createRenewal(job, options.signal)

  const received = (start: AttemptStart, receipt: Receipt): Promise<void> | undefined => {
    const { turn, file, generation } = start
    const { fileIndex, partNumber } = turn.unit
    if (receipt.acceptedEnd < partAt(file, partNumber).start) {
      job.report({ type: 'attemptEnded', unit: turn.unit })
      return again(start, 'lost what it had accepted before')
    }
    const written = job.record({ type: 'part.received', fileIndex, partNumber, generation, receipt })
    return written === undefined ? taken(start, receipt) : written.then(() => taken(start, receipt))
  }
  /** The receipt is on record. */
  const taken = (start: AttemptStart, { acceptedEnd, isVerified }: Receipt): Promise<void> | undefined => {
    const { turn, file } = start
    const { unit, attempt, furthestEnd = unit.start } = turn
    // The file may have gone to a new session while this was written.
    if (file.generation !== start.generation) return undefined
    options.account.refill()
    const accepted = { ...unit, end: Math.max(unit.start, acceptedEnd) }
    job.report({ type: 'received', unit: accepted, attempt, isVerified })
    if (acceptedEnd === unit.end) {
      schedule.settle(unit)
      if (file.state === 'received') options.onComplete(file)
      return undefined
    }
    const rest = { ...turn, unit: { ...unit, start: acceptedEnd }, furthestEnd: Math.max(furthestEnd, acceptedEnd) }
    if (acceptedEnd <= unit.start) {
      const what = acceptedEnd < unit.start ? 'lost what it had accepted' : 'accepted nothing'
      return again({ ...start, turn: rest }, `${what} of`)
    }
    // Only more than there ever was is progress: what was lost is taken again and again by some.
    schedule.putBack(acceptedEnd > furthestEnd ? { ...rest, attempt: 1, reachedCount: 0 } : rest, now())
    return undefined
  }
  /** It answered well: without a wait and a count this would go on for ever. */
  const again = ({ turn, file }: AttemptStart, what: string): Promise<void> | undefined => {
    const message = `The storage ${what} part ${turn.unit.partNumber}.`
    const error = new UploadError('ERR_UPLOAD_SERVICE_REPLY', message, { isRetryable: true })
    return retry(file, turn, { error, isCounted: true })
  }
  const refused = async (start: AttemptStart, verdict: Refusal, isDead = false): Promise<void> => {
    const { turn, file } = start
    if (verdict.kind === 'retry') {
      const { error, retryAfterMs } = verdict
      return retry(file, { ...turn, isFreshConnection: false }, { error, isCounted: true, retryAfterMs })
    }
    // Every new address counts as an attempt, so that a storage that takes none of them is believed in the end; the first one
    // may have died before it was tried.
    const reachedCount = turn.reachedCount + 1
    const mayRenew = verdict.kind === 'renew' && (isDead ? turn.reachedCount : reachedCount) < options.retries
    const isExpired = verdict.error.code === 'ERR_UPLOAD_ADDRESS_EXPIRED'
    try {
      if (!mayRenew || !(await renew(start, { isDead, isExpired })))
        return await failFile(file, named(file, verdict.error, turn))
    } catch (error) {
      if (options.signal.aborted || isFatal(error)) throw error
      return failFile(file, named(file, error, turn))
    }
    if (file.generation !== start.generation) return options.onMoved()
    schedule.putBack({ ...turn, attempt: turn.attempt + 1, reachedCount }, now())
  }
  const failed = async (start: AttemptStart, result: Exclude<AttemptResult, { kind: 'received' }>): Promise<void> => {
    const { turn, file, generation } = start
    const { fileIndex, partNumber } = turn.unit
    if (result.kind !== 'refused' && result.ending === 'doubtful') {
      await job.record({ type: 'part.doubtful', fileIndex, partNumber, generation })
    }
    switch (result.kind) {
      case 'refused':
        return refused(start, result.verdict)
      case 'source':
        return failFile(file, named(file, result.error))
      case 'ours':
        return retry(file, turn, { error: result.error, isCounted: true })
      case 'aborted':
        return schedule.settle(turn.unit)
      case 'crawled':
        // No failure of the part: nothing waits and nothing is counted.
        return schedule.putBack({ ...turn, attempt: turn.attempt + 1, isFreshConnection: true }, now())
      case 'missing': {
        const { error } = result
        if (error.isUnreadable) host.answered()
        const isCounted = error.isUnreadable || host.failed(error)
        return retry(file, { ...turn, isFreshConnection: true }, { error, isCounted })
      }
    }
  }

  return {
    async expired(start) {
      const message = `The address of part ${start.turn.unit.partNumber} has expired.`
      const error = new UploadError('ERR_UPLOAD_ADDRESS_EXPIRED', message)
      if (!isSettled(start.file)) await refused(start, { kind: 'renew', error }, true)
    },
    ended(start, result) {
      const { turn, file, generation } = start
      if (result.kind === 'received' || result.kind === 'refused') host.answered()
      const isStale = isSettled(file) || file.generation !== generation
      if (result.kind === 'received' && !isStale) return received(start, result.receipt)
      job.report({ type: 'attemptEnded', unit: turn.unit })
      return isStale || result.kind === 'received' ? undefined : failed(start, result)
    },
  }
}

type Refusal = Exclude<Verdict, { kind: 'received' }>

interface Failure {
  readonly error: UploadError
  readonly isCounted: boolean
  readonly retryAfterMs?: number | undefined
}

/** Undefined: it will be tried again. */
function createRetry(
  options: AttemptEndOptions,
): (file: LedgerFile, turn: Turn, failure: Failure) => Promise<void> | undefined {
  const { job, schedule, host, clock, random, account, retries } = options
  return (file, turn, { error, isCounted, retryAfterMs }) => {
    const { attempt, unit } = turn
    const reachedCount = turn.reachedCount + Number(isCounted)
    const decision = decideRetry({ attempt, reachedCount, retries, error, retryAfterMs, random })
    if (decision.kind === 'giveUp') return options.failFile(file, named(file, decision.error, turn))
    if (decision.kind === 'hold') host.holdFor(decision.delayMs)
    // An outage has the circuit's own waits; the account is for a host that answers and refuses.
    const delayMs = decision.delayMs + (isCounted ? account.spend() : 0)
    job.report({ type: 'retry', unit, attempt, delayMs, error })
    schedule.putBack({ ...turn, attempt: attempt + 1, reachedCount }, clock.monotonicNow() + delayMs)
    return undefined
  }
}

/** Many parts of a file find its addresses refused at once: they share one renewal, and those after it need none. */
function createRenewal(
  job: TransferJob,
  signal: AbortSignal,
): (start: AttemptStart, why: Omit<RenewalReason, 'signal'>) => Promise<boolean> | true {
  const renewing = new Map<LedgerFile, Promise<boolean>>()
  return ({ turn, file, address }, why) => {
    if (addressOf(file, turn.unit) !== address) return true
    const known = renewing.get(file)
    if (known !== undefined) return known
    const renewal = job.renew(file, { ...why, signal }).finally(() => renewing.delete(file))
    renewing.set(file, renewal)
    return renewal
  }
}
