// What a person chose or dropped, as one list of files in natural order. Folders are walked. Handles are kept where the
// browser gives them, so that after a reload one click is enough.

import { learnFacts } from '../browser.ts'
import { kindsIn } from './attributes.ts'
import type { Identity } from './file-identity.ts'
import { SYSTEM_FILE } from './system-file.ts'

/** A file, its place, such as `folder/cam1/a.mp4`, and its handle if the browser gave one. */
export interface ChosenFile extends Identity {
  readonly file: File
  readonly handle: FileSystemFileHandle | undefined
  /** It is in place of a file or folder that cannot be read. */
  readonly isUnreadable?: boolean
}

/** How long to wait for the next handle, or for the first byte of a file, ms. A file can be uploaded without a handle. */
const HANDLE_WITHIN_MS = 1_000

/** An ending that a folder's name is unlikely to have. A folder may well be called `2026.11.20`. */
const EXTENSION = /\.[a-z]\w*$/i

/** Part of the File System Access API that TypeScript's own library does not declare yet. */
interface PickingWindow {
  showOpenFilePicker?: (options: { multiple: boolean; types: readonly Kinds[] }) => Promise<FileSystemFileHandle[]>
}
/** The files that a picker shows at first. The person may ask it for all files. */
interface Kinds {
  readonly accept: Readonly<Record<'*/*', readonly string[]>>
}
type HandleGiving = DataTransferItem & { getAsFileSystemHandle?: () => Promise<Handle | null> }
type Handle = FileSystemFileHandle | (FileSystemDirectoryHandle & { values(): AsyncIterable<Handle> })

export function chosenFile(file: File, folder = '', handle?: FileSystemFileHandle): ChosenFile {
  const { name: fileName, size: bytes, lastModified: modifiedAtMs } = file
  return { file, handle, fileName, location: file.webkitRelativePath || folder + fileName, bytes, modifiedAtMs }
}

/** The files that an `<input type="file">` has now, also if it chose a folder. */
export async function filesOfInput(input: HTMLInputElement): Promise<ChosenFile[]> {
  const files = [...(input.files ?? [])]
  await learnFacts(files)
  return inOrder(files.map((file) => chosenFile(file)))
}

/**
 * Opens the browser's picker that gives handles. Must be called in a click. Resolves with null if the person closed the picker
 * without a choice. Resolves with undefined if an `<input>` has to be used instead: there is no such picker, the page may not
 * open it (a frame of another origin), or it does not accept these endings.
 */
export async function pickHandles(accept: string): Promise<FileSystemFileHandle[] | null | undefined> {
  // Under `*/*` an ending counts whatever type the system gives it. The picker refuses a list that has types among the endings.
  const types = accept.startsWith('.') ? [{ accept: { '*/*': kindsIn(accept) } }] : []
  try {
    return await (window as PickingWindow).showOpenFilePicker?.({ multiple: true, types })
  } catch (error) {
    return (error as Error).name === 'AbortError' ? null : undefined
  }
}

/** The files behind handles that a person picked. */
export async function filesOfHandles(handles: readonly FileSystemFileHandle[]): Promise<ChosenFile[]> {
  return inOrder((await Promise.all(handles.map((handle) => readHandle(handle)))).flat())
}

/** The files of a drop, with folders walked. Must be called while the event is handled. */
export async function filesOfDrop(transfer: DataTransfer): Promise<ChosenFile[]> {
  // The browser empties the list after the event, so everything is asked for before anything is awaited.
  const { late, heard } = expectAnswers()
  // What is no file, such as the text of a link, has neither file nor folder to give.
  const found = [...transfer.items].map((item) => walkItem(item, late, heard))
  return inOrder((await Promise.all(found)).flat())
}

/**
 * `late` resolves when nothing was `heard` for HANDLE_WITHIN_MS. The wait begins again with each answer: a thousand handles take
 * seconds together, and any of them may be the last that comes.
 */
function expectAnswers(): { readonly late: Promise<null>; readonly heard: () => void } {
  let heard = (): void => undefined
  const late = new Promise<null>((resolve) => {
    let timer: ReturnType<typeof setTimeout> | undefined
    heard = () => {
      clearTimeout(timer)
      timer = setTimeout(resolve, HANDLE_WITHIN_MS, null)
    }
    heard()
  })
  return { late, heard }
}

function walkItem(item: HandleGiving, late: Promise<null>, heard: () => void): Promise<ChosenFile[]> {
  const file = item.getAsFile()
  // For a folder that the browser keeps from pages, such as a system folder, it may ask the person first or never answer.
  const answer = item.getAsFileSystemHandle?.().catch(() => null)
  // To tell files from folders here, the browser asks the disk and blocks the page: 1.7 s for a thousand files. The call is
  // skipped if a handle may come and the name ends like a file's.
  const entry = answer && file && EXTENSION.test(file.name) ? null : item.webkitGetAsEntry()
  void answer?.then(heard)
  const asked = Promise.race([answer, late])
  return asked.then(async (handle) => {
    const byHandle = handle && (await walkHandle(handle).catch(() => undefined))
    if (byHandle) return byHandle
    if (entry?.isDirectory) return readEntry(entry)
    if (!file) return []
    const chosen = [chosenFile(file)]
    if (entry || handle?.kind === 'file') return chosen
    // A folder whose name ends like that of a clip looks like a file, but reading a byte of it fails. On a disk that hangs, reading
    // never ends, so it gets a time limit of its own: that of the handles may be over.
    return Promise.race([expectAnswers().late, file.slice(0, 1).arrayBuffer()]).then(
      () => chosen,
      () => unreadable(file.name),
    )
  })
}

async function walkHandle(handle: Handle, folder = ''): Promise<ChosenFile[]> {
  if (handle.kind === 'file') {
    return [chosenFile(await handle.getFile(), folder, handle)]
  }
  const inside: Handle[] = []
  for await (const child of handle.values()) inside.push(child)
  // All at once: one after the other, a thousand files took half a second.
  const path = `${folder}${handle.name}/`
  return (await Promise.all(inside.map((child) => readHandle(child, path)))).flat()
}

function readHandle(handle: Handle, folder?: string): Promise<ChosenFile[]> {
  return walkHandle(handle, folder).catch(() => unreadable(handle.name, folder))
}

async function walkEntry(entry: FileSystemEntry): Promise<ChosenFile[]> {
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject))
    return [chosenFile(file, entry.fullPath.slice(1, -file.name.length))]
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader()
  const found: ChosenFile[] = []
  // A folder is read in portions. An empty portion marks the end.
  for (;;) {
    const portion = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (portion.length === 0) return found
    found.push(...(await Promise.all(portion.map(readEntry))).flat())
  }
}

function readEntry(entry: FileSystemEntry): Promise<ChosenFile[]> {
  return walkEntry(entry).catch(() => unreadable(entry.name, entry.fullPath.slice(1, -entry.name.length)))
}

/**
 * What cannot be read is an empty file, so that it is refused by its name, and all others are taken. Nobody misses a folder that is left
 * out anyway: the trash of a memory card can seldom be read.
 */
function unreadable(name: string, folder = ''): ChosenFile[] {
  if (SYSTEM_FILE.test(`${folder}${name}/`)) return []
  return [{ ...chosenFile(new File([], name), folder), isUnreadable: true }]
}

const byPath = new Intl.Collator('en', { numeric: true })

/** Sorts take-2 before take-10: the order of the movements matters to a capture session. */
function inOrder(files: readonly ChosenFile[]): ChosenFile[] {
  return files.toSorted((one, other) => byPath.compare(one.location, other.location))
}
