import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { resolveCaptureKind } from '../../src/client/capture-kind.ts'
import {
  checkDate,
  checkDomHand,
  checkFileName,
  checkFrameRate,
  checkId,
  checkInteger,
  checkRequired,
  checkSegmentId,
  checkSegmentsAgree,
  checkText,
} from '../../src/client/checks.ts'
import { isCalendarDate } from '../../src/client/contract/fields.ts'
import { aMocapSession, clientUnderTest, rejection } from './client-under-test.ts'
import type { ServiceClient } from './client-under-test.ts'

function refusal(check: () => unknown): string {
  try {
    check()
  } catch (error) {
    expect(error).toMatchObject({ code: 'ERR_UPLOAD_INVALID_ARGUMENT' })
    return (error as Error).message
  }
  throw new Error('It was not refused.')
}

describe('each check', () => {
  it.each([
    [() => checkDate('2024-02-29', 'd'), '2024-02-29'],
    [() => checkDate('2000-02-29', 'd'), '2000-02-29'],
    [() => checkInteger(0, 'n'), 0],
    [() => checkInteger(1, 'n', 1), 1],
    [() => checkFrameRate(29.97, 'f'), 29.97],
    [() => checkDomHand('LHA', 'h'), 'LHA'],
    [() => checkFileName(' a b#%é😀.mp4', 'f'), ' a b#%é😀.mp4'],
    [() => checkFileName('__proto__', 'f'), '__proto__'],
    [() => checkFileName('..action', 'f'), '..action'],
    [() => checkId('7', 'i'), '7'],
    [() => checkId(7, 'i'), 7],
    [() => checkSegmentId('0007', 's'), 7],
    [() => checkRequired(false, 'r'), false],
  ])('gives the value back: %s', (check, value) => {
    expect(check()).toBe(value)
  })

  it.each([
    [
      () => checkDate('2026-02-29', 'sessionDate'),
      'sessionDate is "2026-02-29", which is no calendar date: give the day of capture as YYYY-MM-DD.',
    ],
    [
      () => checkDate('2100-02-29', '--date'),
      '--date is "2100-02-29", which is no calendar date: give the day of capture as YYYY-MM-DD.',
    ],
    [
      () => checkDate('20.11.2026', 'd'),
      'd is "20.11.2026", which is no calendar date: give the day of capture as YYYY-MM-DD.',
    ],
    [
      () => checkDate('2026-11-20T00:00:00.000Z', 'd'),
      'd is "2026-11-20T00:00:00.000Z", which is no calendar date: give the day of capture as YYYY-MM-DD.',
    ],
    [
      () => checkDate('2026-11', 'd'),
      'd is "2026-11", which is no calendar date: give the day of capture as YYYY-MM-DD.',
    ],
    [
      () => checkDate('2026-11-20\n', 'd'),
      'd is "2026-11-20\u{FFFD}", which is no calendar date: give the day of capture as YYYY-MM-DD.',
    ],
    [() => checkDate(undefined, 'd'), 'd is missing: give it.'],
    [
      () => checkDate('0000-01-01', 'd'),
      'd is "0000-01-01", which is no calendar date: give the day of capture as YYYY-MM-DD.',
    ],
    [() => checkInteger(1.5, 'n'), 'n is 1.5: give an integer of 0 or more.'],
    [() => checkInteger(-1, 'n'), 'n is -1: give an integer of 0 or more.'],
    [() => checkInteger(0, 'n', 1), 'n is 0: give an integer of 1 or more.'],
    [() => checkInteger('7', 'n'), 'n is "7": give an integer of 0 or more.'],
    [() => checkInteger(Number.NaN, 'n'), 'n is NaN: give an integer of 0 or more.'],
    [() => checkInteger(2 ** 53, 'n'), 'n is 9007199254740992: give an integer of 0 or more.'],
    [() => checkFrameRate(0, 'f'), 'f is 0: give the frames per second, a number above 0.'],
    [() => checkFrameRate(Infinity, 'f'), 'f is Infinity: give the frames per second, a number above 0.'],
    [() => checkDomHand('rha', 'h'), 'h is "rha": give RHA (right-handed) or LHA (left-handed).'],
    [() => checkText('  ', 'name'), 'name is empty: give a value.'],
    [() => checkId('', 'id'), 'id is empty: give a value.'],
    [() => checkText(['a'], 'name'), 'name is an array: give a string.'],
    [
      () => checkFileName('a/b.mp4', 'f'),
      'f is "a/b.mp4": give the file\'s name without a path (no /, no \\), in well-formed Unicode.',
    ],
    [
      () => checkFileName('a\\b.mp4', 'f'),
      'f is "a\\\\b.mp4": give the file\'s name without a path (no /, no \\), in well-formed Unicode.',
    ],
    [
      () => checkFileName('..', 'f'),
      'f is "..": give the file\'s name without a path (no /, no \\), in well-formed Unicode.',
    ],
    [
      () => checkFileName('a\0b', 'f'),
      'f is "a\u{FFFD}b": give the file\'s name without a path (no /, no \\), in well-formed Unicode.',
    ],
    [
      () => checkFileName('a\ud800', 'f'),
      'f is "a\u{FFFD}": give the file\'s name without a path (no /, no \\), in well-formed Unicode.',
    ],
    [() => checkSegmentId('12a', 's'), 's is "12a": give the number of an analysis segment.'],
    [() => checkText(Symbol('x'), 'name'), 'name is of type symbol: give a string.'],
  ])('says what, where and what to do: %s', (check, message) => {
    expect(refusal(check)).toBe(message)
  })

  it.each(['a\n', 'x'.repeat(1_025), 'https://store.example/k', 'k?X-Amz-Signature=5ec2e7'])(
    'refuses as an id what the service would, and does not show it, since it may be an address: %s',
    (id) => {
      expect(refusal(() => checkId(id, 'id'))).toBe('id is no id of the service: give it as issued.')
    },
  )

  it('of a date agrees with the calendar of the platform', () => {
    const dates = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
    fc.assert(fc.property(dates, (date) => isCalendarDate(date.toISOString().slice(0, 10))))
    const parts = fc.tuple(
      fc.integer({ min: 1, max: 9999 }),
      fc.integer({ min: 0, max: 13 }),
      fc.integer({ min: 0, max: 32 }),
    )
    fc.assert(
      fc.property(parts, ([year, month, day]) => {
        const text = [String(year).padStart(4, '0'), String(month).padStart(2, '0'), String(day).padStart(2, '0')].join(
          '-',
        )
        const time = Date.parse(`${text}T00:00:00Z`)
        const isReal = !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
        expect(isCalendarDate(text)).toBe(isReal)
        if (isReal) expect(checkDate(text, 'd')).toBe(text)
        else expect(() => checkDate(text, 'd')).toThrow('which is no calendar date')
      }),
    )
  })
})

