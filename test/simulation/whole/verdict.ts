// What must be true when a life has ended: nothing is left open, and the report is true. Also decides whether anything is left to do.

import { foldJournal, sessionsOf, type FoldedJournal } from '../../../src/core/journal/fold-journal.ts'
import { makeReceipt, type DeliveredFile } from '../../../src/flows/receipt.ts'
import type { FileReport, UploadReport } from '../../../src/flows/upload.ts'
import type { Uplink } from '../../../src/index.ts'
import { readS3Session } from '../../../src/protocols/s3-session.ts'
import type { FarEnd } from './far-end.ts'
import type { Life } from './life.ts'
import { LONG_LIFE_MS, type Night } from './night.ts'
import type { World } from './night-world.ts'
import type { Handles } from './source.ts'
import type { Watch } from './watch.ts'

/** Checks that nothing of the client is under way or open. */
export function checkEnd(
  { watch, disk }: World,
  life: Life,
  handles: Handles,
  uplink: Uplink,
  { key }: UploadReport,
): void {
  if (watch.inFlight() > 0) watch.violate('attempts are in flight after the end')
  if (disk.isLeased(key)) watch.violate('the journal is held after the end')
  if (uplink.stats().inFlight > 0) watch.violate('slots are taken after the end')
  if (life.timerCount() > 0) watch.violate(`${String(life.timerCount())} timers are set after the end`)
  if (handles.openCount > 0) watch.violate(`${String(handles.openCount)} files are open after the end`)
}

/** Checks that what the host is told is true and in the journal. */
export function checkReport({ watch, farEnd, night, disk, trouble, note }: World, report: UploadReport): void {
  note(() => `report ${JSON.stringify(report)}`)
  watch.shown(report)
  checkKeys(night, watch, report)
  const isAllConfirmed = report.files.length > 0 && report.files.every((file) => file.status === 'confirmed')
  if (report.status === 'confirmed' && !isAllConfirmed) watch.violate('confirmed as a whole, and not every file is')
  report.files.forEach((file, index) => checkFile(night, farEnd, watch, file, index))
  const records = disk.records(report.key)
  if (records.length === 0) return
  const folded = foldJournal(records)
  const receipt = makeReceipt(records)
  for (const file of receipt.files) checkReceipt(night, farEnd, watch, { sessionId: receipt.sessionId ?? '', ...file })
  folded.ledger.files.forEach((file, index) => {
    const told = report.files[index]!.status
    const kept = file.state === 'confirmed' || file.state === 'failed' ? file.state : 'unfinished'
    if (told !== kept) watch.violate(`${file.plan.name} is told as ${told} and kept as ${kept}`)
  })
  if (folded.leftSessionIds.length > 0 && report.status === 'confirmed' && trouble.isCalm())
    watch.violate('a reachable service was not told of a session that nobody uses')
  const answeredFor = new Set(answeredForBy(night, folded))
  if (night.flow !== 'capture' && report.status !== 'closed' && isAllKnown(night, folded))
    for (const sessionId of farEnd.openSessionIds())
      if (!answeredFor.has(sessionId)) watch.violate('a session that holds no file is neither ended nor remembered')
  for (const file of folded.ledger.files)
    if (
      !watch.host.isCancelAsked &&
      (file.mayBeConfirmed || !watch.host.isDiscardAsked) &&
      farEnd.isCancelled(sessionOf(night, file) ?? '')
    )
      watch.violate('a session was ended that holds a file')
  const isKept = report.status === 'confirmed' || report.status === 'cancelled'
  if (isKept && folded.place !== report.status && report.error?.code !== 'ERR_UPLOAD_JOURNAL')
    watch.violate(`the session is told as ${report.status} and kept as ${folded.place}`)
}

