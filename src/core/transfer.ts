// The transfer of one session: which of its parts may go, what an attempt's end means for part, file and session, and
// when all of it is settled. It owns no slots; the engine asks it for the next part when one frees.

import { isUploadError, summarize, UploadError } from './errors.ts'
import { createFinisher, type Finisher } from './finisher.ts'
import { createHostWatch } from './host-watch.ts'
import { countSettled, fileAt, isReceived, isSettled, partAt, type LedgerFile } from './ledger.ts'
import { createLifetime } from './lifetime.ts'
import type { Random, Reader, Unit } from './ports.ts'
import { createReaderCache } from './reader-cache.ts'
import { decideRetry } from './retry.ts'
import { createSchedule, type Turn } from './schedule.ts'
import { sendPart, type SendPartPorts, type SendPartResult } from './send-part.ts'
import type { TransferJob } from './transfer-job.ts'

export interface TransferSettings {
  /** Attempts of a part that reached the host, the first included. */
  readonly retries: number
  readonly giveUpAfterMs: number
  /** Confirmations under way at once. */
  readonly finishConcurrency: number
}

/** What an attempt meant for the line, for the concurrency controller. */
export interface AttemptTally {
  readonly bytes: number
  readonly isThrottle: boolean
  readonly isFailure: boolean
}

export interface TransferResult {
  readonly confirmedCount: number
  readonly failedCount: number
}

export interface Transfer {
  /** Parts that could start now. */
  readyCount(): number
  /** Takes the next part and sends it once; undefined when none is ready. Never rejects. */
  attemptNext(): Promise<AttemptTally> | undefined
  /** When to look again although nothing changed, monotonic ms. */
  nextDueMs(): number | undefined
  /** Gets addresses for more files when fewer than `lookahead` parts are ready. */
  feed(lookahead: number): void
  /** Settles when every file has; rejects when the session cannot go on, or with the signal's reason. No attempt runs by then. */
  readonly done: Promise<TransferResult>
}

const NOTHING_SENT: AttemptTally = { bytes: 0, isThrottle: false, isFailure: false }

