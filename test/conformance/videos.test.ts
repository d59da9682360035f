// Single-camera video: sessions, parts with their ETags, one confirmation for each file, and the cancel.

import { describe, expect, it } from 'vitest'

import { put } from './plain-http.ts'
import {
  bytesOf,
  call,
  cancelLater,
  confirm,
  isAbsent,
  md5,
  openVideo,
  PART_BYTES,
  putBoth,
  storedOf,
  VIDEO,
} from './service-calls.ts'

const NOTHING = 'd41d8cd98f00b204e9800998ecf8427e'
const ANY = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'

const file = { raw_file_name: 'conformance.mp4', file_size_bytes: 11, number_of_chunks: 1, file_id: 7, frame_rate: 240 }
const split = { ...file, file_size_bytes: PART_BYTES + 1, number_of_chunks: 2 }
const valid = { ...VIDEO, files: [split] }

interface Created {
  readonly upload_session_id: string
  readonly pre_signed_urls: readonly {
    readonly session_file_id: number
    readonly raw_file_name: string
    readonly info: readonly { readonly url: string; readonly part_number: number }[]
  }[]
}

describe.skipIf(isAbsent)('POST /upload_videos', () => {
  it('answers one entry for each file, in order, with one address for each chunk', async () => {
    const files = [split, { ...file, file_id: 3, raw_file_name: 'conformance é🏏.mov' }]
    const { status, headers, json } = await call('POST', '/upload_videos', { ...valid, files })

    const reply = json as Created
    cancelLater(reply.upload_session_id)
    expect(status).toBe(200)
    expect(headers.get('content-type')).toMatch(/^application\/json/)
    expect(reply).toMatchObject({
      upload_session_id: expect.stringMatching(/./) as string,
      pre_signed_urls: [
        { file_id: 7, raw_file_name: 'conformance.mp4', info: [{ part_number: 1 }, { part_number: 2 }] },
        { file_id: 3, raw_file_name: 'conformance é🏏.mov', info: [{ part_number: 1 }] },
      ],
    })
    const addresses = reply.pre_signed_urls.flatMap(({ info }) => info.map(({ url }) => url))
    expect(new Set(addresses).size).toBe(3)
    for (const address of addresses) {
      const query = new URL(address).searchParams
      expect(query.get('X-Amz-Signature')).toMatch(/^[0-9a-f]{64}$/)
      expect(Number(query.get('X-Amz-Expires'))).toBeGreaterThan(0)
      expect(query.get('X-Amz-Date')).toMatch(/^\d{8}T\d{6}Z$/)
    }
    expect(new URL(addresses[1]!).searchParams.get('partNumber')).toBe('2')
  })

  it('opens a session for ten thousand files, in order, and one for ten thousand chunks, or refuses it whole', async () => {
    const many = Array.from({ length: 10_000 }, (_, index) => ({
      ...{ raw_file_name: `conformance-${index}.mp4`, file_size_bytes: 1, number_of_chunks: 1 },
    }))
    const long = { ...file, file_size_bytes: 10_000 * PART_BYTES, number_of_chunks: 10_000 }

    const files = await call('POST', '/upload_videos', { ...valid, files: many })
    const chunks = await call('POST', '/upload_videos', { ...valid, files: [long] })

    const { upload_session_id: id, pre_signed_urls: entries } = chunks.json as Created
    cancelLater(id)
    expect(entries[0]!.info.map((entry) => entry.part_number)).toEqual(
      Array.from({ length: 10_000 }, (_, index) => index + 1),
    )
    if (files.status === 422) {
      expect(files.json).toMatchObject({ error: { code: 'too_many_files' } })
      return
    }
    cancelLater((files.json as Created).upload_session_id)
    const names = (files.json as Created).pre_signed_urls.map((entry) => entry.raw_file_name)
    expect(names).toEqual(many.map((entry) => entry.raw_file_name))
  })

  it.each([
    ['files', { ...valid, files: undefined }],
    ['files', { ...valid, files: file }],
    ['files', { ...valid, files: [] }],
    ['player_id', { ...valid, player_id: undefined, playerid: 'p-17' }],
    ['movement_type_id', { ...valid, movement_type_id: '1' }],
    ['session_type_id', { ...valid, session_type_id: undefined, sessiontype_id: 2 }],
    ['session_date', { ...valid, session_date: '2026-11-20/2026-11-21' }],
    ['session_date', { ...valid, session_date: '2026-02-30' }],
    ['files.0.number_of_chunks', { ...valid, files: [{ ...file, number_of_chunks: 0 }] }],
    ['files.0.number_of_chunks', { ...valid, files: [{ ...file, number_of_chunks: 12 }] }],
    ['files.0.number_of_chunks', { ...valid, files: [{ ...file, file_size_bytes: 0, number_of_chunks: 2 }] }],
    ['files.0.number_of_chunks', { ...valid, files: [{ ...file, file_size_bytes: 9e12, number_of_chunks: 10_001 }] }],
    ['files.0.file_size_bytes', { ...valid, files: [{ ...file, file_size_bytes: -1 }] }],
    ['files.0.file_size_bytes', { ...valid, files: [{ ...file, file_size_bytes: undefined }] }],
    ['files.0.raw_file_name', { ...valid, files: [{ ...file, raw_file_name: 'clips/swing.mp4' }] }],
    ['files.1.file_id', { ...valid, files: [file, file] }],
    ['files.0.frame_rate', { ...valid, files: [{ ...file, frame_rate: 0 }] }],
    ['', '{"files": ['],
  ])('answers a wrong %s with a body that lacks pre_signed_urls and names it', async (field, body) => {
    const { status, json } = await call('POST', '/upload_videos', body)

    expect(status).toBeLessThan(500)
    expect(Object.keys(json as object)).toEqual(['message', 'errors'])
    expect((json as { errors: { field: string }[] }).errors.map((one) => one.field)).toEqual([field])
  })
})

