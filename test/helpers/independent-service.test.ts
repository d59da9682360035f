// Tests that the independent service keeps to the interface document; otherwise its judgement of the product would be
// worth nothing. The tests use fetch, which the product does not use to send.

import { afterEach, describe, expect, it } from 'vitest'

import { VIDEO, VIDEO_FILE, createDriver, json, put, sha256, statusOf } from './independent-driver.ts'

const driver = createDriver()
const { start, call, createVideos, createCaptureSession, confirm } = driver

afterEach(() => driver.close())

describe('a video', () => {
  it('is created, stored in parts and confirmed', async () => {
    await start({ minPartBytes: 1 })
    const { sessionId, entries } = await createVideos([
      { ...VIDEO_FILE, file_size_bytes: 7, number_of_chunks: 2, file_id: 1 },
    ])
    const [first, second] = entries[0]!.info
    const etags = [await put(second!.url, 'def'), await put(first!.url, 'abcd')].map(({ headers }) =>
      headers.get('etag'),
    )

    expect(etags).toEqual(['"4ed9407630eb1000c0f6b63842defa7d"', '"e2fc714c4727ee9395f324cd2e7f331f"'])
    expect(new URL(first!.url).origin).toBe(driver.service.storageUrl)
    expect(driver.service.storageUrl).not.toBe(driver.service.url)
    expect(driver.service.storedFiles()[0]).toMatchObject({ fileName: 'swing.mp4', isConfirmed: false, sizeBytes: 7 })

    const reply = await confirm(sessionId, entries[0]!.session_file_id, [etags[1], etags[0]])
    expect(reply.status).toBe(200)
    expect(driver.service.storedFiles()[0]).toMatchObject({
      flow: 'video',
      isConfirmed: true,
      sha256: sha256('abcddef'),
    })
    expect(driver.service.contentOf('swing.mp4').toString()).toBe('abcddef')
    expect(driver.service.requestsOf('confirm')[0]).toMatchObject({
      ending: 'answered',
      status: 200,
      body: { affected_file_id: 'svf-4001', upload_successful: true },
    })
  })

  it('is not confirmed with a missing part, another ETag, a wrong order, or a small part in the middle', async () => {
    await start({ minPartBytes: 4 })
    const { sessionId, entries } = await createVideos([{ ...VIDEO_FILE, file_size_bytes: 7, number_of_chunks: 2 }])
    const { session_file_id: id, info } = entries[0]!
    const early = (await put(info[0]!.url, 'abc')).headers.get('etag')
    expect(await statusOf(confirm(sessionId, id, [early]))).toBe(400)
    expect(await statusOf(confirm(sessionId, id, [early, '"900150983cd24fb0d6963f7d28e17f72"']))).toBe(400)
    const last = (await put(info[1]!.url, 'def')).headers.get('etag')
    expect(await json(confirm(sessionId, id, [early, last]))).toEqual({ message: 'EntityTooSmall 1' })

    const first = (await put(info[0]!.url, 'abcd')).headers.get('etag')
    expect(await json(confirm(sessionId, id, [early, last]))).toEqual({ message: 'InvalidPart 1' })
    expect(await json(confirm(sessionId, id, [last, first], [2, 1]))).toEqual({ message: 'InvalidPartOrder' })
    expect(await statusOf(confirm(sessionId, String(id).toUpperCase(), [first, last]))).toBe(404)
    expect(await statusOf(confirm(sessionId, id, [first, last]))).toBe(200)
    expect(driver.service.storedFiles()[0]!.parts[0]).toMatchObject({ partNumber: 1, sizeBytes: 4, putCount: 2 })
  })

  it('is not confirmed when its bytes are not as many as announced', async () => {
    await start()
    const { sessionId, entries } = await createVideos([{ ...VIDEO_FILE, file_size_bytes: 8 }])
    const etag = (await put(entries[0]!.info[0]!.url, 'abcdefg')).headers.get('etag')
    const reply = confirm(sessionId, entries[0]!.session_file_id, [etag])
    expect(await json(reply)).toEqual({ message: 'expected 8 bytes, got 7' })
  })

  it('can be reported as not uploaded, which confirms nothing', async () => {
    await start()
    const { sessionId, entries } = await createVideos([VIDEO_FILE])
    const body = {
      upload_session_id: sessionId,
      affected_file_id: entries[0]!.session_file_id,
      file_part_info: [],
      upload_successful: false,
    }
    expect(await statusOf(call('PATCH', '/upload_videos', body))).toBe(200)
    expect(driver.service.storedFiles()[0]!.isConfirmed).toBe(false)
  })

  it('stores nothing more once its session is cancelled', async () => {
    await start()
    const { sessionId, entries } = await createVideos([VIDEO_FILE])
    expect(await statusOf(call('DELETE', `/upload_videos/${sessionId}`))).toBe(200)

    const late = await put(entries[0]!.info[0]!.url, 'abc')
    expect(late.status).toBe(404)
    expect(await late.text()).toContain('<Code>NoSuchUpload</Code>')
    expect(await statusOf(confirm(sessionId, entries[0]!.session_file_id, []))).toBe(409)
    expect(driver.service.records.cancelledSessionIds).toEqual([sessionId])
    expect(driver.service.storedFiles()[0]!.parts).toEqual([])
  })

  it.each([
    { files: [] },
    { files: [{ ...VIDEO_FILE, raw_file_name: undefined }] },
    { files: [{ ...VIDEO_FILE, raw_file_name: 'a/b.mp4' }] },
    { files: [{ ...VIDEO_FILE, file_size_bytes: '3' }] },
    { files: [{ ...VIDEO_FILE, number_of_chunks: 0 }] },
    {
      files: [
        { ...VIDEO_FILE, file_id: 1 },
        { ...VIDEO_FILE, file_id: 1 },
      ],
    },
    { movement_type_id: '1' },
    { player_id: 7 },
    { session_date: '20.11.2026' },
    { session_type_id: undefined },
  ])('gets a reply without pre_signed_urls for %j', async (fields) => {
    await start()
    const reply = await call('POST', '/upload_videos', { ...VIDEO, files: [VIDEO_FILE], ...fields })
    expect(reply.status).toBe(200)
    expect(Object.keys((await reply.json()) as object)).toEqual(['message'])
  })
})

