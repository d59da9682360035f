// What happens when addresses die: the host gives new ones, or the names are registered again, or, where the service cannot sign
// again, a new session takes over the unfinished files. A new one also takes a file whose own upload is gone. That last way voids
// receipts, and the host is told so.

import { isUploadError, isUploadGone, UploadError } from '../core/errors.ts'
import { given } from '../core/given.ts'
import { isReceived, receivedBytesOf, type LedgerFile } from '../core/journal/ledger.ts'
import { foreignWords } from '../core/redact.ts'
import { sleep } from '../core/time/sleep.ts'
import type { TransferJob } from '../core/transfer/transfer-job.ts'
import { checkLife } from './address-life.ts'
import { wrong } from '../protocols/match-addresses.ts'
import { checkAddressed } from './check-addressed.ts'
import type { DrivenSession } from './driven-session.ts'
import { openSession } from './open-session.ts'
import type { Registration } from './registration.ts'
import { timeout, withinTime } from '../core/time/within-time.ts'

/**
 * A host's own way to sign again. Returns one address per requested part number, in the same order. If it fails or takes longer
 * than a minute, only this file fails.
 */
export type RenewAddresses = (request: {
  readonly sessionId: string | number
  readonly serverFileId: string | number | undefined
  readonly fileName: string
  readonly partNumbers: readonly number[]
}) => Promise<readonly string[]>

/** A new session of the service took the unfinished files of one whose addresses died. */
export interface SessionReplaced {
  readonly oldSessionId: string | number
  readonly newSessionId: string | number
  /** Files that stay where they are, because they are confirmed, have all their receipts, or were in another session. */
  readonly filesKept: number
  readonly filesMoved: number
  /** Bytes that had receipts and must be sent again. */
  readonly bytesVoided: number
}

export interface RenewalOptions extends DrivenSession {
  readonly renewAddresses?: RenewAddresses | undefined
  /** The rate measured while bytes moved steadily; 0 while unknown. */
  readonly bytesPerSecond: () => number
  /** `hasPossibleOrphan`: an earlier try to create the new session had no clear answer. */
  readonly onReplaced: (event: SessionReplaced, hasPossibleOrphan: boolean) => void
}

/** Consecutive refusals, with no part accepted, before the storage is believed. Dead addresses do not count towards a new session. */
const MAX_REFUSALS = 3
const CONTRADICTION_WAIT_MS = 1_000
const RENEW_WITHIN_MS = 60_000
const unsigned = (): Error => timeout('renewAddresses gave no answer in time.')

/**
 * Makes the function that renews the addresses of a file. It resolves to true when the file has live addresses, and rejects when it
 * never will. `register`: see Registration.again.
 */
export function createRenewal(options: RenewalOptions, register: Registration['again']): TransferJob['renew'] {
  const { record, protocol, renewAddresses, clock } = options
  const refusals = new Map<LedgerFile, { count: number; receivedCount: number }>()
  /** Only the sessions of this transfer count, so that a person who tries again gets a fresh set of tries. */
  const generationsBefore = record.ledger().files.map((file) => file.generation)
  /** How often each file asked for a new session itself. Files that wait for their turn are moved along. */
  const asked = new Map<LedgerFile, number>()
  let replacing: Promise<void> | undefined

  /**
   * Counts consecutive refusals with no part accepted. An accepted part resets the count, so that a large file goes on even if its
   * addresses live no longer than one part takes.
   */
  const countOf = (file: LedgerFile): number => {
    const { receivedCount } = file
    const before = refusals.get(file) ?? { count: 0, receivedCount }
    const count = before.receivedCount >= receivedCount ? before.count + 1 : 1
    refusals.set(file, { count, receivedCount })
    return count
  }

  return async (file, reason) => {
    const { isDead, error, signal } = reason
    if (renewAddresses) return askHost(options, renewAddresses, file, signal)
    const isExpired = error.code === 'ERR_UPLOAD_ADDRESS_EXPIRED'
    const isGone = protocol.confirm && isUploadGone(error)
    if (protocol.register && !isGone) {
      if (countOf(file) > MAX_REFUSALS) return false
      // Where it is refused, the service's reason is the file's: it may not know the session any more, which no later try changes.
      await register(file, signal)
      return true
    }
    // A new session voids receipts, so a refusal that contradicts the address's own deadline is not believed at once. The same
    // address is tried again the first few times, and for as long as other parts of the file get through.
    const count = isDead ? Infinity : countOf(file)
    if (count <= MAX_REFUSALS) {
      await sleep(clock, CONTRADICTION_WAIT_MS * count, signal)
      return true
    }
    const { generation } = file
    // The addresses are new, were refused without a word of expiry, and took no part: another session would fare no better.
    if (!isDead && !isExpired && generation > 0 && file.receivedCount === 0) return false
    refusals.delete(file)
    const tries = asked.get(file) ?? 0
    asked.set(file, tries + 1)
    const moves = generation - (generationsBefore[file.plan.fileIndex] ?? 0)
    checkLife(options, file, { ...reason, isExpired, tries, moves })
    // Many files find their addresses dead at the same time, and one new session serves them all. A session that was already being
    // made may have been requested without this file, so there can be another round. A file that fails meanwhile needs none.
    while (file.generation === generation && file.state === 'ready') {
      const isOwn = !replacing
      replacing ??= replaceSession(options, file, signal).finally(() => (replacing = undefined))
      await replacing.catch((failure: unknown) => {
        // What the store refuses to one file that has an upload of its own, it may grant to the next.
        if (isOwn || signal.aborted || !protocol.register || (failure as UploadError).isRetryable) throw failure
      })
    }
    return file.generation > generation
  }
}

