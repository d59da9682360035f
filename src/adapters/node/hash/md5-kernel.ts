// MD5 of many bodies at once. One MD5 is a chain in which each step waits for the last, so a processor spends most of it
// waiting. Bodies have nothing to do with each other: WebAssembly's SIMD takes four of them in one instruction, and sixteen
// at once are hashed four times as fast as one after the other (bench/micro/hash.ts). No library for JavaScript does
// that. The program is written here, from RFC 1321, when it is first needed: there is no binary to trust.

import { FOUR_WORDS, WORD, wasmCode, wasmModule, type WasmCode } from './wasm-code.ts'

/** Bytes of each body that a call takes at most: those of all bodies together fit into a processor's second cache. */
export const LANE_BYTES = 8 * 1024
/** Where the bytes of the first lane begin; those of the others follow. Before them are the states. */
export const LANES_AT = 256

/** Lanes that there are kernels for, the fewest first. Four would take as long as eight. */
export const KERNEL_WIDTHS = [1, 8, 16] as const

export type KernelWidth = (typeof KERNEL_WIDTHS)[number]

/** Bodies that one thread takes at once. */
export const MOST_LANES = 16 satisfies KernelWidth

/**
 * A WebAssembly module. It imports a memory, `md5.memory`, and exports `take(bytes)`: takes that many bytes, a multiple of 64
 * up to `LANE_BYTES`, from each lane into its state. Word `r` of the state of lane `n` is the 32-bit word
 * `16 * (n >> 2) + 4 * r + (n & 3)` of the memory.
 */
export function md5Kernel(width: KernelWidth): Uint8Array<ArrayBuffer> {
  const groups = Math.ceil(width / 4)
  const code = wasmCode(width === 1 ? 1 : 4)
  // One group of locals: the argument, and where the lanes are read. The other: all that is hashed.
  code.raw(2, 1, WORD, groups * 20 + 4, width === 1 ? WORD : FOUR_WORDS)
  writeTake(code, width, groups)
  return wasmModule({ module: 'md5', memory: 'memory', export: 'take' }, code.bytes)
}

/** One of the four rounds (section 3.4 of the RFC): sixteen steps. */
interface Round {
  /** How far the steps turn, four by four. */
  readonly turns: readonly number[]
  /** The word of the block that the first step takes, and how much further each other one, of sixteen. */
  readonly firstWord: number
  readonly stride: number
  /** The functions F, G, H and I. */
  mix(code: WasmCode, b: number, c: number, d: number): void
}

const ROUNDS: readonly Round[] = [
  { turns: [7, 12, 17, 22], firstWord: 0, stride: 1, mix: writeChoice },
  { turns: [5, 9, 14, 20], firstWord: 1, stride: 5, mix: (code, b, c, d) => writeChoice(code, d, b, c) },
  { turns: [4, 11, 16, 23], firstWord: 5, stride: 3, mix: writeParity },
  { turns: [6, 10, 15, 21], firstWord: 0, stride: 7, mix: writeLast },
]

const END = 0
const AT = 1
/** Locals of a group: four of the state, then sixteen of the block. */
const state = (group: number, register: number): number => 2 + group * 20 + (register & 3)
const word = (group: number, index: number): number => 6 + group * 20 + (index & 15)

/** Groups of lanes take each step in turns, so that one works while the other waits. */
function writeTake(code: WasmCode, width: KernelWidth, groups: number): void {
  const spare = 2 + groups * 20
  for (let group = 0; group < groups; group += 1) {
    for (let register = 0; register < 4; register += 1) {
      code.count(0)
      code.load((group * 4 + register) * 16)
      code.set(state(group, register))
    }
  }
  // loop
  code.raw(0x03, 0x40)
  for (let group = 0; group < groups; group += 1) writeBlockOf(code, group, width === 1 ? undefined : spare)
  ROUNDS.forEach((round, index) => writeRound(code, round, 16 * index, groups))
  for (let group = 0; group < groups; group += 1) {
    for (let register = 0; register < 4; register += 1) writeSum(code, group, register)
  }
  // at += 64; again while at < end; end of the loop, and of the function
  code.get(AT)
  code.count(64)
  code.raw(0x6a, 0x22, AT)
  code.get(END)
  code.raw(0x49, 0x0d, 0, 0x0b, 0x0b)
}

