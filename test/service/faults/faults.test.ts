// Each fault by real HTTP: what the sender meets, and what the store then holds. One service for all: rules by file name.

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'

import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'

import type { FaultPlan } from '../../../src/service/index.ts'
import {
  openCaptureSession,
  openVideoSession,
  put,
  register,
  START,
  startUnderTest,
  type Answer,
  type ServiceUnderTest,
} from '../service-under-test.ts'

const ON_PARTS: Record<string, FaultPlan['rules'][number]['fault']> = {
  status: { status: 503, headers: { 'retry-after': '7' }, body: 'busy' },
  json: { status: 418, body: { error: 'tea' } },
  's3-slowdown': { body: 's3-slowdown' },
  's3-internal': { body: 's3-internal' },
  's3-timeout': { body: 's3-timeout' },
  html: { body: 'html' },
  's3-expired': { expire: 's3' },
  'gcs-expired': { expire: 'gcs' },
  'azure-expired': { expire: 'azure' },
  'reset-start': { reset: { at: 'start' } },
  'reset-body': { reset: { at: 'body', afterBytes: 10 } },
  'reset-short': { reset: { at: 'body', afterBytes: 1_000_000 } },
  'reset-answer': { reset: { at: 'answer' } },
  'lost-reset': { loseReply: 'reset' },
  'lost-close': { loseReply: 'close' },
  wrong: { etag: 'wrong' },
  missing: { etag: 'missing' },
  opaque: { etag: 'opaque' },
  weak: { etag: 'weak' },
  corrupt: { corrupt: true },
  'early-close': { earlyAnswer: { status: 403, body: 's3-expired', then: 'close' } },
  'early-drain': { earlyAnswer: { status: 500, then: 'drain' } },
  late: { lateDeliveryMs: 100 },
  'very-late': { lateDeliveryMs: 600_000 },
  slow: { slowLine: 20_000 },
  delayed: { delayMs: { before: 60, after: 60 } },
  'stall-start': { stall: { at: 'start', forMs: 100 } },
  'stall-body': { stall: { at: 'body', afterBytes: 4, forMs: 100 } },
  'stall-answer': { stall: { at: 'answer', forMs: 100 } },
  'silent-start': { stall: { at: 'start' } },
  'silent-answer': { stall: { at: 'answer' } },
}

let service: ServiceUnderTest
let sessionId: string
/** PUTs that have reached the service. */
let putsSeen = 0
beforeAll(async () => {
  const rules: FaultPlan['rules'] = [
    ...Object.entries(ON_PARTS).map(([file, fault]) => ({ operation: 'put' as const, file, fault })),
    { operation: 'register', file: 'short-life', fault: { shortLifeMs: 1_500 } },
    { operation: 'create', file: 'short-life.mp4', fault: { shortLifeMs: 9_000 } },
    { operation: 'put', file: 'clip-?.mp4', part: 2, nth: 1, fault: { status: 500 } },
    { operation: 'put', file: '\ufeffmarked*', fault: { status: 500 } },
    { operation: 'put', file: 'opaque.mp4', fault: { etag: 'opaque' } },
    { operation: 'confirm', file: 'clip-*.mp4', nth: [1, 2], fault: { loseReply: 'reset' } },
    { operation: 'createSegment', times: 1, fault: { status: 200, body: 'html' } },
    { operation: 'cancel', nth: 1, fault: { reset: { at: 'body', afterBytes: 5 } } },
    { operation: '*', from: 100, to: 110, repeatEvery: 1_000, fault: { status: 502 } },
  ]
  const log = {
    write: (line: string) => {
      if (line.includes('"PUT"') && line.includes('incoming request')) putsSeen += 1
    },
  }
  service = await startUnderTest({ faults: { rules }, log })
  sessionId = await openCaptureSession(service)
})
afterAll(() => service.close())

/** Registers a file of this name anew and PUTs to it. */
async function send(name: string, bytes: string | Uint8Array<ArrayBuffer> = 'hello'): Promise<Answer> {
  const addresses = await register(service, sessionId, [name], { reprocess: true })
  return put(addresses[name]!, bytes)
}

