// What makes two files one, as far as a page can tell.

/** What identifies a file. */
export interface Identity {
  readonly fileName: string
  /** Its path, as far as that is known: the name alone if the file was chosen by itself. */
  readonly location: string
  readonly bytes: number
  /** Milliseconds since 1970. Undefined if unknown; any time then counts as equal. */
  readonly modifiedAtMs?: number | undefined
}

/** True if one path ends with the other: a folder may be dropped by itself at one time and within another folder the next. */
export function isSamePlace({ location: one }: Identity, { location: other }: Identity): boolean {
  return `/${one}`.endsWith(`/${other}`) || `/${other}`.endsWith(`/${one}`)
}

/** True if two namesakes are one file as far as a page can tell: by size and time, in whatever folder. */
export function isSameFile({ bytes, modifiedAtMs }: Identity, other: Identity): boolean {
  return bytes === other.bytes && (modifiedAtMs === undefined || modifiedAtMs === other.modifiedAtMs)
}

/** Files by their names, because thousands of files may meet thousands of others. */
export interface Namesakes<File extends Identity> {
  add(file: File): void
  /** All files of the name of this one. */
  of(file: Identity): readonly File[]
}

export function namesakesAmong<File extends Identity>(files: readonly File[]): Namesakes<File> {
  const byName = new Map<string, readonly File[]>()
  const of = ({ fileName }: Identity): readonly File[] => byName.get(fileName) ?? []
  const add = (file: File): void => void byName.set(file.fileName, [...of(file), file])
  files.forEach(add)
  return { add, of }
}
