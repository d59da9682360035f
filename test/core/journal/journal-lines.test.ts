import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { crc32c } from '../../../src/core/journal/crc32c.ts'
import { isUploadError } from '../../../src/core/errors.ts'
import type { JournalRecord } from '../../../src/core/journal/journal.ts'
import { decodeHeader, encodeHeader, encodeLines, KEPT_MARK } from '../../../src/core/journal/journal-lines.ts'
import { recordText } from '../../../src/core/journal/record-text.ts'
import { decodeJournal } from '../../helpers/decode-journal.ts'

const text = (value: string): Uint8Array => new TextEncoder().encode(value)
const join = (...pieces: Uint8Array[]): Uint8Array => Uint8Array.from(pieces.flatMap((piece) => [...piece]))
const header = { key: 'night-1', begunUs: 1_789_000_000_000_000 }
const confirmed = (fileIndex: number): JournalRecord => ({ type: 'file.confirmed', at: fileIndex, fileIndex })
const decode = (bytes: Uint8Array) => decodeJournal(bytes, '/state/journal')

/** A line as the format says it, written by hand. */
function line(number: number, keptCount: number, content: string): string {
  const body = `${String(number)} ${String(keptCount)} ${content}`
  return `${crc32c(text(body))} ${body}\n`
}

/** A journal that got its records in batches, each on the disk before the next. */
function journalOf(batches: readonly (readonly JournalRecord[])[], isMarked = false): Uint8Array {
  let count = 0
  const pieces = [encodeHeader(header)]
  for (const batch of batches) {
    pieces.push(encodeLines(batch.map(recordText), count + 1, count))
    count += batch.length
  }
  if (isMarked) pieces.push(encodeLines([KEPT_MARK], count + 1, count))
  return join(...pieces)
}

function codeOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    return isUploadError(error) ? error.code : `not ours: ${String(error)}`
  }
  return 'none'
}

const anyRecord: fc.Arbitrary<JournalRecord> = fc.oneof(
  fc.record({ at: fc.nat(), fileIndex: fc.nat(), partNumber: fc.nat() }).map((fields): JournalRecord => ({
    ...fields,
    type: 'part.received',
    receipt: { acceptedEnd: fields.at, etag: '"é\u2028\n"', isVerified: true },
  })),
  fc.tuple(fc.nat(), fc.string({ unit: 'binary' })).map(([at, message]): JournalRecord => ({
    ...{ type: 'file.failed', at, fileIndex: 0 },
    error: { code: 'ERR_UPLOAD_NETWORK', message },
  })),
  fc.nat().map((at): JournalRecord => ({ type: 'session.creating', at })),
)
const anyHistory = fc.array(fc.array(anyRecord, { minLength: 1, maxLength: 4 }), { maxLength: 5 })

describe('the checksum', () => {
  it('is CRC-32C', () => {
    expect(crc32c(text('123456789'))).toBe('e3069283')
    expect(crc32c(new Uint8Array(32))).toBe('8a9136aa')
    expect(crc32c(new Uint8Array())).toBe('00000000')
  })
})

