// File System Access handles, kept beside the journal, so that a person need not pick the files again after a reload.

import { ended, pageDatabase, rangeOf } from './page-database.ts'

export interface KeptHandles {
  /** Keeps the handles of a session, in the order of its files. Opens the database even if there are none. */
  keep(key: string, handles: readonly (FileSystemFileHandle | undefined)[]): Promise<void>
  /** The handles of a session, by file index. */
  of(key: string): Promise<ReadonlyMap<number, FileSystemFileHandle>>
  forget(key: string): Promise<void>
}

/** What browsers with these handles have, and the compiler's library does not know yet. */
type Permissions = {
  readonly [Method in 'queryPermission' | 'requestPermission']?: (how: { mode: 'read' }) => Promise<PermissionState>
}

/** A handle, and its key in the store. */
type Row = [handle: FileSystemFileHandle, key: [sessionKey: string, fileIndex: number]]

/** Two thousand handles at once were one task of 60 ms of processor time. */
const KEPT_AT_ONCE = 100

/** Makes the store. `name` is the journal's database. For a journal that has none in this page, it is that of the default journal. */
export function keptHandles(name = 'mocap-uplink'): KeptHandles {
  const database = pageDatabase(name)
  return {
    async keep(key, handles) {
      // Only of files that have a handle: a thousand without would be ten transactions for nothing.
      const rows = handles.flatMap((handle, index): Row[] => (handle ? [[handle, [key, index]]] : []))
      do {
        const some = rows.splice(0, KEPT_AT_ONCE)
        await database.use(async (db) => {
          const tx = db.transaction('handles', 'readwrite')
          await ended(tx, ...some.map((row) => tx.store.put(...row)))
        })
      } while (rows[0])
    },
    of: (key) =>
      database.use(async (db) => {
        const tx = db.transaction('handles')
        const [handles, keys] = await Promise.all([tx.store.getAll(rangeOf(key)), tx.store.getAllKeys(rangeOf(key))])
        return new Map(handles.map((handle, index) => [keys[index]?.[1] ?? 0, handle]))
      }),
    forget: (key) =>
      database.use(async (db) => {
        const tx = db.transaction('handles', 'readwrite')
        await ended(tx, tx.store.delete(rangeOf(key)))
      }),
  }
}

/**
 * Whether a file may be read through its handle now: `granted`, `prompt` if the person has to be asked, `denied` if that is of no
 * use. `isAsking` asks the person, which browsers allow only in a click.
 */
export async function permissionOf(handle: FileSystemFileHandle, isAsking: boolean): Promise<PermissionState> {
  const { queryPermission, requestPermission } = handle as Permissions
  try {
    // Browsers without these functions need no permission for the handles that they keep.
    const state = (await queryPermission?.call(handle, { mode: 'read' })) ?? 'granted'
    return (isAsking && state === 'prompt' && (await requestPermission?.call(handle, { mode: 'read' }))) || state
  } catch {
    return 'prompt'
  }
}