/** How the sending failed, as the network says it. */
async function failure(name: string, bytes?: string): Promise<string> {
  const error: unknown = await send(name, bytes).then(
    (answer) => new Error(`answered ${answer.status}`),
    (reason: unknown) => reason,
  )
  const { cause } = error as { cause?: { code?: string } }
  return cause?.code ?? String(error)
}

async function stored(name: string): Promise<string | undefined> {
  const { items } = (await service.call('GET', '/stored?limit=1000')).json as {
    items: { file_name: string; url: string }[]
  }
  const item = items.find((one) => one.file_name === name)
  return item === undefined ? undefined : (await fetch(item.url)).text()
}

const md5 = (text: string) => createHash('md5').update(text).digest('hex')
const HELLO = '5d41402abc4b2a76b9719d911017c592'

describe('an answer in place of the work', () => {
  it('has the status, the headers and the body of the rule, and stores nothing', async () => {
    const busy = await send('status')
    expect([busy.status, busy.headers.get('retry-after'), busy.text]).toEqual([503, '7', 'busy'])
    const tea = await send('json')
    expect([tea.status, tea.json]).toEqual([418, { error: 'tea' }])
    expect(await stored('status')).toBeUndefined()
  })

  it.each([
    ['s3-slowdown', 503, '<Code>SlowDown</Code>'],
    ['s3-internal', 500, '<Code>InternalError</Code>'],
    ['s3-timeout', 400, '<Code>RequestTimeout</Code>'],
    ['html', 502, '<title>502 Bad Gateway</title>'],
    ['s3-expired', 403, '<Code>AccessDenied</Code><Message>Request has expired</Message>'],
    ['s3-expired', 403, '<ServerTime>{now}</ServerTime>'],
    ['gcs-expired', 400, '<Code>ExpiredToken</Code>'],
    ['azure-expired', 403, '<Code>AuthenticationFailed</Code>'],
  ])('speaks as %s', async (name, status, words) => {
    const answer = await send(name)

    expect(answer.status).toBe(status)
    // Other tests move the clock.
    expect(answer.text).toContain(words.replace('{now}', new Date(service.clock()).toISOString().replace('.000', '')))
    expect(await stored(name)).toBeUndefined()
  })

  it('may be a success that is none, and strikes as often as it says', async () => {
    const segment = { movement_type_id: 1, dom_hand: 'RHA' }
    const portal = await service.call('POST', '/player_group_segments', segment)
    expect([portal.status, portal.headers.get('content-type')]).toEqual([200, 'text/html'])
    expect(portal.json).toBeUndefined()
    expect((await service.call('POST', '/player_group_segments', segment)).json).toMatchObject({
      analysis_segment_id: 1,
    })
  })

  it.each([
    ['early-close', 403, 'connection: close'],
    ['early-drain', 500, 'connection: keep-alive'],
  ])('comes before the body: %s', async (name, status, header) => {
    const address = new URL((await register(service, sessionId, [name], { reprocess: true }))[name]!)
    const socket = connect(Number(address.port), address.hostname)
    await once(socket, 'connect')
    socket.write(
      `PUT ${address.pathname}${address.search} HTTP/1.1\r\nhost: x\r\ncontent-length: 5000000\r\nconnection: keep-alive\r\n\r\nonly a little`,
    )
    const [head] = (await once(socket, 'data')) as [Buffer]
    socket.destroy()

    expect(head.toString()).toContain(`HTTP/1.1 ${status}`)
    expect(head.toString().toLowerCase()).toContain(header)
  })
})

it('strikes no confirmation of what cannot be an id, which is refused like any other', async () => {
  const confirmation = { upload_session_id: 'a\0b', affected_file_id: 1, file_part_info: [], upload_successful: true }

  expect((await service.call('PATCH', '/upload_videos', confirmation)).status).toBe(422)
})

