// What an upload tells its host: takes the engine's events, keeps the two-number progress (sent and confirmed), and emits the
// host's own events, few enough to draw.

import { given } from '../core/given.ts'
import type { Clock } from '../core/ports.ts'
import { createProgress, type Progress } from '../core/progress.ts'
import type { LedgerFile } from '../core/journal/ledger.ts'
import { summarize } from '../core/errors.ts'
import type { TransferEvent } from '../core/transfer/transfer-job.ts'
import { earliestDeadline } from './address-life.ts'
import type { Emitter } from './emitter.ts'
import type { SessionReplaced } from './renewal.ts'
import type { SessionRecord } from './session-record.ts'
import type { UploadEvents, UploadFileStatus, UploadProgress } from './upload.ts'

/** Minimum time between two progress events, ms. */
const PROGRESS_EVERY_MS = 200
/** How long bytes must have moved, with no pause as long, before their rate predicts the hours to come, ms. */
const STEADY_MS = 10_000

export interface Telling {
  /** The session has begun, so sizes are known. */
  begin(): void
  take(event: TransferEvent): void
  /** `sessionId`: a session that was left without the service being told; absent where a create had no clear answer. */
  warnOfOrphan(sessionId?: string | number): void
  tellReplaced(event: SessionReplaced): void
  /** For how long bytes sent a moment ago still count as moving, ms; zero or negative if they no longer do. */
  movesForMs(): number
  /** Bytes per second when they last moved steadily, whatever has stood still since; 0 until they did. */
  bytesPerSecond(): number
  /** Emits the progress as it is and leaves no timer behind, because the upload is over or rests. */
  finish(): void
  progress(): UploadProgress
  files(): readonly UploadFileStatus[]
}

