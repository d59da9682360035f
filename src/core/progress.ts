// How far an upload is: sent, confirmed, the rate, the time left. Pure: it is told what happened and when.
// Two numbers, because one would lie. Sent is what was handed to the network, and it goes back when an attempt ends
// without a receipt; confirmed is what was proven to be there, and only a voided receipt takes it back. At all times
// 0 ≤ confirmed ≤ sent ≤ total.

import { known } from './errors.ts'
import type { Unit } from './ports.ts'
import { createRateMeter, timeLeft } from './rate-meter.ts'

export interface ProgressOptions {
  /** By file index. */
  readonly fileSizes: readonly number[]
}

export interface FileProgress {
  readonly sentBytes: number
  readonly confirmedBytes: number
  readonly totalBytes: number
}

export interface ProgressSnapshot extends FileProgress {
  /** Bytes a second handed to the network over the last seconds, what was sent in vain included; 0 while not known. */
  readonly bytesPerSecond: number
  /** Time until all is sent at this rate; 0 when it is; undefined while not known. */
  readonly remainingMs: number | undefined
}

/** All times on one clock that does not jump back, ms. Units of one part must not be in flight twice. */
export interface Progress {
  /** Bytes of the running attempt of a unit handed over so far; an attempt counts from 0. */
  onSent(unit: Unit, attemptBytes: number, nowMs: number): void
  /** The unit has a receipt. Telling it twice changes nothing; what an earlier run received is told in the same way. */
  onReceived(unit: Unit): void
  /** The attempt ended without a receipt: its bytes are no longer sent. */
  onAttemptEnded(unit: Unit): void
  /** The receipt of the unit is worth nothing any more. */
  onVoided(unit: Unit): void
  file(fileIndex: number): FileProgress
  snapshot(nowMs: number): ProgressSnapshot
}

interface FileCount {
  readonly totalBytes: number
  sentBytes: number
  confirmedBytes: number
  /** By part number, what has a receipt. */
  readonly received: ({ readonly start: number; readonly end: number } | undefined)[]
  /** By part number, bytes of the attempt under way. */
  readonly inFlight: (number | undefined)[]
}

export function createProgress({ fileSizes }: ProgressOptions): Progress {
  const files = fileSizes.map(createFileCount)
  const total = { totalBytes: fileSizes.reduce((sum, size) => sum + size, 0), sentBytes: 0, confirmedBytes: 0 }
  const meter = createRateMeter()

  const fileOf = (fileIndex: number): FileCount => known(files[fileIndex])
  const addSent = (file: FileCount, bytes: number): void => {
    file.sentBytes += bytes
    total.sentBytes += bytes
  }
  const addConfirmed = (file: FileCount, bytes: number): void => {
    file.confirmedBytes += bytes
    total.confirmedBytes += bytes
  }
  const setInFlight = (file: FileCount, partNumber: number, bytes: number | undefined): void => {
    addSent(file, (bytes ?? 0) - (file.inFlight[partNumber] ?? 0))
    file.inFlight[partNumber] = bytes
  }

  return {
    onSent(unit, attemptBytes, nowMs) {
      const file = fileOf(unit.fileIndex)
      const known = file.received[unit.partNumber]
      if (known !== undefined && known.end >= unit.end) return
      // Only what has no receipt yet counts, so that no byte is counted twice.
      const start = Math.max(unit.start, known?.end ?? unit.start)
      const end = Math.min(Math.max(start, unit.start + attemptBytes), unit.end)
      const bytes = end - start
      const before = file.inFlight[unit.partNumber] ?? 0
      // Fewer bytes than before are those of a new attempt, all of which went over the line.
      meter.add(bytes >= before ? bytes - before : bytes, nowMs)
      setInFlight(file, unit.partNumber, bytes)
    },
    onReceived(unit) {
      const file = fileOf(unit.fileIndex)
      setInFlight(file, unit.partNumber, undefined)
      const known = file.received[unit.partNumber]
      // A far end may take a part in pieces: the pieces grow together.
      const start = Math.min(known?.start ?? unit.start, unit.start)
      const end = Math.max(known?.end ?? unit.end, unit.end)
      const newBytes = end - start - (known === undefined ? 0 : known.end - known.start)
      file.received[unit.partNumber] = { start, end }
      addSent(file, newBytes)
      addConfirmed(file, newBytes)
    },
    onAttemptEnded(unit) {
      setInFlight(fileOf(unit.fileIndex), unit.partNumber, undefined)
    },
    onVoided(unit) {
      const file = fileOf(unit.fileIndex)
      const known = file.received[unit.partNumber]
      if (known === undefined) return
      file.received[unit.partNumber] = undefined
      addSent(file, known.start - known.end)
      addConfirmed(file, known.start - known.end)
    },
    file(fileIndex) {
      const { sentBytes, confirmedBytes, totalBytes } = fileOf(fileIndex)
      return { sentBytes, confirmedBytes, totalBytes }
    },
    snapshot(nowMs) {
      const bytesPerSecond = meter.bytesPerSecond(nowMs)
      const { sentBytes, confirmedBytes, totalBytes } = total
      const leftMs = timeLeft(totalBytes - sentBytes, bytesPerSecond)
      return { sentBytes, confirmedBytes, totalBytes, bytesPerSecond, remainingMs: leftMs }
    },
  }
}

function createFileCount(totalBytes: number): FileCount {
  return { totalBytes, sentBytes: 0, confirmedBytes: 0, received: [], inFlight: [] }
}
