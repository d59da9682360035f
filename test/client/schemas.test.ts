// The guards by which the client reads replies say what the schemas say by which bodies are judged elsewhere.

import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { wireCount, wireId, wireOrdinal, wireSegmentId } from '../../src/client/contract/field-schemas.ts'
import { isCount, isId, isOrdinal, segmentIdOf } from '../../src/client/contract/fields.ts'
import { videoUploadReply } from '../../src/client/contract/video-schemas.ts'
import { videoUploadFromWire } from '../../src/client/contract/videos.ts'

const nearNumbers = fc.oneof(
  fc.integer({ min: -2, max: 2 }),
  fc.double(),
  fc.constantFrom(0, -0, 2 ** 53 - 1, 2 ** 53, -(2 ** 53)),
)
const nearTexts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.stringMatching(/^\d{0,17}$/),
  fc.constantFrom('', 'https://x.example', 'a?b=c', 'x'.repeat(1_024), 'x'.repeat(1_025)),
)
const anything = fc.oneof(nearNumbers, nearTexts, fc.constantFrom(null, undefined, true), fc.array(fc.integer()))

describe('a guard of a reply', () => {
  it.each<[string, (value: unknown) => boolean, v.GenericSchema]>([
    ['isCount', isCount, wireCount],
    ['isOrdinal', isOrdinal, wireOrdinal],
    ['isId', isId, wireId],
    ['segmentIdOf', (value) => segmentIdOf(value) !== undefined, wireSegmentId],
  ])('%s takes what its schema takes', (_name, takes, schema) => {
    fc.assert(
      fc.property(anything, (value) => {
        expect(takes(value)).toBe(v.is(schema, value))
      }),
    )
  })

  it('takes a created upload exactly when the schema of the reply does', () => {
    const part = fc.oneof(
      fc.record({ url: fc.constantFrom('https://s.example/a?X=1', 'http://s.example/b') }),
      fc.record({ url: fc.oneof(nearTexts, nearNumbers) }, { requiredKeys: [] }),
    )
    const file = fc.oneof(
      { weight: 4, arbitrary: fc.record({ session_file_id: fc.constantFrom(1, 'f'), info: fc.array(part) }) },
      fc.record({ session_file_id: anything, info: fc.oneof(fc.array(part), anything) }, { requiredKeys: [] }),
      anything,
    )
    const reply = fc.record(
      {
        upload_session_id: fc.oneof(fc.constantFrom(7, 'u'), anything),
        pre_signed_urls: fc.array(file, { maxLength: 3 }),
      },
      { requiredKeys: [] },
    )
    const seen = new Set<boolean>()
    fc.assert(
      fc.property(reply, (raw) => {
        const isTaken = videoUploadFromWire(raw) !== undefined
        seen.add(isTaken)
        expect(isTaken).toBe(v.is(videoUploadReply, raw))
      }),
      { numRuns: 500 },
    )
    expect(seen).toEqual(new Set([true, false]))
  })
})
