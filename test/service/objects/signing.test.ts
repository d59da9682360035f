// The signature of an address: good as it is, worthless after any change.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { createSigner } from '../../../src/service/objects/signing.ts'

const now = Date.parse('2026-11-20T12:00:00.000Z')
const secret = new Uint8Array(32).fill(7)
const signer = createSigner({ secret, lifeSeconds: 60, now: () => now })
const address = signer.sign('PUT', '/objects/videos/abc/1', { partNumber: 3, uploadId: 'abc' })

describe('an address', () => {
  it('is accepted by every signer with the same secret', () => {
    const other = createSigner({ secret: new Uint8Array(32).fill(7), lifeSeconds: 9, now: () => now })

    expect(other.verify('PUT', address)).toEqual({ kind: 'valid' })
  })

  it('is refused under another secret, method, and after it was cut or added to', () => {
    const other = createSigner({ secret: new Uint8Array(32).fill(8), lifeSeconds: 60, now: () => now })

    expect(other.verify('PUT', address)).toEqual({ kind: 'mismatch' })
    expect(signer.verify('GET', address)).toEqual({ kind: 'mismatch' })
    expect(signer.verify('PUT', `${address}&partNumber=4`)).toEqual({ kind: 'mismatch' })
    expect(signer.verify('PUT', `${address}&`)).toEqual({ kind: 'mismatch' })
    expect(signer.verify('PUT', address.replace('&uploadId=abc', ''))).toEqual({ kind: 'mismatch' })
    expect(signer.verify('PUT', `${address}&X-Amz-Signature=${'0'.repeat(64)}`)).toEqual({ kind: 'mismatch' })
    for (const query of ['', '?', '?partNumber=3'])
      expect(signer.verify('PUT', `/objects/videos/abc/1${query}`)).toEqual({ kind: 'unsigned' })
  })

  it('expires after its life, counted from the whole second in it', () => {
    const at = (time: number) => createSigner({ secret, lifeSeconds: 60, now: () => time })

    expect(at(now + 60_000).verify('PUT', address)).toEqual({ kind: 'valid' })
    expect(at(now + 60_001).verify('PUT', address)).toEqual({
      kind: 'expired',
      lifeSeconds: 60,
      expiredAt: now + 60_000,
    })
  })

  it('is worthless after any change of one character', () => {
    const change = fc.tuple(fc.nat(address.length - 1), fc.string({ minLength: 1, maxLength: 1, unit: 'binary-ascii' }))
    fc.assert(
      fc.property(change, ([index, character]) => {
        fc.pre(address[index] !== character)
        const changed = address.slice(0, index) + character + address.slice(index + 1)
        expect(signer.verify('PUT', changed).kind).not.toBe('valid')
      }),
      { numRuns: 3_000 },
    )
  })

  it('is worthless after any one character was taken out or put in', () => {
    fc.assert(
      fc.property(fc.nat(address.length - 1), fc.string({ maxLength: 1, unit: 'binary-ascii' }), (index, added) => {
        const end = added === '' ? index + 1 : index
        const changed = address.slice(0, index) + added + address.slice(end)
        expect(signer.verify('PUT', changed).kind).not.toBe('valid')
      }),
      { numRuns: 3_000 },
    )
  })
})
