// The service with its objects in a real S3 store: a Ceph gateway that is started here, or the store that the environment
// names by S3_ENDPOINT, S3_BUCKET, S3_ACCESS_KEY and S3_SECRET_KEY. Bytes go from the client to the store alone.

import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

import { systemClock } from '../../src/adapters/web/system-clock.ts'
import { bytesSource, createUplink, memoryJournal } from '../../src/node.ts'
import {
  allowOriginsOfBucket,
  startService,
  type RunningService,
  type ServiceOptions,
} from '../../src/service/index.ts'
import { bytesOfSeed } from '../../src/testing/protocol-run.ts'
import { startWithSweep } from '../helpers/sweep-on-demand.ts'
import { presign, type SigV4Options } from '../helpers/sigv4.ts'
import { missingCephPackages, startCephGateway, type CephGateway } from './ceph-gateway.ts'

const MIB = 1024 ** 2
const HOUR_MS = 3_600_000
const { S3_ENDPOINT, S3_BUCKET, S3_ACCESS_KEY, S3_SECRET_KEY } = process.env
const isNamed = S3_ENDPOINT !== undefined
const missing = isNamed ? [] : missingCephPackages()
const lack =
  missing.length === 0 ? undefined : `The service was not tried on a real S3 store. Install ${missing.join(' ')}.`
if (lack !== undefined) process.stderr.write(`SKIPPED: ${lack}\n`)

const VIDEO = { movementTypeId: 1, playerId: 'p-17', sessionDate: '2026-11-20', sessionTypeId: 2 }
const CREDENTIALS = { apiKeys: ['key-of-a-test'], accessTokens: ['token-of-a-test'] }

/** What the calls of these tests answer, each a part of it. */
interface Reply {
  readonly id: string
  readonly upload_session_id: string
  readonly pre_signed_urls: readonly {
    readonly session_file_id: number
    readonly info: readonly { readonly url: string }[]
  }[]
  readonly items: readonly { readonly file_name: string; readonly url: string }[]
  readonly error: { readonly code: string; readonly part_number?: number }
}

