// What sources of tests hold, and how it is read back.

import type { Reader } from '../../core/ports.ts'

/** Bytes that count up, so that a wrong offset shows. */
export function counting(length: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(length).map((_, index) => index % 251)
}

/** The range [start, end) as a Buffer, which prints well. */
export async function bytesOf(reader: Reader, start: number, end: number): Promise<Buffer> {
  const into = Buffer.alloc(end - start, 0xee)
  await reader.read(into, start)
  return into
}
