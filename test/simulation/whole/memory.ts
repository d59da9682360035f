// The memory of windows, which the next life reuses. So much of it is asked for that allocating it anew would be most
// of the simulation's work. Also checks that nobody else uses a window while it is read into, or is on the line.

const spare: Uint8Array[] = []

export interface Memory {
  readonly allocate: (bytes: number) => Uint8Array
  /** The number of bytes handed out. */
  takenBytes(): number
  /** A read begins, which writes to this window until it has ended. */
  beginRead(into: Uint8Array): void
  endRead(into: Uint8Array): void
  /** The line takes this window, and reads it until it asks for the next one or its attempt has ended. */
  beginSend(window: Uint8Array): void
  endSend(window: Uint8Array): void
  /** Called when the life is over and nothing uses its windows any more. */
  free(): void
}

export function createMemory(violate: (what: string) => void): Memory {
  const taken: Uint8Array[] = []
  const reading = new Set<ArrayBufferLike>()
  const sending = new Set<ArrayBufferLike>()
  return {
    allocate(bytes) {
      const fitting = spare.at(-1)?.byteLength === bytes ? spare.pop() : undefined
      const window = fitting ?? new Uint8Array(bytes)
      taken.push(window)
      return window
    },
    takenBytes: () => taken.reduce((sum, window) => sum + window.byteLength, 0),
    beginRead({ buffer }) {
      if (reading.has(buffer)) violate('two reads write to one window at once')
      if (sending.has(buffer)) violate('a read writes to a window that is on the line')
      reading.add(buffer)
    },
    endRead: ({ buffer }) => void reading.delete(buffer),
    beginSend({ buffer }) {
      if (reading.has(buffer)) violate('a window goes out while a read still writes to it')
      sending.add(buffer)
    },
    endSend: ({ buffer }) => void sending.delete(buffer),
    free() {
      spare.push(...taken.splice(0))
    },
  }
}
