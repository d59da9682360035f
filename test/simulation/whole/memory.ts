// The memory of windows, used again by the next life: so much of it is asked for that making it new would be most of the
// simulation's work.

const spare: Uint8Array[] = []

export interface Memory {
  readonly allocate: (bytes: number) => Uint8Array
  /** The bytes that were handed out. */
  takenBytes(): number
  /** The life is over: nothing touches its windows any more. */
  free(): void
}

export function createMemory(): Memory {
  const taken: Uint8Array[] = []
  return {
    allocate(bytes) {
      const fitting = spare.at(-1)?.byteLength === bytes ? spare.pop() : undefined
      const window = fitting ?? new Uint8Array(bytes)
      taken.push(window)
      return window
    },
    takenBytes: () => taken.reduce((sum, window) => sum + window.byteLength, 0),
    free() {
      spare.push(...taken.splice(0))
    },
  }
}
