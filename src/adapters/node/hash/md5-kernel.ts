// MD5 of many bodies at once. One MD5 is a chain in which each step waits for the last, so a processor spends most of it
// waiting; bodies have nothing to do with each other. Two of them, step by step in turns, take the time of one, and with
// WebAssembly's SIMD sixteen take that of four (bench/micro/hash.ts). No library for JavaScript does that. The program
// is written here, from RFC 1321, when it is first needed: there is no binary to trust.

import { FOUR_WORDS, WORD, wasmCode, wasmModule, type WasmCode } from './wasm-code.ts'

/** Bytes of each body that a call takes at most: those of all bodies together fit into a processor's second cache. */
export const LANE_BYTES = 8 * 1024
/** Where the bytes of the first lane begin; those of the others follow. Before them are the states. */
export const LANES_AT = 256

/** Bodies at once that there are kernels for, the fewest first. Eight with SIMD are no faster than twice four without. */
export const KERNEL_WIDTHS = [2, 4, 16] as const

export type KernelWidth = (typeof KERNEL_WIDTHS)[number]

/**
 * A WebAssembly module. It imports a memory, `md5.memory`, and exports `take(bytes)`: takes that many bytes, a multiple of 64
 * up to `LANE_BYTES`, from each lane into its state. Word `r` of the state of lane `n` is the 32-bit word
 * `16 * (n >> 2) + 4 * r + (n & 3)` of the memory.
 */
export function md5Kernel(width: KernelWidth): Uint8Array<ArrayBuffer> {
  const lanesAtOnce = width === 16 ? 4 : 1
  const groups = width / lanesAtOnce
  const code = wasmCode(lanesAtOnce)
  // Locals: beside the argument one more word, where the lanes are read; then all that is hashed.
  code.raw(2, 1, WORD, groups * 20 + 4, lanesAtOnce === 4 ? FOUR_WORDS : WORD)
  writeTake(code, groups, lanesAtOnce)
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
/** Locals of a group of lanes: four of the state, then sixteen of the block. */
const state = (group: number, register: number): number => 2 + group * 20 + (register & 3)
const word = (group: number, index: number): number => 6 + group * 20 + (index & 15)

/** Groups take each step in turns, so that one works while the others wait. */
function writeTake(code: WasmCode, groups: number, lanesAtOnce: 1 | 4): void {
  const spare = 2 + groups * 20
  const stateAt = (group: number, register: number): number => 16 * register + (lanesAtOnce === 4 ? 64 : 4) * group
  for (let group = 0; group < groups; group += 1) {
    for (let register = 0; register < 4; register += 1) {
      code.count(0)
      code.load(stateAt(group, register))
      code.set(state(group, register))
    }
  }
  // loop
  code.raw(0x03, 0x40)
  for (let group = 0; group < groups; group += 1) {
    if (lanesAtOnce === 4) writeBlocks(code, group, spare)
    else writeBlock(code, group)
  }
  ROUNDS.forEach((round, index) => writeRound(code, round, 16 * index, groups))
  for (let group = 0; group < groups; group += 1) {
    for (let register = 0; register < 4; register += 1) writeSum(code, state(group, register), stateAt(group, register))
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

/** Adds to the state what it was before the block. */
function writeSum(code: WasmCode, local: number, stateAt: number): void {
  code.get(local)
  code.count(0)
  code.load(stateAt)
  code.do('add')
  code.set(local)
  code.count(0)
  code.get(local)
  code.store(stateAt)
}

/** The next block of a lane into locals. */
function writeBlock(code: WasmCode, lane: number): void {
  for (let index = 0; index < 16; index += 1) {
    code.get(AT)
    code.load(LANES_AT + lane * LANE_BYTES + 4 * index)
    code.set(word(lane, index))
  }
}

/** The next blocks of four lanes, each of their words side by side. */
function writeBlocks(code: WasmCode, group: number, spare: number): void {
  for (let index = 0; index < 16; index += 4) {
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