describe('a connection that ends', () => {
  it.each(['reset-start', 'reset-body', 'reset-short', 'reset-answer'])('%s: nothing is stored', async (name) => {
    expect(await failure(name, 'x'.repeat(5_000))).toBe('ECONNRESET')
    expect(await stored(name)).toBeUndefined()
  })

  it.each([
    ['lost-reset', 'ECONNRESET'],
    ['lost-close', 'UND_ERR_SOCKET'],
  ])('%s: the work is done and nobody hears of it', async (name, code) => {
    expect(await failure(name)).toBe(code)
    expect(await stored(name)).toBe('hello')
  })

  it('may leave a part on its way, which is stored later', async () => {
    expect(await failure('very-late')).toBe('ECONNRESET')
    expect(await stored('very-late')).toBeUndefined()

    expect(await failure('late')).toBe('ECONNRESET')
    await expect.poll(() => stored('late')).toBe('hello')
  })

  it('at the start also where there is no body', async () => {
    const video = await openVideoSession(service, [{ bytes: 5, chunks: 1, name: 'gone.mp4' }])
    const cancel = () => service.call('DELETE', `/upload_videos/${video.sessionId}`)
    await expect(cancel()).rejects.toThrow('fetch failed')
    expect((await put(video.files[0]!.urls[0]!, 'hello')).status).toBe(200)
    expect((await cancel()).status).toBe(200)
  })
})

describe('a receipt', () => {
  it.each([
    ['wrong', `"${md5(`"${HELLO}"`)}"`],
    ['missing', null],
    ['opaque', `"${HELLO}-1"`],
    ['weak', `W/"${HELLO}"`],
  ])('is %s, and the bytes are right', async (name, etag) => {
    const answer = await send(name)

    expect([answer.status, answer.headers.get('etag')]).toEqual([200, etag])
    expect(await stored(name)).toBe('hello')
  })

  it('that is opaque confirms a video like any other', async () => {
    const video = await openVideoSession(service, [{ bytes: 5, chunks: 1, name: 'opaque.mp4' }])
    const { headers } = await put(video.files[0]!.urls[0]!, 'hello')
    const confirm = (etag: string) => confirmation(video.sessionId, video.files[0]!.id, [etag])

    expect((await confirm(HELLO)).status).toBe(409)
    expect((await confirm(headers.get('etag')!)).status).toBe(200)
  })

  it('gives bytes away that were turned over on their way', async () => {
    const answer = await send('corrupt')

    expect([answer.status, answer.headers.get('etag')]).toEqual([200, `"${md5('iello')}"`])
    expect(await stored('corrupt')).toBe('iello')
  })
})

function confirmation(sessionId: string, fileId: number, etags: readonly string[]): Promise<Answer> {
  return service.call('PATCH', '/upload_videos', {
    upload_session_id: sessionId,
    affected_file_id: fileId,
    file_part_info: etags.map((etag, index) => ({ etag, part_number: index + 1 })),
    upload_successful: true,
  })
}

describe('time', () => {
  it.each([
    ['slow', 'x'.repeat(4_000), 190],
    ['delayed', 'hello', 115],
    ['stall-start', 'hello', 95],
    ['stall-body', 'hello', 95],
    ['stall-answer', 'hello', 95],
  ])('is lost and nothing else: %s', async (name, bytes, leastMs) => {
    const startedAt = performance.now()

    const answer = await send(name, bytes)

    expect(performance.now() - startedAt).toBeGreaterThan(leastMs)
    expect([answer.status, await stored(name)]).toEqual([200, bytes])
  })

  it.each([
    ['silent-start', undefined],
    ['silent-answer', 'hello'],
  ])('has no end until the client goes: %s', async (name, kept) => {
    const address = (await register(service, sessionId, [name], { reprocess: true }))[name]!
    const leaving = new AbortController()
    let isAnswered = false
    const before = putsSeen
    const sending = fetch(address, { method: 'PUT', body: 'hello', signal: leaving.signal }).then(
      () => (isAnswered = true),
    )
    await expect.poll(() => putsSeen).toBe(before + 1)
    await expect.poll(() => stored(name)).toBe(kept)
    expect(isAnswered).toBe(false)

    leaving.abort()

    await expect(sending).rejects.toThrow('aborted')
  })

  it('runs out for addresses that were signed with a short life', async () => {
    const address = (await register(service, sessionId, ['short-life']))['short-life']!
    const video = await openVideoSession(service, [{ bytes: 5, chunks: 1, name: 'short-life.mp4' }])
    const lifeOf = (url: string) => new URL(url).searchParams.get('X-Amz-Expires')
    expect([lifeOf(address), lifeOf(video.files[0]!.urls[0]!)]).toEqual(['2', '9'])
    const other = (await register(service, sessionId, ['long-life']))['long-life']!
    expect(lifeOf(other)).toBe('3600')

    service.advance(3_000)

    const late = await put(address, 'hello')
    expect([late.status, late.text.includes('Request has expired')]).toEqual([403, true])
    expect((await put(video.files[0]!.urls[0]!, 'hello')).status).toBe(200)
  })

  it('of day decides when a rule holds, again and again', async () => {
    const statusAt = async (seconds: number) => {
      service.advance(START + seconds * 1_000 - service.clock())
      return (await service.call('GET', '/players')).status
    }
    const seen = []
    for (const seconds of [99, 100, 109, 110, 1_099, 1_100, 1_111]) seen.push(await statusAt(seconds))

    expect(seen).toEqual([200, 502, 502, 200, 200, 502, 200])
  })
})

