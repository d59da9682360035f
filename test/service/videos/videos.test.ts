// Video on the service's own disk, beyond what the interface says of every deployment: the form of its addresses, and
// parts of any size.

import { openAsBlob } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, inject, it, onTestFinished } from 'vitest'

import { createUplink } from '../../../src/node.ts'
import { videoSession } from '../../../src/protocols/video-session.ts'
import { storageOf } from '../../../src/service/objects/storage-of.ts'
import { openContext, type Undo } from '../../../src/service/open-context.ts'
import { resolveOptions } from '../../../src/service/settings.ts'
import { createSession } from '../../../src/service/videos/video-create.ts'
import { withKeptDatabases } from '../../helpers/kept-database.ts'
import {
  API_KEY,
  openRecordsOf,
  openVideoSession,
  put,
  startUnderTest,
  startWithObjectsIn,
  type ServiceUnderTest,
} from '../service-under-test.ts'

let service: ServiceUnderTest
beforeAll(async () => {
  service = await startUnderTest()
})
afterAll(() => service.close())

// MD5 of "hello", " world" and "HELLO", from the md5sum program.
const HELLO = '5d41402abc4b2a76b9719d911017c592'
const SPACE_WORLD = 'b7913aa15c43be7d534b4eec6e99e8a0'
const UPPER_HELLO = 'eb61eead90e3b899c6bcbe27ac581660'

async function openAndPut() {
  const { sessionId, files } = await openVideoSession(service, [{ bytes: 11, chunks: 2 }])
  const { id, urls } = files[0]!
  const answers = [await put(urls[0]!, 'hello'), await put(urls[1]!, ' world')]
  const confirm = (...etags: readonly string[]) =>
    service.call('PATCH', '/upload_videos', {
      ...{ upload_session_id: sessionId, affected_file_id: id, upload_successful: true },
      file_part_info: etags.map((etag, index) => ({ etag, part_number: index + 1 })),
    })
  return { sessionId, id, urls, answers, confirm }
}

it('signs addresses of its own, each for one part', async () => {
  const { sessionId, id, urls } = await openAndPut()

  for (const [index, url] of urls.entries()) {
    expect(url).toMatch(
      new RegExp(
        `^${service.url}/objects/videos/${sessionId}/${id}\\?partNumber=${index + 1}&uploadId=${sessionId}` +
          '&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Date=20261120T120000Z&X-Amz-Expires=3600&X-Amz-Signature=[0-9a-f]{64}$',
      ),
    )
  }
})

it('lets no client take a confirmation of other bytes for its own', async () => {
  const { sessionId, id, confirm } = await openAndPut()
  expect((await confirm(HELLO, SPACE_WORLD)).status).toBe(200)
  const { client } = createUplink({ baseUrl: service.url, credentials: { apiKey: API_KEY } })
  const criteria = { movementTypeId: 1, playerId: 'p-17', sessionDate: '2026-11-20', sessionTypeId: 2 }
  const parts = [UPPER_HELLO, SPACE_WORLD].map((etag, index) => ({
    partNumber: index + 1,
    receipt: { acceptedEnd: 5 + 6 * index, etag: `"${etag}"`, isVerified: true },
  }))

  const confirmed = videoSession({ client, ...criteria }).confirm?.(sessionId, id, parts, new AbortController().signal)

  await expect(confirmed).rejects.toMatchObject({ code: 'ERR_UPLOAD_CONFIRM_REFUSED' })
})

it('takes parts of any size, and answers with the MD5 of each', async () => {
  const { answers, confirm } = await openAndPut()

  expect(answers.map(({ headers }) => headers.get('etag'))).toEqual([`"${HELLO}"`, `"${SPACE_WORLD}"`])
  expect((await confirm(HELLO.toUpperCase(), SPACE_WORLD)).json).toMatchObject({ error: { code: 'etag_mismatch' } })
  expect([(await confirm(HELLO, SPACE_WORLD)).text]).toEqual(['{}'])
})

it('takes a part that is sent again in place of the first, also one of another size, and adds the sizes up', async () => {
  const { sessionId, urls, confirm } = await openAndPut()
  await put(urls[1]!, 'world')
  const short = await confirm(HELLO, '7d793037a0760186574b0282f2f435e7')
  await put(urls[1]!, ' world')
  await put(urls[0]!, 'HELLO')

  expect([short.status, short.json]).toEqual([
    409,
    { error: { code: 'size_mismatch', message: 'The parts hold 10 bytes, the file was announced with 11.' } },
  ])
  expect((await confirm(HELLO, SPACE_WORLD)).status).toBe(409)
  expect((await confirm(UPPER_HELLO, SPACE_WORLD)).status).toBe(200)
  const { items } = (await service.call('GET', '/stored?limit=1000')).json as {
    items: { session_id: string; url: string }[]
  }
  const item = items.find(({ session_id: id }) => id === sessionId)
  expect(await (await fetch(item!.url)).text()).toBe('HELLO world')
})

