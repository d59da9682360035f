// The memory that a hashing thread shares with the thread that sends. Its kernel reads bodies where they are, so windows that
// lie in it are hashed without a copy; bytes from elsewhere are copied into a part of it that is kept for them.

import { KERNEL_LAYOUT, KERNEL_PAGES } from './md5-kernel.ts'

/** Some bytes of the memory: where they begin, and how many. */
export type Place = readonly [at: number, bytes: number]

export interface HashMemory {
  readonly memory: WebAssembly.Memory
  /** Zeroed, and never taken back. Undefined when what there is for windows, 49 MiB, is used up. */
  allocate(bytes: number): Uint8Array | undefined
  /** Undefined for bytes that are elsewhere. */
  placeOf(bytes: Uint8Array): Place | undefined
}

/** Bytes from elsewhere are copied in pieces of at most so many bytes, and 8 MiB of them at once. */
export const COPY_BYTES = 256 * 1024
export const COPIES = 32
/** Where copy number `index` is. */
export const copyAt = (index: number): number => KERNEL_LAYOUT.freeAt + index * COPY_BYTES

/** Memory of so many pages for a kernel. Throws where the process has no WebAssembly, or not so much room for addresses. */
export function createKernelMemory(pages: number): WebAssembly.Memory {
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true })
  // V8 does not count shared memory of WebAssembly: that of hashers that nobody holds any more would lie there until other
  // garbage is enough to collect. This it counts, for as long as the memory lives; never touched, it takes nothing itself.
  return Object.assign(memory, { weight: new ArrayBuffer(memory.buffer.byteLength) })
}

/** Throws as `createKernelMemory` does. */
export function createHashMemory(): HashMemory {
  const memory = createKernelMemory(KERNEL_PAGES)
  const { buffer } = memory
  let freeAt = copyAt(COPIES)
  return {
    memory,
    allocate(bytes) {
      const at = freeAt
      if (at + bytes > buffer.byteLength) return undefined
      // The next ones begin at a line of the processor's cache.
      freeAt += Math.ceil(bytes / 64) * 64
      return new Uint8Array(buffer, at, bytes)
    },
    placeOf: (bytes) => (bytes.buffer === buffer ? [bytes.byteOffset, bytes.byteLength] : undefined),
  }
}
