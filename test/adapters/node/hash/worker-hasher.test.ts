// The hasher on a thread: the contract of a hasher, and its digests.

import fc from 'fast-check'
import { randomBytes } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import { workerHasher } from '../../../../src/adapters/node/hash/worker-hasher.ts'
import type { Hasher } from '../../../../src/core/ports.ts'
import { hasherContract } from '../../../../src/testing/hasher-contract.ts'
import { KIB, MIB, ABC, started, sharedWindow, makeHasher, md5, watchThreads } from './worker-hasher-rig.ts'

watchThreads()

hasherContract('workerHasher, every body on a thread', () => {
  const hasher = workerHasher({ smallBodyBytes: 0 })
  return { hasher, cleanUp: () => hasher.close() }
})
hasherContract('workerHasher, every body beside another', () => {
  const hasher = besideAnother(workerHasher({ smallBodyBytes: 0 }))
  return { hasher, cleanUp: () => hasher.close() }
})
hasherContract('workerHasher, as it comes', () => {
  const hasher = workerHasher()
  return { hasher, cleanUp: () => hasher.close() }
})

describe('the digests of workerHasher', () => {
  it('do not depend on cuts, offsets, the kind of memory, or other bodies on the way', async () => {
    const hasher = besideAnother(makeHasher())
    const piece = fc.record({
      offset: fc.integer({ min: 0, max: 65 }),
      bytes: fc.uint8Array({ maxLength: 5_000 }),
      kind: fc.constantFrom('own' as const, 'shared' as const, 'plain' as const),
    })
    const bodies = fc.array(fc.array(piece, { maxLength: 6 }), { minLength: 1, maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(bodies, async (given) => {
        const digests = given.map(async (pieces) => {
          const hash = hasher.start()
          for (const { offset, bytes, kind } of pieces) {
            const length = bytes.length + 99
            const allocate = { own: hasher.allocate, shared: sharedWindow, plain: (of: number) => new Uint8Array(of) }
            const memory = allocate[kind](length)
            memory.fill(255).set(bytes, offset)
            await hash.update(memory.subarray(offset, offset + bytes.length))
          }
          return hash.digest()
        })

        expect(await Promise.all(digests)).toEqual(
          given.map((pieces) => md5(Buffer.concat(pieces.map(({ bytes }) => bytes)))),
        )
      }),
      { numRuns: 100 },
    )
  })

  it('are right for a thousand bodies at once, each through one window that is used again', async () => {
    const hasher = makeHasher()
    const digests = Array.from({ length: 1_000 }, async (_, index) => {
      const window = hasher.allocate(4 * KIB)
      const hash = hasher.start()
      for (let round = 0; round < 3; round += 1) {
        window.fill(index + round)
        await hash.update(window)
      }
      return hash.digest()
    })

    expect(await Promise.all(digests)).toEqual(
      Array.from({ length: 1_000 }, (_, index) =>
        md5(Buffer.concat([0, 1, 2].map((round) => Buffer.alloc(4 * KIB, index + round)))),
      ),
    )
    expect(started).toHaveLength(1)
  })

  it('are right for bodies that end around a block, or around what is taken at once, all on the way together', async () => {
    const hasher = makeHasher()
    const lengths = [1, 64 * KIB, 128 * KIB].flatMap((whole) =>
      [-9, -8, -1, 0, 1, 55, 56, 64].map((more) => whole + more),
    )
    const bodies = lengths.filter((length) => length >= 0).map((length) => randomBytes(length))
    const windows = bodies.map((body, index) => {
      const window = hasher.allocate(body.length)
      window.set(body)
      return index % 2 === 0 ? window : body
    })

    const digests = windows.map(async (body) => {
      const hash = hasher.start()
      for (let at = 0; at < body.length; at += 100_000) await hash.update(body.subarray(at, at + 100_000))
      return hash.digest()
    })

    expect(await Promise.all(digests)).toEqual(bodies.map(md5))
  })

  it('are right where the processor has no SIMD', async () => {
    const validate = vi.spyOn(WebAssembly, 'validate').mockReturnValue(false)
    const hasher = makeHasher()
    const bodies = Array.from({ length: 20 }, (_, index) => randomBytes(64 * KIB + 1000 * index))

    const digests = bodies.map(async (body) => {
      const hash = hasher.start()
      await hash.update(body)
      return hash.digest()
    })

    expect(await Promise.all(digests)).toEqual(bodies.map(md5))
    expect(validate).toHaveBeenCalledTimes(1)
  })

  it('count more than 2 ** 32 bits', async () => {
    const hasher = besideAnother(makeHasher())
    const window = hasher.allocate(16 * MIB).fill(7)
    const hash = hasher.start()

    for (let at = 0; at < 33; at += 1) await hash.update(window)

    // What Node's own MD5 gives, which takes a second for as many.
    expect(await hash.digest()).toBe('5f3dfaf802cb2e7a6cfef781c2f70288')
  })

  it('take updates in the order in which they were given, awaited or not', async () => {
    const hash = besideAnother(makeHasher()).start()

    await Promise.all(['a', 'b', 'c'].map(async (text) => hash.update(Buffer.from(text))))

    expect(await hash.digest()).toBe(ABC)
  })
})

/** A body that begins alone goes another way: one is begun, and stays, before each of the others begins. */
function besideAnother<T extends Hasher>(hasher: T): T {
  let other: Promise<void> | void
  return {
    ...hasher,
    start() {
      other ??= hasher.start().update(Buffer.from('x'))
      void other
      return hasher.start()
    },
  }
}
