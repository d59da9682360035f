// Decides which of the chosen files may be uploaded, and why the others may not, before anything is sent.

import { isVideoName } from '../client/capture-kind.ts'
import { isFileName } from '../client/contract/fields.ts'
import { kindsIn } from './attributes.ts'
import type { ChosenFile } from './chosen-files.ts'
import { isSameFile, isSamePlace, namesakesAmong, type Identity } from './file-identity.ts'
import { SYSTEM_FILE } from './system-file.ts'

export type RefusalReason =
  /** Not one of the kinds that `accept` names. */
  | 'kind'
  /** A video among tracking files or the other way round. A capture session holds one kind. */
  | 'mixed'
  /** Has no bytes. */
  | 'empty'
  /** Its name has a character that no upload can carry, such as a slash. */
  | 'character'
  /** It, or the folder of this name, cannot be read. */
  | 'unreadable'
  /** In a chosen folder: hidden, thrown away, or what a system or program keeps for itself, such as a file that it has not finished. */
  | 'system'
  /** The same file is already in the list, or in an unfinished upload that is offered. */
  | 'twice'
  /** The same file is in an upload that another tab, or another element of this page, drives. */
  | 'elsewhere'
  /** Another file of this name will be in the same capture session, which knows a file by its name alone. */
  | 'name'

export interface Refusal {
  readonly name: string
  /** Its path, as far as that is known. By the name alone, one clip of many cameras cannot be told from the next. */
  readonly location: string
  readonly reason: RefusalReason
}

export interface AcceptanceRules {
  /** As in `<input accept>`: `.mp4,.mov`, `video/*`. Empty: every kind. */
  readonly accept: string
  /** What will be in one capture session with these. It takes files of one kind, and each name once. Undefined for videos. */
  readonly session: readonly Identity[] | undefined
  /** Files of one name get their folder's name in front, so that none of them has to be refused. */
  readonly isRenaming: boolean
  /** The files of unfinished uploads that are offered. */
  readonly offered: readonly Identity[]
  /** The files of uploads that are driven elsewhere. */
  readonly driven: readonly Identity[]
}

/** Judges `files` in their order, as additions to `present`. */
export function judgeFiles<Chosen extends ChosenFile>(
  files: readonly Chosen[],
  present: readonly Identity[],
  rules: AcceptanceRules,
): { readonly accepted: Chosen[]; readonly refused: Refusal[] } {
  const accepted: Chosen[] = []
  const refused: Refusal[] = []
  // The first of them says which kind it is.
  const names = new Set(rules.session?.map(({ fileName }) => fileName))
  const here = namesakesAmong([...present, ...rules.offered])
  const elsewhere = namesakesAmong(rules.driven)
  const kinds = kindsIn(rules.accept.toLowerCase())

  const reasonAgainst = (chosen: ChosenFile): RefusalReason | undefined => {
    const { file } = chosen
    if (SYSTEM_FILE.test(chosen.location)) return 'system'
    if (chosen.isUnreadable) return 'unreadable'
    if (kinds[0] && !kinds.some((kind) => isOfKind(file, kind))) return 'kind'
    if (!isFileName(file.name.trim())) return 'character'
    if (file.size === 0) return 'empty'
    const isIt = (known: Identity): boolean =>
      isSameFile(known, chosen) && (!rules.isRenaming || isSamePlace(known, chosen))
    if (here.of(chosen).some(isIt)) return 'twice'
    if (elsewhere.of(chosen).some(isIt)) return 'elsewhere'
    if (!rules.session) return undefined
    if (names.has(file.name) && !rules.isRenaming) return 'name'
    const [first = file.name] = names
    return isVideoName(first) === isVideoName(file.name) ? undefined : 'mixed'
  }

  for (const chosen of files) {
    const { fileName: name, location } = chosen
    const reason = reasonAgainst(chosen)
    if (reason) refused.push({ name, location, reason })
    else {
      accepted.push(chosen)
      names.add(name)
      here.add(chosen)
    }
  }
  return { accepted, refused }
}

/** The rules of `<input accept>`: an extension, a type, or all types of a group. */
function isOfKind(file: File, kind: string): boolean {
  if (kind.startsWith('.')) return file.name.toLowerCase().endsWith(kind)
  return kind.endsWith('/*') ? file.type.startsWith(kind.slice(0, -1)) : file.type === kind
}