describe('the service on a real S3 store', () => {
  let gateway: CephGateway | undefined
  let keys: SigV4Options
  let service: RunningService | undefined
  let skewMs = 0

  const start = (options: ServiceOptions = {}): Promise<RunningService> =>
    startService({
      ...{ port: 0, credentials: CREDENTIALS, now: () => Date.now() + skewMs },
      s3: {
        ...{ endpoint: keys.endpoint, bucket: keys.bucket },
        keys: { accessKeyId: keys.accessKey, secretAccessKey: keys.secretKey },
      },
      ...options,
    })
  beforeAll(async () => {
    if (lack !== undefined) return
    if (!isNamed) gateway = await startCephGateway()
    keys = gateway
      ? { bucket: 'mocap-uplink-service', ...gateway }
      : { endpoint: S3_ENDPOINT!, bucket: S3_BUCKET!, accessKey: S3_ACCESS_KEY!, secretKey: S3_SECRET_KEY! }
    const response = await fetch(presign(keys, 'PUT', ''), { method: 'PUT' })
    expect([200, 409]).toContain(response.status)
    service = await start()
  })
  beforeEach(({ skip }) => {
    skip(lack !== undefined, lack)
    skewMs = 0
  })
  afterAll(async () => {
    await service?.close()
    await gateway?.stop()
  })

  const uplinkOf = (options: Partial<Parameters<typeof createUplink>[0]> = {}) =>
    createUplink({ baseUrl: service!.url, credentials: { apiKey: CREDENTIALS.apiKeys[0]! }, ...options })

  async function call(method: string, path: string, body?: unknown): Promise<{ status: number; json: Reply }> {
    const reply = await fetch(service!.url + path, {
      method,
      headers: {
        'x-api-key': CREDENTIALS.apiKeys[0]!,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: reply.status, json: (await reply.json()) as Reply }
  }

  async function open(sizeBytes: number, chunks: number) {
    const { status, json } = await call('POST', '/upload_videos', {
      files: [{ raw_file_name: 'clip.mp4', file_size_bytes: sizeBytes, number_of_chunks: chunks }],
      ...{ movement_type_id: 1, player_id: 'p-17', session_date: '2026-11-20', session_type_id: 2 },
    })
    expect(status).toBe(200)
    const file = json.pre_signed_urls[0]!
    const urls = file.info.map(({ url }) => url)
    const key = new URL(urls[0]!).pathname.slice(`/${keys.bucket}/`.length)
    return { sessionId: json.upload_session_id, fileId: file.session_file_id, urls, key }
  }
  type Open = Awaited<ReturnType<typeof open>>

  async function put(url: string, bytes: Uint8Array): Promise<string> {
    const reply = await fetch(url, { method: 'PUT', body: bytes as Uint8Array<ArrayBuffer> })
    if (reply.status !== 200) return `${reply.status} ${/<Code>(\w+)/.exec(await reply.text())?.[1] ?? ''}`
    return reply.headers.get('etag')!
  }
  const confirm = ({ sessionId, fileId }: Open, etags: readonly string[]) =>
    call('PATCH', '/upload_videos', {
      ...{ upload_session_id: sessionId, affected_file_id: fileId, upload_successful: true },
      file_part_info: etags.map((etag, index) => ({ etag, part_number: index + 1 })),
    })
  const isThere = async (key: string) => (await fetch(presign(keys, 'HEAD', key), { method: 'HEAD' })).status
  const uploadsLeft = async (key: string) => {
    const query = new Map([
      ['uploads', ''],
      ['prefix', key],
    ])
    return (await (await fetch(presign(keys, 'GET', '', query))).text()).match(/<UploadId>/g)?.length ?? 0
  }
  async function stored(name: string): Promise<string> {
    const { json } = await call('GET', '/stored?limit=1000')
    const item = json.items.find((one) => one.file_name === name)
    if (item === undefined) return 'not listed'
    expect(new URL(item.url).origin).toBe(keys.endpoint)
    return digest(new Uint8Array(await (await fetch(item.url)).arrayBuffer()))
  }

  it('keeps videos of many parts and of one, byte for byte, from our own client', async () => {
    const big = bytesOfSeed(17 * MIB + 5, 1)
    const small = bytesOfSeed(1_000, 2)
    const uplink = uplinkOf()
    const files = [{ source: bytesSource('big.mp4', big) }, { source: bytesSource('small.mp4', small) }]
    const report = await uplink.uploadVideos({ ...VIDEO, files }).done()
    await uplink.close()

    expect(report.status).toBe('confirmed')
    expect(report.files.map(({ status }) => status)).toEqual(['confirmed', 'confirmed'])
    expect(await stored('big.mp4')).toBe(digest(big))
    expect(await stored('small.mp4')).toBe(digest(small))
  })

  it('keeps captures, and lists those that were put alone', async () => {
    const bytes = bytesOfSeed(70_000, 3)
    const uplink = uplinkOf()
    const capture = {
      orgId: 'org-4',
      mocapTypeId: 2,
      sessionTypeId: 1,
      sessionDate: '2026-11-20',
      kind: 'tracking',
    } as const
    const report = await uplink
      .uploadCaptures({ ...capture, files: [{ source: bytesSource('throw-1.trc', bytes) }] })
      .done()
    await uplink.close()
    const { json: session } = await call('POST', '/mocap_session', {
      ...{ org_id: 'org-4', mocap_type_id: 2, session_type_id: 1, session_date: '2026-11-20' },
    })
    await call('POST', '/mocap_session_file', {
      session_id: session.id,
      filenames: ['never-put.trc'],
      reprocess: false,
    })

    expect(report.status).toBe('confirmed')
    expect(await stored('throw-1.trc')).toBe(digest(bytes))
    expect(await stored('never-put.trc')).toBe('not listed')
  })

  it('confirms once, however often and how many ask at once', async () => {
    const file = await open(6 * MIB, 2)
    const etags = [await put(file.urls[0]!, bytesOfSeed(5 * MIB, 4)), await put(file.urls[1]!, bytesOfSeed(MIB, 5))]
    const answers = await Promise.all(Array.from({ length: 4 }, () => confirm(file, etags)))
    // What was busy with the same is told so and asks again.
    for (const { status } of answers) expect([200, 503]).toContain(status)

    expect((await confirm(file, etags)).status).toBe(200)
    expect((await confirm(file, [etags[0]!, etags[0]!])).json.error.code).toBe('etag_mismatch')
    expect(await put(file.urls[0]!, bytesOfSeed(5 * MIB, 6))).toBe('404 NoSuchUpload')
  })

  it('finds an object that was made when its confirmation was lost', async () => {
    const file = await open(6 * MIB, 2)
    const etags = [await put(file.urls[0]!, bytesOfSeed(5 * MIB, 4)), await put(file.urls[1]!, bytesOfSeed(MIB, 5))]
    const uploadId = new URL(file.urls[0]!).searchParams.get('uploadId')!
    const parts = etags.map((etag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${etag}</ETag></Part>`)
    const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`
    const completion = await fetch(presign(keys, 'POST', file.key, new Map([['uploadId', uploadId]])), {
      method: 'POST',
      body,
    })
    expect(completion.status).toBe(200)

    expect((await confirm(file, [etags[1]!, etags[0]!])).json.error.code).toBe('etag_mismatch')
    expect((await confirm(file, etags)).status).toBe(200)
  })

  it('says which part is missing, is another one, or is too small, and takes the file afterwards', async () => {
    const file = await open(6 * MIB, 2)
    const first = await put(file.urls[0]!, bytesOfSeed(5 * MIB, 4))
    const tail = bytesOfSeed(MIB, 5)
    const wanted = `"${createHash('md5').update(tail).digest('hex')}"`
    expect((await confirm(file, [first, wanted])).json.error).toMatchObject({ code: 'part_not_stored', part_number: 2 })
    await put(file.urls[1]!, bytesOfSeed(MIB, 6))
    expect((await confirm(file, [first, wanted])).json.error).toMatchObject({ code: 'etag_mismatch', part_number: 2 })
    const short = await put(file.urls[1]!, bytesOfSeed(MIB - 1, 6))
    expect((await confirm(file, [first, short])).json.error.code).toBe('size_mismatch')
    const swapped = await open(6 * MIB, 2)
    const small = await put(swapped.urls[0]!, bytesOfSeed(MIB, 5))
    const large = await put(swapped.urls[1]!, bytesOfSeed(5 * MIB, 4))
    expect((await confirm(swapped, [small, large])).json.error.code).toBe('part_too_small')

    await put(file.urls[1]!, tail)
    expect((await confirm(file, [first, wanted])).status).toBe(200)
  })

  it('leaves nothing of a cancelled session, whatever had been sent, confirmed, or comes late', async () => {
    const many = await open(6 * MIB, 2)
    await put(many.urls[0]!, bytesOfSeed(5 * MIB, 4))
    const done = await open(1_000, 1)
    const etag = await put(done.urls[0]!, bytesOfSeed(1_000, 7))
    expect((await confirm(done, [etag])).status).toBe(200)
    for (const { sessionId } of [many, done, many]) {
      expect((await call('DELETE', `/upload_videos/${sessionId}`)).status).toBe(200)
    }

    expect(await put(many.urls[1]!, bytesOfSeed(MIB, 5))).toBe('404 NoSuchUpload')
    expect(await uploadsLeft(many.key)).toBe(0)
    expect(await isThere(done.key)).toBe(404)
    expect((await confirm(many, [etag, etag])).json.error.code).toBe('session_cancelled')
  })

  it('either confirms or cancels first: nothing is left of a cancelled session', async () => {
    for (let round = 0; round < 5; round++) {
      const file = await open(6 * MIB, 2)
      const etags = [await put(file.urls[0]!, bytesOfSeed(5 * MIB, 4)), await put(file.urls[1]!, bytesOfSeed(MIB, 5))]
      const [, cancel] = await Promise.all([confirm(file, etags), call('DELETE', `/upload_videos/${file.sessionId}`)])
      expect(cancel.status).toBe(200)
      expect(await isThere(file.key)).toBe(404)
      expect(await uploadsLeft(file.key)).toBe(0)
    }
  })

  it('goes on in a new session when the addresses have died', async () => {
    const bytes = bytesOfSeed(6 * MIB, 9)
    const source = () => bytesSource('late.mp4', bytes)
    const journal = memoryJournal()
    // A life of two hours ago, which ended before anything was confirmed.
    skewMs = -2 * HOUR_MS
    const clock = { ...systemClock(), wallNow: () => Date.now() + skewMs }
    const first = uplinkOf({ journal, clock })
    const upload = first.uploadVideos({ ...VIDEO, files: [{ source: source() }] })
    const settled = upload.done().catch(() => undefined)
    await new Promise<void>((resolve) => upload.on('state', ({ state }) => state === 'uploading' && resolve()))
    await first.close()
    await settled
    skewMs = 0
    const second = uplinkOf({ journal, sourceAt: source })
    const resumed = await second.resume(upload.key)
    let replacedCount = 0
    resumed.on('session.replaced', () => (replacedCount += 1))
    const report = await resumed.done()
    await second.close()

    expect(report.status).toBe('confirmed')
    expect(replacedCount).toBe(1)
    expect(await stored('late.mp4')).toBe(digest(bytes))
  })

  it('goes on in a later life of the client', async () => {
    const journal = memoryJournal()
    const bytes = bytesOfSeed(22 * MIB, 10)
    const source = () => bytesSource('resumed.mp4', bytes)
    const first = uplinkOf({ journal, concurrency: 1 })
    const upload = first.uploadVideos({ ...VIDEO, files: [{ source: source() }] })
    const settled = upload.done().catch(() => undefined)
    await new Promise<void>((resolve) => {
      upload.on('progress', ({ confirmedBytes }) => confirmedBytes > 0 && resolve())
    })
    await first.close()
    await settled
    const second = uplinkOf({ journal, sourceAt: source })
    const [session] = await second.sessions()
    expect(session?.confirmedBytes).toBeGreaterThan(0)
    const report = await (await second.resume(upload.key)).done()
    await second.close()

    expect(report.status).toBe('confirmed')
    expect(await stored('resumed.mp4')).toBe(digest(bytes))
  })

  it('ends sessions that nobody finished, and leaves what is confirmed', async () => {
    skewMs = -8 * 24 * HOUR_MS
    const shared = service
    const dataDir = await mkdtemp(join(tmpdir(), 'service-on-s3-'))
    service = await start({ dataDir })
    const unfinished = await open(6 * MIB, 2)
    const finished = await open(1_000, 1)
    // Addresses of that time are dead: the bytes are put as if they had come in time.
    const bytes = bytesOfSeed(1_000, 7)
    expect(
      (await fetch(presign(keys, 'PUT', finished.key), { method: 'PUT', body: bytes as Uint8Array<ArrayBuffer> }))
        .status,
    ).toBe(200)
    expect((await confirm(finished, [createHash('md5').update(bytes).digest('hex')])).status).toBe(200)
    expect(await uploadsLeft(unfinished.key)).toBe(1)
    await service.close()
    skewMs = 0
    const lines: string[] = []
    await new Promise<void>((resolve, reject) => {
      const write = (line: string) => {
        lines.push(line)
        if (line.includes('unfinished sessions')) resolve()
      }
      startWithSweep(() => start({ dataDir, log: { write } })).then((started) => {
        service = started.service
        started.sweep()
      }, reject)
    })

    expect(lines.find((line) => line.includes('unfinished sessions'))).toContain('"settled":2,"failed":0')
    expect(await uploadsLeft(unfinished.key)).toBe(0)
    expect(await isThere(finished.key)).toBe(200)
    expect((await confirm(unfinished, ['a', 'b'])).json.error.code).toBe('session_expired')
    await service.close()
    await rm(dataDir, { recursive: true, force: true })
    service = shared
  })

  it('lets pages of an origin read ETags', async () => {
    const s3 = {
      ...{ endpoint: keys.endpoint, bucket: keys.bucket },
      keys: { accessKeyId: keys.accessKey, secretAccessKey: keys.secretKey },
    }
    await allowOriginsOfBucket(s3, ['https://app.example'])
    const { urls } = await open(1_000, 1)
    const origin = { origin: 'https://app.example' }
    const preflight = await fetch(urls[0]!, {
      method: 'OPTIONS',
      headers: { ...origin, 'access-control-request-method': 'PUT' },
    })
    const reply = await fetch(urls[0]!, { method: 'PUT', body: 'ten bytes.', headers: origin })

    expect(preflight.headers.get('access-control-allow-origin')).toBe('https://app.example')
    expect(reply.headers.get('access-control-expose-headers')).toMatch(/etag/i)
  })
})

function digest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