describe.skipIf(isAbsent)('PATCH /upload_videos', () => {
  it('confirms a file whose parts are all there, and its bytes can be read back whole', async () => {
    const { file: clip, answers, etags, first, last } = await putBoth()
    expect(answers.map(({ status, headers }) => [status, headers.get('etag')])).toEqual([
      [200, `"${etags[0][1]}"`],
      [200, `"${etags[1][1]}"`],
    ])

    const confirmed = await confirm(clip, [
      [2, `"${etags[1][1]}"`],
      [1, `"${etags[0][1]}"`],
    ])

    expect(confirmed.status).toBe(200)
    const [item, ...others] = await storedOf(clip.sessionId, 'video')
    expect([item, others]).toMatchObject([{ file_name: 'conformance-1.mp4', size_bytes: PART_BYTES + 6 }, []])
    const read = new Uint8Array(await (await fetch(item!.url)).arrayBuffer())
    expect(md5(read)).toBe(md5(Buffer.concat([first, last])))
  })

  it.each([
    ['bare', (etag: string) => etag],
    ['quoted', (etag: string) => `"${etag}"`],
    ['weak', (etag: string) => `W/"${etag}"`],
  ])('takes ETags %s, and the id of the file as text', async (_form, written) => {
    const [clip] = await openVideo({ bytes: 5, chunks: 1 })
    await put(clip!.urls[0]!, 'hello')

    const { status } = await confirm(clip!, [[1, written(md5('hello'))]], { affected_file_id: String(clip!.id) })

    expect(status).toBe(200)
  })

  it.each([
    ['missing_part', 2, [[1, ANY]]],
    [
      'repeated_part',
      1,
      [
        [1, ANY],
        [1, ANY],
        [2, ANY],
      ],
    ],
    [
      'unknown_part',
      3,
      [
        [1, ANY],
        [2, ANY],
        [3, ANY],
      ],
    ],
  ] as [string, number, [number, string][]][])('answers 422 %s for part %i', async (code, partNumber, parts) => {
    const [clip] = await openVideo({ bytes: PART_BYTES + 1, chunks: 2 })

    const refused = await confirm(clip!, parts)

    expect(refused.status).toBe(422)
    expect(refused.json).toMatchObject({ error: { code, part_number: partNumber } })
  })

  it('answers 409 to what is not stored, or is stored otherwise, names the part, and takes the file afterwards', async () => {
    const [clip] = await openVideo({ bytes: PART_BYTES + 5, chunks: 2 })
    const [large, hello] = [bytesOf(PART_BYTES, 3), 'hello']
    const first = [1, md5(large)] as const
    const refusalOf = async (...parts: (readonly [number, string])[]) => {
      const { status, json } = await confirm(clip!, parts)
      return [status, (json as { error: { code: string; part_number?: number } }).error]
    }

    await put(clip!.urls[0]!, large)
    expect(await refusalOf(first, [2, md5(hello)])).toMatchObject([409, { code: 'part_not_stored', part_number: 2 }])
    await put(clip!.urls[1]!, 'world')
    expect(await refusalOf(first, [2, md5(hello)])).toMatchObject([409, { code: 'etag_mismatch', part_number: 2 }])
    expect(await refusalOf([1, md5('world')], [2, md5(large)])).toMatchObject([
      409,
      { code: 'etag_mismatch', part_number: 1 },
    ])
    await put(clip!.urls[1]!, 'more than five')
    expect(await refusalOf(first, [2, md5('more than five')])).toMatchObject([409, { code: 'size_mismatch' }])

    // A part that is sent again takes the place of the first.
    await put(clip!.urls[1]!, hello)
    expect((await confirm(clip!, [first, [2, md5(hello)]])).status).toBe(200)
  })

  it('answers 409 for a file of one chunk that was never stored, is another one, or has another size', async () => {
    const [clip] = await openVideo({ bytes: 5, chunks: 1 })
    const codeOf = async (etag: string) =>
      ((await confirm(clip!, [[1, etag]])).json as { error: { code: string } }).error.code

    expect(await codeOf(md5('hello'))).toBe('part_not_stored')
    await put(clip!.urls[0]!, 'world')
    expect(await codeOf(md5('hello'))).toBe('etag_mismatch')
    await put(clip!.urls[0]!, 'hello, world')
    expect(await codeOf(md5('hello, world'))).toBe('size_mismatch')
    await put(clip!.urls[0]!, 'hello')
    expect((await confirm(clip!, [[1, md5('hello')]])).status).toBe(200)
  })

  it('answers the same confirmation 200 again and another one 409, and takes no part any more', async () => {
    const { file: clip, etags, first, last } = await putBoth()
    expect((await confirm(clip, etags)).status).toBe(200)

    const again = await confirm(clip, [...etags].reverse())
    const other = await confirm(clip, [etags[0], [2, ANY]])
    const failed = await confirm(clip, [], { upload_successful: false })
    const late = await put(clip.urls[1]!, 'other!')

    expect([again.status, other.status, failed.status]).toEqual([200, 409, 409])
    expect(other.json).toMatchObject({ error: { code: 'etag_mismatch' } })
    expect(failed.json).toMatchObject({ error: { code: 'already_confirmed' } })
    expect(late.status).toBe(404)
    expect(late.text).toContain('<Code>NoSuchUpload</Code>')
    const [item] = await storedOf(clip.sessionId, 'video')
    const read = new Uint8Array(await (await fetch(item!.url)).arrayBuffer())
    expect(md5(read)).toBe(md5(Buffer.concat([first, last])))
  })

  it('answers a report that a file failed 200, also a second one, and still takes the file when it is there', async () => {
    const [clip] = await openVideo({ bytes: 5, chunks: 1 })
    await put(clip!.urls[0]!, 'hello')
    const fail = () => confirm(clip!, [], { upload_successful: false })

    expect([(await fail()).status, (await fail()).status]).toEqual([200, 200])
    expect(await storedOf(clip!.sessionId, 'video')).toEqual([])
    expect((await confirm(clip!, [[1, md5('hello')]])).status).toBe(200)
    expect(await storedOf(clip!.sessionId, 'video')).toHaveLength(1)
  })

  it('confirms a file of no bytes in one part', async () => {
    const [clip] = await openVideo({ bytes: 0, chunks: 1 })
    const stored = await put(clip!.urls[0]!, '')
    expect([stored.status, stored.headers.get('etag')]).toEqual([200, `"${NOTHING}"`])

    expect((await confirm(clip!, [[1, NOTHING]])).status).toBe(200)
    const [item] = await storedOf(clip!.sessionId, 'video')
    expect(item).toMatchObject({ size_bytes: 0 })
    expect(await (await fetch(item!.url)).text()).toBe('')
  })

  it('answers 404 for an unknown session, an unknown file and a file of another session', async () => {
    const [mine] = await openVideo({ bytes: 1, chunks: 1 })
    const [other] = await openVideo({ bytes: 1, chunks: 1 })
    const ids: [unknown, unknown][] = [
      ['nobody', mine!.id],
      [mine!.sessionId, 999_999_999],
      [mine!.sessionId, 'x'],
      [mine!.sessionId, other!.id],
    ]

    const answers = await Promise.all(
      ids.map(([upload_session_id, affected_file_id]) => confirm(mine!, [], { upload_session_id, affected_file_id })),
    )

    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404])
    expect(answers.map(({ json }) => (json as { error: { code: string } }).error.code)).toEqual([
      'session_not_found',
      ...['file_not_found', 'file_not_found', 'file_not_found'],
    ])
  })

  it.each([
    ['upload_successful', { upload_successful: undefined }],
    ['file_part_info', { file_part_info: undefined }],
    ['file_part_info.0.etag', { file_part_info: [{ part_number: 1 }] }],
    ['file_part_info.0.part_number', { file_part_info: [{ etag: ANY, part_number: 0 }] }],
    ['affected_file_id', { affected_file_id: null }],
  ])('answers 422 for a wrong %s', async (field, extra) => {
    const refused = await confirm({ sessionId: 'nobody', id: 1 }, [[1, ANY]], extra)

    expect(refused.status).toBe(422)
    expect((refused.json as { error: { fields: { field: string }[] } }).error.fields[0]?.field).toBe(field)
  })
})