function writeRound(code: WasmCode, { turns, firstWord, stride, mix }: Round, firstStep: number, groups: number): void {
  for (let quarter = 0; quarter < 16; quarter += 4) {
    for (const [index, bits] of turns.entries()) {
      const step = quarter + index
      const constant = Math.floor(Math.abs(Math.sin(firstStep + step + 1)) * 2 ** 32)
      for (let group = 0; group < groups; group += 1) {
        // The registers change places at each step.
        const [a, b, c, d] = [
          state(group, -step),
          state(group, 1 - step),
          state(group, 2 - step),
          state(group, 3 - step),
        ]
        code.get(a)
        code.constant(constant)
        code.get(word(group, firstWord + step * stride))
        code.do('add')
        code.do('add')
        mix(code, b, c, d)
        code.do('add')
        code.rotateLeft(bits, 2 + groups * 20)
        code.get(b)
        code.do('add')
        code.set(a)
      }
    }
  }
}

/** Where a bit of `by` is set that of `one`, else that of `other`: one operation less than as the RFC writes it. */
function writeChoice(code: WasmCode, by: number, one: number, other: number): void {
  code.get(one)
  code.get(other)
  code.do('xor')
  code.get(by)
  code.do('and')
  code.get(other)
  code.do('xor')
}

function writeParity(code: WasmCode, b: number, c: number, d: number): void {
  code.get(b)
  code.get(c)
  code.do('xor')
  code.get(d)
  code.do('xor')
}

function writeLast(code: WasmCode, b: number, c: number, d: number): void {
  code.get(d)
  code.constant(-1)
  code.do('xor')
  code.get(b)
  code.do('or')
  code.get(c)
  code.do('xor')
}

function writeSum(code: WasmCode, group: number, register: number): void {
  const local = state(group, register)
  const at = (group * 4 + register) * 16
  code.get(local)
  code.count(0)
  code.load(at)
  code.do('add')
  code.set(local)
  code.count(0)
  code.get(local)
  code.store(at)
}

/** The next block into locals. With `spare`, four of them, words of four lanes are put side by side. */
function writeBlockOf(code: WasmCode, group: number, spare: number | undefined): void {
  for (let index = 0; index < 16; index += spare === undefined ? 1 : 4) {
    if (spare === undefined) {
      code.get(AT)
      code.load(LANES_AT + 4 * index)
      code.set(word(group, index))
      continue
    }
    for (let lane = 0; lane < 4; lane += 1) {
      code.get(AT)
      code.load(LANES_AT + (group * 4 + lane) * LANE_BYTES + 4 * index)
      code.set(spare + lane)
    }
    for (const half of [0, 2]) {
      const low = word(group, index + half)
      const high = word(group, index + half + 1)
      const firstTwo = [half, 4 + half, 1 + half, 5 + half]
      writePick(code, spare, spare + 1, firstTwo)
      code.set(low)
      writePick(code, spare + 2, spare + 3, firstTwo)
      code.set(high)
      writePick(code, low, high, [2, 3, 6, 7])
      writePick(code, low, high, [0, 1, 4, 5])
      code.set(low)
      code.set(high)
    }
  }
}

/** Four of the eight words of two locals. */
function writePick(code: WasmCode, one: number, other: number, words: readonly number[]): void {
  code.get(one)
  code.get(other)
  code.raw(0xfd, 0x0d)
  for (const index of words) code.raw(4 * index, 4 * index + 1, 4 * index + 2, 4 * index + 3)
}
