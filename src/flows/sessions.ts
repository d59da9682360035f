// What can be done with a session of the journal: resume it, give it up, or make its receipt.

import { checkAddress } from '../core/address/address-policy.ts'
import { invalid, known, summarize, UploadError, type HttpStatusError } from '../core/errors.ts'
import { isGivenUp, sessionsOf, type FoldedJournal } from '../core/journal/fold-journal.ts'
import type { JournalRecord } from '../core/journal/journal.ts'
import { soughtFiles } from '../core/journal/sought-files.ts'
import type { Protocol, SoughtFile, Source } from '../core/ports.ts'
import { captureSession } from '../protocols/capture-session.ts'
import { videoSession } from '../protocols/video-session.ts'
import { checkCaptureParams } from './captures.ts'
import { endLeftSessions } from './end-sessions.ts'
import { makeReceipt, type DeliveryReceipt } from './receipt.ts'
import type { RenewAddresses } from './renewal.ts'
import type { LettingGo } from './running.ts'
import { createSessionRecord, type SessionRecord } from './session-record.ts'
import type { FlowContext, UploadDefinition } from './upload-definition.ts'
import { driveSession } from './upload-session.ts'
import type { Upload, UploadReport } from './upload.ts'
import { checkVideoParams } from './videos.ts'

export type { SessionSummary } from './session-list.ts'

/** What a journal cannot hold, and so must be given again. */
export interface ResumeOptions extends LettingGo {
  /** Finds a file again; called for all files before any is opened. Default: the platform's own, by the file's first location. */
  readonly source?: ((file: SoughtFile) => Source) | undefined
  /** As in `uploadVideos`. */
  readonly renewAddresses?: RenewAddresses | undefined
  /** As in `uploadVideos`. It must be given again, because a journal cannot hold a function. */
  readonly isAlreadyConfirmed?: ((error: HttpStatusError) => boolean) | undefined
  /** The protocol of a session of `uplink.upload`. It must be given again, because a journal cannot hold it. */
  readonly protocol?: Protocol | undefined
}

/**
 * Continues a session where its journal ends, and tries failed files once more. Rejects with ERR_UPLOAD_JOURNAL when the session is
 * unknown, damaged, driven by another process, or cannot go on.
 */
export function resumeSession(context: FlowContext, key: string, options: ResumeOptions): Promise<Upload> {
  return takeUp(context, key, async (record, folded) => {
    const { place } = folded
    if (isGivenUp(folded)) {
      throw new UploadError(
        'ERR_UPLOAD_JOURNAL',
        `${key} was cancelled and cannot be resumed. Upload what it lacks anew.`,
      )
    }
    checkKeptAddresses(context, folded)
    const { memory } = context
    memory.hasAnswered ||= folded.host === memory.host && wasAnswered(folded)
    const definition = definitionOf(context, folded, options)
    if (place !== 'confirmed') await record.write({ type: 'session.resumed' })
    // A confirmed session is not driven any more and settles at once.
    else await endLeftSessions({ ...context, ...definition, record })
    return driveSession(context, definition, record)
  })
}

/**
 * Gives an upload up. Where the service has a call for that, it is told about every session that holds files of this upload; with
 * `isKept`, only about those without a confirmed file. Safe to repeat until the service was told.
 */
export function endSession(
  context: FlowContext,
  key: string,
  isKept: boolean,
  options: Pick<ResumeOptions, 'protocol'> = {},
): Promise<UploadReport> {
  return takeUp(context, key, async (record, folded) => {
    const { place, keepsConfirmed } = folded
    if (place === 'confirmed' && !isKept)
      throw new UploadError('ERR_UPLOAD_JOURNAL', `${key} is confirmed; there is nothing to cancel.`)
    const wasCancelAsked = isGivenUp(folded)
    const definition = Object.assign(definitionOf(context, folded, options), { wasCancelAsked })
    // If the whole session was to be given up earlier, the service may know that already, so `isKept` comes too late.
    const keeps = isKept && (keepsConfirmed || !wasCancelAsked)
    if (place !== 'confirmed') await record.write({ type: 'session.cancelling', keepsConfirmed: keeps })
    return driveSession(context, definition, record).cancel()
  })
}

/** What a session has delivered so far. Takes no lease. Rejects with ERR_UPLOAD_JOURNAL when the session is unknown or damaged. */
export async function receiptOf({ journal }: FlowContext, key: string): Promise<DeliveryReceipt> {
  const records = await journal.read(key)
  checkKnown(key, records)
  return makeReceipt(records)
}

/** Opens a session and continues with it. If that fails before the session is driven, it is closed again. */
async function takeUp<T>(
  { journal, clock }: FlowContext,
  key: string,
  goOn: (record: SessionRecord, folded: FoldedJournal) => Promise<T>,
): Promise<T> {
  const session = await journal.open(key)
  try {
    checkKnown(key, session.records)
    const record = createSessionRecord(journal, clock, key, session)
    return await goOn(record, known(record.folded()))
  } catch (error) {
    await session.close().catch(() => undefined)
    throw error
  }
}

function checkKnown(key: string, records: readonly JournalRecord[]): void {
  if (records.length === 0) throw new UploadError('ERR_UPLOAD_JOURNAL', `No session ${key} is in the journal.`)
}

function definitionOf(context: FlowContext, folded: FoldedJournal, options: ResumeOptions): UploadDefinition {
  const { flow, params } = folded
  const source = options.source ?? context.sourceAt
  return {
    flow,
    params,
    protocol: protocolOf(context, folded, options),
    renewAddresses: options.renewAddresses,
    signal: options.signal,
    files: soughtFiles(folded).map((sought) => ({ source: source?.(sought) ?? missingSource(sought.name) })),
  }
}

/** Whether the service made a session for this upload, or gave it an address. A session that was given proves neither. */
function wasAnswered(folded: FoldedJournal): boolean {
  const isMade = sessionsOf(folded).some((sessionId) => sessionId !== folded.params['sessionId'])
  return isMade || folded.ledger.files.some(({ addresses }) => addresses.length > 0)
}

/** Addresses from an earlier run must satisfy the rules of this one. */
function checkKeptAddresses(context: FlowContext, { ledger }: FoldedJournal): void {
  for (const file of ledger.files) {
    if (file.state === 'confirmed') continue
    for (const address of file.addresses) checkAddress(address, context)
  }
}

/**
 * The journal is data from a disk: its fields are checked like a person's input, and unknown ones are dropped. It has no limits of a
 * part, because the parts are planned.
 */
function protocolOf({ client }: FlowContext, { flow, params }: FoldedJournal, options: ResumeOptions): Protocol {
  const { protocol, isAlreadyConfirmed } = options
  if (flow === 'custom')
    return protocol ?? invalid('This session was begun with a protocol of the host: give it again.')
  try {
    if (flow === 'video') return videoSession({ ...checkVideoParams(params), isAlreadyConfirmed, client })
    return captureSession({ ...checkCaptureParams(params), client })
  } catch (cause) {
    const message = `The journal of this session is damaged: ${summarize(cause).message}`
    throw new UploadError('ERR_UPLOAD_JOURNAL', message, { cause })
  }
}

function missingSource(name: string): Source {
  const gone = (): Promise<never> =>
    Promise.reject(new UploadError('ERR_UPLOAD_SOURCE_READ', `${name} has to be given again to go on.`))
  return { name, describe: gone, open: gone }
}
