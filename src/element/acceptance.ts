// Decides which of the chosen files may be uploaded, and why the others may not, before anything is sent.

import { isVideoName } from '../client/capture-kind.ts'
import { isFileName } from '../client/contract/fields.ts'
import { kindsIn } from './attributes.ts'
import type { ChosenFile } from './chosen-files.ts'

export type RefusalReason =
  /** Not one of the kinds that `accept` names. */
  | 'kind'
  /** A video among tracking files or the other way round. A capture session holds one kind. */
  | 'mixed'
  /** Has no bytes. */
  | 'empty'
  /** Its name has a character that no upload can carry, such as a slash. */
  | 'character'
  /** Hidden, or made by an operating system. */
  | 'system'
  /** The same file is already in the list, or in an unfinished upload that is offered. */
  | 'twice'
  /** The same file is in an upload that another tab, or another element of this page, drives. */
  | 'elsewhere'
  /** Another file of this name is in the list, and a capture session knows a file by its name alone. */
  | 'name'

export interface Refusal {
  readonly name: string
  readonly reason: RefusalReason
}

export interface AcceptanceRules {
  /** As in `<input accept>`: `.mp4,.mov`, `video/*`. Empty: every kind. */
  readonly accept: string
  /** A capture session takes files of one kind, and each name once. */
  readonly isCapture: boolean
  /** Files of one name get their folder's name in front, so that none of them has to be refused. */
  readonly isRenaming: boolean
  /** The files of unfinished uploads that are offered. */
  readonly offered: readonly Present[]
  /** The files of uploads that are driven elsewhere. */
  readonly driven: readonly Present[]
}

/** What identifies a file, as far as a page can tell. */
export interface Present {
  readonly fileName: string
  /** Its path, as far as that is known: the name alone if the file was chosen by itself. */
  readonly location: string
  readonly bytes: number
  /** Milliseconds since 1970. Undefined if unknown; any time then counts as equal. */
  readonly modifiedAtMs?: number | undefined
}

const SYSTEM_FILE = /^\.|^(?:thumbs\.db|desktop\.ini|icon\r)$/i

/** Judges `files` in their order, as additions to `present`. */
export function judgeFiles(
  files: readonly ChosenFile[],
  present: readonly Present[],
  rules: AcceptanceRules,
): { readonly accepted: ChosenFile[]; readonly refused: Refusal[] } {
  const accepted: ChosenFile[] = []
  const refused: Refusal[] = []
  const names = new Set(present.map(({ fileName }) => fileName))
  /** The files that are here already, by name. */
  const known = new Map<string, readonly { readonly of: Present; readonly reason: RefusalReason }[]>()
  const know = (reason: RefusalReason, of: Present): void => addUnder(known, of.fileName, { of, reason })
  for (const each of [...present, ...rules.offered]) know('twice', each)
  for (const each of rules.driven) know('elsewhere', each)
  const kinds = kindsIn(rules.accept.toLowerCase()).filter((kind) => kind)
  let isVideo = present[0] && isVideoName(present[0].fileName)

  const reasonAgainst = (file: File, own: Present): RefusalReason | undefined => {
    if (SYSTEM_FILE.test(file.name)) return 'system'
    if (kinds[0] && !kinds.some((kind) => isOfKind(file, kind))) return 'kind'
    if (!isFileName(file.name.trim())) return 'character'
    if (file.size === 0) return 'empty'
    const isKnown = ({ of }: { readonly of: Present }): boolean =>
      isSameFile(of, own) && (!rules.isRenaming || isSamePlace(of.location, own.location))
    const reason = known.get(file.name)?.find(isKnown)?.reason
    if (reason || !rules.isCapture) return reason
    if (names.has(file.name) && !rules.isRenaming) return 'name'
    return isVideo === undefined || isVideo === isVideoName(file.name) ? undefined : 'mixed'
  }

  for (const chosen of files) {
    const own = presentOf(chosen)
    const { fileName: name } = own
    const reason = reasonAgainst(chosen.file, own)
    if (reason) {
      refused.push({ name, reason })
      continue
    }
    accepted.push(chosen)
    names.add(name)
    know('twice', own)
    isVideo ??= isVideoName(name)
  }
  return { accepted, refused }
}

/** Adds one more value under this name. */
export function addUnder<T>(byName: Map<string, readonly T[]>, name: string, one: T): void {
  byName.set(name, [...(byName.get(name) ?? []), one])
}

export function presentOf({ file, path: location }: ChosenFile): Present {
  return { fileName: file.name, location, bytes: file.size, modifiedAtMs: file.lastModified }
}

/** True if one path ends with the other: a folder may be dropped by itself at one time and within another folder the next. */
export function isSamePlace(one: string, other: string): boolean {
  return `/${one}`.endsWith(`/${other}`) || `/${other}`.endsWith(`/${one}`)
}

/** True if both are one file as far as a page can tell: by name, size and time, in whatever folder. */
export function isSameFile({ fileName, bytes, modifiedAtMs }: Present, other: Present): boolean {
  const isSameTime = modifiedAtMs === undefined || modifiedAtMs === other.modifiedAtMs
  return fileName === other.fileName && bytes === other.bytes && isSameTime
}

/** The rules of `<input accept>`: an extension, a type, or all types of a group. */
function isOfKind(file: File, kind: string): boolean {
  if (kind.startsWith('.')) return file.name.toLowerCase().endsWith(kind)
  const type = file.type.toLowerCase()
  return kind.endsWith('/*') ? type.startsWith(kind.slice(0, -1)) : type === kind
}