/** While the machine sleeps, a key may lapse that another call has got just before. */
function checkKeys({ keys, suspends }: Night, watch: Watch, report: UploadReport): void {
  const isRefused = ({ error }: Pick<FileReport, 'error'>): boolean => error?.code === 'ERR_UPLOAD_CREDENTIALS_REFUSED'
  if (keys?.failShare === 0 && suspends.length === 0 && [report, ...report.files].some(isRefused))
    watch.violate('a key lapsed, and the next one was not used')
}

/** Whether the client knows of every session. Nobody is told of one whose create arrived twice. */
function isAllKnown({ serviceFaultShare, serviceFaults }: Night, { hasPossibleOrphan }: FoldedJournal): boolean {
  return !hasPossibleOrphan && (serviceFaultShare === 0 || !serviceFaults.includes('twice'))
}

/**
 * The sessions that the service should have been told of by a cancel, or by a discard, and was not. Where the client can know of all
 * of them, it is not asked which.
 */
function untoldSessions({ night, farEnd, watch }: World, folded: FoldedJournal | undefined): readonly unknown[] {
  if (night.flow === 'capture' || folded === undefined) return []
  const open = farEnd.openSessionIds()
  if (!isAllKnown(night, folded)) {
    const known = far(night, sessionsOf(folded))
    return open.filter((id) => known.includes(id))
  }
  const { files } = folded.ledger
  const kept = far(
    night,
    files.flatMap((file) => (file.mayBeConfirmed ? (file.sessionId ?? folded.sessionId ?? []) : [])),
  )
  const isKept = (id: string): boolean => watch.host.isDiscardAsked && (farEnd.hasConfirmed(id) || kept.includes(id))
  return open.filter((id) => !isKept(id))
}

/** The sessions of the far end that the client's ids stand for. To a store, each upload is one. */
function far({ flow }: Night, sessionIds: readonly (string | number)[]): readonly unknown[] {
  return flow === 'store' ? sessionIds.flatMap((id) => readS3Session(id).map(({ uploadId }) => uploadId)) : sessionIds
}

interface Filed {
  readonly sessionId?: string | number | undefined
  readonly serverFileId?: string | number | undefined
}

/** The session of the far end that holds a file. */
function sessionOf({ flow }: Night, file: Filed): string | number | undefined {
  return flow === 'store' ? file.serverFileId : file.sessionId
}

/** The sessions that the client still knows to hold files of the upload, or has yet to end. */
function answeredForBy(night: Night, folded: FoldedJournal): readonly unknown[] {
  // Files that are not signed yet have no session of their own.
  if (night.flow === 'store') return far(night, sessionsOf(folded, false))
  return [...folded.ledger.files.map((file) => file.sessionId), ...folded.leftSessionIds]
}

/** Whether the service may know the name from somebody else. It then does so for good. */
function isTheirs({ given, serviceFaults, serviceFaultShare }: Night, name: string): boolean {
  if (given === undefined || given.isReprocess) return false
  // A registration that arrives twice is refused the second time, and that answer is all that is heard.
  return given.theirs.includes(name) || (serviceFaultShare > 0 && serviceFaults.includes('twice'))
}

function checkFile(night: Night, farEnd: FarEnd, watch: Watch, file: FileReport, index: number): void {
  const { name, bytes } = night.files[index]!
  if (file.verified && (night.isOpaque || night.verify === 'off')) watch.violate(`${name} is called verified`)
  if (file.status !== 'confirmed') return
  const stored = farEnd.stored(name)
  if (stored === undefined || Buffer.compare(stored, bytes) !== 0) watch.violate(`${name} is told as confirmed`)
  if (night.flow !== 'capture' && !night.isOpaque && night.verify !== 'off' && !file.verified)
    watch.violate(`${name} could be verified and was not`)
}

