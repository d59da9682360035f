// The single-camera video flow of the service, call by call.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { openVideoSession, put, startUnderTest, type ServiceUnderTest } from './service-under-test.ts'

let service: ServiceUnderTest
beforeAll(async () => {
  service = await startUnderTest()
})
afterAll(() => service.close())

// MD5 of "hello", "world", " world" and nothing, from the md5sum program.
const HELLO = '5d41402abc4b2a76b9719d911017c592'
const WORLD = '7d793037a0760186574b0282f2f435e7'
const SPACE_WORLD = 'b7913aa15c43be7d534b4eec6e99e8a0'
const NOTHING = 'd41d8cd98f00b204e9800998ecf8427e'

const BOTH: readonly [number, string][] = [
  [1, HELLO],
  [2, SPACE_WORLD],
]

const file = { raw_file_name: 'swing.mp4', file_size_bytes: 11, number_of_chunks: 2, file_id: 7, frame_rate: 240 }
const valid = { files: [file], movement_type_id: 1, player_id: 'p-17', session_date: '2026-11-20', session_type_id: 2 }

describe('POST /upload_videos', () => {
  it('answers one entry per file with one address per chunk', async () => {
    const { status, json } = await service.call('POST', '/upload_videos', valid)

    const reply = json as {
      upload_session_id: string
      pre_signed_urls: { session_file_id: number; info: { url: string }[] }[]
    }
    const session = reply.upload_session_id
    const entry = reply.pre_signed_urls[0]!
    const address = (partNumber: number) =>
      new RegExp(
        `^${service.url}/objects/videos/${session}/${entry.session_file_id}\\?partNumber=${partNumber}&uploadId=${session}` +
          '&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Date=20261120T120000Z&X-Amz-Expires=3600&X-Amz-Signature=[0-9a-f]{64}$',
      )
    expect(status).toBe(200)
    expect(reply).toEqual({
      upload_session_id: session,
      pre_signed_urls: [
        {
          session_file_id: entry.session_file_id,
          file_id: 7,
          raw_file_name: 'swing.mp4',
          info: [
            { url: expect.stringMatching(address(1)) as string, part_number: 1 },
            { url: expect.stringMatching(address(2)) as string, part_number: 2 },
          ],
        },
      ],
    })
  })

  it('opens a session for ten thousand files, in order, and one for ten thousand chunks', async () => {
    const many = Array.from({ length: 10_000 }, (_, index) => ({
      raw_file_name: `clip-${index}.mp4`,
      file_size_bytes: 1,
      number_of_chunks: 1,
    }))
    const one = { raw_file_name: 'long.mp4', file_size_bytes: 10_000, number_of_chunks: 10_000 }

    const files = await service.call('POST', '/upload_videos', { ...valid, files: many })
    const chunks = await service.call('POST', '/upload_videos', { ...valid, files: [one] })

    const names = (files.json as { pre_signed_urls: { raw_file_name: string }[] }).pre_signed_urls
    expect(names.map((entry) => entry.raw_file_name)).toEqual(many.map((entry) => entry.raw_file_name))
    const { info } = (chunks.json as { pre_signed_urls: { info: { part_number: number }[] }[] }).pre_signed_urls[0]!
    expect(info.map((entry) => entry.part_number)).toEqual(Array.from({ length: 10_000 }, (_, index) => index + 1))
  })

  it.each([
    ['files', { ...valid, files: undefined }],
    ['files', { ...valid, files: file }],
    ['files', { ...valid, files: [] }],
    ['player_id', { ...valid, player_id: undefined, playerid: 'p-17' }],
    ['movement_type_id', { ...valid, movement_type_id: '1' }],
    ['session_date', { ...valid, session_date: '2026-11-20/2026-11-21' }],
    ['files.0.number_of_chunks', { ...valid, files: [{ ...file, number_of_chunks: 0 }] }],
    ['files.0.number_of_chunks', { ...valid, files: [{ ...file, number_of_chunks: 12 }] }],
    ['files.0.number_of_chunks', { ...valid, files: [{ ...file, file_size_bytes: 0 }] }],
    ['files.0.number_of_chunks', { ...valid, files: [{ ...file, file_size_bytes: 2e9, number_of_chunks: 10_001 }] }],
    ['files.0.file_size_bytes', { ...valid, files: [{ ...file, file_size_bytes: -1 }] }],
    ['files.0.raw_file_name', { ...valid, files: [{ ...file, raw_file_name: 'clips/swing.mp4' }] }],
    ['files.1.file_id', { ...valid, files: [file, file] }],
    ['files.0.frame_rate', { ...valid, files: [{ ...file, frame_rate: 0 }] }],
    ['', '{"files": ['],
  ])('answers a wrong %s with a body that lacks pre_signed_urls and names it', async (field, body) => {
    const { status, json } = await service.call('POST', '/upload_videos', body)

    expect(status).toBe(200)
    expect(Object.keys(json as object)).toEqual(['errors'])
    expect((json as { errors: { field: string }[] }).errors.map((one) => one.field)).toEqual([field])
  })
})

