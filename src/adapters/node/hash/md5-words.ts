// Puts the words of four blocks of MD5 side by side, so that SIMD takes the same word of all four at once.

import type { WasmCode } from './wasm-code.ts'

/** How many locals of four words `writeWords` uses. */
export const WORDS_SPARES = 9

/**
 * Reads four blocks from where the local `lane` and the next three point, and stores each word at every place that
 * `wordAt` names for it.
 */
export function writeWords(
  code: WasmCode,
  lane: number,
  spare: number,
  wordAt: (index: number) => readonly number[],
): void {
  // Four words of each lane, then, for each pair of lanes, its two lower and its two higher words.
  const quad = spare + 1
  const [low, high] = [spare + 5, spare + 7]
  for (let index = 0; index < 16; index += 4) {
    for (let which = 0; which < 4; which += 1) {
      code.get(lane + which)
      code.load(4 * index)
      code.set(quad + which)
    }
    for (const pair of [0, 1]) {
      writePick(code, quad + 2 * pair, [0, 4, 1, 5])
      code.set(low + pair)
      writePick(code, quad + 2 * pair, [2, 6, 3, 7])
      code.set(high + pair)
    }
    for (let place = 0; place < 4; place += 1) {
      writePick(code, place < 2 ? low : high, place % 2 === 0 ? [0, 1, 4, 5] : [2, 3, 6, 7])
      code.set(spare)
      for (const at of wordAt(index + place)) {
        code.count(0)
        code.get(spare)
        code.store(at)
      }
    }
  }
}

/** Picks four of the eight words of a local and the next one. */
function writePick(code: WasmCode, local: number, words: readonly number[]): void {
  code.get(local)
  code.get(local + 1)
  code.raw(0xfd, 0x0d)
  for (const index of words) code.raw(4 * index, 4 * index + 1, 4 * index + 2, 4 * index + 3)
}
