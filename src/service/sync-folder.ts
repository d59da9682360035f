// Makes what was made, renamed or removed in a folder durable.

import { open } from 'node:fs/promises'

/** Windows cannot open a folder and needs no such step. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