/** Opens a session for one file of 11 bytes in two chunks and puts both. */
async function putBoth() {
  const session = await openVideoSession(service, [{ bytes: 11, chunks: 2 }])
  const [clip] = session.files
  const answers = [await put(clip!.urls[0]!, 'hello'), await put(clip!.urls[1]!, ' world')]
  const confirm = (etags: readonly [number, string][], extra: object = {}) =>
    service.call('PATCH', '/upload_videos', {
      upload_session_id: session.sessionId,
      affected_file_id: clip!.id,
      file_part_info: etags.map(([part_number, etag]) => ({ etag, part_number })),
      upload_successful: true,
      ...extra,
    })
  return { session, clip: clip!, answers, confirm }
}

describe('PATCH /upload_videos', () => {
  it('confirms a file whose parts are all there, and its bytes can be read back whole', async () => {
    const { session, answers, confirm } = await putBoth()
    expect(answers.map(({ status, headers }) => [status, headers.get('etag')])).toEqual([
      [200, `"${HELLO}"`],
      [200, `"${SPACE_WORLD}"`],
    ])

    const confirmed = await confirm([
      [2, `"${SPACE_WORLD}"`],
      [1, `"${HELLO}"`],
    ])

    expect([confirmed.status, confirmed.text]).toEqual([200, '{}'])
    expect(await storedVideo(session.sessionId)).toEqual({ name: 'clip-1.mp4', size: 11, bytes: 'hello world' })
  })

  it.each([
    ['bare', HELLO, SPACE_WORLD],
    ['quoted', `"${HELLO}"`, `"${SPACE_WORLD}"`],
    ['weak', `W/"${HELLO}"`, `W/"${SPACE_WORLD}"`],
  ])('takes ETags %s, and the id of the file as text', async (_form, one, two) => {
    const { clip, confirm } = await putBoth()

    const parts: [number, string][] = [
      [1, one],
      [2, two],
    ]

    expect((await confirm(parts, { affected_file_id: String(clip.id) })).status).toBe(200)
  })

  it.each([
    [422, 'missing_part', 2, [[1, HELLO]]],
    [
      422,
      'repeated_part',
      1,
      [
        [1, HELLO],
        [1, HELLO],
        [2, SPACE_WORLD],
      ],
    ],
    [
      422,
      'unknown_part',
      3,
      [
        [1, HELLO],
        [2, SPACE_WORLD],
        [3, NOTHING],
      ],
    ],
    [
      409,
      'etag_mismatch',
      2,
      [
        [1, HELLO],
        [2, WORLD],
      ],
    ],
    [
      409,
      'etag_mismatch',
      1,
      [
        [1, SPACE_WORLD],
        [2, HELLO],
      ],
    ],
    [
      409,
      'etag_mismatch',
      1,
      [
        [1, HELLO.toUpperCase()],
        [2, SPACE_WORLD],
      ],
    ],
  ] as [number, string, number, [number, string][]][])(
    'answers %i %s for part %i',
    async (status, code, partNumber, parts) => {
      const { confirm } = await putBoth()

      const refused = await confirm(parts)

      expect(refused.status).toBe(status)
      expect(refused.json).toMatchObject({ error: { code, part_number: partNumber } })
      expect((await confirm(BOTH)).status).toBe(200)
    },
  )

  it('answers 409 for a part that was never stored', async () => {
    const { sessionId, files } = await openVideoSession(service, [{ bytes: 11, chunks: 2 }])
    await put(files[0]!.urls[0]!, 'hello')

    const refused = await service.call('PATCH', '/upload_videos', {
      upload_session_id: sessionId,
      affected_file_id: files[0]!.id,
      file_part_info: [
        { etag: HELLO, part_number: 1 },
        { etag: SPACE_WORLD, part_number: 2 },
      ],
      upload_successful: true,
    })

    expect(refused.status).toBe(409)
    expect(refused.json).toEqual({
      error: { code: 'part_not_stored', message: 'Part 2 was never stored.', part_number: 2 },
    })
  })

  it('answers 409 when the sizes do not add up', async () => {
    const { clip, confirm } = await putBoth()
    await put(clip.urls[1]!, 'world')

    const refused = await confirm([
      [1, HELLO],
      [2, '7d793037a0760186574b0282f2f435e7'],
    ])

    expect(refused.status).toBe(409)
    expect(refused.json).toEqual({
      error: {
        code: 'size_mismatch',
        message: 'The parts hold 10 bytes, the file was announced with 11.',
      },
    })
  })

  it('takes a part that is sent again in place of the first', async () => {
    const { session, clip, confirm } = await putBoth()
    await put(clip.urls[0]!, 'HELLO')

    expect((await confirm(BOTH)).status).toBe(409)
    expect(
      (
        await confirm([
          [1, 'eb61eead90e3b899c6bcbe27ac581660'],
          [2, SPACE_WORLD],
        ])
      ).status,
    ).toBe(200)
    expect(await storedVideo(session.sessionId)).toMatchObject({ bytes: 'HELLO world' })
  })

  it('answers the same confirmation 200 again and another one 409', async () => {
    const { confirm } = await putBoth()
    await confirm(BOTH)

    const again = await confirm([
      [2, `"${SPACE_WORLD}"`],
      [1, HELLO],
    ])
    const other = await confirm([
      [1, HELLO],
      [2, WORLD],
    ])
    const failed = await confirm([], { upload_successful: false })

    expect([again.status, again.text]).toEqual([200, '{}'])
    expect([other.status, failed.status]).toEqual([409, 409])
    expect(other.json).toMatchObject({ error: { code: 'already_confirmed' } })
  })

  it('refuses parts of a confirmed file at their address, and the object stays what it was', async () => {
    const { session, clip, confirm } = await putBoth()
    await confirm(BOTH)

    const late = await put(clip.urls[0]!, 'HELLO')

    expect(late.status).toBe(404)
    expect(late.text).toContain('<Code>NoSuchUpload</Code>')
    expect(await storedVideo(session.sessionId)).toMatchObject({ bytes: 'hello world' })
  })

  it('marks a file failed, and does not show it as stored', async () => {
    const { session, confirm } = await putBoth()

    expect((await confirm([], { upload_successful: false })).status).toBe(200)
    expect((await confirm([], { upload_successful: false })).status).toBe(200)
    expect(await storedVideo(session.sessionId)).toBeUndefined()
  })

  it('confirms a file that had been marked failed, when its parts are all there', async () => {
    const { confirm } = await putBoth()
    await confirm([], { upload_successful: false })

    const confirmed = await confirm(BOTH)

    expect(confirmed.status).toBe(200)
  })

  it('confirms a file of no bytes in one part', async () => {
    const { sessionId, files } = await openVideoSession(service, [{ bytes: 0, chunks: 1 }])
    const stored = await put(files[0]!.urls[0]!, '')
    expect(stored.headers.get('etag')).toBe(`"${NOTHING}"`)

    const confirmed = await service.call('PATCH', '/upload_videos', {
      upload_session_id: sessionId,
      affected_file_id: files[0]!.id,
      file_part_info: [{ etag: NOTHING, part_number: 1 }],
      upload_successful: true,
    })

    expect(confirmed.status).toBe(200)
    expect(await storedVideo(sessionId)).toEqual({ name: 'clip-1.mp4', size: 0, bytes: '' })
  })

  it('answers 404 for an unknown session, an unknown file and a file of another session', async () => {
    const mine = await openVideoSession(service, [{ bytes: 1, chunks: 1 }])
    const other = await openVideoSession(service, [{ bytes: 1, chunks: 1 }])
    const body = { file_part_info: [], upload_successful: true }
    const ids: [string, number | string][] = [
      ['nobody', mine.files[0]!.id],
      [mine.sessionId, 999_999_999],
      [mine.sessionId, 'x'],
      [mine.sessionId, other.files[0]!.id],
    ]

    const answers = await Promise.all(
      ids.map(([upload_session_id, affected_file_id]) =>
        service.call('PATCH', '/upload_videos', { ...body, upload_session_id, affected_file_id }),
      ),
    )

    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404])
  })

  it('answers 422 for a body that lacks upload_successful', async () => {
    const { confirm } = await putBoth()

    const refused = await confirm([[1, HELLO]], { upload_successful: undefined })

    expect(refused.status).toBe(422)
    expect(refused.json).toMatchObject({ error: { fields: [{ field: 'upload_successful', problem: 'is missing' }] } })
  })
})