describe('segments of one analysis', () => {
  const primary = { movementTypeId: 1, domHand: 'RHA' } as const

  it('may agree', () => {
    expect(() => checkSegmentsAgree({ primary })).not.toThrow()
    expect(() => checkSegmentsAgree({ primary, comparison: { ...primary }, population: { ...primary } })).not.toThrow()
  })

  it('that differ are named with both values', () => {
    const population = { movementTypeId: 2, domHand: 'LHA' } as const
    expect(refusal(() => checkSegmentsAgree({ primary, comparison: { ...primary, domHand: 'LHA' }, population }))).toBe(
      'The segments of one analysis must share movementTypeId and domHand, but comparison has domHand "LHA", primary ' +
        '"RHA"; population has movementTypeId 2, primary 1; population has domHand "LHA", primary "RHA".',
    )
  })

  it('that differ are named as they are where the primary is one that exists already', () => {
    const population = { ...primary, domHand: 'LHA' } as const
    expect(refusal(() => checkSegmentsAgree({ comparison: primary, population }))).toMatch(
      /but population has domHand "LHA", comparison "RHA"\.$/,
    )
  })
})

describe('the kind of a capture', () => {
  it.each([
    [['a.mov', 'b.MP4'], undefined, 'video'],
    [['a.action', 'b.football.samples.ball', 'mp4'], undefined, 'tracking'],
    [['a.mov', 'b.avi'], 'video', 'video'],
    [['a.action', 'b.mp4'], 'tracking', 'tracking'],
    [[], 'tracking', 'tracking'],
  ] as const)('of %o given %s is %s', (names, given, kind) => {
    expect(resolveCaptureKind(names, given)).toBe(kind)
  })

  it.each([
    [
      ['a.action', 'b.mp4', 'c.action'],
      undefined,
      'The files are of two kinds: "b.mp4" is a video by its name, "a.action" is not. Upload each kind by itself, or give the kind.',
    ],
    [
      ['a.action', 'b.action'],
      'video',
      'The kind is video, but no file ends in .mov or .mp4 (for example "a.action").',
    ],
    [['a.MOV'], 'tracking', 'The kind is tracking, but every file is a video by its name (for example "a.MOV").'],
    [[], undefined, 'There are no files to tell the kind of capture by: give files or the kind.'],
    [['a.mov'], 'film' as 'video', 'The kind of capture is "film": give video or tracking.'],
  ] as const)('of %o given %s is refused', (names, given, message) => {
    expect(refusal(() => resolveCaptureKind(names, given))).toBe(message)
  })
})

