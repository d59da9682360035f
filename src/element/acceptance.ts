// Which of the chosen files may be uploaded, and why the others may not: found before anything is sent.

import type { ChosenFile } from './chosen-files.ts'

export type RefusalReason =
  /** Not one of the kinds that `accept` names. */
  | 'kind'
  /** A video among tracking files, or the other way round; a capture session holds one kind. */
  | 'mixed'
  /** Has no bytes. */
  | 'empty'
  /** Hidden, or made by an operating system. */
  | 'system'
  /** The very file is in the list already, or in an unfinished upload that is offered. */
  | 'twice'
  /** Another file of this name is, and a capture session knows a file by its name alone. */
  | 'name'

export interface Refusal {
  readonly name: string
  readonly reason: RefusalReason
}

export interface AcceptanceRules {
  /** As of `<input accept>`: `.mp4,.mov`, `video/*`. Empty: every kind. */
  readonly accept: string
  /** A capture session: one kind, and each name once. */
  readonly isCapture: boolean
  /** Two files of one name get their folder's name in front, so they are no reason to refuse. */
  readonly isRenaming: boolean
  /** What unfinished uploads that are offered hold. */
  readonly offered: readonly Present[]
}

/** A file that is here already. */
interface Present {
  readonly name: string
  readonly bytes: number
  /** Undefined: not known, so that any will do. */
  readonly modifiedAtMs?: number | undefined
}

const SYSTEM_FILE = /^\.|^(?:thumbs\.db|desktop\.ini|icon\r)$/i
const VIDEO = /\.(?:mov|mp4)$/i

/** Judges `files` in their order, as additions to `present`. */
export function judgeFiles(
  files: readonly ChosenFile[],
  present: readonly Present[],
  rules: AcceptanceRules,
): { readonly accepted: ChosenFile[]; readonly refused: Refusal[] } {
  const accepted: ChosenFile[] = []
  const refused: Refusal[] = []
  const names = new Set(present.map(({ name }) => name))
  const known = new Set([...present, ...rules.offered].map(identity))
  const kinds = rules.accept.split(',').flatMap((kind) => kind.trim().toLowerCase() || [])
  let isVideo = present[0] === undefined ? undefined : VIDEO.test(present[0].name)

  const reasonAgainst = ({ file, path }: ChosenFile): RefusalReason | undefined => {
    if (SYSTEM_FILE.test(file.name)) return 'system'
    if (kinds.length > 0 && !kinds.some((kind) => isOfKind(file, kind))) return 'kind'
    if (file.size === 0) return 'empty'
    const { name, size: bytes, lastModified: modifiedAtMs } = file
    const isKnown = known.has(identity({ name, bytes, modifiedAtMs })) || known.has(identity({ name, bytes }))
    if (isKnown && !(rules.isRenaming && path.includes('/'))) return 'twice'
    if (!rules.isCapture) return undefined
    if (names.has(file.name) && !rules.isRenaming) return 'name'
    return isVideo !== undefined && isVideo !== VIDEO.test(file.name) ? 'mixed' : undefined
  }

  for (const chosen of files) {
    const { name, size: bytes, lastModified: modifiedAtMs } = chosen.file
    const reason = reasonAgainst(chosen)
    if (reason !== undefined) {
      refused.push({ name, reason })
      continue
    }
    accepted.push(chosen)
    names.add(name)
    known.add(identity({ name, bytes, modifiedAtMs }))
    isVideo ??= VIDEO.test(name)
  }
  return { accepted, refused }
}

function identity({ name, bytes, modifiedAtMs }: Present): string {
  return JSON.stringify([name, bytes, modifiedAtMs])
}

/** The rules of `<input accept>`: an extension, a type, or all types of a group. */
function isOfKind(file: File, kind: string): boolean {
  if (kind.startsWith('.')) return file.name.toLowerCase().endsWith(kind)
  const type = file.type.toLowerCase()
  return kind.endsWith('/*') ? type.startsWith(kind.slice(0, -1)) : type === kind
}
