// The page's end of the hasher proxy. Each piece is a window of a larger memory that is overwritten once its update has settled.

import type { WorkerHashers } from '../../../src/browser-hasher.ts'
import type { BodyHash } from '../../../src/core/ports.ts'
import { fromBase64 } from './bytes-as-text.ts'

export function serveHasher(start: () => Promise<Partial<WorkerHashers>>) {
  let hashers: ReturnType<typeof start> | undefined
  const bodies = new Map<number, BodyHash>()
  const bodyOf = async (id: number): Promise<BodyHash> => {
    const { hasher } = await (hashers ??= start())
    if (hasher === undefined) throw new Error('There is no hasher in this page.')
    const body = bodies.get(id) ?? hasher.start()
    bodies.set(id, body)
    return body
  }
  return {
    async updateHash(id: number, text: string): Promise<void> {
      const bytes = fromBase64(text)
      const memory = new Uint8Array(bytes.byteLength + 7).fill(0xff)
      memory.set(bytes, 3)
      await (await bodyOf(id)).update(memory.subarray(3, 3 + bytes.byteLength))
      if (memory.byteLength !== bytes.byteLength + 7) throw new Error('The memory of a window was taken away.')
      memory.fill(0xff)
    },
    digestHash: async (id: number) => (await bodyOf(id)).digest(),
    disposeHash: async (id: number) => (await bodyOf(id)).dispose?.(),
  }
}
