// Which address belongs to which part. The service may answer in any order; a wrong match would store one clip under
// another's name, so whatever is not certain is a typed error before any byte is sent.

import { UploadError } from '../core/errors.ts'
import type { AddressedFile, PlannedFile } from '../core/ports.ts'
import type { VideoUpload, VideoUploadFile } from '../client/contract.ts'

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
    wrong(`The service answered with ${String(entries.length)} files for the ${String(files.length)} that were sent.`)
  }
  const entryOf =
    byEcho(files, entries) ?? byName(files, entries) ?? ((file: PlannedFile) => entries[files.indexOf(file)])
  const seen = new Set<string>()
  return files.map((file) => {
    const entry = entryOf(file)
    if (entry === undefined) return wrong(`The service gave no addresses for ${file.name}.`)
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
  if (!entries.some((entry) => entry.fileId !== undefined)) return undefined
  const byId = new Map(entries.map((entry) => [entry.fileId, entry]))
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

function addressesOf(file: PlannedFile, entry: VideoUploadFile): string[] {
  const parts = entry.partAddresses
  if (parts.length !== file.partCount) {
    wrong(`The service gave ${String(parts.length)} addresses for the ${String(file.partCount)} parts of ${file.name}.`)
  }
  // Where every address carries its number, the number decides and not the place.
  const isNumbered = parts.length > 0 && parts.every((part) => part.partNumber !== undefined)
  const ordered = isNumbered ? parts.toSorted((a, b) => (a.partNumber ?? 0) - (b.partNumber ?? 0)) : parts
  ordered.forEach((part, index) => {
    const said = part.partNumber ?? numberInQuery(part.address)
    if ((isNumbered && said !== index + 1) || numberMismatch(part.address, index + 1)) {
      wrong(`The addresses for ${file.name} do not carry the part numbers 1 to ${String(file.partCount)}, once each.`)
    }
  })
  return ordered.map((part) => part.address)
}

function numberMismatch(address: string, partNumber: number): boolean {
  const said = numberInQuery(address)
  return said !== undefined && said !== partNumber
}

/** S3 and what follows it name the part in the query. */
function numberInQuery(address: string): number | undefined {
  const said = new URL(address).searchParams.get('partNumber')
  return said === null ? undefined : Number(said)
}

function wrong(message: string): never {
  throw new UploadError('ERR_UPLOAD_SERVICE_REPLY', `${message} Nothing was uploaded.`)
}
