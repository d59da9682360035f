// The memory of windows, which the next life reuses. So much of it is asked for that allocating it anew would be most
// of the simulation's work.

const spare: Uint8Array[] = []

export interface Memory {
  readonly allocate: (bytes: number) => Uint8Array
  /** The number of bytes handed out. */
  takenBytes(): number
  /** Called when the life is over and nothing uses its windows any more. */
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
