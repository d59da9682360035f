// Repeatable random numbers: the same seed gives the same numbers and bytes on every machine. For samples, never for secrets.

/** Numbers from one seed. */
export interface SeededChance {
  /** The next integer, 1 to 2^32 - 1; the sequence repeats after 2^32 - 1 numbers. */
  next(): number
  /** The next real number in [from, to). */
  between(from: number, to: number): number
  /** Fills the whole of `into`; its length in bytes is a multiple of four. */
  fill(into: Uint32Array): void
}

/** Starts a sequence. Two seeds that differ as text give unrelated sequences. */
export function createSeededChance(seed: string): SeededChance {
  let state = spread(seed)

  function next(): number {
    // Marsaglia's 32-bit xorshift with the triple 13, 17, 5: full period for every state but zero.
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state >>> 0
  }

  return {
    next,
    between: (from, to) => from + ((next() - 1) / 2 ** 32) * (to - from),
    fill(into) {
      for (let index = 0; index < into.length; index++) into[index] = next()
    },
  }
}

// Neighbouring seeds must not give neighbouring states, so each character stirs all 32 bits (FNV-1a, then two
// multiply-and-shift rounds).
function spread(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  hash ^= hash >>> 16
  return hash === 0 ? 1 : hash
}
