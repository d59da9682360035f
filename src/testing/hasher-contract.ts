// What every Hasher promises, on whatever thread it works.

import fc from 'fast-check'
import { createHash } from 'node:crypto'
import { afterAll, describe, expect, it } from 'vitest'

import type { Hasher } from '../core/ports.ts'

/** A hasher, and how it is let go. */
export interface HasherSubject {
  readonly hasher: Hasher
  readonly cleanUp?: () => Promise<void>
}

/** As large as the largest window of the engine. */
const LARGE_WINDOW = 2 * 1024 * 1024
/** The test suite of RFC 1321, appendix A.5. */
const VECTORS: readonly (readonly [text: string, digest: string])[] = [
  ['', 'd41d8cd98f00b204e9800998ecf8427e'],
  ['a', '0cc175b9c0f1b6a831c399e269772661'],
  ['abc', '900150983cd24fb0d6963f7d28e17f72'],
  ['message digest', 'f96b697d7cb7938d525a2f31aaf161d0'],
  ['abcdefghijklmnopqrstuvwxyz', 'c3fcd3d76192e4007dfb496cca67e13b'],
  ['ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789', 'd174ab98d277d9f5a5611c2c9f419d9f'],
  ['1234567890'.repeat(8), '57edf4a22be3c955ac49da2e2107b67a'],
]

/**
 * Declares the tests of a hasher. `make` gives one, once, for all of them. Checked: the digests of RFC 1321, bodies however they are
 * cut, windows that change once they are hashed, shared memory, two hundred bodies at the same time, and `whole` where there is one.
 * `digestBlob` is not looked at, nor are bodies of 512 MiB and more, whose length in bits takes more than 32 of them.
 */
export function hasherContract(label: string, make: () => HasherSubject): void {
  describe(`${label}: the contract of a hasher`, () => {
    const { hasher, cleanUp } = make()
    afterAll(() => cleanUp?.())

    async function digestOf(pieces: readonly Uint8Array[], lengthBytes?: number): Promise<string> {
      const hash = hasher.start(lengthBytes)
      for (const piece of pieces) await hash.update(piece)
      return hash.digest()
    }

    it.each(VECTORS)('gives the digest that RFC 1321 lists for %j', async (text, digest) => {
      expect(await digestOf([Buffer.from(text)])).toBe(digest)
    })

    it('gives the digest of the empty body when it was given nothing, or nothing several times', async () => {
      expect(await digestOf([])).toBe('d41d8cd98f00b204e9800998ecf8427e')
      expect(await digestOf([new Uint8Array(), new Uint8Array()])).toBe('d41d8cd98f00b204e9800998ecf8427e')
    })

    it('does not depend on where the body was cut, nor on whether its length was told', async () => {
      const pieces = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 12 })
      await fc.assert(
        fc.asyncProperty(pieces, async (body) => {
          const bytes = Buffer.concat(body)
          const whole = md5(bytes)

          expect(await digestOf(body)).toBe(whole)
          expect(await digestOf(body, bytes.byteLength)).toBe(whole)
        }),
        { numRuns: 60 },
      )
    })

    it('takes bodies of one piece, many at once, which may change from then on, or says that they must be updated', async () => {
      const lengths = [0, 1, 55, 56, 63, 64, 20_000, 65_535, 65_536, 1_000_000]
      // Windows of a larger memory, as the engine's are.
      const bodies = lengths.map((lengthBytes) => Buffer.alloc(lengthBytes + 2, String(lengthBytes)).subarray(1, -1))
      const expected = bodies.map(md5)
      const digests = bodies.map((body) => {
        const whole = hasher.whole?.(body)
        if (whole === undefined) return () => digestOf([body])
        body.fill(0)
        return whole
      })

      for (const [index, digest] of digests.entries()) {
        expect(await digest()).toBe(expected[index])
        expect(await digest()).toBe(expected[index])
      }
    })

    it('reads a window of a larger memory, and only that', async () => {
      const memory = Buffer.from('xxabcxx')

      expect(await digestOf([memory.subarray(2, 5)])).toBe('900150983cd24fb0d6963f7d28e17f72')
    })

    it('reads a window on shared memory', async () => {
      const window = new Uint8Array(new SharedArrayBuffer(3))
      window.set(Buffer.from('abc'))

      const whole = hasher.whole?.(window)
      expect(await digestOf([window])).toBe('900150983cd24fb0d6963f7d28e17f72')
      if (whole !== undefined) expect(whole()).toBe('900150983cd24fb0d6963f7d28e17f72')
    })

    it('is done with a window when its update has settled', async () => {
      for (const windowBytes of [1, 1_000, 65_536, LARGE_WINDOW]) {
        const hash = hasher.start()
        const window = new Uint8Array(windowBytes).fill(1)
        const body = Buffer.concat([window, new Uint8Array(windowBytes).fill(2)])

        await hash.update(window)
        window.fill(2)
        await hash.update(window)
        window.fill(3)

        expect(await hash.digest(), `windows of ${String(windowBytes)} bytes`).toBe(md5(body))
      }
    })

    it('keeps two hundred bodies apart that pass by at the same time, long and short', async () => {
      const hashes = Array.from({ length: 200 }, () => hasher.start())
      const piece = (index: number): string => `body ${String(index)} `.repeat(1 + (index % 20))
      for (let round = 0; round < 3; round += 1) {
        const updates = hashes.map(async (hash, index) => hash.update(Buffer.from(piece(index))))
        await Promise.all(updates)
      }

      const digests = await Promise.all(hashes.map(async (hash) => hash.digest()))

      expect(digests).toEqual(hashes.map((_, index) => md5(Buffer.from(piece(index).repeat(3)))))
    })

    it('can be let go at any time, more than once, without harm to the others', async () => {
      const kept = hasher.start()
      const given = hasher.start()
      await kept.update(Buffer.from('ab'))
      await given.update(Buffer.from('zz'))

      given.dispose?.()
      given.dispose?.()
      await kept.update(Buffer.from('c'))
      const digest = await kept.digest()
      kept.dispose?.()

      expect(digest).toBe('900150983cd24fb0d6963f7d28e17f72')
    })
  })
}

function md5(bytes: Uint8Array): string {
  return createHash('md5').update(bytes).digest('hex')
}