it('keeps what it was told of a file', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'service-videos-'))
  onTestFinished(() => rm(dataDir, { recursive: true }))
  const own = await startWithObjectsIn(dataDir)
  const told = { raw_file_name: 'a.mp4', file_size_bytes: 7, number_of_chunks: 2, file_id: 41, frame_rate: 239.76 }
  const session = { movement_type_id: 1, player_id: 'p-17', session_date: '2026-11-20', session_type_id: 2 }
  await own.call('POST', '/upload_videos', { ...session, files: [told] })
  await own.close()

  const db = await openRecordsOf(dataDir)
  const [files, sessions] = [
    await db.selectFrom('video_files').selectAll().execute(),
    await db.selectFrom('video_sessions').selectAll().execute(),
  ]
  await db.destroy()

  expect(files).toMatchObject([told])
  expect(sessions).toMatchObject([session])
})

it('answers a part of a cancelled session as S3 does', async () => {
  const { sessionId, urls } = await openAndPut()
  await service.call('DELETE', `/upload_videos/${sessionId}`)

  const part = await put(urls[0]!, 'hello')

  expect([part.status, part.text]).toEqual([
    404,
    '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>NoSuchUpload</Code><Message>The specified upload does not exist. It may have been aborted or completed.</Message></Error>',
  ])
})

it('tells the first twenty problems of a create, however many files have one', async () => {
  const file = { raw_file_name: 'clip.mp4', file_size_bytes: 1, number_of_chunks: 2 }
  const { json } = await service.call('POST', '/upload_videos', {
    ...{ movement_type_id: 1, player_id: 'p-17', session_date: '2026-11-20', session_type_id: 2 },
    files: Array.from({ length: 1_000 }, () => file),
  })

  const { errors } = json as { errors: { field: string }[] }
  expect(errors.map(({ field }) => field)).toEqual(
    Array.from({ length: 20 }, (_, index) => `files.${index}.number_of_chunks`),
  )
})

it('takes no create with a part that no PUT may carry', async () => {
  const most = 5 * 1024 ** 3
  const file = (bytes: number, chunks: number) => ({
    ...{ raw_file_name: 'clip.mp4', file_size_bytes: bytes, number_of_chunks: chunks },
  })
  const { json } = await service.call('POST', '/upload_videos', {
    ...{ movement_type_id: 1, player_id: 'p-17', session_date: '2026-11-20', session_type_id: 2 },
    files: [file(most, 1), file(most + 1, 1), file(2 * most, 2), file(2 * most + 1, 2)],
  })

  const { errors } = json as { errors?: unknown }
  const problem = (least: number) => `expected at least ${least}: no chunk may be above 5 GiB`
  expect(errors).toEqual([
    { field: 'files.1.number_of_chunks', problem: problem(2) },
    { field: 'files.3.number_of_chunks', problem: problem(3) },
  ])
})

it('refuses a create with more than a hundred thousand chunks in all, whatever each file may have', async () => {
  const file = { raw_file_name: 'clip.mp4', file_size_bytes: 10_000, number_of_chunks: 10_000 }
  const { json } = await service.call('POST', '/upload_videos', {
    ...{ movement_type_id: 1, player_id: 'p-17', session_date: '2026-11-20', session_type_id: 2 },
    files: [...Array.from({ length: 10 }, () => file), { ...file, number_of_chunks: 1 }],
  })

  const problem = 'have 100001 chunks in all, expected at most 100000'
  expect((json as { errors: unknown }).errors).toEqual([{ field: 'files', problem }])
})

it('tells our client what is wrong with a create in words that it shows', async () => {
  const { client } = createUplink({ baseUrl: service.url, credentials: { apiKey: API_KEY } })

  const made = client.videoUploads.create({
    ...{ movementTypeId: 3_000_000_000, playerId: 'p-17', sessionDate: '2026-11-20', sessionTypeId: 2 },
    files: [{ name: 'clip.mp4', sizeBytes: 1, partCount: 1 }],
  })

  const message = expect.stringMatching(/It says: .*movement_type_id: expected at most 2147483647/) as string
  await expect(made).rejects.toMatchObject({ code: 'ERR_UPLOAD_SERVICE_REPLY', message })
})

it('cancels the session of a create whose caller has left, however short the work was, and no other', async () => {
  const undo: Undo = []
  const preparedDatabase = await openAsBlob(inject('preparedDatabase'))
  const { context } = await withKeptDatabases(() => openContext(resolveOptions({ preparedDatabase }), undo))
  onTestFinished(async () => {
    for (const step of undo.reverse()) await step()
  })
  const files = [{ raw_file_name: 'clip.mp4', file_size_bytes: 1, number_of_chunks: 1 }]
  const body = { movement_type_id: 1, player_id: 'p-17', session_date: '2026-11-20', session_type_id: 2, files }
  const create = (signal: AbortSignal) =>
    createSession(context, storageOf(context), { owner: 'development', signal }, body)
  await create(new AbortController().signal)

  const left = create(AbortSignal.abort(new Error('The caller has left.')))

  await expect(left).rejects.toThrow('The caller has left.')
  const sessions = context.db.selectFrom('video_sessions').select(['is_open', 'is_cancelled'])
  expect(await sessions.orderBy('is_cancelled').execute()).toEqual([
    { is_open: true, is_cancelled: false },
    { is_open: false, is_cancelled: true },
  ])
})
