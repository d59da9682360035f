// What is kept of an answer, from the pieces in which a client hands it over.

import { expect, test } from 'vitest'
import { createReplyReader } from '../../../../src/adapters/node/http/reply-reader.ts'

const raw = (...fields: string[]): Buffer[] => fields.map((field) => Buffer.from(field, 'latin1'))

test('an answer begins with its final head: what comes before says nothing', () => {
  const reader = createReplyReader(10)
  expect(reader.reply(false)).toBeUndefined()
  for (const status of [100, 103, 199]) reader.onHead(status, raw('link', 'early'))
  expect(reader.reply(true)).toBeUndefined()

  reader.onHead(200, raw('etag', '"e"'))

  expect(reader.reply(true)).toMatchObject({ status: 200, headers: { etag: '"e"' }, isBodyCut: false })
})

test('its headers have names in lower case, one value each, and no prototype', () => {
  const reader = createReplyReader(0)
  reader.onHead(200, ['ETag', '"é"', ...raw('X-Name', 'é', 'x-name', 'two', '__proto__', 'three')])

  const { headers } = reader.reply(true)!

  expect(Object.entries(headers)).toEqual([
    ['etag', '"é"'],
    ['x-name', 'é, two'],
    ['__proto__', 'three'],
  ])
  expect('constructor' in headers).toBe(false)
})

test.each([
  [0, '', true],
  [3, 'abc', true],
  [5, 'abcde', true],
  [6, 'abcdef', false],
  [7, 'abcdef', false],
])('of its body %i bytes are kept, and no more', (maxReplyBytes, kept, isBodyCut) => {
  const reader = createReplyReader(maxReplyBytes)
  reader.onHead(200, [])
  const chunk = Buffer.from('abcd')
  for (const piece of [chunk, Buffer.from('ef')]) expect(reader.onData(piece)).toBe(true)
  // The memory of a chunk belongs to the socket, which fills it again.
  chunk.fill(0)

  expect(Buffer.from(reader.reply(true)!.body).toString()).toBe(kept)
  expect([reader.reply(true)!.isBodyCut, reader.reply(false)!.isBodyCut]).toEqual([isBodyCut, true])
})

test('what is read and thrown away has a bound of 256 KiB', () => {
  const reader = createReplyReader(10)
  reader.onHead(200, [])

  expect(reader.onData(new Uint8Array(10 + 256 * 1024))).toBe(true)
  expect(reader.onData(new Uint8Array(1))).toBe(false)
})