export function createTelling(emitter: Emitter<UploadEvents>, clock: Clock, record: SessionRecord): Telling {
  let progress: Progress | undefined
  let toldAtMs = -Infinity
  let trailing: unknown
  let deadlineMs = Infinity
  let deadlineOf: string | number | undefined
  let shortfallOf: string | number | undefined
  let movingSinceMs = Infinity
  let movedAtMs = -Infinity
  let steadyRate = 0
  /** The state that was last told, by file index. A file without an entry counts as `pending`. */
  const toldStates: UploadFileStatus['state'][] = []

  const now = (): number => clock.monotonicNow()
  const files = (): readonly LedgerFile[] => record.ledger().files
  const snapshot = (): UploadProgress => {
    const { files: all, confirmedCount: filesConfirmed, failedCount: filesFailed } = record.ledger()
    // New fields come before the spread, here and elsewhere: after a spread, V8 makes a hidden class for each object.
    return {
      filesConfirmed,
      filesFailed,
      filesTotal: all.length,
      ...(progress?.snapshot(now()) ?? NOTHING),
    }
  }
  const tellProgress = (isDue: boolean, nowMs = now()): void => {
    const restMs = toldAtMs + PROGRESS_EVERY_MS - nowMs
    if (!isDue && restMs > 0) {
      // Nothing may follow, so a timer tells the latest progress later.
      trailing ??= clock.setTimeout(() => tellProgress(true), restMs)
      return
    }
    clock.clearTimeout(trailing)
    trailing = undefined
    toldAtMs = nowMs
    const shown = snapshot()
    emitter.emit('progress', shown)
    // During and right after a stall the rate is next to nothing. The one warning would then announce days where seconds are needed.
    if (now() - movingSinceMs < STEADY_MS || now() - movedAtMs >= PROGRESS_EVERY_MS) return
    steadyRate = shown.bytesPerSecond
    tellShortfall(shown.remainingMs)
  }
  /** Tells once per session, as soon as the rate shows that the addresses will not live long enough. */
  const tellShortfall = (remainingMs: number | undefined): void => {
    const sessionId = record.folded()?.sessionId
    if (!remainingMs || sessionId === shortfallOf) return
    if (sessionId !== deadlineOf) deadlineMs = earliestDeadline(files())
    deadlineOf = sessionId
    const availableMs = deadlineMs - clock.wallNow()
    if (remainingMs <= availableMs) return
    shortfallOf = sessionId
    emitter.emit('shortfall', { deadlineMs, neededMs: remainingMs, availableMs })
  }
  const shownFile = (file: LedgerFile): UploadFileStatus => {
    const { fileIndex, name, sizeBytes: bytes, partCount: parts } = file.plan
    const { sentBytes, confirmedBytes } = progress?.file(fileIndex) ?? NOTHING
    const state = shownState(file, sentBytes)
    return { fileIndex, name, bytes, parts, sentBytes, confirmedBytes, state, ...given({ error: file.error }) }
  }

  const tellFile = (fileIndex: number): void => {
    const file = emitter.isHeard('file') ? files()[fileIndex] : undefined
    if (!file) return
    const status = shownFile(file)
    if (status.state === (toldStates[fileIndex] ?? 'pending')) return
    toldStates[fileIndex] = status.state
    emitter.emit('file', status)
  }

  return {
    begin() {
      progress = createProgress(files().map((file) => file.plan.sizeBytes))
      for (const { plan, parts } of files()) {
        for (const { partNumber, start, receipt } of parts) {
          if (!receipt) continue
          progress.onReceived({ fileIndex: plan.fileIndex, partNumber, start, end: receipt.acceptedEnd })
        }
      }
      tellProgress(true)
    },
    take(event) {
      // The clock is read once, since a small file causes four events.
      const nowMs = now()
      switch (event.type) {
        case 'sent':
          if (nowMs - movedAtMs > STEADY_MS) movingSinceMs = nowMs
          movedAtMs = nowMs
          progress?.onSent(event.unit, event.sentBytes, nowMs)
          // `sent` comes many times a second but changes the state only once.
          if (toldStates[event.unit.fileIndex] !== 'uploading') tellFile(event.unit.fileIndex)
          break
        case 'received':
          progress?.onReceived(event.unit)
          break
        case 'attemptEnded':
          progress?.onAttemptEnded(event.unit)
          tellFile(event.unit.fileIndex)
          break
        case 'fileState':
          tellFile(event.file.plan.fileIndex)
          break
        case 'retry': {
          const { attempt, delayMs } = event
          const { fileIndex, partNumber } = event.unit
          const name = files()[fileIndex]?.plan.name ?? ''
          emitter.emit('retry', { fileIndex, partNumber, name, attempt, delayMs, error: summarize(event.error) })
          break
        }
        // Waits are reported by the code that drives the session.
        default:
      }
      tellProgress(false, nowMs)
    },
    warnOfOrphan(sessionId) {
      const message =
        sessionId === undefined
          ? 'A create had no clear answer: the service may hold an unused session.'
          : `The service could not be told that session ${String(sessionId).slice(0, SHOWN_ID)} is not used. A resume tells it again.`
      emitter.emit('warning', { code: 'ERR_UPLOAD_SERVICE_REPLY', message })
    },
    tellReplaced(event) {
      // By what lost its receipts, and not by the new session's id: a service restored from a backup may give one twice.
      for (const { plan, parts } of files()) {
        const { fileIndex } = plan
        for (const { partNumber, start, end, receipt } of parts)
          if (!receipt) progress?.onVoided({ fileIndex, partNumber, start, end })
        tellFile(fileIndex)
      }
      emitter.emit('session.replaced', event)
      tellProgress(true)
    },
    movesForMs: () => movedAtMs + STEADY_MS - now(),
    bytesPerSecond: () => steadyRate,
    finish: () => tellProgress(true),
    progress: snapshot,
    files: () => files().map(shownFile),
  }
}

/** Shows this much of a session id: a UUID in full, but little of an id that names every file and its upload in a store. */
const SHOWN_ID = 36

const NOTHING = { sentBytes: 0, confirmedBytes: 0, totalBytes: 0, bytesPerSecond: 0, remainingMs: undefined }

function shownState(file: LedgerFile, sentBytes: number): UploadFileStatus['state'] {
  switch (file.state) {
    case 'confirmed':
    case 'failed':
    case 'confirming':
      return file.state
    case 'received':
      return 'confirming'
    default:
      return sentBytes > 0 || file.receivedCount > 0 ? 'uploading' : 'pending'
  }
}
