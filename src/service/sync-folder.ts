// Makes what was made, renamed or removed in a folder durable.

import { open } from 'node:fs/promises'

import { isCode } from './error-code.ts'

/** Windows cannot open a folder and needs no such step. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } catch (error) {
    if (!isUnsupported(error)) throw error
  } finally {
    await handle.close()
  }
}

/** Whether a drive says that it cannot bring a folder to the disk, as many network drives cannot. */
export function isUnsupported(error: unknown): boolean {
  return isCode(error, 'EINVAL') || isCode(error, 'ENOTSUP')
}
