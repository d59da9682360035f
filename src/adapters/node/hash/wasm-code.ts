// Writes the few instructions of WebAssembly that a hash needs, on four 32-bit words side by side, as bytes. For the
// numbers see https://webassembly.github.io/spec/core/binary/.

/** Writes instructions, one after the other. Locals are below 128. */
export interface WasmCode {
  readonly bytes: number[]
  get(local: number): void
  set(local: number): void
  /** One operation on what was put on the stack. */
  do(operation: keyof typeof I32X4): void
  /** From, or to, the memory at the address on the stack plus `at`. */
  load(at: number): void
  store(at: number): void
  /** Like `load`, but for one word: an address or a number that counts. */
  loadCount(at: number): void
  /** Rotates what is on the stack to the left. `spare` is a local that it may use. */
  rotateLeft(bits: number, spare: number): void
  /** A number that counts bytes or bits, as opposed to a word of the hash. */
  count(value: number): void
  /** Begins a loop. */
  loop(): void
  /** Adds `step` to a local that counts, and repeats while it is below `end`: a local, or a number from 128 on. */
  endLoop(local: number, step: number, end: number): void
  /** Ends the function. */
  end(): void
  /** Bytes as they are. */
  raw(...bytes: number[]): void
}

/** Operations on four words. */
const I32X4 = { add: 0xae, subtract: 0xb1, and: 0x4e, andNot: 0x4f, or: 0x50, xor: 0x51 }

const SIMD = 0xfd

export function wasmCode(): WasmCode {
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
    do: (operation) => simd(I32X4[operation]),
    load(at) {
      bytes.push(SIMD, 0x00, 2)
      unsigned(bytes, at)
    },
    store(at) {
      bytes.push(SIMD, 0x0b, 2)
      unsigned(bytes, at)
    },
    loadCount(at) {
      bytes.push(0x28, 2)
      unsigned(bytes, at)
    },
    rotateLeft(bits, spare) {
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
    loop: () => void bytes.push(0x03, 0x40),
    endLoop(local, step, end) {
      code.get(local)
      count(step)
      bytes.push(0x6a, 0x22, local)
      if (end < 128) code.get(end)
      else count(end)
      bytes.push(0x49, 0x0d, 0, 0x0b)
    },
    end: () => void bytes.push(0x0b),
    raw: (...given) => void bytes.push(...given),
  }
  return code
}

export interface WasmModule {
  readonly module: string
  readonly memory: string
  readonly export: string
  /** The maximum size of the memory, in pages of 64 KiB. */
  readonly pages: number
  readonly body: readonly number[]
  /** What is written into the memory when the module is instantiated. */
  readonly data: { readonly at: number; readonly bytes: Uint8Array }
}

/**
 * A module with one function, named by `export`, of one 32-bit argument and no result, on an imported shared memory.
 */
export function wasmModule({ module, memory, pages, body, data, ...names }: WasmModule): Uint8Array<ArrayBuffer> {
  const function_ = sized(body)
  const limits: number[] = [0x03, 1]
  unsigned(limits, pages)
  const place: number[] = [0x00, 0x41]
  signed(place, data.at)
  return new Uint8Array(
    [
      [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
      section(1, [0x60, 1, WORD, 0]),
      section(2, [...named(module), ...named(memory), 0x02, ...limits]),
      section(3, [0]),
      section(7, [...named(names.export), 0x00, 0]),
      section(10, function_),
      section(11, [...place, 0x0b, ...sized([...data.bytes])]),
    ].flat(),
  )
}

/** The types of one word and of four. */
export const WORD = 0x7f
export const FOUR_WORDS = 0x7b

/** A section with one entry. */
function section(id: number, entry: readonly number[]): number[] {
  const bytes = [id]
  unsigned(bytes, entry.length + 1)
  return bytes.concat(1, entry)
}

/** Bytes, preceded by their number. */
function sized(content: readonly number[]): number[] {
  const bytes: number[] = []
  unsigned(bytes, content.length)
  return bytes.concat(content)
}

function named(name: string): number[] {
  return [name.length, ...Array.from(name, (letter) => letter.charCodeAt(0))]
}

/** LEB128, the form in which WebAssembly writes numbers. */
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