it('strikes the named part of the named file at the named time, and the rest passes', async () => {
  const video = await openVideoSession(service, [
    { bytes: 10, chunks: 2, name: 'clip-1.mp4' },
    { bytes: 5, chunks: 1, name: 'other.mp4' },
  ])
  const [one, two] = video.files[0]!.urls as [string, string]

  const statuses = []
  for (const url of [one, two, two, video.files[1]!.urls[0]!]) statuses.push((await put(url, 'hello')).status)
  expect(statuses).toEqual([200, 500, 200, 200])

  const confirm = () => confirmation(video.sessionId, video.files[0]!.id, [HELLO, HELLO])
  await expect(confirm()).rejects.toThrow('fetch failed')
  await expect(confirm()).rejects.toThrow('fetch failed')
  expect((await confirm()).status).toBe(200)
  expect(await stored('clip-1.mp4')).toBe('hellohello')
})

it('strikes a file whose name begins with a byte order mark', async () => {
  const video = await openVideoSession(service, [{ bytes: 5, chunks: 1, name: '\ufeffmarked.mp4' }])

  expect((await send('\ufeffmarked.action')).status).toBe(500)
  expect((await put(video.files[0]!.urls[0]!, 'hello')).status).toBe(500)
})

it('takes no body for one that stopped coming because its answer is late', async () => {
  const anHour = 3_600_000
  const faults: FaultPlan = { rules: [{ operation: 'put', fault: { stall: { at: 'answer' } } }] }
  const late = await startUnderTest({ faults, bodyIdleMs: anHour })
  onTestFinished(() => late.close())
  const address = (await register(late, await openCaptureSession(late), ['a.action']))['a.action']!
  const began = vi.spyOn(globalThis, 'setTimeout')
  const ended = vi.spyOn(globalThis, 'clearTimeout')
  const leaving = new AbortController()
  const sending = fetch(address, { method: 'PUT', body: 'hello', signal: leaving.signal })

  const watches = () => began.mock.results.filter((_, call) => began.mock.calls[call]?.[1] === anHour)
  await expect.poll(watches).toHaveLength(1)
  await expect.poll(() => ended.mock.calls.flat()).toContain(watches()[0]?.value)

  leaving.abort()
  await expect(sending).rejects.toThrow('aborted')
})

it('closes while somebody is held for ever', async () => {
  const faults: FaultPlan = { rules: [{ operation: 'listPlayers', fault: { stall: { at: 'start' } } }] }
  let arrived = () => {}
  const hasArrived = new Promise<void>((resolve) => (arrived = resolve))
  const stalled = await startUnderTest({ faults, log: { write: (line) => line.includes('/players') && arrived() } })
  const held = stalled.call('GET', '/players').catch((error: unknown) => String(error))
  await hasArrived

  await stalled.close()

  expect(await held).toBe('TypeError: fetch failed')
})