describe('a capture', () => {
  it('is registered under its name, whatever the name, and stored with one put', async () => {
    await start()
    const sessionId = await createCaptureSession(2)
    const filenames = ['a b.action', '__proto__', 'ü.action']
    const reply = await call('POST', '/mocap_session_file', { session_id: sessionId, filenames })
    const addresses = new Map(Object.entries((await reply.json()) as Record<string, string>))

    expect([...addresses.keys()]).toEqual(filenames)
    for (const name of filenames) expect((await put(addresses.get(name)!, `of ${name}`)).status).toBe(200)
    expect(driver.service.contentOf('__proto__').toString()).toBe('of __proto__')
    expect(driver.service.storedFiles().map((file) => file.isConfirmed)).toEqual([undefined, undefined, undefined])
  })

  it('is refused as a duplicate until reprocess is asked for', async () => {
    await start({ duplicateStatus: 422 })
    const sessionId = await createCaptureSession(2)
    const body = { session_id: sessionId, filenames: ['a.action'] }
    expect(await statusOf(call('POST', '/mocap_session_file', body))).toBe(200)
    expect(await statusOf(call('POST', '/mocap_session_file', body))).toBe(422)
    expect(await statusOf(call('POST', '/mocap_session_file', { ...body, reprocess: true }))).toBe(200)
  })

  it('may be registered again until it is stored, when the options say so', async () => {
    await start({ duplicateMeans: 'stored' })
    const sessionId = await createCaptureSession(2)
    const register = () => call('POST', '/mocap_session_file', { session_id: sessionId, filenames: ['a.action'] })
    expect(await statusOf(register())).toBe(200)
    const { 'a.action': url } = (await json(register())) as Record<string, string>
    expect(await statusOf(put(url!, 'abc'))).toBe(200)
    expect(await statusOf(register())).toBe(409)
  })

  it('must be of the kind of its session, and a video needs a frame rate', async () => {
    await start()
    const tracking = await createCaptureSession(2)
    const video = await createCaptureSession(67)
    const register = (session_id: string, filenames: string[], more: object = {}) =>
      statusOf(call('POST', '/mocap_session_file', { session_id, filenames, ...more }))

    expect(await register(tracking, ['a.mp4'])).toBe(400)
    expect(await register(video, ['a.action'], { video_framerate: 240 })).toBe(400)
    expect(await register(video, ['a.mp4'])).toBe(400)
    expect(await register(video, ['a.mp4'], { video_framerate: 240 })).toBe(200)
  })
})

