// How a file is confirmed whose parts are all stored: what must be read again is read, the service is asked where the protocol has
// a call for that, and the answer is recorded. It decides what a refusal means for the parts.

import { isGone } from '../client/status.ts'
import { isUploadError, known, wasInVain } from '../core/errors.ts'
import { given } from '../core/given.ts'
import type { LedgerFile } from '../core/journal/ledger.ts'
import type { OnWaiting } from '../core/ports.ts'
import { sleep } from '../core/time/sleep.ts'
import type { TransferJob } from '../core/transfer/transfer-job.ts'
import type { DrivenSession } from './driven-session.ts'
import { callProtocol } from './protocol-call.ts'
import type { SourceProof } from './prove-sources.ts'

/**
 * How often a confirmation may be refused while parts are doubtful, before the refusal is believed. One that says that the service does
 * not know the file is believed the second time: it may be another service, or restored from a backup, and would never take it.
 */
const MAX_REFUSALS = 6
const WAIT_MS = 1_000

/** Makes the function that confirms a file; see TransferJob.finish. */
export function createConfirmation(
  session: DrivenSession,
  readAgain: SourceProof['readAgain'] | undefined,
): TransferJob['finish'] {
  const { record, protocol, report, clock } = session
  const refusalsOf = new Map<LedgerFile, number>()

  const confirmed = ({ plan: { fileIndex } }: LedgerFile, sha256?: string): Promise<undefined> | undefined =>
    record.write({ type: 'file.confirmed', fileIndex, ...given({ sha256 }) })?.then(() => undefined)
  const confirm = async (
    file: LedgerFile,
    reading: Promise<string | undefined> | undefined,
    signal: AbortSignal,
  ): Promise<readonly number[] | undefined> => {
    const { fileIndex } = file.plan
    const { mayBeConfirmed } = file
    // A yes of an earlier run may have been lost: then the file is there, and must not be sent twice.
    const isSweepable = file.addressesWere !== undefined && !mayBeConfirmed
    const sha256 = await reading
    if (!protocol.confirm) return confirmed(file, sha256)
    await record.write({ type: 'file.confirming', fileIndex })
    report({ type: 'fileState', file })
    try {
      // Some services refuse a second confirmation, so the answer to one under way is waited for.
      const ask = async (onWaiting: OnWaiting, lasting: AbortSignal) =>
        protocol.confirm?.(
          record.sessionOf(file),
          file.serverFileId ?? fileIndex,
          file.parts.map(({ partNumber, receipt }) => ({ partNumber, receipt: known(receipt) })),
          lasting,
          onWaiting,
        )
      await callProtocol(session, signal, ask)
    } catch (error) {
      // The service said no, or nobody can have heard of it. Otherwise a discard would keep the session for the sake of a file that
      // nobody can have confirmed.
      if (!mayBeConfirmed && wasInVain(error)) await record.write({ type: 'parts.voided', fileIndex, partNumbers: [] })
      const refusals = (refusalsOf.get(file) ?? 0) + 1
      // The storage need not hold any more what it acknowledged in an earlier run.
      const areAllDoubtful = isSweepable && refusals === 1
      const doubtful = file.parts.filter((part) => areAllDoubtful || part.isDoubtful).map((part) => part.partNumber)
      const isDoubtful = isUploadError(error) && error.code === 'ERR_UPLOAD_CONFIRM_REFUSED' && doubtful.length > 0
      if (!isDoubtful || refusals > MAX_REFUSALS || (refusals > 1 && isGone(error.cause))) throw error
      refusalsOf.set(file, refusals)
      // A doubtful attempt may have arrived late and replaced a part after its receipt. Exactly the doubtful parts are sent
      // again. From the second refusal on, attempts that may still be under way get time to arrive first.
      if (refusals > 1) await sleep(clock, WAIT_MS * 2 ** (refusals - 2), signal)
      await record.write({ type: 'parts.voided', fileIndex, partNumbers: doubtful })
      return doubtful
    }
    return confirmed(file, sha256)
  }

  return (file, signal, onHang) => {
    const reading = readAgain?.(file, signal, onHang)
    return reading || protocol.confirm ? confirm(file, reading, signal) : confirmed(file)
  }
}
