// What a program in plain JavaScript can pass that no compiler stopped: refused at once, in words that name it, before any call.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { bytesSource } from '../../src/adapters/web/bytes-source.ts'
import type { Upload } from '../../src/flows/upload.ts'
import type { Uplink } from '../../src/uplink.ts'
import { CAPTURE, createFarEnd, VIDEO } from '../security/far-end.ts'

const file = { source: bytesSource('a.mp4', new Uint8Array(3)), frameRate: 240 }
const wrong = (value: unknown) => value as never

/** What calling it ends in, and how many calls were made by then. */
async function endOf(call: (uplink: Uplink) => unknown) {
  const farEnd = createFarEnd({ service: () => ({ status: 500 }), storage: () => ({ status: 500 }) })
  try {
    const begun = (await call(farEnd.uplink)) as Partial<Upload>
    await begun.done?.()
    return { message: 'was accepted' }
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    return { code, message, calls: farEnd.requests.length }
  }
}

const GIVE_SOURCE = 'give a source, such as fileSource(path) or blobSource(file).'

describe('an upload', () => {
  it.each([
    ['no list of files', { files: undefined }, 'files is missing: give it.'],
    ['a text for the files', { files: 'a.mp4' }, 'files is "a.mp4": give an array.'],
    ['no file', { files: [] }, 'files is empty: give at least one.'],
    ['a hole among the files', { files: [file, undefined] }, 'files[1] is missing: give it.'],
    ['a path for a file', { files: ['a.mp4'] }, 'files[0].source is missing: give it.'],
    ['a source for a file', { files: [file.source] }, 'files[0].source is missing: give it.'],
    ['a path for a source', { files: [{ source: 'a.mp4' }] }, `files[0].source is "a.mp4": ${GIVE_SOURCE}`],
    [
      'a signed address for a source',
      { files: [{ source: 'https://s.test/a?X-Amz-Signature=secret' }] },
      `files[0].source is "https://s.test/a?…": ${GIVE_SOURCE}`,
    ],
    [
      'a File for a source',
      { files: [{ source: new File([], 'a') }] },
      `files[0].source is of type object: ${GIVE_SOURCE}`,
    ],
    [
      'no rate of frames',
      { files: [{ ...file, frameRate: 0 }] },
      'files[0].frameRate is 0: give the frames per second, a number above 0.',
    ],
    ['a text for the signal', { signal: 'x' }, 'signal must be an AbortSignal.'],
    ['a number for the signal', { signal: NaN }, 'signal must be an AbortSignal.'],
    ['a controller for the signal', { signal: new AbortController() }, 'signal must be an AbortSignal.'],
    ['a text for renewAddresses', { renewAddresses: 'x' }, 'renewAddresses is "x": give a function.'],
    ['a number for isAlreadyConfirmed', { isAlreadyConfirmed: 1 }, 'isAlreadyConfirmed is 1: give a function.'],
    [
      'a text for the part size',
      { partSizeBytes: '16' },
      /^The part size must be a whole number of bytes .+, not 16\.$/,
    ],
    ['no limits', { unitLimits: {} }, 'The limits of a part leave no room for one.'],
  ])('is refused with %s', async (_what, fields, message) => {
    const end = await endOf(({ uploadVideos }) =>
      uploadVideos({ ...VIDEO, files: [file], ...(wrong(fields) as object) }),
    )

    const said = typeof message === 'string' ? message : (expect.stringMatching(message) as string)
    expect(end).toEqual({ code: 'ERR_UPLOAD_INVALID_ARGUMENT', message: said, calls: 0 })
  })

  it('checks the files of captures and of other protocols in the same way', async () => {
    const captures = await endOf(({ uploadCaptures }) => uploadCaptures({ ...CAPTURE, files: wrong(undefined) }))
    const custom = await endOf(({ upload }) => upload({ protocol: wrong({}), files: wrong(undefined) }))
    const still = { ...CAPTURE, files: [{ ...file, frameRate: 0 }] }
    const frames = await endOf(({ uploadCaptures }) => uploadCaptures(still))
    const none = await endOf(({ upload }) => upload({ protocol: wrong(undefined), files: [file] }))

    expect(captures).toMatchObject({ message: 'files is missing: give it.', calls: 0 })
    expect(custom).toMatchObject({ message: 'files is missing: give it.', calls: 0 })
    // A session would be made before its registration refuses the rate.
    expect(frames).toMatchObject({ message: expect.stringMatching(/^files\[0\]\.frameRate is 0/) as string, calls: 0 })
    expect(none).toMatchObject({ message: 'protocol is missing: give it.', calls: 0 })
  })

  it('makes the promise of its plan reject: a throw beside it would pass a host by that handles the promise', async () => {
    const { uplink } = createFarEnd({ service: () => ({ status: 500 }), storage: () => ({ status: 500 }) })

    const plans = [uplink.planVideos({ ...VIDEO, files: [] }), uplink.planCaptures({ ...CAPTURE, files: [] })]

    const reason = { code: 'ERR_UPLOAD_INVALID_ARGUMENT', message: 'files is empty: give at least one.' }
    const rejected = { status: 'rejected', reason }
    expect(await Promise.allSettled(plans)).toMatchObject([rejected, rejected])
  })
})

describe('an analysis', () => {
  const rejected = vi.fn()
  beforeEach(() => void process.on('uncaughtException', rejected))
  afterEach(() => {
    process.off('uncaughtException', rejected)
    rejected.mockClear()
  })

  it.each([undefined, null, {}, '', NaN, -1])('is not watched under the id %s', async (id) => {
    const end = await endOf(({ watchAnalysis }) => watchAnalysis(wrong(id)))

    expect(end).toMatchObject({ code: 'ERR_UPLOAD_INVALID_ARGUMENT', calls: 0 })
    expect(end.message).toMatch(/^analysisId is /)
    expect(rejected).not.toHaveBeenCalled()
  })

  it.each([
    ['a text for a segment', { primary: 'x' }, 'primary is "x": give { movementTypeId, domHand } or { segmentId }.'],
    ['null for a segment', { comparison: null }, 'comparison is missing: give it.'],
    ['no segment', { primary: undefined }, 'primary is missing: give it.'],
    ['no name', { name: ' ' }, /^name is /],
    ['a signal that is none', { signal: 'x' }, 'signal must be an AbortSignal.'],
    ['a segment whose id is none', { primary: { segmentId: 'x' } }, /^primary\.segmentId is "x"/],
    [
      'a segment of no movement type',
      { population: { domHand: 'RHA' } },
      'population.movementTypeId is missing: give it.',
    ],
    [
      'segments that disagree',
      { comparison: { movementTypeId: 2, domHand: 'RHA' } },
      /comparison has movementTypeId 2, primary 1/,
    ],
    ['a text for submit', { submit: 'no' }, 'submit is "no": give true or false.'],
    ['a text for idOf', { idOf: 'id' }, 'idOf is "id": give a function.'],
    ['one word for done', { completedStatuses: 'done' }, 'completedStatuses is "done": give an array.'],
  ])('is refused with %s', async (_what, fields, message) => {
    const primary = { movementTypeId: 1, domHand: 'RHA' } as const
    const end = await endOf(({ requestAnalysis }) =>
      requestAnalysis({ name: 'n', primary, ...(wrong(fields) as object) }),
    )

    const said = typeof message === 'string' ? message : (expect.stringMatching(message) as string)
    expect(end).toEqual({ code: 'ERR_UPLOAD_INVALID_ARGUMENT', message: said, calls: 0 })
  })
})
