// The service over a bucket that misbehaves by script: what it believes of its answers, what it repeats, and what it says
// when the store is away. Real stores are tried in the long run.

import { createHash } from 'node:crypto'
import diagnostics from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'

import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'

import { startScriptedBucket, type ScriptedBucket } from '../../helpers/scripted-bucket.ts'
import { failure, xml } from '../../helpers/scripted-s3.ts'
import { startWithSweep } from '../../helpers/sweep-on-demand.ts'
import { API_KEY, openCaptureSession, openVideoSession, put, register, startUnderTest } from '../service-under-test.ts'
import type { Answer, ServiceUnderTest } from '../service-under-test.ts'

const MIB = 1024 ** 2
const [LARGE, SMALL] = [new Uint8Array(5 * MIB).fill(1), new Uint8Array(3).fill(2)]
const ETAGS = [LARGE, SMALL].map((bytes) => createHash('md5').update(bytes).digest('hex'))
const KEYS = { accessKeyId: 'ACCESSKEY', secretAccessKey: 'secret-of-the-bucket' }

let bucket: ScriptedBucket
let service: ServiceUnderTest
let sweep: () => void
const lines: string[] = []
beforeAll(async () => {
  bucket = await startScriptedBucket()
  ;({ service, sweep } = await startWithSweep(() =>
    startUnderTest({
      s3: { endpoint: bucket.origin, bucket: 'recordings', keys: KEYS },
      log: { write: (line) => void lines.push(line) },
    }),
  ))
})
afterAll(async () => {
  await service.close()
  await bucket.close()
})
beforeEach(() => {
  bucket.script()
  bucket.before = () => undefined
})

/** A file of two chunks, both of them sent; `others` are of the same session. */
async function putBoth(others: readonly { readonly bytes: number; readonly chunks: number }[] = []) {
  const both = { bytes: LARGE.length + SMALL.length, chunks: 2 }
  const { sessionId, files } = await openVideoSession(service, [both, ...others])
  const { id, urls } = files[0]!
  expect((await put(urls[0]!, LARGE)).headers.get('etag')).toBe(`"${ETAGS[0]!}"`)
  await put(urls[1]!, SMALL)
  const uploadId = new URL(urls[0]!).searchParams.get('uploadId')!
  const key = new URL(urls[0]!).pathname.slice('/recordings/'.length)
  const confirm = () =>
    service.call('PATCH', '/upload_videos', {
      ...{ upload_session_id: sessionId, affected_file_id: id, upload_successful: true },
      file_part_info: ETAGS.map((etag, index) => ({ etag, part_number: index + 1 })),
    })
  const cancel = () => service.call('DELETE', `/upload_videos/${sessionId}`)
  return { sessionId, fileId: id, uploadId, key, confirm, cancel }
}

const codeOf = ({ status, headers, json }: Answer) => [
  status,
  (json as { error: { code: string } }).error.code,
  headers.get('retry-after'),
]
const AWAY = {
  operation: 'every',
  nth: 'every',
  answer: failure(503, 'SlowDown', 'Reduce your request rate.'),
} as const

it('a store is asked for its time at the start, as captures alone need no call of it', () =>
  vi.waitFor(() => expect(bucket.requests[0]?.operation).toBe('bucket')))

