// Writes the few instructions of WebAssembly that a hash needs, on one 32-bit word or on four side by side, into bytes.
// https://webassembly.github.io/spec/core/binary/ has the numbers.

/** Writes instructions, one after the other. Locals are below 128. */
export interface WasmCode {
  readonly bytes: number[]
  get(local: number): void
  set(local: number): void
  /** One operation on what was put on the stack. */
  do(operation: keyof typeof I32): void
  /** The same word in every place. */
  constant(word: number): void
  /** From, or to, the memory at the address on the stack plus `at`. */
  load(at: number): void
  store(at: number): void
  /** Turns what is on the stack; `spare` is a local that it may use. */
  rotateLeft(bits: number, spare: number): void
  /** A number that counts bytes or bits, and not a word of the hash. */
  count(value: number): void
  /** Bytes as they are. */
  raw(...bytes: number[]): void
}

/** Operations on one word, and the same on four. */
const I32 = { add: 0x6a, and: 0x71, or: 0x72, xor: 0x73 } as const
const I32X4: Readonly<Record<keyof typeof I32, number>> = { add: 0xae, and: 0x4e, or: 0x50, xor: 0x51 }

const SIMD = 0xfd

export function wasmCode(wordsAtOnce: 1 | 4): WasmCode {
  const isVector = wordsAtOnce === 4
  const bytes: number[] = []
  const simd = (operation: number): void => {
    bytes.push(SIMD)
    unsigned(bytes, operation)
  }
  const count = (value: number): void => {
    bytes.push(0x41)
    signed(bytes, value)
  }
  const code: WasmCode = {
    bytes,
    get: (local) => void bytes.push(0x20, local),
    set: (local) => void bytes.push(0x21, local),
    do(operation) {
      if (isVector) simd(I32X4[operation])
      else bytes.push(I32[operation])
    },
    constant(word) {
      if (!isVector) {
        count(word)
        return
      }
      simd(0x0c)
      for (let place = 0; place < 4; place += 1)
        bytes.push(word & 255, (word >>> 8) & 255, (word >>> 16) & 255, word >>> 24)
    },
    load(at) {
      if (isVector) bytes.push(SIMD, 0x00, 2)
      else bytes.push(0x28, 2)
      unsigned(bytes, at)
    },
    store(at) {
      if (isVector) bytes.push(SIMD, 0x0b, 2)
      else bytes.push(0x36, 2)
      unsigned(bytes, at)
    },
    rotateLeft(bits, spare) {
      if (!isVector) {
        count(bits)
        bytes.push(0x77)
        return
      }
      // SIMD has no rotation, only shifts.
      code.set(spare)
      code.get(spare)
      count(bits)
      simd(0xab)
      code.get(spare)
      count(32 - bits)
      simd(0xad)
      code.do('or')
    },
    count,
    raw: (...given) => void bytes.push(...given),
  }
  return code
}

/** A module of one function `export`, of one 32-bit argument and no result, on an imported memory. */
export function wasmModule(
  names: { module: string; memory: string; export: string },
  body: readonly number[],
): Uint8Array<ArrayBuffer> {
  const function_: number[] = []
  unsigned(function_, body.length)
  return new Uint8Array(
    [
      [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
      section(1, [0x60, 1, WORD, 0]),
      section(2, [...named(names.module), ...named(names.memory), 0x02, 0x00, 0x01]),
      section(3, [0]),
      section(7, [...named(names.export), 0x00, 0]),
      section(10, function_.concat(body)),
    ].flat(),
  )
}

/** The types of a word and of four. */
export const WORD = 0x7f
export const FOUR_WORDS = 0x7b

/** A section of one entry. */
function section(id: number, entry: readonly number[]): number[] {
  const bytes = [id]
  unsigned(bytes, entry.length + 1)
  return bytes.concat(1, entry)
}

function named(name: string): number[] {
  return [name.length, ...Array.from(name, (letter) => letter.charCodeAt(0))]
}

/** LEB128, in which WebAssembly writes its numbers. */
function unsigned(into: number[], value: number): void {
  let rest = value
  for (; rest > 127; rest >>>= 7) into.push((rest & 127) | 128)
  into.push(rest)
}

function signed(into: number[], value: number): void {
  let rest = value | 0
  for (; rest < -64 || rest > 63; rest >>= 7) into.push((rest & 127) | 128)
  into.push(rest & 127)
}