describe.skipIf(isAbsent)('DELETE /upload_videos/{id}', () => {
  it('is 200 twice; parts are then refused and confirmations answered 409', async () => {
    const { file: clip, etags } = await putBoth()
    const cancel = () => call('DELETE', `/upload_videos/${clip.sessionId}`)

    expect([(await cancel()).status, (await cancel()).status]).toEqual([200, 200])

    const part = await put(clip.urls[1]!, 'other!')
    expect(part.status).toBe(404)
    expect(part.text).toContain('<Code>NoSuchUpload</Code>')
    const late = await confirm(clip, etags)
    expect([late.status, late.json]).toMatchObject([409, { error: { code: 'session_cancelled' } }])
  })

  it('takes back a confirmed file too', async () => {
    const { file: clip, etags } = await putBoth()
    await confirm(clip, etags)
    const [item] = await storedOf(clip.sessionId, 'video')

    expect((await call('DELETE', `/upload_videos/${clip.sessionId}`)).status).toBe(200)

    expect(await storedOf(clip.sessionId, 'video')).toEqual([])
    expect((await fetch(item!.url)).status).toBe(404)
  })

  it('answers 404 for an unknown session', async () => {
    expect((await call('DELETE', '/upload_videos/nobody')).status).toBe(404)
    expect((await call('DELETE', '/upload_videos/0b6a5e0e-6a53-4f4e-9a55-0a8f0f3f6f10')).status).toBe(404)
  })
})