describe('a completion', () => {
  it('is not asked for where the client says that its file failed, whose parts are taken all the same later', async () => {
    const { sessionId, fileId, confirm } = await putBoth()
    const fail = () =>
      service.call('PATCH', '/upload_videos', {
        ...{ upload_session_id: sessionId, affected_file_id: fileId, upload_successful: false, file_part_info: [] },
      })

    expect([(await fail()).status, bucket.count('complete')]).toEqual([200, 0])
    expect((await confirm()).status).toBe(200)
    expect(codeOf(await fail())).toEqual([409, 'already_confirmed', null])
  })

  it('that says 200 and holds an error is no completion: it is asked for again, and the object looked at', async () => {
    const { key, confirm } = await putBoth()
    const halfway = { ...failure(500, 'InternalError', 'We encountered an internal error.'), status: 200 }
    bucket.script({ operation: 'complete', nth: 1, answer: halfway })

    const confirmed = await confirm()

    expect([confirmed.status, bucket.count('complete')]).toEqual([200, 2])
    expect(bucket.count('head')).toBeGreaterThan(0)
    expect(bucket.objects.get(key)?.bytes.length).toBe(5 * MIB + 3)
  })

  it('that always says so is answered 503, nothing is lost, and the same call succeeds later', async () => {
    const { uploadId, confirm } = await putBoth()
    const halfway = { ...failure(500, 'InternalError', ''), status: 200 }
    bucket.script({ operation: 'complete', nth: 'every', answer: halfway })

    const refused = await confirm()

    expect(codeOf(refused)).toEqual([503, 'storage_unavailable', '1'])
    expect(bucket.uploads.get(uploadId)?.parts.size).toBe(2)
    bucket.script()
    expect((await confirm()).status).toBe(200)
  })

  it('whose answer is lost is found done by the object itself, and a repeat changes nothing', async () => {
    const { key, confirm } = await putBoth()
    bucket.script({ operation: 'complete', nth: 'every', work: true })

    expect((await confirm()).status).toBe(200)
    const made = bucket.objects.get(key)
    bucket.script()
    expect((await confirm()).status).toBe(200)
    expect([bucket.objects.get(key), bucket.count('complete')]).toEqual([made, 0])
  })

  it('whose answer is lost while the object cannot be seen is answered 503, and found done by the next call', async () => {
    const { confirm } = await putBoth()
    bucket.script(
      { operation: 'complete', nth: 'every', work: true },
      { operation: 'head', nth: 'every', answer: { status: 503 } },
    )

    expect(codeOf(await confirm())).toEqual([503, 'storage_unavailable', '1'])
    bucket.script()
    expect((await confirm()).status).toBe(200)
  })

  it.each([
    ['the same marker again', '<NextPartNumberMarker>1</NextPartNumberMarker>'],
    ['no marker', ''],
    ['a marker that is no part number', '<NextPartNumberMarker>10001</NextPartNumberMarker>'],
  ])('whose list of parts goes on with %s ends with an error, and the log says of what', async (_what, marker) => {
    const { confirm } = await putBoth()
    const page = xml(
      'ListPartsResult',
      `<IsTruncated>true</IsTruncated>${marker}<Part><PartNumber>1</PartNumber><ETag>"${ETAGS[0]!}"</ETag><Size>5242880</Size></Part>`,
    )
    bucket.script({ operation: 'list', nth: 'every', answer: page })
    lines.length = 0

    expect((await confirm()).status).toBe(500)
    expect(bucket.count('list')).toBeLessThanOrEqual(2)
    expect(lines.join('')).toContain('was of no use when asked to list the parts')
    bucket.script()
    expect((await confirm()).status).toBe(200)
  })

  it('of an object that another program put there is refused by its ETag', async () => {
    const { key, uploadId, confirm } = await putBoth()
    bucket.before = (operation) => {
      if (operation === 'head')
        bucket.objects.set(key, { bytes: Buffer.alloc(5 * MIB + 3), etag: `"${'0'.repeat(32)}-2"`, modifiedAtMs: 0 })
    }

    expect(codeOf(await confirm())).toEqual([409, 'etag_mismatch', null])
    expect(bucket.uploads.has(uploadId)).toBe(false)
  })

  it('of an upload that the store has forgotten is lost, and said so', async () => {
    const { uploadId, confirm } = await putBoth()
    await fetch(`${bucket.origin}/recordings/x?uploadId=${encodeURIComponent(uploadId)}`, { method: 'DELETE' })

    expect(codeOf(await confirm())).toEqual([409, 'upload_lost', null])
  })

  it('that a cancel overtakes is told of the cancel, not of what it did to the upload', async () => {
    const { key, confirm, cancel } = await putBoth()
    let cancelled: number | undefined
    bucket.before = async (operation) => {
      if (operation !== 'complete' || cancelled !== undefined) return
      cancelled = 0
      cancelled = (await cancel()).status
    }

    expect(codeOf(await confirm())).toEqual([409, 'session_cancelled', null])
    expect([cancelled, bucket.objects.has(key)]).toEqual([200, false])
  })
})

