// Watches an upload's promises while it runs: what is sent, what is journalled, what the host is told. It knows the far
// end's truth and does not trust the client.

import type { JournalRecord } from '../../../src/core/journal/journal.ts'
import { isReceived, type Ledger } from '../../../src/core/journal/ledger.ts'
import type { AddressedFile } from '../../../src/core/ports.ts'
import type { UploadProgress } from '../../../src/flows/upload.ts'
import { API_KEY, SIGNATURE, type FarEnd, type Target } from './far-end.ts'
import type { Night } from './night.ts'
import type { StoreCall } from './store.ts'

/** One request on its way, as the network sees it. */
export interface Sent {
  readonly lifeNumber: number
  readonly url: string
  readonly target: Target | undefined
  /** A call of a store that has no service. */
  readonly store: StoreCall | undefined
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The text of a call of the service; empty for a part. */
  readonly callText: string
}

/** What the checkers must know of the host's wishes. */
export interface HostView {
  isPaused: boolean
  isCancelSettled: boolean
  isCloseAsked: boolean
  isCloseSettled: boolean
  /** Whether the host asked to cancel the session. Kept across lives. */
  isCancelAsked: boolean
  /** The same for a discard, which keeps what is confirmed. Of the two, the first that is asked for counts. */
  isDiscardAsked: boolean
}

export interface Watch {
  readonly violations: string[]
  readonly host: HostView
  violate(what: string): void
  /** A new process begins: nothing of the old one is in flight, and this is what it finds in its journal. */
  beginLife(found?: Ledger): void
  begin(sent: Sent): void
  end(sent: Sent, isAnswered: boolean): void
  /** Nobody can say whether a request was carried out. */
  unsure(sent: Sent): void
  /** A request was answered that it is not to be repeated within this time. */
  refused(sent: Sent, retryAfterMs: number): void
  /** The host asked to go on now, whatever was refused before. */
  goesOn(): void
  /** A record is settled in the journal. */
  onSettled(key: string, record: JournalRecord): void
  confirmAsked(sent: Sent, sessionId: unknown, fileId: unknown): void
  progress(shown: UploadProgress): void
  replaced(): void
  inFlight(): number
  /** Checks that nothing shown to the host has a secret in it. */
  shown(what: unknown): void
}

const REGISTRATION = '/mocap_session_file'
interface Registration {
  readonly filenames: readonly string[]
  readonly reprocess?: boolean
}

/** An attempt may have taken its address this long before a new one came, ms. */
const ADDRESS_TAKEN_MS = 500
/** The engine waits no longer than this because of one answer; it then takes the host for unavailable. */
const LONGEST_RETRY_AFTER_MS = 300_000