describe('before any call', () => {
  const file = { name: 'a.mp4', sizeBytes: 1, partCount: 1 }
  const video = { files: [file], movementTypeId: 1, playerId: 'p', sessionDate: '2026-11-20', sessionTypeId: 1 }
  const parts = [{ partNumber: 1, etag: 'e' }]
  const changed = (change: object) => change as never
  const withHole = (entry: string) => Object.assign([], { 1: entry })

  it.each<[string, (client: ServiceClient) => Promise<unknown>]>([
    ['orgId', (client) => client.mocapSessions.create({ ...aMocapSession, orgId: '' })],
    ['sessionDate', (client) => client.mocapSessions.create({ ...aMocapSession, sessionDate: '2026-02-30' })],
    ['mocapTypeId', (client) => client.mocapSessions.create(changed({ ...aMocapSession, mocapTypeId: '2' }))],
    ['sessionTypeId', (client) => client.mocapSessions.create(changed({ ...aMocapSession, sessionTypeId: null }))],
    ['extra', (client) => client.mocapSessions.create(changed({ ...aMocapSession, extra: [] }))],
    ['filenames', (client) => client.mocapSessionFiles.register({ sessionId: 's', filenames: [] })],
    ['filenames', (client) => client.mocapSessionFiles.register({ sessionId: 's', filenames: ['a', 'a'] })],
    ['filenames[1]', (client) => client.mocapSessionFiles.register({ sessionId: 's', filenames: ['a', 'b/c'] })],
    ['filenames[0]', (client) => client.mocapSessionFiles.register({ sessionId: 's', filenames: withHole('a') })],
    ['frameRate', (client) => client.mocapSessionFiles.register({ sessionId: 's', filenames: ['a'], frameRate: -1 })],
    [
      'reprocess',
      (client) => client.mocapSessionFiles.register(changed({ sessionId: 's', filenames: ['a'], reprocess: 1 })),
    ],
    ['files', (client) => client.videoUploads.create({ ...video, files: [] })],
    ['files[0].name', (client) => client.videoUploads.create({ ...video, files: [{ ...file, name: '' }] })],
    ['files[0].sizeBytes', (client) => client.videoUploads.create({ ...video, files: [{ ...file, sizeBytes: -1 }] })],
    ['files[0].partCount', (client) => client.videoUploads.create({ ...video, files: [{ ...file, partCount: 0 }] })],
    [
      'files[].fileId',
      (client) =>
        client.videoUploads.create({
          ...video,
          files: [
            { ...file, fileId: 3 },
            { ...file, fileId: 3 },
          ],
        }),
    ],
    ['playerId', (client) => client.videoUploads.create({ ...video, playerId: ' ' })],
    ['parts', (client) => client.videoUploads.confirm({ uploadSessionId: 'u', sessionFileId: 1, parts: [] })],
    [
      'parts[].partNumber',
      (client) => client.videoUploads.confirm({ uploadSessionId: 'u', sessionFileId: 1, parts: [...parts, ...parts] }),
    ],
    [
      'parts[0].etag',
      (client) =>
        client.videoUploads.confirm({ uploadSessionId: 'u', sessionFileId: 1, parts: [{ partNumber: 1, etag: '' }] }),
    ],
    ['domHand', (client) => client.playerGroupSegments.create(changed({ movementTypeId: 1, domHand: 'left' }))],
    [
      'orgMovementIds[0]',
      (client) => client.playerGroupSegments.create({ movementTypeId: 1, domHand: 'LHA', orgMovementIds: [''] }),
    ],
    ['data', (client) => client.playerGroupSegments.update(changed({ id: 1, data: 'x' }))],
    ['name', (client) => client.requestedAnalyses.create({ name: '', primaryAnalysisSegmentId: 1 })],
    [
      'primaryAnalysisSegmentId',
      (client) => client.requestedAnalyses.create({ name: 'A', primaryAnalysisSegmentId: 'x' }),
    ],
    [
      'status',
      (client) => client.requestedAnalyses.create(changed({ name: 'A', primaryAnalysisSegmentId: 1, status: 'done' })),
    ],
    // Programs in plain JavaScript may give nothing, and ids of dots or half a surrogate pair cannot stand in a path.
    ['input', (client) => client.mocapSessions.create(undefined as never)],
    ['input', (client) => client.mocapSessionFiles.register(null as never)],
    ['input', (client) => client.videoUploads.create(undefined as never)],
    ['input', (client) => client.videoUploads.confirm(undefined as never)],
    ['input', (client) => client.playerGroupSegments.update(undefined as never)],
    ['input', (client) => client.requestedAnalyses.update(null as never)],
    ['files[0]', (client) => client.videoUploads.create({ ...video, files: changed([null]) })],
    ['id', (client) => client.requestedAnalyses.get('..')],
    ['id', (client) => client.requestedAnalyses.submit('.')],
    ['uploadSessionId', (client) => client.videoUploads.cancel('a\uD800')],
  ])('%s is checked', async (field, call) => {
    const subject = clientUnderTest()

    expect(await rejection(call(subject.client))).toMatchObject({
      code: 'ERR_UPLOAD_INVALID_ARGUMENT',
      details: { field },
    })
    expect(subject.transport.sent).toHaveLength(0)
  })
})
