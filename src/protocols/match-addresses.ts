// Which address belongs to which part. The service may answer in any order, and a wrong match would store one clip
// under another's name. So whatever is uncertain is a typed error before any byte is sent.

import { known, UploadError } from '../core/errors.ts'
import type { AddressedFile, PlannedFile } from '../core/ports.ts'
import type { VideoUpload, VideoUploadFile, VideoUploadPart } from '../client/contract.ts'

/** The number under which a file is sent to the service, unique in its session, from 1. */
export function fileIdOf(file: PlannedFile): number {
  return file.fileIndex + 1
}

/**
 * Matches the session's entries to the files: by the echoed number, else by unique names, else by position. Throws
 * ERR_UPLOAD_SERVICE_REPLY if the match is uncertain. Whether the addresses can be used is checked where they are
 * taken.
 */
export function matchAddresses(files: readonly PlannedFile[], upload: VideoUpload): AddressedFile[] {
  const entries = upload.sessionFiles
  if (entries.length !== files.length) {
    wrong(`The service answered with ${entries.length} files for the ${files.length} that were sent.`)
  }
  const names = files.map((file) => file.name)
  const isEchoed = entries.some((entry) => echoOf(entry) !== undefined)
  const inOrder = isEchoed
    ? (orderedBy(files.map(fileIdOf), entries, echoOf) ??
      wrong('The service echoed file ids that are not the ones that were sent, once each.'))
    : (orderedBy(names, entries, nameOf) ??
      orderedBy(names.map(composed), entries, composedNameOf) ??
      asTheyCame(names.map(composed), entries))
  const ids = new Set<string | number>()
  return files.map((file, index) => {
    const entry = known(inOrder[index])
    if (ids.has(entry.sessionFileId))
      wrong(`The service gave the same file id twice; the second time for ${file.name}.`)
    ids.add(entry.sessionFileId)
    return { fileIndex: file.fileIndex, serverFileId: entry.sessionFileId, addresses: addressesOf(file, entry) }
  })
}

/** The entries in the order of the files, by a word of each file. Undefined if these words do not tell all files apart. */
function orderedBy(
  words: readonly unknown[],
  entries: readonly VideoUploadFile[],
  wordOf: (entry: VideoUploadFile) => unknown,
): readonly VideoUploadFile[] | undefined {
  const byIt = new Map(entries.map((entry) => [wordOf(entry), entry]))
  const found = words.flatMap((word) => byIt.get(word) ?? [])
  // There are as many entries as files. If each file has found another one, none is left.
  return new Set(found).size === words.length ? found : undefined
}

const nameOf = ({ fileName = '' }: VideoUploadFile): string => fileName
/**
 * Services may store a name in its composed Unicode form (NFC), whichever form they were given. macOS uses the other
 * one.
 */
const composed = (name: string): string => name.normalize('NFC')
const composedNameOf = (entry: VideoUploadFile): string => composed(nameOf(entry))

/** Names that do not tell all files apart may still show that the order is a different one. */
function asTheyCame(names: readonly string[], entries: readonly VideoUploadFile[]): readonly VideoUploadFile[] {
  const sent = new Set(names)
  entries.forEach((entry, index) => {
    const said = composedNameOf(entry)
    if (said !== names[index] && sent.has(said))
      wrong('The service answered in another order, with names that do not tell the files apart.')
  })
  return entries
}

function echoOf(entry: VideoUploadFile): number | undefined {
  return entry.fileId ?? numberIn(entry['file_id'])
}

/** An echoed number, even one that cannot be ours. A service that writes it as text means the same. */
function numberIn(value: unknown): number | undefined {
  return typeof value === 'number' || (typeof value === 'string' && /^\d{1,9}$/.test(value)) ? Number(value) : undefined
}

function addressesOf(file: PlannedFile, { partAddresses: parts }: VideoUploadFile): string[] {
  // If every address carries its number, that number decides, and not the position.
  const numberOf = (part: VideoUploadPart): number | undefined => part.partNumber ?? numberIn(part['part_number'])
  const isNumbered = parts.every((part) => numberOf(part) !== undefined)
  const ordered = isNumbered ? parts.toSorted((a, b) => (numberOf(a) ?? 0) - (numberOf(b) ?? 0)) : parts
  ordered.forEach((part, index) => {
    if ((numberOf(part) ?? index + 1) !== index + 1)
      wrong(`The addresses for ${file.name} do not carry the part numbers 1 to ${file.partCount}, once each.`)
  })
  return ordered.map((part) => part.address)
}

/** Throws the error for addresses that do not fit what was asked for. */
export function wrong(message: string): never {
  throw new UploadError('ERR_UPLOAD_SERVICE_REPLY', `${message} None of them is used.`)
}
