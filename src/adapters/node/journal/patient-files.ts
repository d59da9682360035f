// The files of the journal, which are opened before all else that waits while this process has too much open.

import { open, readdir, readFile, type FileHandle } from 'node:fs/promises'

import { descriptors } from '../descriptors.ts'
import { errorCode } from '../file-problem.ts'

/** The promise even of what is known at once. */
const soon = async <T>(work: () => Promise<T>): Promise<T> => descriptors.patiently('journal', work)

export function openFile(path: string, flags: string, mode?: number): Promise<FileHandle> {
  return soon(() => open(path, flags, mode))
}

export function bytesIn(path: string): Promise<Uint8Array> {
  return soon(() => readFile(path))
}

export function textIn(path: string): Promise<string> {
  return soon(() => readFile(path, 'utf8'))
}

/** None if there is no such folder. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await soon(() => readdir(folder))
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return []
    throw error
  }
}