describe('the lines', () => {
  it('are what the format says', () => {
    const bytes = join(encodeHeader(header), encodeLines([recordText(confirmed(0)), KEPT_MARK], 1, 0))

    const json = '{"key":"night-1","begunUs":1789000000000000}'
    expect(new TextDecoder().decode(bytes)).toBe(
      `mocap-uplink-journal 1 ${crc32c(text(json))} ${json}\n` +
        line(1, 0, '{"type":"file.confirmed","at":0,"fileIndex":0}') +
        line(2, 0, 'kept'),
    )
  })

  it('give back every record, whatever Unicode is in it', () => {
    fc.assert(
      fc.property(anyHistory, fc.boolean(), (batches, isMarked) => {
        const decoded = decode(journalOf(batches, isMarked))

        expect(decoded.records).toEqual(batches.flat())
        expect(decoded.header).toEqual(header)
        expect(decoded.lineCount).toBe(batches.flat().length + Number(isMarked))
      }),
    )
  })

  it.each([
    ...[
      'session.begun',
      'session.creating',
      'session.created',
      'session.replaced',
      'session.resumed',
      'session.refused',
      'session.left',
      'session.ended',
    ],
    ...['session.cancelling', 'session.cancelled', 'session.settled', 'files.registering', 'files.registered'],
    ...['part.doubtful', 'part.received', 'parts.voided', 'file.confirming', 'file.confirmed', 'file.failed'],
  ])('give back a record of the type %s', (type) => {
    const record = { type, at: 1, ...(type === 'session.begun' ? { version: 1 } : {}) } as unknown as JournalRecord

    expect(decode(journalOf([[record]])).records).toEqual([record])
  })

  it.each<[string, Uint8Array, boolean]>([
    ['nothing', new Uint8Array(), true],
    ['a header alone', journalOf([]), true],
    ['a journal that was closed', journalOf([[confirmed(0)], [confirmed(1)]], true), true],
    ['one that was not', journalOf([[confirmed(0)], [confirmed(1)]]), false],
    [
      'one that was opened again',
      join(journalOf([[confirmed(0)]], true), text(line(3, 2, recordText(confirmed(1))))),
      false,
    ],
    ['one whose mark says less', join(journalOf([[confirmed(0)]]), text(line(2, 0, KEPT_MARK))), false],
  ])('of %s tell whether all of it is known to be on the disk', (_what, bytes, isKept) => {
    expect(decode(bytes).isKept).toBe(isKept)
  })

  it('keep any key, half a surrogate pair and a very long one included', () => {
    for (const key of ['', '\ud800', '__proto__', 'x'.repeat(1_000_000), 'a\nb\u0000']) {
      const bytes = encodeHeader({ key, begunUs: 1 })
      expect(decodeHeader(bytes, 'f')?.header).toEqual({ key, begunUs: 1 })
    }
  })

  it.each([
    ['a function', { callback: () => 1 }, 'callback'],
    ['a date', { when: new Date(0) }, 'when'],
    ['a map', { names: new Map() }, 'names'],
    ['a number that is not finite', { deep: [{ rate: NaN }] }, 'rate'],
    ['a bigint', { size: 1n }, 'size'],
    ['a hole in a list', { list: [undefined] }, '0'],
  ])('refuse %s, which JSON would drop or change', (_, params, place) => {
    const record = { type: 'session.begun', at: 1, params } as unknown as JournalRecord

    expect(() => recordText(record)).toThrow(`not plain data at "${place}"`)
    expect(codeOf(() => recordText(record))).toBe('ERR_UPLOAD_JOURNAL')
  })

  it('leave out what is undefined, and take objects without a prototype', () => {
    const bare = Object.assign(Object.create(null) as object, { frameRate: 240 })
    const record = { type: 'session.begun', at: 1, params: bare, error: undefined } as unknown as JournalRecord

    expect(recordText(record)).toBe('{"type":"session.begun","at":1,"params":{"frameRate":240}}')
  })
})

describe('a torn tail', () => {
  it('is dropped wherever the file was cut: a prefix of the bytes is a prefix of the history', () => {
    fc.assert(
      fc.property(anyHistory, fc.boolean(), (batches, isMarked) => {
        const bytes = journalOf(batches, isMarked)
        const history = batches.flat()
        let longest = 0
        for (let length = 0; length <= bytes.length; length++) {
          const { records, soundBytes } = decode(bytes.subarray(0, length))
          if (soundBytes > length || records.length < longest) expect.fail(`at ${String(length)} of the bytes`)
          if (records.length === longest && records.length > 0) continue
          expect(records).toEqual(history.slice(0, records.length))
          longest = records.length
        }
        expect(longest).toBe(history.length)
      }),
      { numRuns: 30 },
    )
  })

  it('is dropped when it is garbage, lines of it included', () => {
    const bytes = journalOf([[confirmed(0)], [confirmed(1)]])
    const garbage = text('\n\u0000\u0000 12\nnothing of ours\n\n{"type":"file.confirmed"}')

    const decoded = decode(join(bytes, garbage))

    expect(decoded.records).toEqual([confirmed(0), confirmed(1)])
    expect(decoded.soundBytes).toBe(bytes.length)
  })

  it('is a line whose end did not come, and one whose end is another byte', () => {
    const bytes = journalOf([[confirmed(0)]])
    const next = line(2, 0, recordText(confirmed(1))).slice(0, -1)

    for (const tail of [next, `${next}\u0000`]) {
      expect(decode(join(bytes, text(tail)))).toMatchObject({ lineCount: 1, soundBytes: bytes.length })
    }
  })

  it('begins at a line that the disk lost, when nothing says that it was ever kept', () => {
    const bytes = journalOf([[confirmed(0)], [confirmed(1), confirmed(2), confirmed(3)]])
    const hole = new TextDecoder().decode(bytes).split('\n')
    hole[3] = '\u0000'.repeat(hole[3]!.length)

    expect(decode(text(hole.join('\n'))).records).toEqual([confirmed(0), confirmed(1)])
  })

  it('is all there is when the header is cut', () => {
    const decoded = decode(text('mocap-uplink-journal 1 abcd'))

    expect(decoded).toMatchObject({ header: undefined, records: [], soundBytes: 0 })
    expect(decode(new Uint8Array())).toMatchObject({ header: undefined, records: [], soundBytes: 0 })
  })
})

