// MD5 of short bodies on the calling thread, many in one pass. A body is copied when it is given. When the first digest
// is asked for, all bodies that wait are hashed together, eight in a pass. A thread does the same for long bodies: see
// worker-hash-program. Here each body is in one piece, with MD5's padding behind it.

import { hash as hashOnce } from 'node:crypto'

import { invariant } from '../../../core/errors.ts'
import { createKernelMemory } from './hash-memory.ts'
import { KERNEL_LANES, KERNEL_LAYOUT, md5Kernel } from './md5-kernel.ts'

export interface ShortBodies {
  /** Takes a body of at most SHORT_BYTES, which may change afterwards. Returns a function that gives its digest. */
  add(bytes: Uint8Array): () => string
}

/** The longest body that is taken, bytes. */
export const SHORT_BYTES = 65_536
/** Compiling a kernel takes as long as OpenSSL does for some megabytes. */
const BYTES_BEFORE_KERNEL = 4 * 1024 * 1024
const BLOCK = 64
/** A body, and what MD5 appends to it. */
const SLOT_BYTES = SHORT_BYTES + 2 * BLOCK
const PAGES = Math.ceil((KERNEL_LAYOUT.freeAt + KERNEL_LANES * SLOT_BYTES) / 65_536)
/** A pass over all lanes takes as long as OpenSSL does for this many bodies, one by one. */
const WORTH_LANES = 2
const FIRST_STATE = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476] as const
const stateAt = (lane: number, word: number): number =>
  KERNEL_LAYOUT.statesAt + 64 * (lane >> 2) + 16 * word + 4 * (lane & 3)

interface Waiting {
  readonly at: number
  readonly lengthBytes: number
  digest: string | undefined
}

export function createShortBodies(): ShortBodies {
  let bytesBeforeKernel = BYTES_BEFORE_KERNEL
  /** Null if there can be none. */
  let kernel: Kernel | null | undefined
  let waiting: Waiting[] = []

  const hashWaiting = (): void => {
    const some = waiting
    waiting = []
    if (kernel) digestAll(kernel, some)
  }
  return {
    add(bytes) {
      // One byte more would lie in the next body's place.
      invariant(bytes.byteLength <= SHORT_BYTES, 'a short body fits into its place')
      if (bytesBeforeKernel > 0) bytesBeforeKernel -= bytes.byteLength
      else kernel = kernel === undefined ? startKernel() : kernel
      if (!kernel) {
        const digest = hashOnce('md5', bytes)
        return () => digest
      }
      if (waiting.length === KERNEL_LANES) hashWaiting()
      const at = KERNEL_LAYOUT.freeAt + waiting.length * SLOT_BYTES
      const body: Waiting = { at, lengthBytes: bytes.byteLength, digest: undefined }
      kernel.bytes.set(bytes, at)
      waiting.push(body)
      return () => {
        if (body.digest === undefined) hashWaiting()
        invariant(body.digest !== undefined, 'a body waits until it is hashed')
        return body.digest
      }
    },
  }
}

interface Kernel {
  /** Held for its weight (see hash-memory). */
  readonly memory: WebAssembly.Memory
  readonly bytes: Uint8Array
  readonly words: DataView
  /** Takes this many bytes of each lane into its state. */
  readonly take: (bytes: number) => void
}

/** Null if the processor has no SIMD, or the process no WebAssembly or no room for it. */
function startKernel(): Kernel | null {
  try {
    const memory = createKernelMemory(PAGES)
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(md5Kernel()), { md5: { memory } })
    return {
      memory,
      bytes: new Uint8Array(memory.buffer),
      words: new DataView(memory.buffer),
      take: exports['take'] as Kernel['take'],
    }
  } catch {
    return null
  }
}

/** Hashes bodies together, unless a few of them are much longer than the others. */
function digestAll(kernel: Kernel, bodies: readonly Waiting[]): void {
  const longest = Math.max(...bodies.map(({ lengthBytes }) => lengthBytes))
  const sum = bodies.reduce((bytes, { lengthBytes }) => bytes + lengthBytes, 0)
  if (sum > WORTH_LANES * longest) {
    digestTogether(kernel, bodies)
    return
  }
  for (const body of bodies) {
    body.digest = hashOnce('md5', kernel.bytes.subarray(body.at, body.at + body.lengthBytes))
  }
}

/** Makes pass after pass, each up to the end of the shortest body that is left. */
function digestTogether({ bytes, words, take }: Kernel, bodies: readonly Waiting[]): void {
  const lanes = bodies.map((body) => ({ body, left: pad({ bytes, words }, body) })).sort((a, b) => a.left - b.left)
  lanes.forEach((_, lane) => {
    FIRST_STATE.forEach((word, index) => words.setUint32(stateAt(lane, index), word, true))
  })
  let done = 0
  lanes.forEach(({ body, left }, first) => {
    if (left > done) {
      for (let lane = 0; lane < KERNEL_LANES; lane += 1) {
        // The lane of a body that has ended goes along with one that has not. Its digest is known.
        const { at } = (lane < first ? body : lanes[lane]?.body) ?? body
        words.setUint32(KERNEL_LAYOUT.lanesAt + 4 * lane, at + done, true)
      }
      take(left - done)
      done = left
    }
    body.digest = digestOf(words, first)
  })
}

/** Appends a one, zeros up to the end of a block, and the length in bits. Returns the length with these. */
function pad({ bytes, words }: Pick<Kernel, 'bytes' | 'words'>, { at, lengthBytes }: Waiting): number {
  const paddedBytes = Math.ceil((lengthBytes + 9) / BLOCK) * BLOCK
  bytes.fill(0, at + lengthBytes, at + paddedBytes)
  bytes[at + lengthBytes] = 0x80
  words.setUint32(at + paddedBytes - 8, lengthBytes * 8, true)
  return paddedBytes
}

function digestOf(words: DataView, lane: number): string {
  const digest = Buffer.alloc(16)
  FIRST_STATE.forEach((_, index) => digest.writeUInt32LE(words.getUint32(stateAt(lane, index), true), 4 * index))
  return digest.toString('hex')
}