export function createTransfer(
  ports: SendPartPorts & { readonly random: Random },
  job: TransferJob,
  settings: TransferSettings,
  signal: AbortSignal,
  wake: () => void,
): Transfer {
  const { clock, random } = ports
  const { files } = job.ledger
  const schedule = createSchedule({ order: job.protocol.traits.order })
  const attempts = createAttempts()
  let settledUpTo = 0
  const life = createLifetime<TransferResult>(signal, () => {
    for (let file = files[settledUpTo]; file !== undefined && isSettled(file); file = files[settledUpTo])
      settledUpTo += 1
    return settledUpTo === files.length ? countSettled(job.ledger) : undefined
  })
  life.signal.addEventListener('abort', () => attempts.abortAll(life.signal.reason), { once: true })
  const track = (task: () => Promise<void>): Promise<void> => life.track(task).then(wake)
  const host = createHostWatch({
    ...{ clock, random, giveUpAfterMs: settings.giveUpAfterMs },
    onUnreachable: (sinceMs, untilMs) => job.report({ type: 'unreachable', sinceMs, untilMs }),
    onReachable: () => job.report({ type: 'reachable' }),
    onGiveUp: (error) => life.stop(error),
  })
  const readers = createReaderCache((fileIndex) => {
    const { sizeBytes, modifiedAtMs } = fileAt(job.ledger, fileIndex).plan
    return {
      source: job.source(fileIndex),
      expected: { sizeBytes, ...(modifiedAtMs === undefined ? {} : { modifiedAtMs }) },
    }
  })

  const enqueue = (file: LedgerFile): void => schedule.add(missingUnits(file))
  const failFile = async (file: LedgerFile, error: UploadError): Promise<void> => {
    if (isSettled(file)) return
    schedule.drop(file.plan.fileIndex)
    await job.record({ type: 'file.failed', fileIndex: file.plan.fileIndex, error: summarize(error) })
    job.report({ type: 'fileState', file })
    attempts.abortFile(file.plan.fileIndex, error)
  }
  const finisher: Finisher = createFinisher(settings.finishConcurrency, (file) =>
    track(async () => {
      try {
        const again = await job.finish(file, life.signal)
        job.report({ type: 'fileState', file })
        if (again.length === 0) return
        job.report({ type: 'voided', units: again.map((partNumber) => unitOf(file, partNumber)) })
        enqueue(file)
      } catch (error) {
        if (life.signal.aborted || isFatal(error)) throw error
        await failFile(file, named(file, error))
      }
    }),
  )

  const attempt = async (turn: Turn): Promise<AttemptTally> => {
    const file = fileAt(job.ledger, turn.unit.fileIndex)
    let bytes = 0
    const result = await attempts.run(turn.unit.fileIndex, (attemptSignal) =>
      withReader(file, (reader) =>
        sendPart(ports, {
          ...{ unit: turn.unit, address: addressOf(file, turn.unit), protocol: job.protocol, reader },
          isFreshConnection: turn.isFreshConnection,
          onSent(sentBytes) {
            bytes = sentBytes
            job.report({ type: 'sent', unit: turn.unit, sentBytes })
          },
          signal: attemptSignal,
        }),
      ),
    )
    await settle(file, turn, result)
    const isThrottle = result.kind === 'refused' && result.verdict.kind === 'retry' && result.verdict.isThrottle
    return { bytes, isThrottle, isFailure: result.kind === 'missing' }
  }
  const withReader = async (
    file: LedgerFile,
    use: (reader: Reader) => Promise<SendPartResult>,
  ): Promise<SendPartResult> => {
    try {
      return await use(await readers.acquire(file.plan.fileIndex))
    } catch (error) {
      if (!isUploadError(error) || !error.code.startsWith('ERR_UPLOAD_SOURCE')) throw error
      return { kind: 'source', ending: 'neverWhole', error }
    } finally {
      await readers.release(file.plan.fileIndex)
    }
  }

  const settle = async (file: LedgerFile, turn: Turn, result: SendPartResult): Promise<void> => {
    const { fileIndex, partNumber } = turn.unit
    if (result.kind === 'received') {
      host.answered()
      await settleReceived(file, turn, result.receipt)
      return
    }
    job.report({ type: 'attemptEnded', unit: turn.unit })
    if (result.kind !== 'refused' && result.ending === 'doubtful' && !isSettled(file)) {
      await job.record({ type: 'part.doubtful', fileIndex, partNumber })
    }
    if (result.kind === 'source') await failFile(file, named(file, result.error))
    else if (result.kind === 'aborted') schedule.settle(turn.unit)
    else if (result.kind === 'missing') {
      const isCounted = host.failed(result.error.phase === 'connect')
      await retry(file, { ...turn, isFreshConnection: true }, result.error, isCounted)
    } else {
      host.answered()
      await settleRefused(file, turn, result.verdict)
    }
  }
  const settleReceived = async (
    file: LedgerFile,
    turn: Turn,
    receipt: Extract<SendPartResult, { kind: 'received' }>['receipt'],
  ): Promise<void> => {
    const { unit, attempt: attemptNumber } = turn
    if (isSettled(file)) return
    await job.record({ type: 'part.received', fileIndex: unit.fileIndex, partNumber: unit.partNumber, receipt })
    job.report({ type: 'received', unit, attempt: attemptNumber, isVerified: receipt.isVerified })
    if (receipt.acceptedEnd < unit.end) {
      schedule.putBack({ ...turn, unit: { ...unit, start: receipt.acceptedEnd }, attempt: 1, reachedCount: 0 }, now())
      return
    }
    schedule.settle(unit)
    if (file.state === 'received') finisher.add(file)
  }
  const settleRefused = async (
    file: LedgerFile,
    turn: Turn,
    verdict: Extract<SendPartResult, { kind: 'refused' }>['verdict'],
  ): Promise<void> => {
    if (verdict.kind === 'renew' && (await job.renew(file, life.signal))) {
      schedule.putBack({ ...turn, attempt: turn.attempt + 1 }, now())
    } else if (verdict.kind === 'retry') {
      await retry(file, { ...turn, isFreshConnection: false }, verdict.error, true, verdict.retryAfterMs)
    } else await failFile(file, named(file, verdict.error, turn))
  }
  const retry = async (
    file: LedgerFile,
    turn: Turn,
    error: UploadError,
    isCounted: boolean,
    retryAfterMs?: number,
  ): Promise<void> => {
    const reachedCount = turn.reachedCount + (isCounted ? 1 : 0)
    const { attempt: attemptNumber } = turn
    const decision = decideRetry({
      attempt: attemptNumber,
      reachedCount,
      retries: settings.retries,
      error,
      retryAfterMs,
      random,
    })
    if (decision.kind === 'giveUp') {
      await failFile(file, named(file, decision.error, turn))
      return
    }
    if (decision.kind === 'hold') host.holdFor(decision.delayMs)
    const { delayMs } = decision
    job.report({ type: 'retry', unit: turn.unit, attempt: attemptNumber, delayMs, error })
    schedule.putBack({ ...turn, attempt: attemptNumber + 1, reachedCount }, now() + delayMs)
  }
  const now = (): number => clock.monotonicNow()

  let plannedCount = 0
  let isFeeding = false
  const replenish = async (): Promise<void> => {
    const planned = files.filter((file) => file.state === 'planned')
    await job.replenish(life.signal)
    for (const file of planned) {
      if (file.state === 'planned') continue
      plannedCount -= 1
      if (file.state === 'ready') enqueue(file)
      job.report({ type: 'fileState', file })
    }
    isFeeding = false
  }

  for (const file of files) {
    if (file.state === 'planned') plannedCount += 1
    if (file.state === 'ready') enqueue(file)
    if (file.state === 'received' || file.state === 'confirming') finisher.add(file)
  }
  life.settleIfOver()

  const openSlots = (): number => (life.signal.aborted ? 0 : host.openSlots(attempts.count()))
  return {
    done: life.done,
    readyCount: () => Math.min(openSlots(), schedule.readyCount(now())),
    attemptNext() {
      const turn = openSlots() < 1 ? undefined : schedule.take(now())
      if (turn === undefined) return undefined
      let tally = NOTHING_SENT
      return track(async () => {
        tally = await attempt(turn)
      }).then(() => tally)
    },
    nextDueMs: () => host.dueMs() ?? schedule.nextDueMs(),
    feed(lookahead) {
      if (isFeeding || plannedCount === 0 || openSlots() < 1 || schedule.readyCount(now()) >= lookahead) return
      isFeeding = true
      void track(replenish)
    },
  }
}