describe('damage', () => {
  it('in a line that a later one calls kept is told with file and line', () => {
    const lines = new TextDecoder().decode(journalOf([[confirmed(0)], [confirmed(1)], [confirmed(2)]])).split('\n')
    lines[2] = lines[2]!.replace('"fileIndex":1', '"fileIndex":7')

    expect(() => decode(text(lines.join('\n')))).toThrow('"/state/journal" is damaged in line 3')
    expect(codeOf(() => decode(text(lines.join('\n'))))).toBe('ERR_UPLOAD_JOURNAL')
  })

  it.each([
    ['lost', (lines: string[]) => lines.splice(2, 1)],
    ['doubled', (lines: string[]) => lines.splice(2, 0, lines[2]!)],
    ['put in another place', (lines: string[]) => lines.splice(1, 2, lines[2]!, lines[1]!)],
  ])('is seen when a line was %s', (_, harm) => {
    const bytes = journalOf([[confirmed(0)], [confirmed(1)], [confirmed(2)]], true)
    const lines = new TextDecoder().decode(bytes).split('\n')
    harm(lines)

    expect(codeOf(() => decode(text(lines.join('\n'))))).toBe('ERR_UPLOAD_JOURNAL')
  })

  it('of any one byte is found, or is in the tail that is dropped', () => {
    fc.assert(
      fc.property(
        anyHistory,
        fc.boolean(),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (batches, isMarked, at, bits) => {
          const bytes = journalOf(batches, isMarked)
          const place = at % bytes.length
          bytes[place]! ^= bits
          const history = batches.flat()

          let decoded
          try {
            decoded = decode(bytes)
          } catch (error) {
            expect(isUploadError(error) && error.code).toBe('ERR_UPLOAD_JOURNAL')
            return
          }

          expect(decoded.records).toEqual(history.slice(0, decoded.records.length))
          expect(decoded.soundBytes).toBeLessThanOrEqual(place)
        },
      ),
      { numRuns: 2000 },
    )
  })

  it('of any one byte of a journal that was closed costs no record without a word', () => {
    const batches = [[confirmed(0), confirmed(1)], [confirmed(2)], [confirmed(3), confirmed(4), confirmed(5)]]
    const whole = journalOf(batches, true)
    const markAt = journalOf(batches).length
    // Without its line break the last record is one line with the mark; both are the tail then.
    for (let place = 0; place < markAt - 1; place++) {
      const bytes = whole.slice()
      bytes[place]! ^= 0x20
      expect(codeOf(() => decode(bytes))).toBe('ERR_UPLOAD_JOURNAL')
    }
  })
})

describe('any bytes', () => {
  it('decode, or are refused with ERR_UPLOAD_JOURNAL and nothing else', () => {
    const lines = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.constantFrom(text('\n'), text('mocap-uplink-journal '), text('1 '), encodeHeader(header)),
      fc
        .tuple(fc.nat(4), fc.nat(4), fc.constantFrom('kept', '{}', 'null', '7', '{"type":"x","at":1}', '[', ''))
        .map((of) => text(line(...of))),
    )
    fc.assert(
      fc.property(fc.array(lines, { maxLength: 8 }), (pieces) => {
        expect(['none', 'ERR_UPLOAD_JOURNAL']).toContain(codeOf(() => decode(join(...pieces))))
      }),
      { numRuns: 2000 },
    )
  })

  it('that are not a journal are refused', () => {
    expect(() => decode(text('hello'))).toThrow('"/state/journal" is damaged in line 1')
    expect(() => decode(text('hello\nworld\n'))).toThrow('"/state/journal" is damaged in line 1')
    expect(() => decode(new Uint8Array(1_000_000))).toThrow('"/state/journal" is damaged in line 1')
  })
})

describe('another version', () => {
  it.each([
    ['of the format', 'mocap-uplink-journal 2 whatever comes\nthen\n', '2'],
    ['of the format, cut', 'mocap-uplink-journal 17 wh', '17'],
  ])('%s is refused, with the version and what to do', (_, content, version) => {
    expect(() => decode(text(content))).toThrow(
      `has format version ${version}; this program reads version 1. Nothing in it was changed. Finish this session with the program that began it.`,
    )
  })

  it('of the records is refused in the same way', () => {
    const begun = { type: 'session.begun', at: 1, version: 2 } as unknown as JournalRecord

    expect(() => decode(journalOf([[begun]]))).toThrow('has format version 2; this program reads version 1.')
  })

  it('is suspected when a record has an unknown type', () => {
    const odd = { type: 'file.blessed', at: 1 } as unknown as JournalRecord

    expect(() => decode(journalOf([[confirmed(0)], [odd]]))).toThrow('a record of the type "file.blessed" in line 3')
  })
})
