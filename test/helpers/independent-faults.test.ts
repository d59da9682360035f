// Tests that the options and the fault script of the independent service do what they say and nothing else.

import { afterEach, describe, expect, it } from 'vitest'

import { VIDEO, VIDEO_FILE, createDriver, json, openPut, put, statusOf } from './independent-driver.ts'

const driver = createDriver()
const { start, call, createVideos, confirm } = driver

afterEach(() => driver.close())

describe('options', () => {
  it('give ids, order, echoes and unknown fields their forms', async () => {
    await start({
      idStyle: 'number',
      entryOrder: 'reversed',
      echoes: { fileId: true, rawFileName: true },
      hasUnknownFields: true,
    })
    const { entries } = await createVideos([
      { ...VIDEO_FILE, file_id: 5 },
      { ...VIDEO_FILE, raw_file_name: 'other.mp4', file_id: 6 },
    ])
    expect(entries.map(({ info, ...entry }) => ({ ...entry, parts: info.length }))).toEqual([
      { session_file_id: 4002, file_id: 6, raw_file_name: 'other.mp4', storage_class: 'STANDARD', parts: 1 },
      { session_file_id: 4001, file_id: 5, raw_file_name: 'swing.mp4', storage_class: 'STANDARD', parts: 1 },
    ])
  })

  it('shuffle entries the same way each time, and lose none', async () => {
    const files = Array.from({ length: 8 }, (_, index) => ({ ...VIDEO_FILE, raw_file_name: `${index}.mp4` }))
    const orders: string[] = []
    for (const shuffledBy of [1, 1, 2]) {
      await start({ entryOrder: { shuffledBy }, echoes: { rawFileName: true } })
      const { entries } = await createVideos(files)
      orders.push(entries.map((entry) => entry.raw_file_name).join())
      await driver.service.close()
    }
    expect(orders[1]).toBe(orders[0])
    expect(orders[2]).not.toBe(orders[0])
    expect(orders[0]!.split(',').sort().join()).toBe('0.mp4,1.mp4,2.mp4,3.mp4,4.mp4,5.mp4,6.mp4,7.mp4')
    expect(orders[0]).not.toBe('0.mp4,1.mp4,2.mp4,3.mp4,4.mp4,5.mp4,6.mp4,7.mp4')
  })

  it.each([
    ['quoted', /^"900150983cd24fb0d6963f7d28e17f72"$/],
    ['bare', /^900150983cd24fb0d6963f7d28e17f72$/],
    ['weak', /^W\/"900150983cd24fb0d6963f7d28e17f72"$/],
    ['opaque', /^"[0-9a-f]{24}-1"$/],
  ] as const)('give a %s ETag, which a confirm may send as it is or bare', async (etagStyle, form) => {
    await start({ etagStyle, hasEmptyConfirmBodies: true, repeatedConfirmStatus: 409 })
    const { sessionId, entries } = await createVideos([VIDEO_FILE])
    const etag = (await put(entries[0]!.info[0]!.url, 'abc')).headers.get('etag')!
    expect(etag).toMatch(form)
    const reply = await confirm(sessionId, entries[0]!.session_file_id, [etag.replace(/^W\/|"/g, '')])
    expect(reply.status).toBe(200)
    expect(await reply.text()).toBe('')
    expect(await statusOf(confirm(sessionId, entries[0]!.session_file_id, [etag]))).toBe(409)
  })

  it('end an address, whose deadline is in its query unless hidden', async () => {
    await start({ addressLifetimeSeconds: -1 })
    const { url } = (await createVideos([VIDEO_FILE])).entries[0]!.info[0]!
    const reply = await put(url, 'abc')
    expect(reply.status).toBe(403)
    expect(await reply.text()).toContain('<Message>Request has expired</Message>')
    expect(new URL(url).searchParams.get('X-Amz-Date')).toMatch(/^\d{8}T\d{6}Z$/)
    await driver.service.close()

    await start({ isDeadlineShown: false })
    const { entries } = await createVideos([VIDEO_FILE])
    expect([...new URL(entries[0]!.info[0]!.url).searchParams.keys()]).toEqual(['X-Amz-Signature'])
  })
})

describe('storage', () => {
  it('refuses an altered address and a body of unknown length', async () => {
    await start()
    const { url } = (await createVideos([VIDEO_FILE])).entries[0]!.info[0]!
    expect(await statusOf(put(`${url}0`, 'abc'))).toBe(403)
    const body = new Blob(['abc']).stream()
    expect(await statusOf(fetch(url, { method: 'PUT', body, duplex: 'half' } as RequestInit))).toBe(411)
    expect(driver.service.storedFiles()[0]!.parts).toEqual([])
  })

  it('counts the puts in flight and does not store one that its client left', async () => {
    await start()
    const { entries } = await createVideos([VIDEO_FILE])
    const { url } = entries[0]!.info[0]!
    const open = [openPut(url, 10), openPut(url, 10), openPut(url, 10)]
    for (const put of open) put.write('abc')
    await expect.poll(() => driver.service.records.maxPutsInFlight).toBe(3)
    for (const put of open) put.destroy()
    await expect
      .poll(() => driver.service.requestsOf('put').map(({ ending }) => ending))
      .toEqual(Array(3).fill('clientGone'))

    await put(url, 'abc')
    expect(driver.service.records.maxPutsInFlight).toBe(3)
    expect(driver.service.storedFiles()[0]!.parts).toHaveLength(1)
  })
})

describe('the fault script', () => {
  it('answers the nth request otherwise and leaves the rest alone', async () => {
    const headers = { 'retry-after': '3' }
    await start({
      faults: [
        { operation: 'create', nth: 2, action: { status: 429, headers, body: { message: 'slow' } } },
        { operation: 'create', nth: 3, action: 'html500' },
        { operation: 'cancel', nth: 1, action: 'html500' },
      ],
    })
    const create = () => call('POST', '/upload_videos', { ...VIDEO, files: [VIDEO_FILE] })
    const replies = [await create(), await create(), await create(), await create()]

    expect(replies.map(({ status }) => status)).toEqual([200, 429, 500, 200])
    expect(replies[1]!.headers.get('retry-after')).toBe('3')
    expect(replies[2]!.headers.get('content-type')).toBe('text/html')
    expect(driver.service.pendingFaults()).toEqual([{ operation: 'cancel', nth: 1, action: 'html500' }])
  })

  it('resets in mid-body without storing, by file and part', async () => {
    await start({
      faults: [{ operation: 'put', nth: 1, fileName: 'swing.mp4', partNumber: 2, action: 'resetMidBody' }],
    })
    const { entries } = await createVideos([{ ...VIDEO_FILE, file_size_bytes: 4_000_000, number_of_chunks: 2 }])
    const body = Buffer.alloc(2_000_000, 1)
    expect(await statusOf(put(entries[0]!.info[0]!.url, body))).toBe(200)
    await expect(put(entries[0]!.info[1]!.url, body)).rejects.toThrow()
    expect(driver.service.storedFiles()[0]!.parts.map(({ partNumber }) => partNumber)).toEqual([1])
    expect(driver.service.requestsOf('put')[1]).toMatchObject({ ending: 'reset', fileName: 'swing.mp4', partNumber: 2 })
    expect(driver.service.requestsOf('put')[1]!.bodyBytes).toBeGreaterThanOrEqual(1_000_000)
    expect(await statusOf(put(entries[0]!.info[1]!.url, body))).toBe(200)
  })

  it('does the work and loses the reply, for puts and confirms', async () => {
    await start({
      faults: [
        { operation: 'put', nth: 1, action: 'loseReply' },
        { operation: 'confirm', nth: 1, action: 'loseReply' },
      ],
    })
    const { sessionId, entries } = await createVideos([VIDEO_FILE])
    await expect(put(entries[0]!.info[0]!.url, 'abc')).rejects.toThrow()
    expect(driver.service.contentOf('swing.mp4').toString()).toBe('abc')

    const etag = '"900150983cd24fb0d6963f7d28e17f72"'
    await expect(confirm(sessionId, entries[0]!.session_file_id, [etag])).rejects.toThrow()
    expect(driver.service.storedFiles()[0]!.isConfirmed).toBe(true)
    expect(driver.service.requestsOf('confirm')[0]).toMatchObject({ ending: 'replyLost' })
    expect(await json(confirm(sessionId, entries[0]!.session_file_id, [etag]))).toEqual({ repeated: true })
  })

  it('delays an answer until after the work, and a close ends the delay', async () => {
    await start({ faults: [{ operation: 'put', nth: 'every', action: { delayMs: 3_600_000 } }] })
    const { entries } = await createVideos([VIDEO_FILE])
    const waiting = put(entries[0]!.info[0]!.url, 'abc').then(
      () => 'answered',
      () => 'failed',
    )
    await expect.poll(() => driver.service.storedFiles()[0]!.parts.length).toBe(1)
    await driver.service.close()
    expect(await waiting).toBe('failed')
  })

  it('answers before the body has come, and forgets the body', async () => {
    await start({ faults: [{ operation: 'put', nth: 1, action: { status: 503, early: 'drain' } }] })
    const { url } = (await createVideos([VIDEO_FILE])).entries[0]!.info[0]!
    const put = openPut(url, 10)
    put.write('abc')
    expect((await put.answer).status).toBe(503)
    put.destroy()
    expect(driver.service.storedFiles()[0]!.parts).toEqual([])
  })

  it('answers early and closes the connection', async () => {
    await start({ faults: [{ operation: 'put', nth: 1, action: { status: 403, early: 'close' } }] })
    const { url } = (await createVideos([VIDEO_FILE])).entries[0]!.info[0]!
    const put = openPut(url, 10)
    put.write('abc')
    expect(await put.answer).toMatchObject({ status: 403, headers: { connection: 'close' } })
    put.destroy()
  })
  it.each([
    ['beforeBody', 0, 0],
    ['midBody', 3, 0],
    ['afterBody', 5, 1],
  ] as const)('stalls %s, and a close ends it', async (stall, atLeast, stored) => {
    await start({ faults: [{ operation: 'put', nth: 1, action: { stall } }] })
    const { url } = (await createVideos([VIDEO_FILE])).entries[0]!.info[0]!
    const waiting = put(url, 'abcde').then(
      () => 'answered',
      () => 'failed',
    )
    await expect.poll(() => driver.service.requestsOf('put')[0]?.bodyBytes).toBeGreaterThanOrEqual(atLeast)
    await expect.poll(() => driver.service.storedFiles()[0]!.parts.length).toBe(stored)
    await driver.service.close()
    expect(await waiting).toBe('failed')
  })

  it('names another ETag for what it has stored', async () => {
    await start({ faults: [{ operation: 'put', nth: 1, action: 'wrongEtag' }] })
    const { url } = (await createVideos([VIDEO_FILE])).entries[0]!.info[0]!
    const etag = (await put(url, 'abc')).headers.get('etag')
    const [part] = driver.service.storedFiles()[0]!.parts
    expect(part?.sizeBytes).toBe(3)
    expect(etag).not.toBe(part?.etag)
  })

  it('goes away for puts or for calls until the outage ends', async () => {
    await start({ faults: [{ operation: 'put', nth: 1, action: 'outage' }] })
    const { url } = (await createVideos([VIDEO_FILE])).entries[0]!.info[0]!
    await expect(put(url, 'abc')).rejects.toThrow()
    await expect(put(url, 'abc')).rejects.toThrow()
    await createVideos([VIDEO_FILE])
    await driver.service.endOutage()
    expect(await statusOf(put(url, 'abc'))).toBe(200)
  })
})
