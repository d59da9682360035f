// Journals in folders of their own, which are removed after each test, and what lies on the disk of them.

import { readdirSync, readlinkSync, type Stats } from 'node:fs'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, vi } from 'vitest'
import type { QuickDisk } from '../../../../src/adapters/node/files/quick-disk.ts'
import { folderOfKey } from '../../../../src/adapters/node/journal/session-folder.ts'
import type { JournalRecord } from '../../../../src/core/journal/journal.ts'
import type { Journal } from '../../../../src/core/ports.ts'
import { canMount } from '../../../helpers/can-mount.ts'

const folders: string[] = []

export async function temporary(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'disk-journal-'))
  folders.push(folder)
  return join(folder, 'state')
}

/** Called once by each test file. */
export function removeAfterEach(): void {
  afterEach(async () => {
    vi.restoreAllMocks()
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
  })
}

/** Network drives and other platforms. They may take minutes, and so must never be asked at once. */
export const onThreads: QuickDisk = {
  mayAskNow: () => false,
  askNow() {
    throw new Error('The disk was asked on the calling thread.')
  },
}
export const atOnce: QuickDisk = { mayAskNow: () => true, askNow: (work) => work() }

export const confirmed = (fileIndex: number): JournalRecord => ({ type: 'file.confirmed', at: 1, fileIndex })
export const received = (partNumber: number, padding = ''): JournalRecord => ({
  ...{ type: 'part.received', at: 1, fileIndex: 0, partNumber },
  receipt: { acceptedEnd: 10 * partNumber, etag: `"e${String(partNumber)}${padding}"`, isVerified: true },
})
export const begun = (partCount: number): JournalRecord => ({
  ...{ type: 'session.begun', at: 1, version: 1, key: 'k', flow: 'video', params: {} },
  files: [{ fileIndex: 0, name: 'clip', sizeBytes: partCount * 10, partCount, partSizeBytes: 10 }],
  locations: ['/clip'],
})

export const pathOf = (folder: string, key = 'k') => join(folder, folderOfKey(key), 'journal')

export async function write(
  journal: Journal,
  batches: readonly (readonly JournalRecord[])[],
  key = 'k',
): Promise<void> {
  const session = await journal.open(key)
  for (const batch of batches) await session.append(batch)
  await session.close()
}

export async function read(journal: Journal, key = 'k'): Promise<readonly JournalRecord[]> {
  const session = await journal.open(key)
  await session.close()
  return session.records
}

/** Watches the one class that all open files are of. */
export async function fileHandles(): Promise<
  Record<'datasync' | 'sync', () => Promise<void>> & {
    stat(): Promise<Stats>
    truncate(length?: number): Promise<void>
    write(): Promise<unknown>
  }
> {
  const handle = await open(import.meta.filename, 'r')
  await handle.close()
  return Object.getPrototypeOf(handle) as ReturnType<typeof fileHandles>
}

/** The files below a folder that this process has open, those that are gone included. */
export function openFiles(folder: string): string[] {
  const found = readdirSync('/proc/self/fd').map((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`)
    } catch {
      // The one that reads this list.
      return ''
    }
  })
  return found.filter((path) => path.startsWith(folder))
}

export const canMountHere = process.platform === 'linux' && process.getuid?.() === 0 && canMount()

export const failure = (code: string): Error => Object.assign(new Error(code), { code })
