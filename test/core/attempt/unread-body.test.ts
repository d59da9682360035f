// A Blob that goes to the network without passing through us: when it does, and what of it.

import { describe, expect, it } from 'vitest'
import { blobContent, goesUnread } from '../../../src/core/attempt/unread-body.ts'
import type { Hasher, Reader } from '../../../src/core/ports.ts'

const bytes = new TextEncoder().encode('0123456789')
const withoutBlobs: Reader = {
  read: () => Promise.reject(new Error('Nothing is read.')),
  verify: () => undefined,
  close: () => Promise.resolve(),
}
const reader: Reader = { ...withoutBlobs, blob: (start, end) => new Blob([bytes.slice(start, end)]) }
const hasher = (digestBlob?: Hasher['digestBlob']): Hasher => ({
  start: () => {
    throw new Error('Nothing is hashed here.')
  },
  ...(digestBlob && { digestBlob }),
})
const digesting = hasher(() => Promise.resolve('00'))
const UNIT = { fileIndex: 0, partNumber: 2, start: 3, end: 7 }
const { signal } = new AbortController()

it.each([
  ['goes so where nothing is hashed', undefined, false, reader, true],
  ['goes so where it is hashed elsewhere', digesting, false, reader, true],
  ['passes through us where it is hashed here', hasher(), false, reader, false],
  ['passes through us where it is paced', undefined, true, reader, false],
  ['passes through us where there is none', undefined, false, withoutBlobs, false],
])('%s', (_what, by, isLimited, from, expected) => {
  expect(goesUnread(by, { isLimited: () => isLimited }, from)).toBe(expected)
})

describe('the body', () => {
  it('is the bytes of its part', async () => {
    const made = await blobContent(UNIT, reader, undefined, signal).make()

    expect(made).toMatchObject({ kind: 'blob', lengthBytes: 4 })
    expect(made.kind === 'blob' && (await made.blob.text())).toBe('3456')
  })

  it('may fail to be hashed before anybody asks for its digest', async () => {
    const lost = new Error('The worker is gone.')
    const content = blobContent(
      UNIT,
      reader,
      hasher(() => Promise.reject(lost)),
      signal,
    )
    await content.make()
    await new Promise((resolve) => setImmediate(resolve))

    await expect(content.digest()).rejects.toBe(lost)
  })
})
