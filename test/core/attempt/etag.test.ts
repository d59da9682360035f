import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readAddress } from '../../../src/core/address/address.ts'
import { echoesAddress, formatEtag, md5FromEtag, parseEtag } from '../../../src/core/attempt/etag.ts'

const MD5 = '9e107d9d372bb6826bd81d3542a419d6'

describe('parseEtag', () => {
  it('reads quoted, bare and weak ETags', () => {
    expect(parseEtag(`"${MD5}"`)).toEqual({ raw: `"${MD5}"`, value: MD5 })
    expect(parseEtag(MD5)).toEqual({ raw: MD5, value: MD5 })
    expect(parseEtag(`W/"${MD5}"`)).toEqual({ raw: `W/"${MD5}"`, value: MD5 })
    expect(parseEtag('  "0x8DBC" ')).toEqual({ raw: '"0x8DBC"', value: '0x8DBC' })
    expect(parseEtag(`"${MD5}-3"`)?.value).toBe(`${MD5}-3`)
  })

  it.each([undefined, null, '', '  ', '"', '""', 'W/""', 'W/', 'null', 'undefined', '"null"', '"undefined"'])(
    'finds no ETag in %j',
    (raw) => {
      expect(parseEtag(raw)).toBeUndefined()
    },
  )
})

describe('an ETag that cannot be kept', () => {
  it.each([
    ['a blank', '"a b"'],
    ['a quote', '"a","b"'],
    ['a quote that nothing ends', `"${MD5}`],
    ['a quote that nothing begins', `${MD5}"`],
    ['a control character', '"a\u007f"'],
    ['more than 256 characters', `"${'a'.repeat(255)}"`],
    ['a URL', '"https://store.example/a"'],
    ['a query', '"a?sig=b"'],
    ['the rest of a query', 'X-Amz-Date=1&X-Amz-Signature=2'],
    ['what is beyond a byte', '"\u{1F600}"'],
  ])('has %s in it', (_, raw) => {
    expect(parseEtag(raw)).toBeUndefined()
  })

  it.each([
    '"0x8DBC1F2A3B4C5D6"',
    '"CPe3j7fQ8YkDEAE="',
    '"d41d8cd98f00b204e9800998ecf8427e-10000"',
    '"a/b+c=="',
    `"${'a'.repeat(254)}"`,
  ])('is not this one, which stores give: %s', (raw) => {
    expect(parseEtag(raw)?.raw).toBe(raw)
  })
})

describe('echoesAddress', () => {
  const signature = 'a94a8fe5ccb19ba61c4c0873d391e987982fbbd3a94a8fe5ccb19ba61c4c0873'
  const credential = 'AKID55/20261120/eu/s3/aws4_request'
  const signed = (more = '') =>
    `https://store.example/key?X-Amz-Credential=${encodeURIComponent(credential)}&X-Amz-Signature=${signature}&partNumber=1${more}`

  it.each([
    ['the signature', `"${signature}"`],
    ['the signature in capitals', `W/"${signature.toUpperCase()}"`],
    ['the signature in a longer text', `"x${signature}-1"`],
    ['most of the signature', `"${signature.slice(0, 40)}"`],
    ['the key of the signer', `"${credential}"`],
    ['the key of the signer, written for a URL', encodeURIComponent(credential)],
    ['the signature in what is no ETag', `https://store.example/key?X-Amz-Signature=${signature}`],
    ['no less than 16 characters of it', `"${signature.slice(0, 16)}"`],
  ])('finds %s', (_, etag) => {
    expect(echoesAddress(etag, readAddress(signed()))).toBe(true)
  })

  it.each([
    ['another digest', `"${MD5}"`, signed()],
    ['a few characters that the signature happens to have', `"${signature.slice(0, 8)}"`, signed()],
    ['short words', '"host-1"', signed('&X-Amz-SignedHeaders=host')],
    ['a digest that the signer asked for', `"${MD5}"`, signed(`&Content-MD5=${MD5}`)],
    ['the upload that the part belongs to', '"upload-77-1"', signed('&uploadId=upload-77')],
    ['a time', '"1763664000-3"', signed('&Expires=1763664000')],
    ['an address without a query', '"store.example/key"', 'https://store.example/key'],
  ])('leaves %s alone', (_, etag, address) => {
    expect(echoesAddress(etag, readAddress(address))).toBe(false)
  })
})

describe('md5FromEtag', () => {
  const md5Of = (raw: string, headers: Record<string, string> = {}) => md5FromEtag(raw, headers)

  it('gives 32 hex digits in lower case, also from a weak ETag', () => {
    expect(md5Of(`"${MD5.toUpperCase()}"`)).toBe(MD5)
    expect(md5Of(`W/"${MD5}"`)).toBe(MD5)
    expect(md5Of(MD5, { 'content-length': '0' })).toBe(MD5)
  })

  it('leaves every other form alone', () => {
    expect(md5Of(`"${MD5}-2"`)).toBeUndefined()
    expect(md5Of(`"${MD5}0"`)).toBeUndefined()
    expect(md5Of('"0x8DBC1F2A3B4C5D6"')).toBeUndefined()
    expect(md5Of('"CPe3j7fQ8YkDEAE="')).toBeUndefined()
    expect(md5FromEtag(undefined, {})).toBeUndefined()
  })

  it.each([
    [{ 'x-amz-server-side-encryption': 'aws:kms' }],
    [{ 'x-amz-server-side-encryption': 'aws:kms:dsse' }],
    [{ 'x-amz-server-side-encryption-aws-kms-key-id': 'arn' }],
    [{ 'x-amz-server-side-encryption-context': 'e30=' }],
    [{ 'x-amz-server-side-encryption-customer-algorithm': 'AES256' }],
    [{ 'x-amz-server-side-encryption-customer-key-md5': 'x' }],
    [{ 'x-goog-encryption-kms-key-name': 'projects/x' }],
    [{ 'x-goog-encryption-algorithm': 'AES256' }],
  ])('is opaque when the answer names %j', (headers: Record<string, string>) => {
    expect(md5Of(`"${MD5}"`, headers)).toBeUndefined()
  })

  it('can be compared under encryption with the key of the store itself', () => {
    expect(md5Of(`"${MD5}"`, { 'x-amz-server-side-encryption': 'AES256' })).toBe(MD5)
  })

  it('reads headers from an object without a prototype', () => {
    const headers = Object.assign(Object.create(null) as Record<string, string>, { etag: `"${MD5}"` })

    expect(md5FromEtag(MD5, headers)).toBe(MD5)
  })
})

describe('formatEtag', () => {
  it('writes the form that was asked for', () => {
    expect(formatEtag('W/"abc"', 'asReceived')).toBe('W/"abc"')
    expect(formatEtag('abc', 'asReceived')).toBe('abc')
    expect(formatEtag('abc', 'quoted')).toBe('"abc"')
    expect(formatEtag('W/"abc"', 'quoted')).toBe('"abc"')
    expect(formatEtag('"abc-4"', 'bare')).toBe('abc-4')
  })

  it('refuses to write an ETag that is none', () => {
    expect(() => formatEtag('null', 'quoted')).toThrow('a receipt has an ETag')
  })

  it('keeps the value through every form', () => {
    const value = fc.stringMatching(/^[!#-~]{1,40}$/).filter((text) => parseEtag(text)?.value === text)
    fc.assert(
      fc.property(value, fc.constantFrom('asReceived' as const, 'quoted' as const, 'bare' as const), (text, form) => {
        expect(parseEtag(formatEtag(`"${text}"`, form))?.value).toBe(text)
      }),
    )
  })
})
