// Reads and writes at a position of an open file until all is done, however much the system does at a time.

import type { FileHandle } from 'node:fs/promises'

/** What reads at a position, as a FileHandle does. */
export interface PositionalFile {
  read(into: Uint8Array, offset: number, length: number, at: number): Promise<{ readonly bytesRead: number }>
}

/** The system accepts only lengths below 2 GiB. */
export const LONGEST_READ_BYTES = 2 ** 30

/**
 * Fills `into` from byte `at` on and resolves with the number of bytes read. If that is less than its length, the file
 * ended.
 */
export async function readFully(handle: PositionalFile, into: Uint8Array, at: number): Promise<number> {
  let filled = 0
  while (filled < into.byteLength) {
    const wanted = Math.min(into.byteLength - filled, LONGEST_READ_BYTES)
    const { bytesRead } = await handle.read(into, filled, wanted, at + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return filled
}

/** Writes all of `bytes` at a position of the file. */
export async function writeFully(handle: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  let written = 0
  while (written < bytes.byteLength) {
    const { bytesWritten } = await handle.write(bytes, written, bytes.byteLength - written, at + written)
    written += bytesWritten
  }
}
