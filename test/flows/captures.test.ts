// What a host asks of a capture upload, as the service hears it: the session, the names and their order, one frame rate, and what
// is refused before anything is sent.

import { describe, expect, it } from 'vitest'

import { bytesSource } from '../../src/adapters/web/bytes-source.ts'
import { memoryJournal } from '../../src/adapters/web/memory-journal.ts'
import type { CapturesInput } from '../../src/flows/captures.ts'
import type { UploadFile } from '../../src/flows/upload-definition.ts'
import { BASE_URL, CAPTURE, createFarEnd, goodService, goodStorage } from '../security/far-end.ts'

const fileAt = (path: string, own: Partial<UploadFile> = {}): UploadFile => {
  const source = bytesSource(path.slice(path.lastIndexOf('/') + 1), new Uint8Array(3))
  return { source: path.includes('/') ? { ...source, location: path } : source, ...own }
}
const filesAt = (...paths: string[]) => paths.map((path) => fileAt(path))
const ACTIONS = filesAt('a.action')
const VIDEOS = filesAt('a.mp4', 'b.mov')

/** How it ends, and the calls of the service with what they said. */
async function uploaded(input: Partial<CapturesInput>) {
  const calls: [string, unknown][] = []
  const good = goodService((index) => `https://store.example/${String(calls.length)}/${String(index)}`)
  const { uplink, settled } = createFarEnd({
    storage: goodStorage,
    service(request, body) {
      calls.push([request.url.slice(BASE_URL.length), JSON.parse(new TextDecoder().decode(body))])
      return good(request, body)
    },
  })
  const given = { ...CAPTURE, files: ACTIONS, ...input } as CapturesInput
  const { status, files } = await settled(uplink.uploadCaptures(given).done())
  const registered = calls.flatMap(([path, said]) => (path === '/mocap_session_file' ? [said] : []))
  return { status, names: files.map(({ name }) => name), calls, registered }
}

/** The words with which it is refused, before any call. */
function refusalOf(input: object): string {
  const { uplink, requests } = createFarEnd({ storage: goodStorage, service: () => ({ status: 500 }) })
  try {
    uplink.uploadCaptures({ ...CAPTURE, files: ACTIONS, ...input })
    return 'was accepted'
  } catch (error) {
    expect(error).toMatchObject({ code: 'ERR_UPLOAD_INVALID_ARGUMENT' })
    return (error as Error).message
  } finally {
    expect(requests).toEqual([])
  }
}

describe('the session of a capture', () => {
  const register = { session_id: 'c-1', filenames: ['a.action'], reprocess: false }

  it('is made of what was given, and its files are registered in it', async () => {
    expect((await uploaded({})).calls).toEqual([
      ['/mocap_session', { org_id: 'org-1', mocap_type_id: 2, session_date: '2026-11-19', session_type_id: 1 }],
      ['/mocap_session_file', register],
    ])
  })

  it('that is there is given more files, whatever else is said of it', async () => {
    const own = { sessionId: 's-9', orgId: ' ', sessionDate: 'today', sessionTypeId: -1 }

    expect((await uploaded(own)).calls).toEqual([['/mocap_session_file', { ...register, session_id: 's-9' }]])
  })

  it.each([
    [{ orgId: undefined }, 'orgId is missing'],
    [{ sessionDate: '19.11.2026' }, 'sessionDate is "19.11.2026"'],
    [{ sessionTypeId: -1 }, 'sessionTypeId is -1'],
    [{ sessionId: '' }, 'sessionId is empty'],
    [{ sessionId: 's-9', mocapTypeId: undefined }, 'mocapTypeId is missing'],
    [{ reprocess: 'no' }, 'reprocess is "no"'],
  ])('is refused with %o', (own, words) => {
    expect(refusalOf(own)).toContain(words)
  })

  it('takes its names again where that is said', async () => {
    expect((await uploaded({ reprocess: true })).registered).toEqual([{ ...register, reprocess: true }])
  })
})

describe('a registration', () => {
  it('takes as many names as are given for a batch', async () => {
    const { registered } = await uploaded({ files: filesAt('b.action', 'a.action', 'c.action'), batchSize: 2 })

    expect(registered).toMatchObject([{ filenames: ['b.action', 'a.action'] }, { filenames: ['c.action'] }])
  })

  it.each([
    [1, 'was accepted'],
    [1_000, 'was accepted'],
    [1_001, 'batchSize must be at most 1000.'],
    [0, 'batchSize is 0: give an integer of 1 or more.'],
  ])('of %i names', (batchSize, words) => {
    expect(refusalOf({ batchSize })).toBe(words)
  })
})

