// The steps of MD5 (RFC 1321, section 3.4), as instructions on four registers.

import type { WasmCode } from './wasm-code.ts'

/** One of the four rounds (section 3.4 of the RFC): sixteen steps. */
export interface Round {
  /** How far the steps turn, four by four. */
  readonly turns: readonly number[]
  /** The word of the block that the first step takes, and how much further each other one, of sixteen. */
  readonly firstWord: number
  readonly stride: number
  /** Adds the function F, G, H or I to what is on the stack. */
  addMix(code: WasmCode, b: number, c: number, d: number): void
}

export const ROUNDS: readonly Round[] = [
  { turns: [7, 12, 17, 22], firstWord: 0, stride: 1, addMix: addF },
  { turns: [5, 9, 14, 20], firstWord: 1, stride: 5, addMix: addG },
  { turns: [4, 11, 16, 23], firstWord: 5, stride: 3, addMix: addH },
  { turns: [6, 10, 15, 21], firstWord: 0, stride: 7, addMix: addI },
]

/** What step `index` of 64 adds; those of the last round are less by one, see addI. */
export function stepConstant(index: number): number {
  return Math.floor(Math.abs(Math.sin(index + 1)) * 2 ** 32) - (index < 48 ? 0 : 1)
}

/** Which word of the block a step of a round takes. */
export function stepWord({ firstWord, stride }: Round, step: number): number {
  return (firstWord + step * stride) & 15
}

export interface Step {
  readonly round: Round
  /** From the beginning of the round. */
  readonly step: number
  /** The local of a register, 0 to 3, whatever is added to it; they change places at each step. */
  register(index: number): number
  /** The local that holds the constant. */
  readonly constant: number
  /** Puts the word of the block on the stack. */
  putWord(): void
  /** A local that may be used. */
  readonly spare: number
}

export function writeStep(code: WasmCode, { round, step, register, constant, putWord, spare }: Step): void {
  const [a, b, c, d] = [register(-step), register(1 - step), register(2 - step), register(3 - step)]
  code.get(a)
  code.get(constant)
  code.do('add')
  putWord()
  code.do('add')
  round.addMix(code, b, c, d)
  code.rotateLeft(round.turns[step & 3] ?? 0, spare)
  code.get(b)
  code.do('add')
  code.set(a)
}

/** F: where a bit of b is set that of c, else that of d; one operation less than as the RFC writes it. */
function addF(code: WasmCode, b: number, c: number, d: number): void {
  code.get(c)
  code.get(d)
  code.do('xor')
  code.get(b)
  code.do('and')
  code.get(d)
  code.do('xor')
  code.do('add')
}

/** G: the two halves share no bit, so each is added as soon as it is known. */
function addG(code: WasmCode, b: number, c: number, d: number): void {
  code.get(c)
  code.get(d)
  code.do('andNot')
  code.do('add')
  code.get(b)
  code.get(d)
  code.do('and')
  code.do('add')
}

/** H: b, which is known last, comes last. */
function addH(code: WasmCode, b: number, c: number, d: number): void {
  code.get(c)
  code.get(d)
  code.do('xor')
  code.get(b)
  code.do('xor')
  code.do('add')
}

/** I: c ^ (b | ~d) is ~(c ^ (d & ~b)), and to add ~x is to subtract x, and one, which the constant has done. */
function addI(code: WasmCode, b: number, c: number, d: number): void {
  code.get(d)
  code.get(b)
  code.do('andNot')
  code.get(c)
  code.do('xor')
  code.do('subtract')
}
