// What a body may cost is judged on its bytes: by depth, by the number of values, and by how many problems are looked for.

import { expect, it, vi } from 'vitest'

import { MalformedRequest } from '../../../src/service/http/replies.ts'
import { parseJson, readBody, segmentRequest, videoUploadRequest } from '../../../src/service/http/wire.ts'

function problemsOf(work: () => unknown) {
  try {
    work()
  } catch (error) {
    if (error instanceof MalformedRequest) return error.problems
    throw error
  }
  return []
}
const parsed = (text: string) => problemsOf(() => parseJson(Buffer.from(text)))

it('takes a million values and 32 levels, and nothing beyond', () => {
  const list = (values: number) => `[${'1,'.repeat(values - 2)}1]`
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
  expect([parsed(list(1_000_000)), parsed(nested(32))]).toEqual([[], []])
  expect(parsed(list(1_000_001))).toEqual([{ field: '', problem: 'more than 1000000 values' }])
  expect(parsed(nested(33))).toEqual([{ field: '', problem: 'nested more than 32 levels deep' }])
})

it('counts no sign that is within a text, escaped quotes and backslashes included', () => {
  const signs = '[{,'.repeat(400_000)
  const texts = [signs, `"${signs}`, `\\${signs}`, `${signs}\\`, `\\"${signs}\\\\`, `${signs}"`]
  for (const text of texts) expect(parseJson(Buffer.from(JSON.stringify({ [text]: text })))).toEqual({ [text]: text })
})

it('says of what is no JSON, or no text, just that', () => {
  for (const text of ['{', '[1', '"', '"\\', ']]]]', '{"a":}', '\\"[']) {
    expect(parsed(text)).toEqual([{ field: '', problem: 'the body is not JSON' }])
  }
  expect(problemsOf(() => parseJson(Buffer.from([0x22, 0xff, 0x22])))).toEqual([
    { field: '', problem: 'the body is not UTF-8' },
  ])
})

it('looks for no more problems than it tells, in the first entries or else the first one', () => {
  const file = { raw_file_name: 'a.mp4', file_size_bytes: 1, number_of_chunks: 1 }
  const video = { movement_type_id: 1, player_id: 'p', session_date: '2026-11-20', session_type_id: 1 }
  const read = (files: unknown[]) => problemsOf(() => readBody(videoUploadRequest, { body: { ...video, files } }))

  expect(read(new Array(900_000).fill(1))).toHaveLength(20)
  expect(read([1, file, {}]).map(({ field }) => field)).toEqual([
    ...['files.0', 'files.2.raw_file_name', 'files.2.file_size_bytes', 'files.2.number_of_chunks'],
  ])
  const late = [...new Array<object>(50).fill(file), { ...file, number_of_chunks: 0 }, 1]
  expect(read(late).map(({ field }) => field)).toEqual(['files.50.number_of_chunks'])
  expect(problemsOf(() => readBody(videoUploadRequest, { body: null }))).toHaveLength(1)
})

it('looks no further than that for what cannot be stored', () => {
  const measured = vi.spyOn(Buffer, 'byteLength')
  const long = new Array<string>(1_000).fill('x'.repeat(1_025))
  const body = { movement_type_id: 1, dom_hand: 'RHA', org_movement_ids: long }

  expect(problemsOf(() => readBody(segmentRequest, { body }))).toHaveLength(20)
  expect(measured.mock.calls.filter(([text]) => text === long[0])).toHaveLength(20)
})

it('does not list the fields of a body that the interface does not show, of which there may be a million', () => {
  const listed = vi.fn(() => [])
  const body = new Proxy({ dom_hand: 'X', org_movement_ids: [1] }, { ownKeys: listed })

  expect(problemsOf(() => readBody(segmentRequest, { body })).map(({ field }) => field)).toEqual([
    ...['movement_type_id', 'dom_hand', 'org_movement_ids.0'],
  ])
  expect(listed).not.toHaveBeenCalled()
})