describe('a frame rate', () => {
  it.each([
    ['of all files', { files: VIDEOS, frameRate: 240 }],
    ['of each file', { files: VIDEOS.map((file) => ({ ...file, frameRate: 240 })) }],
    [
      'of some files, and that of the others',
      { files: [VIDEOS[0]!, fileAt('b.mov', { frameRate: 240 })], frameRate: 240 },
    ],
  ])('%s is said once', async (_, input) => {
    expect((await uploaded(input)).registered).toMatchObject([{ video_framerate: 240 }])
  })

  it('goes with tracking files too, and is left out where none is given', async () => {
    expect((await uploaded({ frameRate: 360 })).registered).toMatchObject([{ video_framerate: 360 }])
    expect((await uploaded({})).registered[0]).not.toHaveProperty('video_framerate')
  })

  const two = 'A capture session has one frame rate: upload clips of another to a session of their own.'
  it.each([
    ['is missing of plain video', { files: VIDEOS }, 'frameRate is missing: plain video needs its frames per second.'],
    ['is another one of one file', { files: [VIDEOS[0]!, fileAt('b.mov', { frameRate: 120 })], frameRate: 240 }, two],
    ['is given of one file alone', { files: [VIDEOS[0]!, fileAt('b.mov', { frameRate: 120 })] }, two],
    ['is none', { frameRate: 0 }, 'frameRate is 0: give the frames per second, a number above 0.'],
  ])('that %s is refused', (_, input, words) => {
    expect(refusalOf(input)).toBe(words)
  })
})

describe('two files of one name', () => {
  const twice = filesAt('day/cam1/a.mp4', 'day/cam2/a.mp4')
  const advice = 'Rename one, or let both be renamed by their folder (rename, --rename).'

  it.each([
    ['where they are', twice, 'day/cam1/a.mp4 and day/cam2/a.mp4'],
    ['what they are called where nothing else is known', filesAt('a.mp4', 'a.mp4'), 'a.mp4 and a.mp4'],
  ])('are refused in words that say %s', (_, files, both) => {
    expect(refusalOf({ files, frameRate: 240 })).toBe(`Two files are named a.mp4 (${both}). ${advice}`)
    expect(refusalOf({ files, frameRate: 240, rename: false })).toBe(`Two files are named a.mp4 (${both}). ${advice}`)
  })

  it.each([
    ['their folders', twice, ['cam1_a.mp4', 'cam2_a.mp4']],
    ['no more than they need', [...twice, fileAt('b.mp4')], ['cam1_a.mp4', 'cam2_a.mp4', 'b.mp4']],
    ['more of the path', filesAt('f/cam1/a.mp4', 'g/cam1/a.mp4'), ['cam1_a.mp4', 'g_cam1_a.mp4']],
    [
      'a name that no other file has',
      filesAt('x/cam1/a.mp4', 'y/cam2/a.mp4', 'cam1_a.mp4'),
      ['x_cam1_a.mp4', 'cam2_a.mp4', 'cam1_a.mp4'],
    ],
    [
      'nothing of what names no folder',
      filesAt('./cam1/../a.mp4', '.\\cam2\\\\a.mp4/a.mp4'),
      ['cam1_a.mp4', 'a.mp4_a.mp4'],
    ],
  ])('are told apart by %s', async (_, files, names) => {
    expect((await uploaded({ files, frameRate: 240, rename: true })).names).toEqual(names)
  })

  it('keep their own frame rates, and are delivered under the new names', async () => {
    const files = twice.map((file) => ({ ...file, frameRate: 240 }))

    expect(await uploaded({ files, rename: true })).toMatchObject({
      ...{ status: 'confirmed', registered: [{ video_framerate: 240 }] },
    })
  })

  it('are found again where they are, under whatever name, and are let go at the end', async () => {
    const journal = memoryJournal()
    const { uplink, settled } = createFarEnd({
      storage: goodStorage,
      service: goodService((index) => `https://store.example/${String(index)}`),
      journal,
    })
    const disposed: (string | undefined)[] = []
    const files = [...twice, fileAt('b.mp4')].map(({ source }) => {
      const dispose = () => Promise.resolve(void disposed.push(source.location))
      return { source: { ...source, dispose } }
    })
    const upload = uplink.uploadCaptures({ ...CAPTURE, files, frameRate: 240, rename: true })
    await settled(upload.done())

    const [begun] = await journal.read(upload.key)
    expect(begun).toMatchObject({ locations: ['day/cam1/a.mp4', 'day/cam2/a.mp4', 'b.mp4'] })
    expect(disposed).toEqual(['day/cam1/a.mp4', 'day/cam2/a.mp4', undefined])
  })

  it.each([
    ['a.mp4', filesAt('a.mp4', 'a.mp4')],
    ['cam1/a.mp4', filesAt('x/a.mp4', 'cam1/a.mp4', 'cam1/a.mp4')],
  ])('are refused where no folder tells them apart', (location, files) => {
    expect(refusalOf({ files, frameRate: 240, rename: true })).toBe(
      `${location} cannot be told from another file named a.mp4; give one of them another name.`,
    )
  })
})
