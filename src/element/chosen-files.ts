// What a person chose or dropped, as one list of files in natural order: folders are walked, and where the browser gives
// handles they are kept, so that after a reload one click is enough.

import { kindsIn } from './attributes.ts'

/** A file, where it lay, and its handle where the browser gave one. */
export interface ChosenFile {
  readonly file: File
  /** `folder/cam1/a.mp4`; the name alone when it was chosen by itself. */
  readonly path: string
  readonly handle?: FileSystemFileHandle
}

/** How long the next handle is waited for, ms; the files themselves are had without one. */
const HANDLE_WITHIN_MS = 1_000

/** What no folder's name is likely to end with; `2026.11.20` may be one. */
const EXTENSION = /\.[a-z]\w*$/i

/** What browsers with the File System Access API have, and the compiler's library does not know yet. */
interface PickingWindow {
  showOpenFilePicker?: (options: { multiple: boolean; types: readonly Kinds[] }) => Promise<FileSystemFileHandle[]>
}
/** What a picker shows first; a person may ask it for all files. */
interface Kinds {
  readonly accept: Readonly<Record<'*/*', readonly string[]>>
}
type HandleGiving = DataTransferItem & { getAsFileSystemHandle?: () => Promise<FileSystemHandle | null> }
type Walkable = FileSystemDirectoryHandle & { values(): AsyncIterable<FileSystemHandle> }

/** Files of an `<input type="file">`, its folder included. */
export function filesOfInput(input: HTMLInputElement): ChosenFile[] {
  return inOrder([...(input.files ?? [])].map((file) => ({ file, path: file.webkitRelativePath || file.name })))
}

/**
 * Asks with the browser's own picker that gives handles; must be called in a click. Undefined where there is none, or
 * where the page may not open it (a frame of another origin), or it takes no such ending: use an `<input>` then. An empty list when the person thought better of it.
 */
export async function pickWithHandles(accept: string): Promise<ChosenFile[] | undefined> {
  const { showOpenFilePicker } = window as PickingWindow
  if (!showOpenFilePicker) return undefined
  // Endings are told whatever type a system has for them; where types stand among them, it is refused.
  const types = accept.startsWith('.') ? [{ accept: { '*/*': kindsIn(accept) } }] : []
  try {
    const handles = await showOpenFilePicker.call(window, { multiple: true, types })
    return inOrder(await Promise.all(handles.map((handle) => fromHandle(handle, ''))))
  } catch (error) {
    return (error as Error).name === 'AbortError' ? [] : undefined
  }
}

/** Whether something that is dragged holds files; its names are not shown before the drop. */
export function hasFiles(transfer: DataTransfer | null): transfer is DataTransfer {
  return transfer?.types.includes('Files') ?? false
}

/** Files of a drop, folders walked. What can no longer be read is left out. Call it while the event is handled. */
export async function filesOfDrop(transfer: DataTransfer): Promise<ChosenFile[]> {
  // The list is emptied when the event has been handled, so everything is asked for before anything is awaited.
  const { late, heard } = expectAnswers()
  const found = [...transfer.items].filter(({ kind }) => kind === 'file').map((item) => walkItem(item, late, heard))
  return inOrder((await Promise.all(found)).flat())
}

/** `late` comes when nothing was `heard` for a while: a thousand handles take seconds together, and each can be the last. */
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
  // Of a folder that the browser keeps from pages, such as a system's, it may ask the person first, or never answer.
  const answer = item.getAsFileSystemHandle?.().catch(() => null)
  // Whether it is a folder the browser asks the disk, and holds the page up meanwhile: 1.7 s for a thousand files.
  const entry = answer && file && EXTENSION.test(file.name) ? null : item.webkitGetAsEntry()
  void answer?.then(heard)
  const asked = Promise.race([answer ?? null, late])
  return asked.then(async (handle) => {
    const byHandle = handle && (await walkHandle(handle, '').catch(() => undefined))
    if (byHandle) return byHandle
    if (entry?.isDirectory) return walkEntry(entry).catch(() => [])
    if (!file) return []
    // A folder whose name ends like that of a clip looks like a file, and cannot be read as one. A disk that hangs says nothing,
    // which has a time of its own: that of the handles may be over.
    const reading = entry || handle?.kind === 'file' ? undefined : file.slice(0, 1).arrayBuffer()
    return Promise.race([expectAnswers().late, reading]).then(
      () => [{ file, path: file.name }],
      () => [],
    )
  })
}

async function fromHandle(handle: FileSystemFileHandle, folder: string): Promise<ChosenFile> {
  const file = await handle.getFile()
  return { file, handle, path: `${folder}${file.name}` }
}

async function walkHandle(handle: FileSystemHandle, folder: string): Promise<ChosenFile[]> {
  if (handle.kind === 'file') return [await fromHandle(handle as FileSystemFileHandle, folder)]
  const found: ChosenFile[] = []
  for await (const child of (handle as Walkable).values())
    found.push(...(await walkHandle(child, `${folder}${handle.name}/`)))
  return found
}

async function walkEntry(entry: FileSystemEntry): Promise<ChosenFile[]> {
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject))
    return [{ file, path: entry.fullPath.slice(1) }]
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader()
  const found: ChosenFile[] = []
  // A folder is given in portions; an empty one says that it was the last.
  for (;;) {
    const portion = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (portion.length === 0) return found
    for (const child of portion) found.push(...(await walkEntry(child)))
  }
}

const byPath = new Intl.Collator('en', { numeric: true })

/** take-2 before take-10: the order of the movements matters to a capture session. */
function inOrder(files: readonly ChosenFile[]): ChosenFile[] {
  return files.toSorted((one, other) => byPath.compare(one.path, other.path))
}