describe('a create', () => {
  it('with chunks that no store would take is refused, with one reason for each file', async () => {
    const file = (bytes: number, chunks: number) => ({
      ...{ raw_file_name: 'a.mp4', file_size_bytes: bytes, number_of_chunks: chunks },
    })
    const { json } = await service.call('POST', '/upload_videos', {
      ...{ movement_type_id: 1, player_id: 'p', session_date: '2026-11-20', session_type_id: 2 },
      files: [file(6 * MIB, 3), file(1, 2), file(6 * MIB, 2)],
    })

    const [small, empty] = ['no chunk but the last may be below 5 MiB', 'no chunk may be empty, and there are no more than 10000'] // prettier-ignore
    expect(json).toMatchObject({
      errors: [
        { field: 'files.0.number_of_chunks', problem: `expected at most 2: ${small}` },
        { field: 'files.1.number_of_chunks', problem: `expected at most 1: ${empty}` },
      ],
    })
  })

  it('whose caller hangs up ends, and removes what it has made', async () => {
    const count = 100
    const files = Array.from({ length: count }, (_, index) => ({
      ...{ raw_file_name: `${index}.mp4`, file_size_bytes: LARGE.length + SMALL.length, number_of_chunks: 2 },
    }))
    const of = { movement_type_id: 1, player_id: 'p', session_date: '2026-11-20', session_type_id: 1 }
    const caller = new AbortController()
    const hungUp = endOfCall('/upload_videos')
    bucket.before = async (operation) => {
      if (operation !== 'create') return
      caller.abort()
      await hungUp
    }
    const body = JSON.stringify({ ...of, files })
    const headers = { 'x-api-key': API_KEY, 'content-type': 'application/json' }
    const call = fetch(`${service.url}/upload_videos`, { method: 'POST', headers, body, signal: caller.signal })

    await expect(call).rejects.toThrow()
    await vi.waitFor(() => expect(bucket.count('remove')).toBe(count), { timeout: 30_000 })
    expect(bucket.count('create')).toBeLessThan(count)
    expect(bucket.uploads.size).toBe(0)
  })
})

describe('a cancel', () => {
  it('aborts until no part is left, whatever comes late', async () => {
    const { uploadId, key, cancel } = await putBoth()
    let late = 3
    // What real stores do: a part on its way is kept after the abort, and the upload with it.
    bucket.before = (operation) => {
      if (operation !== 'list' || late === 0) return
      late -= 1
      ;(bucket.uploads as Map<string, unknown>).set(uploadId, { key, parts: new Map() })
      bucket.arriveLate(uploadId, 1)
    }

    expect((await cancel()).status).toBe(200)
    expect([bucket.uploads.has(uploadId), bucket.count('abort')]).toEqual([false, 4])
  })

  it('leaves the parts to a store that cannot end an upload, and is done', async () => {
    const { confirm, cancel } = await putBoth()
    bucket.script({ operation: 'abort', nth: 'every', answer: failure(501, 'NotImplemented', '') })

    expect((await cancel()).status).toBe(200)
    expect(codeOf(await confirm())).toEqual([409, 'session_cancelled', null])
    expect((await cancel()).status).toBe(200)
  })

  it('of which parts go on arriving is answered 503, and the session is cancelled all the same', async () => {
    const { uploadId, key, confirm, cancel } = await putBoth()
    bucket.before = (operation) => {
      if (operation !== 'list') return
      ;(bucket.uploads as Map<string, unknown>).set(uploadId, { key, parts: new Map() })
      bucket.arriveLate(uploadId, 1)
    }

    expect(codeOf(await cancel())).toEqual([503, 'storage_unavailable', '1'])
    bucket.before = () => undefined
    expect(codeOf(await confirm())).toEqual([409, 'session_cancelled', null])
    expect((await cancel()).status).toBe(200)
    expect(bucket.uploads.has(uploadId)).toBe(false)
  })

  it('removes a completed object whose parts the store still lists, as OpenStack Swift does', async () => {
    const { uploadId, key, confirm, cancel } = await putBoth()
    expect((await confirm()).status).toBe(200)
    ;(bucket.uploads as Map<string, unknown>).set(uploadId, { key, parts: new Map() })
    bucket.arriveLate(uploadId, 1)
    bucket.script({ operation: 'abort', nth: 'every', answer: failure(404, 'NoSuchKey', '') })

    expect((await cancel()).status).toBe(200)
    expect(bucket.objects.has(key)).toBe(false)
  })

  it('removes what was completed while it looked', async () => {
    const { key, confirm, cancel } = await putBoth()
    let cancelled: Promise<Answer> | undefined
    bucket.before = (operation) => {
      if (operation === 'complete') cancelled ??= cancel()
    }

    const confirmed = await confirm()

    expect((await cancelled!).status).toBe(200)
    expect([200, 409]).toContain(confirmed.status)
    expect(bucket.objects.has(key)).toBe(false)
  })
})

const EIGHT_DAYS_MS = 8 * 24 * 3_600_000