/** The attempts under way, so that a failed file or a stopped session takes its own down. */
function createAttempts(): {
  count(): number
  run<T>(fileIndex: number, use: (signal: AbortSignal) => Promise<T>): Promise<T>
  abortFile(fileIndex: number, reason: unknown): void
  abortAll(reason: unknown): void
} {
  const running = new Map<AbortController, number>()
  return {
    count: () => running.size,
    async run(fileIndex, use) {
      const controller = new AbortController()
      running.set(controller, fileIndex)
      try {
        return await use(controller.signal)
      } finally {
        running.delete(controller)
      }
    },
    abortFile(fileIndex, reason) {
      for (const [controller, of] of running) if (of === fileIndex) controller.abort(reason)
    },
    abortAll(reason) {
      for (const controller of running.keys()) controller.abort(reason)
    },
  }
}

function missingUnits(file: LedgerFile): Unit[] {
  return file.parts.filter((part) => !isReceived(part)).map((part) => unitOf(file, part.partNumber))
}

/** What of a part is still to be sent. */
function unitOf(file: LedgerFile, partNumber: number): Unit {
  const { start, end, receipt } = partAt(file, partNumber)
  return { fileIndex: file.plan.fileIndex, partNumber, start: receipt?.acceptedEnd ?? start, end }
}

function addressOf(file: LedgerFile, unit: Unit): string {
  const address = file.addresses[unit.partNumber - 1]
  if (address === undefined) throw new UploadError('ERR_UPLOAD_INTERNAL', 'A part without an address was scheduled.')
  return address
}

/** What no file of the session can survive: the service does not take us, or we cannot remember what we do. */
const FATAL_CODES = new Set(['ERR_UPLOAD_CREDENTIALS_REFUSED', 'ERR_UPLOAD_JOURNAL', 'ERR_UPLOAD_HOST_UNREACHABLE'])

function isFatal(error: unknown): boolean {
  return !isUploadError(error) || FATAL_CODES.has(error.code)
}

/** The same failure with the file's name in front, and where it happened in its details. */
function named(file: LedgerFile, error: unknown, turn?: Turn): UploadError {
  const { code, message } = summarize(error)
  const where = turn === undefined ? {} : { partNumber: turn.unit.partNumber, attempt: turn.attempt }
  return new UploadError(code, `${file.plan.name}: ${message}`, {
    cause: error,
    details: { file: file.plan.name, ...where },
  })
}