describe('DELETE /upload_videos/{id}', () => {
  it('is 200 twice; parts are then refused and confirmations answered 409', async () => {
    const { session, clip, confirm } = await putBoth()
    const cancel = () => service.call('DELETE', `/upload_videos/${session.sessionId}`)

    expect([(await cancel()).status, (await cancel()).status]).toEqual([200, 200])

    const part = await put(clip.urls[0]!, 'hello')
    expect([part.status, part.text]).toEqual([
      404,
      '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>NoSuchUpload</Code><Message>The specified upload does not exist. It may have been aborted or completed.</Message></Error>',
    ])
    expect((await confirm(BOTH)).status).toBe(409)
  })

  it('takes back a confirmed file too', async () => {
    const { session, confirm } = await putBoth()
    await confirm(BOTH)
    const url = (await storedItem(session.sessionId))!.url

    await service.call('DELETE', `/upload_videos/${session.sessionId}`)

    expect(await storedItem(session.sessionId)).toBeUndefined()
    expect((await fetch(url)).status).toBe(404)
  })

  it('answers 404 for an unknown session', async () => {
    expect((await service.call('DELETE', '/upload_videos/nobody')).status).toBe(404)
  })
})

interface Item {
  readonly kind: string
  readonly session_id: string
  readonly file_name: string
  readonly size_bytes: number
  readonly url: string
}

async function storedItem(sessionId: string): Promise<Item | undefined> {
  const { json } = await service.call('GET', '/stored?limit=1000')
  return (json as { items: Item[] }).items.find((item) => item.kind === 'video' && item.session_id === sessionId)
}

async function storedVideo(sessionId: string): Promise<object | undefined> {
  const item = await storedItem(sessionId)
  if (item === undefined) return undefined
  return { name: item.file_name, size: item.size_bytes, bytes: await (await fetch(item.url)).text() }
}
