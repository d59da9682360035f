import fc from 'fast-check'
import { expect, it } from 'vitest'
import { boundPassed } from '../../../src/client/contract/json-bounds.ts'
import { REPLY_BOUNDS } from '../../../src/client/reply.ts'

const isBounded = (text: string): boolean => boundPassed(new TextEncoder().encode(text), REPLY_BOUNDS) === undefined

it('takes whatever a service may answer, brackets inside texts included', () => {
  expect(isBounded(JSON.stringify({ a: ['['.repeat(1_000), '\\"{{{', { '{': 1 }] }))).toBe(true)
  expect(isBounded(JSON.stringify(Array.from({ length: 300_000 }, () => ({ url: 'https://h.example/' }))))).toBe(true)
  fc.assert(fc.property(fc.json({ maxDepth: 20 }), isBounded))
})

it('refuses more than 64 levels, in objects and arrays alike', () => {
  expect(isBounded('['.repeat(64) + ']'.repeat(64))).toBe(true)
  expect(isBounded('['.repeat(65) + ']'.repeat(65))).toBe(false)
  expect(isBounded('{"a":'.repeat(65))).toBe(false)
})

it('refuses more values than any reply has', () => {
  expect(isBounded(`[${'0,'.repeat(1_999_000)}0]`)).toBe(true)
  expect(isBounded(`[${'[],'.repeat(1_100_000)}0]`)).toBe(false)
})

it('ends on what is cut in the middle of a text', () => {
  expect(isBounded('["abc')).toBe(true)
  expect(isBounded('["abc\\')).toBe(true)
})
