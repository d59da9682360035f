// Grows an MP4 file to any size and keeps it a valid one: a `free` box, which players skip, is put after its last box.
// The payload of that box comes from a seed and never repeats, so a part stored at the wrong place is always noticed.

import { writeFile } from 'node:fs/promises'

import { createSeededChance } from './seeded-chance.ts'

/** How far to grow, and with what. */
export interface GrowMp4Options {
  /** Size of the grown file: at least the clip and 8 bytes more, less than the clip and 4 GiB more. */
  readonly targetBytes: number
  /** Two clips grown with different seeds differ in nearly every byte of the payload. */
  readonly payloadSeed: string
}

/** Size and type, four bytes each. */
const BOX_HEADER_BYTES = 8
const WINDOW_BYTES = 1024 * 1024

/**
 * Writes `clip`, grown to `targetBytes`, to the file at `path`. An existing file is replaced. Uses 1 MiB of memory whatever
 * the size.
 *
 * @param clip a whole MP4 file whose last box says its size (a last box of size 0, "to the end of the file", would
 * swallow the new one)
 */
export async function growMp4(clip: Uint8Array, path: string, options: GrowMp4Options): Promise<void> {
  await writeFile(path, grown(clip, options.targetBytes - clip.byteLength, options.payloadSeed))
}

// One window is enough: writeFile asks for the next piece only after the last one has been written.
function* grown(clip: Uint8Array, boxBytes: number, payloadSeed: string): Generator<Uint8Array> {
  yield clip
  yield freeBoxHeader(boxBytes)
  const chance = createSeededChance(payloadSeed)
  const words = new Uint32Array(WINDOW_BYTES / Uint32Array.BYTES_PER_ELEMENT)
  const window = new Uint8Array(words.buffer)
  let leftBytes = boxBytes - BOX_HEADER_BYTES
  while (leftBytes > 0) {
    chance.fill(words)
    const pieceBytes = Math.min(leftBytes, WINDOW_BYTES)
    yield window.subarray(0, pieceBytes)
    leftBytes -= pieceBytes
  }
}

function freeBoxHeader(boxBytes: number): Uint8Array {
  const header = Buffer.alloc(BOX_HEADER_BYTES)
  header.writeUInt32BE(boxBytes, 0)
  header.write('free', 4, 'latin1')
  return header
}