async function askHost(
  options: RenewalOptions,
  renewAddresses: RenewAddresses,
  file: LedgerFile,
  signal: AbortSignal,
): Promise<boolean> {
  const { record, clock } = options
  const missing = file.parts.filter((part) => !isReceived(part)).map((part) => part.partNumber)
  const sessionId = record.sessionOf(file)
  const { serverFileId } = file
  let signed: readonly string[]
  try {
    const ask = async () => renewAddresses({ sessionId, serverFileId, fileName: file.plan.name, partNumbers: missing })
    signed = await withinTime(clock, RENEW_WITHIN_MS, unsigned, ask, signal)
  } catch (error) {
    if (signal.aborted || isUploadError(error)) throw error
    // The host's own error fails this file. It is not a bug of ours that ends the session.
    const message = `renewAddresses failed: ${foreignWords(error)}`
    throw new UploadError('ERR_UPLOAD_SERVICE_REPLY', message, { cause: error })
  }
  // A host in plain JavaScript may return nothing.
  const count = (signed as typeof signed | null)?.length
  if (count !== missing.length)
    wrong(`renewAddresses gave ${count ?? 'no'} addresses for the ${missing.length} parts asked for.`)
  const addresses = [...file.addresses]
  missing.forEach((partNumber, index) => (addresses[partNumber - 1] = signed[index] ?? ''))
  const { fileIndex } = file.plan
  const renewed = [{ fileIndex, addresses, ...given({ serverFileId }) }]
  checkAddressed([file.plan], renewed, options.protocol, options)
  await record.write({ type: 'files.registered', files: renewed })
  return true
}

/**
 * Where each file has an upload of its own, as where names are registered, the others stay in theirs. Files that were moved before
 * stay there, too: their addresses are newer, and what was sent to them would be lost.
 */
async function replaceSession(options: RenewalOptions, gone: LedgerFile, signal: AbortSignal): Promise<void> {
  const { record, protocol } = options
  const { files } = record.ledger()
  const oldSessionId = record.sessionOf(gone)
  const asked = protocol.register
    ? [gone]
    : files.filter(({ state, sessionId }) => state === 'ready' && sessionId === gone.sessionId)
  const plans = asked.map((file) => file.plan)
  await record.write({ type: 'session.creating' })
  const created = await openSession(options, plans, signal)
  const { sessionId: newSessionId, hasPossibleOrphan = false, files: addressed = [] } = created
  // More answers came in the meantime: a file that now has all its receipts, or has failed, stays where it is.
  const bytesVoided = receivedBytesOf(asked.filter((file) => file.state === 'ready'))
  await record.write({ type: 'session.replaced', sessionId: newSessionId, files: addressed, hasPossibleOrphan })
  const filesMoved = addressed.filter(({ fileIndex, addresses }) => files[fileIndex]?.addresses === addresses).length
  options.onReplaced(
    { oldSessionId, newSessionId, filesMoved, filesKept: files.length - filesMoved, bytesVoided },
    hasPossibleOrphan,
  )
}
