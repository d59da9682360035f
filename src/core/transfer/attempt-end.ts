// What the end of an attempt means for its part, its file and its host. What the next life must know is recorded before
// the part may go again.

import type { Expired } from '../address/address-clock.ts'
import { addressOf, type Crawled } from './attempts.ts'
import { UploadError } from '../errors.ts'
import { isFatal, named } from './file-failure.ts'
import type { HostWatch } from './host-watch.ts'
import { fileAt, isSettled, partAt, type LedgerFile } from '../journal/ledger.ts'
import type { Clock, Random, Receipt, Verdict } from '../ports.ts'
import { decideRetry } from '../retry.ts'
import type { RetryAccount } from './retry-budget.ts'
import type { Schedule, Turn } from './schedule.ts'
import type { SendPartResult } from '../attempt/send-part.ts'
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

/** What an attempt began with: the address it used, and the generation of its file. */
export interface AttemptStart {
  readonly address: string
  readonly generation: number
}

/** Takes the end of an attempt in. */
export type AttemptEnd = (turn: Turn, start: AttemptStart, result: SendPartResult | Crawled | Expired) => Promise<void>

export function createAttemptEnd(options: AttemptEndOptions): AttemptEnd {
  const { job, schedule, host, failFile } = options
  const now = (): number => options.clock.monotonicNow()
  const retry = createRetry(options)
  const renew = createRenewal(job, options.signal)

  const settleReceived = async (file: LedgerFile, turn: Turn, start: AttemptStart, receipt: Receipt): Promise<void> => {
    const { unit, attempt } = turn
    const { fileIndex, partNumber } = unit
    const { acceptedEnd, isVerified } = receipt
    // It answered well: without a wait and a count this would go on for ever.
    const again = (next: Turn, what: string): Promise<void> => {
      const message = `The storage ${what} part ${partNumber}.`
      const error = new UploadError('ERR_UPLOAD_SERVICE_REPLY', message, { isRetryable: true })
      return retry(file, next, { error, isCounted: true })
    }
    if (acceptedEnd < partAt(file, partNumber).start) {
      job.report({ type: 'attemptEnded', unit })
      return again(turn, 'lost what it had accepted before')
    }
    const { generation } = start
    const written = job.record({ type: 'part.received', fileIndex, partNumber, generation, receipt })
    if (written !== undefined) await written
    // The file may have gone to a new session while this was written.
    if (file.generation !== start.generation) return
    options.account.refill()
    const taken = { ...unit, end: Math.max(unit.start, acceptedEnd) }
    job.report({ type: 'received', unit: taken, attempt, isVerified })
    if (acceptedEnd === unit.end) {
      schedule.settle(unit)
      if (file.state === 'received') options.onComplete(file)
      return
    }
    const { furthestEnd = unit.start } = turn
    const rest = { ...turn, unit: { ...unit, start: acceptedEnd }, furthestEnd: Math.max(furthestEnd, acceptedEnd) }
    if (acceptedEnd <= unit.start) {
      return again(rest, `${acceptedEnd < unit.start ? 'lost what it had accepted' : 'accepted nothing'} of`)
    }
    // Only more than there ever was is progress: what was lost is taken again and again by some.
    schedule.putBack(acceptedEnd > furthestEnd ? { ...rest, attempt: 1, reachedCount: 0 } : rest, now())
  }
  const settleRefused = async (
    file: LedgerFile,
    turn: Turn,
    start: AttemptStart,
    verdict: Refusal,
    isDead = false,
  ): Promise<void> => {
    if (verdict.kind === 'retry') {
      const { error, retryAfterMs } = verdict
      await retry(file, { ...turn, isFreshConnection: false }, { error, isCounted: true, retryAfterMs })
      return
    }
    // Every new address counts as an attempt, so that a storage that takes none of them is believed in the end; the first one
    // may have died before it was tried.
    const reachedCount = turn.reachedCount + 1
    const mayRenew = verdict.kind === 'renew' && (isDead ? turn.reachedCount : reachedCount) < options.retries
    try {
      if (
        mayRenew &&
        (await renew(file, turn, start.address, {
          isDead,
          isExpired: verdict.error.code === 'ERR_UPLOAD_ADDRESS_EXPIRED',
        }))
      ) {
        if (file.generation === start.generation) {
          schedule.putBack({ ...turn, attempt: turn.attempt + 1, reachedCount }, now())
        } else await options.onMoved()
      } else await failFile(file, named(file, verdict.error, turn))
    } catch (error) {
      if (options.signal.aborted || isFatal(error)) throw error
      await failFile(file, named(file, error, turn))
    }
  }

  return async (turn, start, result) => {
    const { fileIndex, partNumber } = turn.unit
    const file = fileAt(job.ledger, fileIndex)
    if (result.kind === 'expired') {
      if (!isSettled(file)) await settleRefused(file, turn, start, { kind: 'renew', error: result.error }, true)
      return
    }
    if (result.kind === 'received' || result.kind === 'refused') host.answered()
    const isStale = file.generation !== start.generation
    if (result.kind === 'received' && !isSettled(file) && !isStale)
      return settleReceived(file, turn, start, result.receipt)
    job.report({ type: 'attemptEnded', unit: turn.unit })
    if (isSettled(file) || isStale || result.kind === 'received') return
    if (result.kind !== 'refused' && result.ending === 'doubtful') {
      await job.record({ type: 'part.doubtful', fileIndex, partNumber, generation: start.generation })
    }
    if (result.kind === 'source') await failFile(file, named(file, result.error))
    else if (result.kind === 'aborted') schedule.settle(turn.unit)
    else if (result.kind === 'crawled') {
      // No failure of the part: nothing waits and nothing is counted.
      schedule.putBack({ ...turn, attempt: turn.attempt + 1, isFreshConnection: true }, now())
    } else if (result.kind === 'refused') await settleRefused(file, turn, start, result.verdict)
    else if (result.kind === 'ours') await retry(file, turn, { error: result.error, isCounted: true })
    else {
      const { error } = result
      if (error.isUnreadable) host.answered()
      const isCounted = error.isUnreadable || host.failed(error)
      await retry(file, { ...turn, isFreshConnection: true }, { error, isCounted })
    }
  }
}

