// Whether a record that was found in a journal can be relied on. A checksum proves that the bytes are intact, not that nobody
// wrote there: with a plan that leaves bytes out, a file would be called verified that was never sent whole.

import type { AddressedFile } from '../ports/protocol.ts'
import type { JournalRecord, KeptFile } from './journal.ts'

type RecordOf<T extends JournalRecord['type']> = Extract<JournalRecord, { readonly type: T }>
type Unsure<T> = { readonly [K in keyof T]?: unknown }

/** Far more than any store takes: a number that somebody enlarged by hand would only fill the memory. */
const MOST_PARTS = 1_000_000
const FLOWS: readonly unknown[] = ['video', 'capture', 'custom']
const PLACES: readonly unknown[] =
  /* @__PURE__ */ 'new creating created cancelling cancelled confirmed partial failed'.split(' ')
const FILE_STATES: readonly unknown[] = /* @__PURE__ */ 'planned ready received confirming confirmed failed'.split(' ')

/** For types that say nothing about places and ids. What they say about files, the fold compares with the plan. */
const asItIs = (): boolean => true
/** One for each type, so that the compiler asks for another when a type is added. */
const CHECKS: { readonly [T in JournalRecord['type']]: (record: Unsure<RecordOf<T>>) => boolean } = {
  'session.begun': isBeginning,
  'session.creating': asItIs,
  'session.created': ({ sessionId, files }) => isKeepableId(sessionId) && isGivenAs(areAddressed, files),
  'session.replaced': ({ sessionId, files }) => isKeepableId(sessionId) && areAddressed(files),
  'session.kept': ({ standing, files }) => isStanding(standing) && areAddressed(files) && files.every(isKeptFile),
  'session.left': ({ sessionId }) => isKeepableId(sessionId),
  'session.ended': asItIs,
  'session.resumed': asItIs,
  'session.refused': asItIs,
  'session.cancelling': asItIs,
  'session.cancelled': asItIs,
  'session.settled': asItIs,
  'files.registering': asItIs,
  'files.registered': ({ files }) => areAddressed(files),
  'part.doubtful': asItIs,
  'part.received': asItIs,
  'parts.voided': asItIs,
  'file.confirming': asItIs,
  'file.confirmed': asItIs,
  'file.failed': asItIs,
}

/** Whether this program writes records of this type. */
export function isKnownType(type: string): type is JournalRecord['type'] {
  return Object.hasOwn(CHECKS, type)
}

/** False when what the record says about files, places or ids has another form than this program writes. */
export function isSound(record: JournalRecord): boolean {
  const { type } = record
  return isKnownType(type) && (CHECKS[type] as (record: JournalRecord) => boolean)(record)
}

function isBeginning(begun: Unsure<RecordOf<'session.begun'>>): boolean {
  const { key, flow, params, files, locations } = begun
  if (typeof key !== 'string' || !FLOWS.includes(flow) || !isFields(params) || Array.isArray(params)) return false
  if (!Array.isArray(files) || !Array.isArray(locations)) return false
  return files.every(isPlan) && locations.every((location) => typeof location === 'string')
}

/** Whether the parts make up the whole file, each byte once: all but the last have the full length, and the last is not empty. */
function isPlan(file: unknown, index: number): boolean {
  if (!isFields(file) || file['fileIndex'] !== index || typeof file['name'] !== 'string') return false
  const { sizeBytes, partCount, partSizeBytes } = file
  if (!isCount(sizeBytes) || !isCount(partCount) || !isCount(partSizeBytes)) return false
  if (partCount < 1 || partCount > MOST_PARTS || partSizeBytes < 1 || partCount * partSizeBytes < sizeBytes)
    return false
  return partCount === 1 || (partCount - 1) * partSizeBytes < sizeBytes
}

function isStanding(standing: unknown): boolean {
  if (!isFields(standing) || !PLACES.includes(standing['place'])) return false
  const { place, sessionId, leftSessionIds } = standing
  const isNamed = sessionId === undefined ? place !== 'created' : isKeepableId(sessionId)
  return isNamed && Array.isArray(leftSessionIds) && leftSessionIds.every(isKeepableId)
}

function isKeptFile(file: Unsure<KeptFile>, index: number): boolean {
  const { fileIndex, state, sessionId, generation, confirmedAtMs, error, parts } = file
  if (fileIndex !== index || !FILE_STATES.includes(state) || !isCount(generation)) return false
  if (!isGivenAs(isKeepableId, sessionId) || !isGivenAs(Number.isFinite, confirmedAtMs) || !isGivenAs(isFields, error))
    return false
  return Array.isArray(parts) && parts.every(isKeptPart)
}

function isKeptPart(part: unknown): boolean {
  return isFields(part) && isGivenAs(isFields, part['receipt']) && isGivenAs(Number.isFinite, part['receivedAtMs'])
}

function areAddressed(files: unknown): files is readonly AddressedFile[] {
  return Array.isArray(files) && files.every(isAddressed)
}

function isAddressed(file: unknown): boolean {
  if (!isFields(file) || !isCount(file['fileIndex']) || !Array.isArray(file['addresses'])) return false
  return (
    isGivenAs(isKeepableId, file['serverFileId']) && file['addresses'].every((address) => typeof address === 'string')
  )
}

/** Whether a value is absent, or has the right form. */
function isGivenAs(is: (value: unknown) => boolean, value: unknown): boolean {
  return value === undefined || is(value)
}

/** Whether it can be the id of a session or of a file. */
export function isKeepableId(id: unknown): id is string | number {
  return typeof id === 'string' ? id !== '' : Number.isSafeInteger(id)
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