describe('an analysis', () => {
  it('goes from draft to requested to what the options say', async () => {
    await start({ idStyle: 'number', analysisProgress: ['processing', 'done'] })
    const criteria = { movement_type_id: 1, dom_hand: 'RHA' }
    const segment = await json(call('POST', '/player_group_segments', criteria))
    expect(segment).toEqual({ analysis_segment_id: 31 })
    const wanted = { name: 'June', primary_analysis_segment_id: 31 }
    expect(await json(call('POST', '/requested_analyses', wanted))).toMatchObject({ id: 901, status: 'draft' })

    expect(await json(call('GET', '/requested_analyses/901'))).toMatchObject({ status: 'draft' })
    expect(await json(call('PATCH', '/requested_analyses/901/submit'))).toMatchObject({ status: 'requested' })
    expect(await json(call('GET', '/requested_analyses/901'))).toMatchObject({ status: 'processing' })
    expect(await json(call('GET', '/requested_analyses/901'))).toMatchObject({ status: 'done' })
    expect(await json(call('GET', '/requested_analyses/901'))).toMatchObject({ status: 'done' })
    expect(await json(call('GET', '/requested_analyses'))).toMatchObject([{ id: 901, name: 'June', status: 'done' }])
  })

  it('needs segments that exist and agree, by integer', async () => {
    await start()
    const segment = (dom_hand: string) => call('POST', '/player_group_segments', { movement_type_id: 1, dom_hand })
    expect(await json(segment('RHA'))).toEqual({ analysis_segment_id: '31' })
    await segment('LHA')
    expect(await json(segment('left'))).toEqual({ message: 'wrong criteria' })
    const create = (primary: unknown, comparison: unknown) =>
      statusOf(
        call('POST', '/requested_analyses', {
          name: 'x',
          primary_analysis_segment_id: primary,
          comparison_analysis_segment_id: comparison,
        }),
      )
    expect(await create(31, 32)).toBe(400)
    expect(await create(31, 33)).toBe(400)
    expect(await create(31, '31')).toBe(400)
    expect(await create(31, 31)).toBe(200)
  })
})

describe('credentials', () => {
  it('are asked for with 401 in the video flow, 403 elsewhere; key and bearer token are good', async () => {
    await start()
    const status = (method: string, path: string, headers: Record<string, string>) =>
      statusOf(fetch(driver.service.url + path, { method, headers }))

    expect(await status('DELETE', '/upload_videos/x', {})).toBe(401)
    expect(await status('GET', '/requested_analyses', { 'x-api-key': 'other' })).toBe(403)
    expect(await status('GET', '/requested_analyses', { 'x-api-key': driver.service.apiKey })).toBe(200)
    expect(await status('GET', '/requested_analyses', { authorization: `Bearer ${driver.service.token}` })).toBe(200)
    expect(await status('GET', '/requested_analyses', { authentication: `Bearer ${driver.service.token}` })).toBe(403)
  })

  it('can be taken from the Authentication header only', async () => {
    await start({ bearerHeader: 'authentication' })
    const status = (header: string) =>
      statusOf(
        fetch(`${driver.service.url}/requested_analyses`, { headers: { [header]: `Bearer ${driver.service.token}` } }),
      )
    expect(await status('authentication')).toBe(200)
    expect(await status('authorization')).toBe(403)
  })

  it('are noticed on a storage request, under any header', async () => {
    await start()
    const { entries } = await createVideos([VIDEO_FILE])
    const { url } = entries[0]!.info[0]!
    await fetch(url, { method: 'PUT', body: 'abc', headers: { 'x-note': `see ${driver.service.apiKey}` } })
    await fetch(url, { method: 'PUT', body: 'abc', headers: { authorization: `Bearer ${driver.service.token}` } })
    await put(url, 'abc')
    expect(driver.service.records.credentialLeaks.map(({ header }) => header)).toEqual(['x-note', 'authorization'])
    expect(driver.service.requestsOf('put').map(({ status }) => status)).toEqual([200, 400, 200])
  })
})
