import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'

import { createShortBodies, SHORT_BYTES } from '../../../../src/adapters/node/hash/short-bodies.ts'

const md5 = (bytes: Uint8Array): string => createHash('md5').update(bytes).digest('hex')
/** So much goes through OpenSSL before there is a kernel. */
const FIRST_BYTES = 4 * 1024 * 1024

/** Past the first megabytes, with a kernel where there can be one. */
function warmed() {
  const bodies = createShortBodies()
  const body = new Uint8Array(SHORT_BYTES)
  for (let bytes = 0; bytes <= FIRST_BYTES; bytes += body.byteLength) bodies.add(body)()
  return bodies
}

/** How often a kernel was made, and how often one was let go over its lanes. */
function watchKernels() {
  const { Instance } = WebAssembly
  const counts = { kernels: 0, passes: 0 }
  vi.spyOn(WebAssembly, 'Instance').mockImplementation(function (...given) {
    counts.kernels += 1
    const take = new Instance(...given).exports['take'] as (bytes: number) => void
    const counted = (bytes: number): void => {
      counts.passes += 1
      take(bytes)
    }
    return { exports: { take: counted } }
  })
  return counts
}

describe('short bodies', () => {
  it('are hashed eight in one pass of one kernel, which is not made for the first megabytes', () => {
    const counts = watchKernels()
    const bodies = createShortBodies()
    const body = Buffer.alloc(SHORT_BYTES)
    for (let bytes = 0; bytes < FIRST_BYTES; bytes += SHORT_BYTES) bodies.add(body)()

    expect(counts).toEqual({ kernels: 0, passes: 0 })

    const digests = Array.from({ length: 8 }, () => bodies.add(body))
    for (const digest of digests) digest()

    expect(counts).toEqual({ kernels: 1, passes: 1 })

    // Of a few, and of one that is much longer than the others, a pass would take longer.
    for (const digest of digests.slice(0, 2).map(() => bodies.add(body))) digest()
    for (const digest of digests.map((_, index) => bodies.add(index === 0 ? body : body.subarray(0, 9)))) digest()

    expect(counts).toEqual({ kernels: 1, passes: 1 })
  })

  it('are hashed one by one where there is no kernel, which is tried once', () => {
    const making = vi.spyOn(WebAssembly, 'Module').mockImplementation(function () {
      throw new WebAssembly.CompileError('no SIMD')
    })
    const bodies = warmed()
    const body = Buffer.alloc(20_000, 'abc')
    const digests = [1, 2, 3].map(() => bodies.add(body))

    expect(digests.map((digest) => digest())).toEqual([md5(body), md5(body), md5(body)])
    expect(making).toHaveBeenCalledTimes(1)
  })

  it('have their own digests, however long they are, however many wait, and in whichever order they are asked', () => {
    const bodies = warmed()
    const lengths = fc.array(fc.oneof(fc.nat(130), fc.constant(20_000), fc.nat(SHORT_BYTES)), { maxLength: 40 })
    fc.assert(
      fc.property(lengths, fc.infiniteStream(fc.nat()), (list, order) => {
        const given = list.map((length, index) => new Uint8Array(length).map((_, at) => at * 31 + index))
        const expected = given.map(md5)
        const digests = given.map((bytes) => bodies.add(bytes))
        for (const bytes of given) bytes.fill(0)
        const asked = digests
          .map((_, index) => ({ index, rank: Number(order.next().value) }))
          .sort((a, b) => a.rank - b.rank)

        for (const { index } of asked) expect(digests[index]?.()).toBe(expected[index])
      }),
      { numRuns: 200 },
    )
  })

  it('are hashed also when nobody asks for those before them', () => {
    const bodies = warmed()
    const body = Buffer.alloc(20_000, 'abc')
    for (let dropped = 0; dropped < 100; dropped += 1) bodies.add(Buffer.alloc(100, dropped))

    expect(bodies.add(body)()).toBe(md5(body))
  })

  it('have the right digests from the first one on, before and after there is a kernel', () => {
    const bodies = createShortBodies()
    const body = Buffer.alloc(SHORT_BYTES)
    for (let count = 0; count < 80; count += 1) {
      body.writeUInt32LE(count)

      expect(bodies.add(body)()).toBe(md5(body))
    }
  })
})
