// MD5 of many bodies at once. One MD5 is a chain in which each step waits for the last, so a processor spends most of
// it waiting. Bodies do not depend on each other: with WebAssembly's SIMD, eight of them, step by step in turns, take
// less than the time of two (bench/micro/hash.ts). No JavaScript library does that. The program is written here, from
// RFC 1321, when it is first needed, so there is no binary to trust.

import { ROUNDS, stepConstant, stepWord, writeStep } from './md5-steps.ts'
import { WORDS_SPARES, writeWords } from './md5-words.ts'
import { FOUR_WORDS, WORD, wasmCode, wasmModule, type WasmCode } from './wasm-code.ts'

/** Where a kernel finds what it works on, as offsets into its memory. */
export const KERNEL_LAYOUT = {
  /** The state of each lane: word `r` of lane `n` is the 32-bit word `16 * (n >> 2) + 4 * r + (n & 3)`. */
  statesAt: 0,
  /** The addresses of the lanes' bytes, as 32-bit words. */
  lanesAt: 256,
  /** Free for two blocks that are nowhere else in the memory. */
  tailAt: 512,
  /** From here on a kernel touches nothing but the lanes. */
  freeAt: 65_536,
} as const
/** The kernel's own: its constants, and the words of the current blocks. */
const CONSTANTS_AT = 1024
const WORDS_AT = 4096

/**
 * The size of the memory, in pages of 64 KiB. It does not grow. Only the pages that are touched take memory of the
 * machine.
 */
export const KERNEL_PAGES = 928

/**
 * Bodies at once. While another processor is at work, as it is while parts are sent, a pass over sixteen takes 2.1 to
 * 2.3 times as long as one over eight (1.8 times while it is idle), and there are seldom sixteen:
 * docs/performance-notes.md.
 */
export const KERNEL_LANES = 8
/** SIMD takes four lanes together. */
const GROUPS = KERNEL_LANES / 4

/**
 * A WebAssembly module. It imports a shared memory, `md5.memory`, and exports `take(bytes)`, which takes that many
 * bytes, a positive multiple of 64, from each lane's address into that lane's state. All lanes are always taken, so a
 * lane that is not needed must also have an address with that many bytes.
 */
export function md5Kernel(): Uint8Array<ArrayBuffer> {
  const code = wasmCode()
  // Locals: besides the argument, seven that count and point, then all that are hashed.
  code.raw(2, 7, WORD, GROUPS * 4 + WORDS_SPARES, FOUR_WORDS)
  writeTake(code)
  return wasmModule({
    module: 'md5',
    memory: 'memory',
    export: 'take',
    pages: KERNEL_PAGES,
    body: code.bytes,
    data: { at: CONSTANTS_AT, bytes: constants() },
  })
}

const END = 0
const AT = 1
/** Where the words and the constants of the current steps are. */
const WORDS = 2
const CONSTANTS = 3
const LANE = 4
/** The locals of a group's state, four for each group. The registers change places at each step. */
const state = (group: number, register: number): number => 8 + group * 4 + (register & 3)

/** The constants of the steps, each four times. */
function constants(): Uint8Array {
  const view = new DataView(new ArrayBuffer(64 * 16))
  for (let at = 0; at < view.byteLength; at += 4) view.setUint32(at, stepConstant(at >> 4), true)
  return new Uint8Array(view.buffer)
}

/** Groups take each step in turns, so that one works while the others wait. */
function writeTake(code: WasmCode): void {
  const stateAt = (group: number, register: number): number => KERNEL_LAYOUT.statesAt + 64 * group + 16 * register
  const registers = Array.from({ length: GROUPS * 4 }, (_, index) => [index >> 2, index & 3] as const)
  for (const [group, register] of registers) {
    code.count(0)
    code.load(stateAt(group, register))
    code.set(state(group, register))
  }
  code.loop()
  writeRounds(code)
  for (const [group, register] of registers) writeSum(code, state(group, register), stateAt(group, register))
  code.endLoop(AT, 64, END)
  code.end()
}

/**
 * Four steps, four times: without loops the program is too long for a processor's cache of decoded instructions, and
 * took a fifth longer. The words of the blocks are stored twice, so that no four steps run past their end.
 */
function writeRounds(code: WasmCode): void {
  const spare = state(GROUPS, 0)
  const constant = spare + 1
  const wordAt = (group: number, index: number): number => WORDS_AT + (index * GROUPS + group) * 16
  for (let group = 0; group < GROUPS; group += 1) {
    for (let lane = 0; lane < 4; lane += 1) writeLane(code, 4 * group + lane, LANE + lane)
    writeWords(code, LANE, spare, (index) => [wordAt(group, index), wordAt(group, index + 16)])
  }
  for (const [index, round] of ROUNDS.entries()) {
    // Four steps on means four words on in the block, or four words back.
    const isForward = stepWord(round, 4) === ((stepWord(round, 0) + 4) & 15)
    const first = isForward ? 0 : 12
    code.count(first * GROUPS * 16)
    code.set(WORDS)
    code.count(0)
    code.set(CONSTANTS)
    code.loop()
    for (let step = 0; step < 4; step += 1) {
      code.get(CONSTANTS)
      code.load(CONSTANTS_AT + 16 * (16 * index + step))
      code.set(constant)
      for (let group = 0; group < GROUPS; group += 1) {
        writeStep(code, {
          round,
          step,
          register: (index) => state(group, index),
          spare,
          constant,
          putWord() {
            code.get(WORDS)
            code.load(wordAt(group, (stepWord(round, step) - first) & 15))
          },
        })
      }
    }
    code.get(WORDS)
    code.count((isForward ? 4 : -4) * GROUPS * 16)
    code.raw(0x6a)
    code.set(WORDS)
    code.endLoop(CONSTANTS, 64, 256)
  }
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

/** Puts the address of a lane's next block into a local. */
function writeLane(code: WasmCode, lane: number, local: number): void {
  code.count(0)
  code.loadCount(KERNEL_LAYOUT.lanesAt + 4 * lane)
  code.get(AT)
  code.raw(0x6a)
  code.set(local)
}