describe('a session that was swept', () => {
  let grownMs = 0

  /** Lets so much time pass that a sweep ends every session. */
  const growOld = () => {
    grownMs += EIGHT_DAYS_MS
    vi.spyOn(performance, 'now').mockReturnValue(performance.now() + grownMs)
    service.advance(EIGHT_DAYS_MS)
  }
  const sweepOnce = async () => {
    lines.length = 0
    sweep()
    await vi.waitFor(() => expect(lines.join('')).toContain('unfinished sessions were ended'), { timeout: 30_000 })
  }

  const expire = () => {
    growOld()
    return sweepOnce()
  }
  it.each<[string, (cancel: () => Promise<unknown>) => Promise<unknown>]>([
    ['cancelled', (cancel) => cancel()],
    ['expired', expire],
  ])('or cancelled while a file of it was put together keeps nothing of that: %s', async (end, finish) => {
    const { key, uploadId, confirm, cancel } = await putBoth()
    const upload = bucket.uploads.get(uploadId)
    let isOver = false
    bucket.before = async (operation) => {
      if (operation !== 'complete' || isOver) return
      isOver = true
      await finish(cancel)
      expect(bucket.uploads.has(uploadId)).toBe(false)
      // The store had begun to join the parts before it heard of that.
      ;(bucket.uploads as Map<string, unknown>).set(uploadId, upload)
    }

    expect(codeOf(await confirm())).toEqual([409, `session_${end}`, null])
    expect([bucket.objects.has(key), bucket.count('complete')]).toEqual([false, 1])
    expect(codeOf(await confirm())).toEqual([409, `session_${end}`, null])
    expect(bucket.count('complete')).toBe(1)
  })

  it('is swept again when it is cancelled later and the store could not be cleared then', async () => {
    const { key, confirm, cancel } = await putBoth()
    expect((await confirm()).status).toBe(200)
    growOld()
    await sweepOnce()
    expect(bucket.objects.has(key)).toBe(true)
    bucket.script(AWAY)
    expect(codeOf(await cancel())).toEqual([503, 'storage_unavailable', '1'])

    bucket.script()
    await sweepOnce()

    expect(bucket.objects.has(key)).toBe(false)
  })

  it('is swept again when it was cancelled meanwhile and the store could not be cleared for that', async () => {
    const { key, sessionId, confirm, cancel } = await putBoth([{ bytes: 1, chunks: 1 }])
    expect((await confirm()).status).toBe(200)
    growOld()
    // The cancel comes while the sweep clears the other file, and the store refuses to remove what is confirmed.
    let cancelled: Promise<Answer> | undefined
    bucket.before = async (operation, url) => {
      if (operation !== 'remove' || !url.pathname.includes(sessionId) || cancelled !== undefined) return
      bucket.script({ operation: 'remove', nth: 'every', answer: failure(403, 'AccessDenied', '') })
      cancelled = cancel()
      await cancelled
      bucket.script()
    }
    await sweepOnce()
    expect((await cancelled!).status).toBe(500)
    expect(bucket.objects.has(key)).toBe(true)

    await sweepOnce()

    expect(bucket.objects.has(key)).toBe(false)
  })
})

it('holds up no stop when it says nothing to a sweep: the sweep is left for the next start', async () => {
  const { service: own, sweep: sweepOwn } = await startWithSweep(() =>
    startUnderTest({ s3: { endpoint: bucket.origin, bucket: 'recordings', keys: KEYS } }),
  )
  await openVideoSession(own, [{ bytes: 6 * MIB, chunks: 2 }])
  const later = performance.now() + EIGHT_DAYS_MS
  vi.spyOn(performance, 'now').mockReturnValue(later)
  own.advance(EIGHT_DAYS_MS)
  let goOn: () => void = () => undefined
  bucket.before = () => new Promise((resolve) => (goOn = resolve))
  onTestFinished(() => goOn())

  sweepOwn()
  await vi.waitFor(() => expect(bucket.count('abort')).toBe(1), { timeout: 30_000 })

  await expect(own.close()).resolves.toBeUndefined()
})

