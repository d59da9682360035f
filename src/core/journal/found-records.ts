// Whether a record that was found in a journal is one that can be relied on. A checksum proves that nothing fell over, not that
// nobody wrote there: of a cut that leaves bytes out, a file would be called verified that was never sent whole.

import type { JournalRecord } from './journal.ts'

type Unsure<T> = { readonly [K in keyof T]?: unknown }

/** Ten times what any store takes: a number that somebody's hand made larger would only fill the memory. */
const MOST_PARTS = 1_000_000
const FLOWS: readonly unknown[] = ['video', 'capture', 'custom']

/** True unless what the record says of files, places and ids has another form than this program writes. */
export function isSound(record: JournalRecord): boolean {
  switch (record.type) {
    case 'session.begun':
      return isBeginning(record)
    case 'session.created':
      return isId(record.sessionId) && (record.files === undefined || areAddressed(record.files))
    case 'session.left':
      return isId(record.sessionId)
    case 'session.replaced':
      return isId(record.sessionId) && areAddressed(record.files)
    case 'files.registered':
    case 'files.placed':
      return areAddressed(record.files)
    default:
      return true
  }
}

function isBeginning(begun: Unsure<Extract<JournalRecord, { type: 'session.begun' }>>): boolean {
  const { key, flow, params, files, locations } = begun
  if (typeof key !== 'string' || !FLOWS.includes(flow) || !isFields(params) || Array.isArray(params)) return false
  if (!Array.isArray(files) || !Array.isArray(locations)) return false
  return files.every(isPlan) && locations.every((location) => typeof location === 'string')
}

/** The parts are the whole file, each once: all but the last have their full length, and the last has some. */
function isPlan(file: unknown, index: number): boolean {
  if (!isFields(file) || file['fileIndex'] !== index || typeof file['name'] !== 'string') return false
  const { sizeBytes, partCount, partSizeBytes } = file
  if (!isCount(sizeBytes) || !isCount(partCount) || !isCount(partSizeBytes)) return false
  if (partCount < 1 || partCount > MOST_PARTS || partSizeBytes < 1 || partCount * partSizeBytes < sizeBytes)
    return false
  return partCount === 1 || (partCount - 1) * partSizeBytes < sizeBytes
}

function areAddressed(files: unknown): boolean {
  return Array.isArray(files) && files.every(isAddressed)
}

function isAddressed(file: unknown): boolean {
  if (!isFields(file) || !isCount(file['fileIndex']) || !Array.isArray(file['addresses'])) return false
  const { serverFileId } = file
  return (
    (serverFileId === undefined || isId(serverFileId)) &&
    file['addresses'].every((address) => typeof address === 'string')
  )
}

function isId(id: unknown): boolean {
  return typeof id === 'string' ? id !== '' : Number.isSafeInteger(id)
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
