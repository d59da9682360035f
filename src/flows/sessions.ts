// A session of the journal: taken up again where its journal ends, given up, or its receipt.

import { checkAddress } from '../core/address/address-policy.ts'
import { invalid, isUploadError, UploadError, type HttpStatusError } from '../core/errors.ts'
import { given } from '../core/given.ts'
import type { FoldedJournal } from '../core/journal/fold-journal.ts'
import type { JournalRecord } from '../core/journal/journal.ts'
import type { Protocol, Source } from '../core/ports.ts'
import { captureProtocol, checkCaptureParams } from './captures.ts'
import { endLeftSessions } from './end-sessions.ts'
import { makeReceipt, type DeliveryReceipt } from './receipt.ts'
import type { RenewAddresses } from './renewal.ts'
import { createSessionRecord, type SessionRecord } from './session-record.ts'
import type { UploadDefinition } from './upload-definition.ts'
import { driveSession } from './upload-session.ts'
import type { Upload, UploadReport } from './upload.ts'
import { checkVideoParams, videoProtocol, type FlowContext } from './videos.ts'

export type { SessionSummary } from './session-list.ts'

export interface ResumeOptions {
  /** Finds a file again. Default: the platform's own, by the place where it was found first. */
  readonly source?: (file: { readonly name: string; readonly location: string; readonly fileIndex: number }) => Source
  /** `full` reads every part again that was sent before; default `sample`: the first, the last and three others. */
  readonly verifyDepth?: 'sample' | 'full'
  readonly renewAddresses?: RenewAddresses
  /** As in `uploadVideos`: a function that no journal can hold. */
  readonly isAlreadyConfirmed?: (error: HttpStatusError) => boolean
  /** For a session of `uplink.upload`: its protocol again, which no journal can hold. */
  readonly protocol?: Protocol
}

/**
 * Takes a session up where its journal ends; files that had failed are tried once more. Rejects with ERR_UPLOAD_JOURNAL
 * when it is unknown, damaged, driven by another process, or cannot go on.
 */
export async function resumeSession(context: FlowContext, key: string, options: ResumeOptions): Promise<Upload> {
  const record = await openSession(context, key)
  try {
    const { place } = foldedOf(record)
    if (place === 'cancelled' || place === 'cancelling') {
      throw new UploadError('ERR_UPLOAD_JOURNAL', `${key} was cancelled and cannot be resumed. Upload its files anew.`)
    }
    checkKeptAddresses(context, foldedOf(record))
    const definition = definitionOf(context, foldedOf(record), options)
    if (place !== 'confirmed') await record.write({ type: 'session.resumed' })
    // A confirmed session is not driven any more, and settles at once.
    else await endLeftSessions({ record, protocol: definition.protocol, clock: context.clock })
    return driveSession(context, definition, record)
  } catch (error) {
    await record.close()
    throw error
  }
}

/** Gives an upload up and tells the service, where it has a call for that, of every session that holds its files. Safe to repeat until the service was told. */
export async function cancelSession(
  context: FlowContext,
  key: string,
  options: Pick<ResumeOptions, 'protocol'> = {},
): Promise<UploadReport> {
  const record = await openSession(context, key)
  try {
    const { place } = foldedOf(record)
    if (place === 'confirmed')
      throw new UploadError('ERR_UPLOAD_JOURNAL', `${key} is confirmed; there is nothing to cancel.`)
    await record.write({ type: 'session.cancelling' })
    const wasCancelAsked = place === 'cancelling' || place === 'cancelled'
    const definition = { ...definitionOf(context, foldedOf(record), options), wasCancelAsked }
    return await driveSession(context, definition, record).cancel()
  } catch (error) {
    await record.close()
    throw error
  }
}

/** What a session delivered so far. Takes no lease. Rejects with ERR_UPLOAD_JOURNAL when it is unknown or damaged. */
export async function receiptOf({ journal }: FlowContext, key: string): Promise<DeliveryReceipt> {
  const records = await journal.read(key)
  checkKnown(key, records)
  return makeReceipt(records)
}

async function openSession({ journal, clock }: FlowContext, key: string): Promise<SessionRecord> {
  const session = await journal.open(key)
  try {
    checkKnown(key, session.records)
    return createSessionRecord(journal, clock, key, session)
  } catch (error) {
    await session.close()
    throw error
  }
}

function checkKnown(key: string, records: readonly JournalRecord[]): void {
  if (records.length === 0) throw new UploadError('ERR_UPLOAD_JOURNAL', `No session ${key} is in the journal.`)
}

function foldedOf(record: SessionRecord): FoldedJournal {
  return record.folded() ?? invalid('The session has not begun.')
}

function definitionOf(context: FlowContext, folded: FoldedJournal, options: ResumeOptions): UploadDefinition {
  const { flow, params, ledger, locations } = folded
  const source = options.source ?? context.sourceAt
  return {
    flow,
    params,
    protocol: protocolOf(context, folded, options),
    renewAddresses: options.renewAddresses,
    verifyDepth: options.verifyDepth ?? context.verifyDepth,
    files: ledger.files.map(({ plan: { fileIndex, name } }) => {
      const location = locations[fileIndex] ?? name
      return { source: source?.({ name, location, fileIndex }) ?? missingSource(name) }
    }),
  }
}

/** Addresses of an earlier life go by the rules of this one. */
function checkKeptAddresses(context: FlowContext, { ledger }: FoldedJournal): void {
  for (const file of ledger.files) {
    if (file.state === 'confirmed') continue
    for (const address of file.addresses) checkAddress(address, context)
  }
}

/** The journal is data from a disk: its fields are checked as a person's are, and those that are no fields are left out. */
function protocolOf(context: FlowContext, { flow, params }: FoldedJournal, options: ResumeOptions): Protocol {
  const { protocol, isAlreadyConfirmed } = options
  if (flow === 'custom')
    return protocol ?? invalid('This session was begun with a protocol of the host: give it again.')
  const own = given({ isAlreadyConfirmed })
  try {
    if (flow === 'video') return videoProtocol(context, checkVideoParams(params), own)
    return captureProtocol(context, checkCaptureParams(params))
  } catch (error) {
    if (!isUploadError(error)) throw error
    const message = `The journal of this session is damaged, in what it says of the session's fields: ${error.message}`
    throw new UploadError('ERR_UPLOAD_JOURNAL', message, { cause: error })
  }
}

function missingSource(name: string): Source {
  const gone = (): Promise<never> =>
    Promise.reject(new UploadError('ERR_UPLOAD_SOURCE_READ', `${name} has to be given again to go on.`))
  return { name, describe: gone, open: gone }
}
