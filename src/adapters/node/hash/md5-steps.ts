// The steps of MD5 (RFC 1321, section 3.4), as instructions on four registers.

import type { WasmCode } from './wasm-code.ts'

/** One of the four rounds (RFC 1321, section 3.4), which has sixteen steps. */
export interface Round {
  /** By how many bits the steps rotate, in a cycle of four. */
  readonly turns: readonly number[]
  /** Which of the block's sixteen words the first step takes, and how many words further on each next step goes. */
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

/** What step `index` of 64 adds. In the last round that is less by one, see addI. */
export function stepConstant(index: number): number {
  return Math.floor(Math.abs(Math.sin(index + 1)) * 2 ** 32) - (index < 48 ? 0 : 1)
}

/** Which word of the block a step of a round takes. */
export function stepWord({ firstWord, stride }: Round, step: number): number {
  return (firstWord + step * stride) & 15
}

export interface Step {
  readonly round: Round
  /** Counted from the beginning of the round. */
  readonly step: number
  /**
   * The local of a register. Any integer stands for one of 0 to 3, because the registers change places at each step.
   */
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

/** F takes the bit of c where that of b is set, else that of d. One operation less than the RFC's form. */
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

/** G: its two halves share no bit, so each is added as soon as it is known. */
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

/** H: b comes last, because it is known last. */
function addH(code: WasmCode, b: number, c: number, d: number): void {
  code.get(c)
  code.get(d)
  code.do('xor')
  code.get(b)
  code.do('xor')
  code.do('add')
}

/** I: c ^ (b | ~d) is ~(c ^ (d & ~b)). Adding ~x is subtracting x and then one, which the constant has already done. */
function addI(code: WasmCode, b: number, c: number, d: number): void {
  code.get(d)
  code.get(b)
  code.do('andNot')
  code.get(c)
  code.do('xor')
  code.do('subtract')
}