type Refusal = Exclude<Verdict, { kind: 'received' }>

interface Failure {
  readonly error: UploadError
  readonly isCounted: boolean
  readonly retryAfterMs?: number | undefined
}

function createRetry(options: AttemptEndOptions): (file: LedgerFile, turn: Turn, failure: Failure) => Promise<void> {
  const { job, schedule, host, clock, random, account, retries } = options
  return async (file, turn, { error, isCounted, retryAfterMs }) => {
    const { attempt, unit } = turn
    const reachedCount = turn.reachedCount + Number(isCounted)
    const decision = decideRetry({ attempt, reachedCount, retries, error, retryAfterMs, random })
    if (decision.kind === 'giveUp') {
      await options.failFile(file, named(file, decision.error, turn))
      return
    }
    if (decision.kind === 'hold') host.holdFor(decision.delayMs)
    // An outage has the circuit's own waits; the account is for a host that answers and refuses.
    const delayMs = decision.delayMs + (isCounted ? account.spend() : 0)
    job.report({ type: 'retry', unit, attempt, delayMs, error })
    schedule.putBack({ ...turn, attempt: attempt + 1, reachedCount }, clock.monotonicNow() + delayMs)
  }
}

/** Many parts of a file find its addresses refused at once: they share one renewal, and those after it need none. */
function createRenewal(
  job: TransferJob,
  signal: AbortSignal,
): (file: LedgerFile, turn: Turn, address: string, why: Omit<RenewalReason, 'signal'>) => Promise<boolean> {
  const renewing = new Map<LedgerFile, Promise<boolean>>()
  return async (file, turn, address, why) => {
    if (addressOf(file, turn.unit) !== address) return true
    const known = renewing.get(file)
    if (known !== undefined) return known
    const renewal = job.renew(file, { ...why, signal })
    renewing.set(file, renewal)
    try {
      return await renewal
    } finally {
      renewing.delete(file)
    }
  }
}
