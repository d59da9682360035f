// What the end of an attempt means for its part, its file and its host. Whatever a later run must know is recorded before the
// part may go again.

import type { AttemptStart } from './attempts.ts'
import type { AttemptResult } from '../attempt/attempt.ts'
import { UploadError } from '../errors.ts'
import { isFatal } from './file-failure.ts'
import type { HostWatch } from './host-watch.ts'
import { isSettled, partAt, type LedgerFile } from '../journal/ledger.ts'
import type { Clock, Random, Receipt, Unit, Verdict } from '../ports.ts'
import { decideRetry } from '../retry.ts'
import type { Schedule, Turn } from './schedule.ts'
import type { TransferJob } from './transfer-job.ts'

export interface AttemptEndOptions {
  readonly job: TransferJob
  readonly schedule: Schedule
  readonly host: HostWatch
  readonly clock: Clock
  readonly random: Random
  /** The maximum number of tries of a part, the first included. */
  readonly retries: number
  readonly signal: AbortSignal
  readonly failFile: (file: LedgerFile, error: unknown, turn?: Turn) => Promise<void>
  /** How long the addresses of a file live, ms; undefined where they do not say. */
  readonly lifeOf: (file: LedgerFile) => number | undefined
  /** Called when every receipt of the file is there. */
  readonly onComplete: (file: LedgerFile) => void
  /** Called after each renewal, which may have moved files to a new session: what was scheduled of them is void. */
  readonly onMoved: () => Promise<void>
}

/** Processes the end of an attempt. Undefined: that is already done. */
export type AttemptEnd = (start: AttemptStart, result: AttemptResult) => Promise<void> | undefined