export function createWatch(
  night: Night,
  farEnd: () => FarEnd,
  nowMs: () => number,
  log: (line: () => string) => void,
): Watch {
  const violations: string[] = []
  const host: HostView = {
    ...{ isPaused: false, isCancelSettled: false, isCancelAsked: false, isDiscardAsked: false },
    ...{ isCloseAsked: false, isCloseSettled: false },
  }
  const inFlight = new Map<string, Sent>()
  /** Parts on their way to a session that was replaced meanwhile, and when it was. */
  const overtaken = new Map<Sent, number>()
  /** Confirmations on their way. */
  const confirming = new Map<Sent, { readonly sessionId: unknown; readonly fileId: unknown }>()
  const addresses = new Map<string, { readonly list: readonly string[]; readonly sinceMs: number }>()
  const fileIds = new Map<unknown, number>()
  const generations = new Map<number, number>()
  const settledConfirms = new Set<number>()
  /** Files that this life has given up. */
  const failed = new Set<number>()
  const cap = night.concurrency === 'auto' ? 64 : night.concurrency
  /** Parts with a receipt that nothing has voided, as `keyOf` names them. */
  const received = new Set<string>()
  /** When a refused request may be repeated, by what it asks for. */
  const refusals = new Map<string, number>()
  let isCreated = false
  let confirmedBytes = 0

  const violate = (what: string): void => {
    if (violations.length < 20) violations.push(what)
    log(() => `VIOLATION ${what}`)
  }
  const keyOfPart = (fileName: string, partNumber: number): string => `${fileName}/${String(partNumber)}`
  const keyOf = ({ target }: Sent): string => keyOfPart(target?.fileName ?? '', target?.partNumber ?? 0)
  const voidParts = (fileName: string, partNumbers: readonly number[]): void => {
    for (const partNumber of partNumbers) received.delete(keyOfPart(fileName, partNumber))
  }
  const voidFile = (fileName: string): void => {
    for (const key of received) if (key.startsWith(`${fileName}/`)) received.delete(key)
  }
  /** A file that failed, or got its last receipt, while the new session was being made stays in the old one. */
  const hasMoved = ({ fileIndex, addresses: { length } }: AddressedFile): boolean => {
    const { name } = night.files[fileIndex]!
    const isWhole = Array.from({ length }, (_, index) => keyOfPart(name, index + 1)).every((key) => received.has(key))
    return !failed.has(fileIndex) && !isWhole
  }
  const takeAddresses = (files: readonly AddressedFile[]): void => {
    for (const { fileIndex, addresses: list, serverFileId } of files) {
      addresses.set(night.files[fileIndex]!.name, { list, sinceMs: nowMs() })
      if (serverFileId !== undefined) fileIds.set(serverFileId, fileIndex)
    }
  }
  const isOnTheWay = (fileName: string, exceptToSession?: string): boolean => {
    for (const { target } of inFlight.values())
      if (target?.fileName === fileName && target.sessionId !== exceptToSession) return true
    return false
  }
  const beginPut = (sent: Sent, target: Target): void => {
    const key = keyOf(sent)
    if (isOnTheWay(target.fileName, target.sessionId))
      violate(`${key} goes to a new session, and a part of the file is still on its way to the old one`)
    if (inFlight.has(key)) violate(`two attempts of ${key} at once`)
    if (received.has(key)) violate(`${key} is sent again, and its receipt is in the journal`)
    inFlight.set(key, sent)
    if (inFlight.size > cap) violate(`${String(inFlight.size)} parts in flight, and the cap is ${String(cap)}`)
    const known = addresses.get(target.fileName)
    const isCurrent = known?.list.includes(sent.url) === true
    if (!isCurrent && (known === undefined || nowMs() - known.sinceMs > ADDRESS_TAKEN_MS))
      violate(`${key} is sent to an address that was replaced`)
    checkHeaders(sent)
  }
  const checkHeaders = ({ headers }: Sent): void => {
    for (const [name, value] of Object.entries(headers)) {
      if (/^(?:x-api-key|authorization|authentication|cookie)$/.test(name) || value.includes(API_KEY))
        violate('a credential goes to the storage')
    }
  }
  /** A session of the service, or an upload of a store, is about to be ended. */
  const beginEnd = (sessionId: string): void => {
    if ([...inFlight.values()].some(({ target }) => target?.sessionId === sessionId))
      violate('a session is ended while a part is on its way to it')
    if ([...confirming.values()].some((one) => one.sessionId === sessionId))
      violate('a session is ended while a file of it is being confirmed')
  }
  const beginStoreCall = (sent: Sent, call: StoreCall): void => {
    checkHeaders(sent)
    if (call.operation === 'abort') beginEnd(call.uploadId)
  }
  /** Names of captures that an earlier registration of ours may have been heard with. */
  const maybeOurs = new Set<string>()
  const beginRegistration = ({ filenames, reprocess }: Registration): void => {
    const { theirs = [], isReprocess = false } = night.given ?? {}
    if (!reprocess || isReprocess) return
    for (const name of filenames)
      if (theirs.includes(name) && !maybeOurs.has(name)) violate(`${name} of somebody else is overwritten`)
  }
  const beginCall = ({ method, path, headers, callText }: Sent): void => {
    if (!headers['x-api-key']?.startsWith(API_KEY)) violate('a call of the service without its key')
    if (method === 'POST' && path === '/upload_videos' && isCreated && !mayReplace(night))
      violate('a session is created again, and no address had died')
    if (method === 'DELETE' && !host.isCancelAsked && farEnd().hasConfirmed(path.slice(15)))
      violate('a session with a confirmed file is cancelled unasked')
    if (method === 'DELETE') beginEnd(path.slice(15))
    if (path === REGISTRATION) beginRegistration(JSON.parse(callText) as Registration)
  }
  const checkRecord = (key: string, record: JournalRecord): void => {
    if (record.type === 'part.received') {
      const { fileIndex, partNumber, receipt } = record
      const file = night.files[fileIndex]!
      // A receipt of an earlier session proves nothing, and no claim is based on it.
      if ((record.generation ?? 0) !== (generations.get(fileIndex) ?? 0)) return
      received.add(keyOfPart(file.name, partNumber))
      if (receipt.isVerified && night.isOpaque) violate(`${key}: an ETag that is no digest was called verified`)
      if (
        receipt.isVerified &&
        !isStored(farEnd(), file.name, addresses.get(file.name)?.list, partNumber, receipt.etag)
      )
        violate(`${file.name} part ${String(partNumber)} is called verified, and the storage has no such part`)
    }
    if (record.type === 'file.confirmed') {
      const file = night.files[record.fileIndex]!
      const stored = farEnd().stored(file.name)
      if (stored === undefined || Buffer.compare(stored, file.bytes) !== 0)
        violate(
          `${file.name} is called confirmed, and ${stored === undefined ? 'it is not' : 'its stored bytes differ'}`,
        )
      if (settledConfirms.has(record.fileIndex)) violate(`${file.name} is journalled as confirmed twice`)
      settledConfirms.add(record.fileIndex)
    }
  }

  return {
    violations,
    host,
    violate,
    beginLife(found) {
      inFlight.clear()
      overtaken.clear()
      confirming.clear()
      refusals.clear()
      received.clear()
      for (const { plan, parts, isRegistering } of found?.files ?? []) {
        for (const part of parts) if (isReceived(part)) received.add(keyOfPart(plan.name, part.partNumber))
        // Whoever registered it has not heard, or could not note, what came of that.
        if (isRegistering) maybeOurs.add(plan.name)
      }
      Object.assign(host, { isPaused: false, isCancelSettled: false, isCloseAsked: false, isCloseSettled: false })
      confirmedBytes = 0
    },
    begin(sent) {
      if (host.isCancelSettled) violate(`${sent.method} ${sent.path} begins after the cancel has settled`)
      if (host.isCloseSettled) violate(`${sent.method} ${sent.path} begins after the close has settled`)
      if (host.isPaused) violate(`${sent.method} ${sent.path} begins while the upload is paused`)
      const notBeforeMs = refusals.get(askedBy(sent)) ?? 0
      if (nowMs() < notBeforeMs) violate(`${askedBy(sent)} is repeated before the time that its refusal named`)
      if (sent.target !== undefined) beginPut(sent, sent.target)
      else if (sent.store !== undefined) beginStoreCall(sent, sent.store)
      else beginCall(sent)
    },
    end(sent, isAnswered) {
      if (sent.target === undefined) confirming.delete(sent)
      else if (inFlight.get(keyOf(sent)) === sent) inFlight.delete(keyOf(sent))
      if (isAnswered && nowMs() > (overtaken.get(sent) ?? Infinity))
        violate(`${keyOf(sent)} went on to a session that had been replaced`)
      overtaken.delete(sent)
    },
    unsure({ path, callText }) {
      if (path === REGISTRATION)
        for (const name of (JSON.parse(callText) as Registration).filenames) maybeOurs.add(name)
    },
    refused(sent, retryAfterMs) {
      // Every renewal and the end tell the service anew of sessions that were left: each is a call of its own.
      if (sent.method === 'DELETE') return
      if (retryAfterMs <= LONGEST_RETRY_AFTER_MS) refusals.set(askedBy(sent), nowMs() + retryAfterMs)
    },
    goesOn: () => refusals.clear(),
    onSettled(key, record) {
      log(() => `journal ${JSON.stringify(record).slice(0, 160)}`)
      if (record.type === 'session.created') isCreated = true
      if (record.type === 'session.created' || record.type === 'files.registered') takeAddresses(record.files ?? [])
      if (record.type === 'session.replaced') {
        const moved = record.files.filter(hasMoved)
        takeAddresses(moved)
        for (const { fileIndex } of moved) {
          const { name } = night.files[fileIndex]!
          for (const sent of inFlight.values()) if (sent.target?.fileName === name) overtaken.set(sent, nowMs())
          generations.set(fileIndex, (generations.get(fileIndex) ?? 0) + 1)
          voidFile(name)
        }
      }
      if (record.type === 'file.failed') failed.add(record.fileIndex)
      if (record.type === 'session.resumed') failed.clear()
      if (record.type === 'parts.voided') voidParts(night.files[record.fileIndex]!.name, record.partNumbers)
      checkRecord(key, record)
    },
    confirmAsked(sent, sessionId, fileId) {
      const fileIndex = fileIds.get(fileId)
      if ([...confirming.values()].some((one) => one.fileId === fileId))
        violate(`two confirmations of file ${String(fileId)} at once`)
      confirming.set(sent, { sessionId, fileId })
      if (fileIndex === undefined) return
      if (isOnTheWay(night.files[fileIndex]!.name))
        violate(`file ${String(fileIndex)} is confirmed while a part of it is on its way`)
      if (settledConfirms.has(fileIndex))
        violate(`file ${String(fileIndex)} of ${String(sessionId)} is confirmed again after its answer was journalled`)
    },
    progress(shown) {
      const { sentBytes, totalBytes } = shown
      if (shown.confirmedBytes < confirmedBytes)
        violate(`confirmed bytes fell from ${String(confirmedBytes)} to ${String(shown.confirmedBytes)}`)
      confirmedBytes = shown.confirmedBytes
      if (confirmedBytes > sentBytes || sentBytes > totalBytes) violate('confirmed ≤ sent ≤ total does not hold')
    },
    replaced() {
      confirmedBytes = 0
    },
    inFlight: () => inFlight.size,
    shown(what) {
      const text = JSON.stringify(what)
      if (text.includes(SIGNATURE) || text.includes(API_KEY)) violate('a secret is shown to the host')
      if (text.includes('ERR_UPLOAD_INTERNAL')) violate(`an internal error: ${text.slice(0, 400)}`)
    },
  }
}

/** What a request asks for: the same for each repetition, whatever the address is. In another session it is another request. */
function askedBy({ method, path, target, callText }: Sent): string {
  return target === undefined
    ? `${method} ${path} ${callText}`
    : `${target.sessionId}/${target.fileName}/${String(target.partNumber)}`
}

/** Whether addresses of this night can expire or be refused as expired. */
function mayReplace(night: Night): boolean {
  return night.addressLifeMs < 3_600_000 * 24 || night.storageFaults.includes('saysExpired')
}

function isStored(
  farEnd: FarEnd,
  fileName: string,
  list: readonly string[] | undefined,
  partNumber: number,
  etag: string | undefined,
): boolean {
  const target = farEnd.targetOf(list?.[partNumber - 1] ?? '')
  if (target === undefined) return false
  return farEnd.part(target.sessionId, fileName, partNumber)?.etag === etag
}
