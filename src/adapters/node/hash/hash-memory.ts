// The memory that a hashing thread shares with the thread that sends. Its kernel reads bodies where they are, so
// windows in this memory are hashed without a copy. Bytes from elsewhere are copied into a part of it that is reserved
// for them.

import { KERNEL_LAYOUT, KERNEL_PAGES } from './md5-kernel.ts'

/** Some bytes of the memory: where they begin, and how many there are. */
export type Place = readonly [at: number, bytes: number]

export interface HashMemory {
  readonly memory: WebAssembly.Memory
  /** Zeroed memory, which is never taken back. Undefined once the 49 MiB for windows are used up. */
  allocate(bytes: number): Uint8Array | undefined
  /** Undefined for bytes that lie elsewhere. */
  placeOf(bytes: Uint8Array): Place | undefined
}

/** Bytes from elsewhere are copied in pieces of at most this size, and at most 8 MiB of them at once. */
export const COPY_BYTES = 256 * 1024
export const COPIES = 32
/** Where copy number `index` lies. */
export const copyAt = (index: number): number => KERNEL_LAYOUT.freeAt + index * COPY_BYTES

/**
 * Shared memory of this many pages for a kernel. Throws if the process has no WebAssembly, or not enough address space.
 */
export function createKernelMemory(pages: number): WebAssembly.Memory {
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true })
  // V8 does not count WebAssembly's shared memory, so that of hashers nobody holds would stay until there is enough
  // other garbage for a collection. V8 does count this buffer, which lives as long as the memory. It is never touched,
  // so it takes no memory itself.
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
