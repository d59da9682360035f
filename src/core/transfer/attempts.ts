// The attempts of one session that are under way. Each has an abort controller of its own, so that a failed file aborts only
// its own attempts, and a session that stops aborts them all.

import { readAddress, type SignedAddress } from '../address/address.ts'
import { leave, type Attempt, type AttemptResult } from '../attempt/attempt.ts'
import { createReaderCache, openPlanned } from '../attempt/reader-cache.ts'
import { sendPart, type AttemptPorts, type SendPartPorts } from '../attempt/send-part.ts'
import { known } from '../errors.ts'
import { fileAt, partAt, type LedgerFile } from '../journal/ledger.ts'
import { unlessLate } from '../time/unless-late.ts'
import type { Tuning } from '../tuning.ts'
import type { Protocol, Unit } from '../ports.ts'
import type { Turn } from './schedule.ts'
import type { TransferJob } from './transfer-job.ts'

/** What an attempt starts with: its turn, its address, and the generation of its file. */
export interface AttemptStart {
  readonly turn: Turn
  readonly file: LedgerFile
  readonly address: SignedAddress
  readonly generation: number
  /** Wall time at which the address came, ms since 1970. */
  readonly addressedAtMs: number
  /** When the attempt began, monotonic ms. */
  readonly beganAtMs: number
  readonly addressesWere: LedgerFile['addressesWere']
}

export interface Attempts {
  /** Those under way. It changes as they begin and end. */
  readonly running: readonly Attempt[]
  /**
   * Sends a unit once. Rejects only for a mistake of ours. An attempt that does not end within 15 s of its abort is left.
   * `onFree`: see Attempt.
   */
  send(start: AttemptStart, onFree: Attempt['onFree']): Promise<AttemptResult>
  abortFile(fileIndex: number, reason: unknown): void
  /** Resolves when the attempts of the file that are running have ended. */
  idle(fileIndex: number): Promise<unknown>
  abortAll(reason: unknown): void
  /**
   * Called about once a second, for the end of a session. Resets an attempt that crawls while others flew, unless its whole
   * body was handed over; its part then goes again. `isTail`: nothing else is left to send, and slots are idle.
   */
  resetStraggler(nowMs: number, isTail: boolean): void
}

export interface AttemptsOptions extends AttemptPorts, Pick<SendPartPorts, 'hold'> {
  readonly job: TransferJob
  readonly addresses: Pick<SendPartPorts, 'isExpired'> & Pick<Protocol, 'judge'>
  /** Called with the number of bytes that were newly handed to the network. */
  readonly onBytes: (bytes: number) => void
  /** Makes the watch that finds attempts which hold the session up; absent: none is reset. */
  readonly watchStragglers?: Tuning['watchStragglers'] | undefined
}

export function createAttempts(options: AttemptsOptions): Attempts {
  const { transport, clock, job, addresses, onBytes, watchStragglers } = options
  // Not a Set, which would keep ended attempts: see onAbort.
  const running: Attempt[] = []
  const stragglers = transport.isResetByAbort === true ? watchStragglers?.() : undefined
  const sending: SendPartPorts = {
    ...options,
    protocol: { request: (unit, address) => job.protocol.request(unit, address), judge: addresses.judge },
    readers: createReaderCache((fileIndex) => openPlanned(job.source(fileIndex), fileAt(job.ledger, fileIndex).plan)),
    isExpired: addresses.isExpired,
    // Whatever one attempt says, nothing else of a file goes while another hangs.
    hold: (fileIndex, isHeld) => options.hold(fileIndex, isHeld || runningOf(fileIndex).some(({ isHung }) => isHung)),
    onSent({ unit, sentBytes }, grownBytes) {
      onBytes(grownBytes)
      job.report({ type: 'sent', unit, sentBytes })
    },
  }
  const runningOf = (fileIndex: number): Attempt[] => running.filter(({ unit }) => unit.fileIndex === fileIndex)

  return {
    running,
    async send({ turn: { unit, isFreshConnection }, file, address }, onFree) {
      const attempt: Attempt = {
        unit,
        lengthBytes: unit.end - unit.start,
        address,
        isFreshConnection,
        isWhole: unit.start === partAt(file, unit.partNumber).start,
        controller: transport.controllers?.take() ?? new AbortController(),
        onFree,
        isSending: false,
        isHung: undefined,
        sentBytes: 0,
        hasTold: false,
        watchdog: undefined,
        lease: undefined,
        expiry: undefined,
        end: undefined,
      }
      // Before it begins: what its source does may stop the session.
      running.push(attempt)
      const { signal } = attempt.controller
      attempt.end = unlessLate(clock, signal, sendPart(sending, attempt), () => leave(attempt))
      try {
        return await attempt.end
      } finally {
        running.splice(running.indexOf(attempt), 1)
        // Only now: until here it might be aborted, and another attempt must not get it then.
        transport.controllers?.giveBack(attempt.controller)
      }
    },
    abortFile(fileIndex, reason) {
      for (const { controller } of runningOf(fileIndex)) controller.abort(reason)
    },
    idle: (fileIndex) => Promise.allSettled(runningOf(fileIndex).map(async ({ end }) => end)),
    resetStraggler: (nowMs, isTail) => stragglers?.look(running, nowMs, isTail),
    abortAll(reason) {
      for (const { controller } of running) controller.abort(reason)
    },
  }
}

/** The current address of a unit. */
export function addressOf(file: LedgerFile, unit: Unit): SignedAddress {
  return readAddress(known(file.addresses[unit.partNumber - 1]))
}
