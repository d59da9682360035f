// Which address belongs to which part. The service may answer in any order; a wrong match would store one clip under
// another's name, so whatever is not certain is a typed error before any byte is sent.

import { UploadError } from '../core/errors.ts'
import type { AddressedFile, PlannedFile } from '../core/ports.ts'
import type { VideoUpload, VideoUploadFile, VideoUploadPart } from '../client/contract.ts'

/** The number under which a file is sent to the service: unique in its session, from 1. */
export function fileIdOf(file: PlannedFile): number {
  return file.fileIndex + 1
}

/**
 * Matches the session's entries to the files: by the echoed number, else by a name that is unique, else by position.
 * Throws ERR_UPLOAD_SERVICE_REPLY when counts differ from the plan, an address is given twice, or an address says another
 * part number than its place.
 */
export function matchAddresses(files: readonly PlannedFile[], upload: VideoUpload): AddressedFile[] {
  const entries = upload.sessionFiles
  if (entries.length !== files.length) {
    wrong(`The service answered with ${entries.length} files for the ${files.length} that were sent.`)
  }
  const entryOf = byEcho(files, entries) ?? byName(files, entries) ?? byPosition(files, entries)
  const seen = new Set<string>()
  const ids = new Set<string | number>()
  return files.map((file) => {
    const entry = entryOf(file)
    if (entry === undefined) return wrong(`The service gave no addresses for ${file.name}.`)
    if (ids.has(entry.sessionFileId))
      wrong(`The service gave the same file id twice; the second time for ${file.name}.`)
    ids.add(entry.sessionFileId)
    const addresses = addressesOf(file, entry)
    for (const address of addresses) {
      if (seen.has(address)) wrong(`The service gave the same address twice; the second time for ${file.name}.`)
      seen.add(address)
    }
    return { fileIndex: file.fileIndex, serverFileId: entry.sessionFileId, addresses }
  })
}

type EntryOf = (file: PlannedFile) => VideoUploadFile | undefined

function byEcho(files: readonly PlannedFile[], entries: readonly VideoUploadFile[]): EntryOf | undefined {
  if (!entries.some((entry) => echoOf(entry) !== undefined)) return undefined
  const byId = new Map(entries.map((entry) => [echoOf(entry), entry]))
  if (byId.size !== entries.length || !files.every((file) => byId.has(fileIdOf(file)))) {
    wrong('The service echoed file ids that are not the ones that were sent, once each.')
  }
  return (file) => byId.get(fileIdOf(file))
}

function byName(files: readonly PlannedFile[], entries: readonly VideoUploadFile[]): EntryOf | undefined {
  const names = new Map(entries.map((entry) => [entry.fileName, entry]))
  const isEachNamedOnce = names.size === entries.length && new Set(files.map((file) => file.name)).size === files.length
  if (!isEachNamedOnce || !files.every((file) => names.has(file.name))) return undefined
  return (file) => names.get(file.name)
}

/** Names that do not tell all files apart may still say that the order is another one. */
function byPosition(files: readonly PlannedFile[], entries: readonly VideoUploadFile[]): EntryOf {
  const names = new Set(files.map((file) => file.name))
  files.forEach((file, index) => {
    const said = entries[index]?.fileName
    if (said === undefined || said === file.name || !names.has(said)) return
    wrong('The service answered in another order, with names that do not tell the files apart.')
  })
  return (file) => entries[files.indexOf(file)]
}

/** The echoed number; a service that writes it as text means the same. */
function echoOf(entry: VideoUploadFile): number | undefined {
  return entry.fileId ?? wholeNumber(entry['file_id'])
}

function wholeNumber(value: unknown): number | undefined {
  return typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : undefined
}

function addressesOf(file: PlannedFile, entry: VideoUploadFile): string[] {
  const parts = entry.partAddresses
  if (parts.length !== file.partCount) {
    wrong(`The service gave ${parts.length} addresses for the ${file.partCount} parts of ${file.name}.`)
  }
  // Where every address carries its number, the number decides and not the place.
  const numberOf = (part: VideoUploadPart): number | undefined => part.partNumber ?? wholeNumber(part['part_number'])
  const isNumbered = parts.every((part) => numberOf(part) !== undefined)
  const ordered = isNumbered ? parts.toSorted((a, b) => (numberOf(a) ?? 0) - (numberOf(b) ?? 0)) : parts
  ordered.forEach((part, index) => {
    const said = [numberOf(part), numberInQuery(part.address)]
    if (said.some((partNumber) => partNumber !== undefined && partNumber !== index + 1)) {
      wrong(`The addresses for ${file.name} do not carry the part numbers 1 to ${file.partCount}, once each.`)
    }
  })
  return ordered.map((part) => part.address)
}

/** S3 and what follows it name the part in the query. */
function numberInQuery(address: string): number | undefined {
  const said = new URL(address).searchParams.get('partNumber')
  return said === null ? undefined : Number(said)
}

function wrong(message: string): never {
  throw new UploadError('ERR_UPLOAD_SERVICE_REPLY', `${message} Nothing was uploaded.`)
}