export function createAttemptEnd(options: AttemptEndOptions): AttemptEnd {
  const { job, schedule, host, clock, random, retries, signal, failFile } = options
  /** Renewals under way. When many parts of a file find its addresses refused at once, they share one renewal; later ones need none. */
  const renewing = new Map<LedgerFile, Promise<boolean>>()

  const goAgain = (turn: Turn, delayMs = 0): void => schedule.putBack(turn, clock.monotonicNow() + delayMs)
  /** Puts the part back, or fails its file when there is no further try. Undefined: the part will be tried again. */
  const retry = (
    file: LedgerFile,
    turn: Turn,
    error: UploadError,
    tries = 1,
    retryAfterMs?: number,
  ): Promise<void> | undefined => {
    const { attempt, unit } = turn
    const usedTries = turn.usedTries + tries
    const decision = decideRetry({ attempt, usedTries, retries, error, retryAfterMs, random })
    if (decision.kind === 'giveUp') return failFile(file, decision.error, turn)
    const nowMs = clock.monotonicNow()
    const probeAtMs = host.probeAtMs(nowMs)
    // During an outage, the circuit's wait replaces the backoff.
    const delayMs = probeAtMs === undefined ? decision.delayMs : probeAtMs - nowMs
    job.report({ type: 'retry', unit, attempt, delayMs, error })
    goAgain({ ...turn, attempt: attempt + 1, usedTries }, delayMs)
    return undefined
  }
  /** The storage answered with success. Without a wait and a count, the part would go again for ever. */
  const retryLost = (file: LedgerFile, turn: Turn, what: string): Promise<void> | undefined => {
    const message = `The storage ${what} part ${turn.unit.partNumber}.`
    return retry(file, turn, new UploadError('ERR_UPLOAD_SERVICE_REPLY', message, { isRetryable: true }))
  }
  const withoutReceipt = (unit: Unit): void => job.report({ type: 'attemptEnded', unit })
  /** Called once the receipt is on record. */
  const taken = ({ turn, file, generation }: AttemptStart, receipt: Receipt): Promise<void> | undefined => {
    const { unit, furthestEnd = unit.start } = turn
    const { acceptedEnd } = receipt
    // The file may have moved to a new session while this was written: what was sent to the old one no longer counts.
    if (file.generation !== generation) {
      withoutReceipt(unit)
      return undefined
    }
    job.report({ type: 'received', unit: { ...unit, end: acceptedEnd } })
    if (acceptedEnd === unit.end) {
      schedule.settle(turn)
      if (file.state === 'received') options.onComplete(file)
      return undefined
    }
    const rest = { ...turn, unit: { ...unit, start: acceptedEnd }, furthestEnd: Math.max(furthestEnd, acceptedEnd) }
    if (acceptedEnd < unit.start) return retryLost(file, rest, 'lost what it had accepted of')
    if (acceptedEnd === unit.start) return retryLost(file, rest, 'accepted nothing of')
    // Only bytes beyond the furthest point are progress: some storages lose bytes and accept the same ones again and again.
    goAgain(acceptedEnd > furthestEnd ? { ...rest, attempt: 1, usedTries: 0 } : rest)
    return undefined
  }
  const received = (start: AttemptStart, receipt: Receipt): Promise<void> | undefined => {
    const { turn, file, generation } = start
    const { unit } = turn
    const { fileIndex, partNumber } = unit
    if (receipt.acceptedEnd < partAt(file, partNumber).start) {
      withoutReceipt(unit)
      return retryLost(file, turn, 'lost what it had accepted before')
    }
    const written = job.record({ type: 'part.received', fileIndex, partNumber, generation, receipt })
    return written ? written.then(() => taken(start, receipt)) : taken(start, receipt)
  }
  const renew = (file: LedgerFile, isDead: boolean, error: UploadError): Promise<boolean> => {
    const known = renewing.get(file)
    if (known) return known
    const lifeMs = options.lifeOf(file)
    const renewal = job.renew(file, { isDead, error, lifeMs, signal }).finally(() => {
      renewing.delete(file)
      // It may have moved other files, even where it was of no use to this one, such as one that has failed meanwhile.
      return options.onMoved()
    })
    renewing.set(file, renewal)
    return renewal
  }
  const refused = async (start: AttemptStart, verdict: Refusal, tries: number, isDead: boolean): Promise<void> => {
    const { turn, file, address, generation } = start
    const { error } = verdict
    if (verdict.kind === 'retry')
      return retry(file, { ...turn, isFreshConnection: false }, error, tries, verdict.retryAfterMs)
    // Every new address counts as a try, so that a storage which takes none of them is believed in the end. The try of a dead
    // address does not count here: the first address may have died before it was tried.
    const usedTries = turn.usedTries + tries
    let mayGoOn = verdict.kind === 'renew' && (isDead ? turn.usedTries : usedTries) < retries
    try {
      if (mayGoOn && file.addresses[turn.unit.partNumber - 1] === address.url)
        mayGoOn = await renew(file, isDead, error)
    } catch (failure) {
      if (signal.aborted || isFatal(failure)) throw failure
      return failFile(file, failure, turn)
    }
    if (!mayGoOn) return failFile(file, error, turn)
    if (file.generation === generation) goAgain({ ...turn, attempt: turn.attempt + 1, usedTries })
  }
  /** No request was made. It goes on as if the storage had refused the address. */
  const expired = (start: AttemptStart): Promise<void> => {
    const message = `The address of part ${start.turn.unit.partNumber} has expired.`
    return refused(start, { kind: 'renew', error: new UploadError('ERR_UPLOAD_ADDRESS_EXPIRED', message) }, 1, true)
  }
  const failed = async ({ turn, file, generation }: AttemptStart, result: Failure, tries: number): Promise<void> => {
    const { fileIndex, partNumber } = turn.unit
    if (result.ending === 'doubtful') {
      await job.record({ type: 'part.doubtful', fileIndex, partNumber, generation })
    }
    const onFresh = { ...turn, isFreshConnection: true }
    switch (result.kind) {
      case 'aborted':
        // The part does not wait and uses up no try. It goes no more if its file was dropped or moved, or the session stopped.
        goAgain({ ...onFresh, attempt: turn.attempt + 1 })
        return
      case 'source':
        // Some may pass: a drive is away for minutes, or a hasher lost its worker thread.
        return result.error.isRetryable
          ? retry(file, { ...turn, isSourceBusy: true }, result.error, tries)
          : failFile(file, result.error)
      case 'missing':
        return retry(file, onFresh, result.error, tries)
    }
  }

  return (start, result) => {
    const { turn, file, generation } = start
    const tries = host.ended(start, result)
    const isOpen = !isSettled(file) && file.generation === generation
    if (isOpen && result.kind === 'received') return received(start, result.receipt)
    withoutReceipt(turn.unit)
    if (!isOpen || result.kind === 'received') return undefined
    if (result.kind === 'refused') return refused(start, result.verdict, tries, result.isDead === true)
    return result.kind === 'expired' ? expired(start) : failed(start, result, tries)
  }
}

type Refusal = Exclude<Verdict, { kind: 'received' }>
type Failure = Exclude<AttemptResult, { kind: 'received' | 'refused' | 'expired' }>