describe('a store that is away', () => {
  it('makes every call that needs it 503 with Retry-After, and nothing is lost or half made', async () => {
    const { key, confirm, cancel } = await putBoth()
    const video = {
      files: [{ raw_file_name: 'a.mp4', file_size_bytes: 6 * MIB, number_of_chunks: 2 }],
      ...{ movement_type_id: 1, player_id: 'p', session_date: '2026-11-20', session_type_id: 2 },
    }
    bucket.script(AWAY)
    lines.length = 0

    expect(codeOf(await confirm())).toEqual([503, 'storage_unavailable', '1'])
    expect(codeOf(await service.call('POST', '/upload_videos', video))).toEqual([503, 'storage_unavailable', '1'])
    bucket.script({ operation: 'every', nth: 'every' })
    expect(codeOf(await confirm())).toEqual([503, 'storage_unavailable', '1'])
    // The callers learn no more, but the operator does.
    expect(lines.join('').match(/The object store did not [^"\\]*/g)).toEqual(
      expect.arrayContaining([
        'The object store did not list the parts: SlowDown (503).',
        'The object store did not create an upload: SlowDown (503).',
        'The object store did not list the parts: ECONNRESET (no answer).',
      ]),
    )
    // What needs no store goes on.
    expect((await service.call('GET', '/requested_analyses')).status).toBe(200)
    await register(service, await openCaptureSession(service), ['a.action'])

    bucket.script()
    expect((await confirm()).status).toBe(200)
    expect(bucket.objects.has(key)).toBe(true)
    bucket.script(AWAY)
    expect(codeOf(await cancel())).toEqual([503, 'storage_unavailable', '1'])
    bucket.script()
    expect((await cancel()).status).toBe(200)
    expect(bucket.objects.has(key)).toBe(false)
    expect(lines.join('')).not.toMatch(/secret-of-the-bucket|X-Amz|Signature=/)
  })

  it('makes the service not ready, which asks again at once, and after a good answer not for five seconds', async () => {
    const ready = () => service.call('GET', '/readyz', undefined, {})
    service.advance(5_000)
    expect((await ready()).json).toEqual({ status: 'ok', database: 'ok', store: 'ok' })
    expect((await ready()).status).toBe(200)
    expect(bucket.count('bucket')).toBe(1)

    bucket.script({ operation: 'bucket', nth: 'every', answer: { status: 503 } })
    expect((await ready()).status).toBe(200)
    service.advance(5_000)
    lines.length = 0
    const away = await ready()
    bucket.script({ operation: 'bucket', nth: 'every', answer: { status: 404 } })
    const gone = await ready()
    bucket.script({ operation: 'bucket', nth: 'every', answer: { status: 403 } })
    const refused = await ready()
    bucket.script()

    for (const answer of [away, gone, refused])
      expect([answer.status, answer.json]).toEqual([
        503,
        { status: 'unavailable', database: 'ok', store: 'unavailable' },
      ])
    // A copy that is not ready gets no calls whose failure would tell why.
    const reasons = lines.flatMap((line) => /"(The object store [^"]* its bucket: [^"]*)"/.exec(line)?.[1] ?? [])
    expect(reasons).toEqual([
      expect.stringMatching(/^The object store did not show its bucket: .* \(503\)\.$/),
      expect.stringMatching(/^The object store would not show its bucket: .* \(404\)\.$/),
      expect.stringMatching(/^The object store would not show its bucket: .* \(403\)\.$/),
    ])
    expect((await ready()).status).toBe(200)
  })
})

describe('addresses', () => {
  it('are dated by the clock of the store, which may refuse others, as soon as it has told its time', async () => {
    const sessionId = await openCaptureSession(service)
    const datesBy = async (aheadMs: number, name: string) => {
      const headers = { date: new Date(Date.now() + aheadMs).toUTCString() }
      bucket.script({ operation: 'bucket', nth: 1, answer: { status: 200, headers } })
      service.advance(5_000)
      expect((await service.call('GET', '/readyz')).status).toBe(200)
      const [address = ''] = Object.values(await register(service, sessionId, [name]))
      const digits = new URL(address).searchParams.get('X-Amz-Date') ?? ''
      const date = digits.replace(/^(....)(..)(..T..)(..)/, '$1-$2-$3:$4:')
      return Math.round((Date.parse(date) - service.clock()) / 60_000)
    }

    expect(await datesBy(20 * 60_000, 'a.action')).toBe(20)
    expect(await datesBy(-60 * 60_000, 'b.action')).toBe(-60)
    // What is a little late is on its way.
    expect(await datesBy(-120_000, 'c.action')).toBe(0)
  })
})

/** Settles when the service has seen the connection of the next call to this path end. */
function endOfCall(path: string): Promise<void> {
  return new Promise((resolve) => {
    const watch = (message: unknown): void => {
      const { request } = message as { readonly request: IncomingMessage }
      if (request.url !== path) return
      diagnostics.unsubscribe('http.server.request.start', watch)
      request.socket.once('close', resolve)
    }
    diagnostics.subscribe('http.server.request.start', watch)
  })
}