/** A capture needs no ETag, and a late repetition of it gives it another opaque one, and the same bytes. */
function checkReceipt(night: Night, farEnd: FarEnd, watch: Watch, file: DeliveredFile): void {
  const { flow, isOpaque } = night
  if (file.status !== 'confirmed' || (flow === 'capture' && isOpaque)) return
  for (const { partNumber, etag } of file.parts) {
    if (flow === 'capture' && etag === undefined) continue
    if (farEnd.part(String(sessionOf(night, file)), file.name, partNumber)?.etag !== etag)
      watch.violate(`the receipt of ${file.name} lists part ${String(partNumber)} with another ETag than the storage`)
  }
}

/** Whether nothing is left to do. What a later life could finish is left to a later life. */
export function isOver(world: World, report: UploadReport): boolean {
  const { night, watch, trouble, files, farEnd, disk } = world
  if (report.status === 'confirmed') return true
  const records = disk.records(report.key)
  const folded = records.length === 0 ? undefined : foldJournal(records)
  if (report.status === 'cancelled' && watch.host.isDiscardAsked) {
    const left = untoldSessions(world, folded)
    if (report.isServiceTold === true && left.length > 0) watch.violate('the service was not told of the discard')
    if (left.length > 0 && trouble.isCalm()) watch.violate('a reachable service could not be told of the discard')
    return left.length === 0
  }
  if (report.status === 'cancelled') {
    if (!watch.host.isCancelAsked) watch.violate('cancelled, and nobody asked for it')
    const { sessionId } = report
    const isTold = night.flow === 'capture' || sessionId === undefined || report.isServiceTold === true
    if (isTold && sessionId !== undefined && untoldSessions(world, folded).length > 0)
      watch.violate('the service was not told of the cancel')
    // If the disk was full, the journal does not know that an earlier life has told the service.
    const isForgotten = night.troubledLives.some((plan) => plan.fullDiskAt !== undefined)
    if (!isTold && trouble.isCalm() && isForgotten && farEnd.isCancelled(sessionId)) return true
    if (!isTold && trouble.isCalm()) watch.violate('a reachable service could not be told of the cancel')
    return isTold
  }
  if (report.status === 'closed') {
    if (!watch.host.isCloseAsked) watch.violate('closed, and nobody asked for it')
    return false
  }
  if (!trouble.isCalm()) return false
  const isExcused = (file: FileReport, index: number): boolean =>
    file.status === 'confirmed' ||
    (files[index]!.isChanged && file.error?.code === 'ERR_UPLOAD_SOURCE_CHANGED') ||
    (night.denial?.fileIndex === index && file.error?.code === 'ERR_UPLOAD_SOURCE_READ') ||
    (isTheirs(night, file.name) && file.error?.status === 409)
  const isDenied = files.some((file) => file.isDenied === true)
  const isReadFailure = ({ error }: Pick<FileReport, 'error'>): boolean => error?.code === 'ERR_UPLOAD_SOURCE_READ'
  // What can be read again by now is left to a later life. If it still cannot be, nobody can do more.
  if (report.files.length > 0 && report.files.every(isExcused)) return isDenied || !report.files.some(isReadFailure)
  if (report.files.length === 0 && night.denial !== undefined && isReadFailure(report)) return isDenied
  // What a store has swept away before its first part, or after its last, or completed without a word that proves it, needs a resume.
  const isGone = ({ error }: FileReport): boolean =>
    night.flow === 'store' && /_(?:CONFIRM|ADDRESS)_REFUSED$/.test(error?.code ?? '')
  if (report.files.some(isGone) && report.files.every((file, index) => isGone(file) || isExcused(file, index)))
    return false
  // The last addresses from the troubled lives were too short-lived for this line. New ones are not. An outage is no line.
  const isShortOfTime = ({ status, error }: FileReport): boolean =>
    status === 'confirmed' || (error?.code === 'ERR_UPLOAD_ADDRESS_EXPIRED' && !error.message.includes(' 0 B/s'))
  if (night.addressLifeMs < LONG_LIFE_MS && report.files.every(isShortOfTime)) return false
  watch.violate(`nothing went wrong in the last life, and it ended as ${report.status}: ${JSON.stringify(report)}`)
  return true
}
