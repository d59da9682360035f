// Reads at a position of an open file until the memory is full or the file ends; short reads of the system are joined.

import type { FileHandle } from 'node:fs/promises'

/** The system takes lengths below 2 GiB only. */
const LONGEST_READ_BYTES = 2 ** 30

/** Fills `into` from byte `at` on and says how many bytes there were; fewer than its length means the file ended. */
export async function readFully(handle: FileHandle, into: Uint8Array, at: number): Promise<number> {
  let filled = 0
  while (filled < into.byteLength) {
    const wanted = Math.min(into.byteLength - filled, LONGEST_READ_BYTES)
    const { bytesRead } = await handle.read(into, filled, wanted, at + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return filled
}
