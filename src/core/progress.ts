// How far an upload is: what was sent, what is confirmed, the rate, and the time left. Pure: it is told what happened and when.
//
// There are two counts, because one would lie. Sent is what was handed to the network; it goes back when an attempt ends
// without a receipt. Confirmed is what was proven to be there; only a voided receipt takes it back. At all times 0 ≤ confirmed
// ≤ sent ≤ total.

import { known } from './errors.ts'
import type { Unit } from './ports.ts'
import { createRateMeter, timeLeft } from './rate-meter.ts'

/** What was sent and what is confirmed of a file, or of all. */
export interface Sent {
  /** Bytes handed to the network, without those of lost attempts; falls when an attempt is lost. */
  readonly sentBytes: number
  /** Bytes with a receipt; falls only with `session.replaced`. */
  readonly confirmedBytes: number
}

/** How far all files are together. */
export interface ProgressSnapshot extends Sent {
  /** Total size of all files. */
  readonly totalBytes: number
  /** Bytes handed to the network in a second, smoothed over some seconds, with those sent in vain; 0 until known. */
  readonly bytesPerSecond: number
  /**
   * Time until everything is sent at this rate, ms; 0 once it is, while answers may still be awaited. Undefined until a rate is
   * known, and while nothing has moved for 5 s.
   */
  readonly remainingMs: number | undefined
}

/** All times are on one clock that does not jump back, ms. A part must not have two attempts in flight at once. */
export interface Progress {
  /** Bytes that the running attempt of a unit has handed over so far; each attempt counts from 0. */
  onSent(unit: Unit, attemptBytes: number, nowMs: number): void
  /** The unit has a receipt. Telling it twice changes nothing. What an earlier run received is told in the same way. */
  onReceived(unit: Unit): void
  /** The attempt ended without a receipt: its bytes no longer count as sent. */
  onAttemptEnded(unit: Unit): void
  /** The receipts of a whole part are void. */
  onVoided(unit: Unit): void
  /** As it is now: it changes with what is told. */
  file(fileIndex: number): Sent
  snapshot(nowMs: number): ProgressSnapshot
}

interface FileCount {
  sentBytes: number
  confirmedBytes: number
  /** Where the bytes of a part that have a receipt end, by part number. A far end may take a part in pieces, from its start on. */
  readonly receivedEnd: (number | undefined)[]
  /** Bytes of the attempt under way, by part number. */
  readonly inFlight: (number | undefined)[]
}

/** `fileSizes`: by file index. */
export function createProgress(fileSizes: readonly number[]): Progress {
  const files = fileSizes.map(createFileCount)
  const total = { totalBytes: fileSizes.reduce((sum, size) => sum + size, 0), sentBytes: 0, confirmedBytes: 0 }
  const meter = createRateMeter()

  const fileOf = (fileIndex: number): FileCount => known(files[fileIndex])
  const addSent = (file: FileCount, bytes: number): void => {
    file.sentBytes += bytes
    total.sentBytes += bytes
  }
  const addConfirmed = (file: FileCount, bytes: number): void => {
    addSent(file, bytes)
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
      // Only bytes without a receipt count, so that none is counted twice.
      const start = Math.max(unit.start, file.receivedEnd[unit.partNumber] ?? unit.start)
      const end = Math.min(Math.max(start, unit.start + attemptBytes), unit.end)
      const bytes = end - start
      const before = file.inFlight[unit.partNumber] ?? 0
      // Fewer bytes than before belong to a new attempt, all of whose bytes went over the line.
      meter.add(bytes >= before ? bytes - before : bytes, nowMs)
      setInFlight(file, unit.partNumber, bytes)
    },
    onReceived(unit) {
      const file = fileOf(unit.fileIndex)
      setInFlight(file, unit.partNumber, undefined)
      const known = file.receivedEnd[unit.partNumber] ?? unit.start
      const end = Math.max(known, unit.end)
      file.receivedEnd[unit.partNumber] = end
      addConfirmed(file, end - known)
    },
    onAttemptEnded(unit) {
      setInFlight(fileOf(unit.fileIndex), unit.partNumber, undefined)
    },
    onVoided(unit) {
      const file = fileOf(unit.fileIndex)
      const known = file.receivedEnd[unit.partNumber]
      if (known === undefined) return
      file.receivedEnd[unit.partNumber] = undefined
      addConfirmed(file, unit.start - known)
    },
    file: fileOf,
    snapshot(nowMs) {
      const bytesPerSecond = meter.bytesPerSecond(nowMs)
      const leftBytes = total.totalBytes - total.sentBytes
      const remainingMs = timeLeft(leftBytes, meter.isStill(nowMs) ? 0 : bytesPerSecond)
      return { ...total, bytesPerSecond, remainingMs }
    },
  }
}

function createFileCount(): FileCount {
  // With room for part 1, which is all that a small file has: V8 makes an empty list that gets it one of eighteen.
  return {
    sentBytes: 0,
    confirmedBytes: 0,
    receivedEnd: [undefined, undefined],
    inFlight: [undefined, undefined],
  }
}
