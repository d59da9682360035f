import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

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

describe('short bodies', () => {
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
