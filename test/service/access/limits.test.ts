// What the service takes of one organisation, one address and one call, and what it says beyond.

import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'

import fc from 'fast-check'
import type { FastifyRequest } from 'fastify'
import { describe, expect, it, onTestFinished } from 'vitest'

import { createUplink } from '../../../src/node.ts'
import { createAdmission, networkOf } from '../../../src/service/access/admission.ts'
import { createRateLimit } from '../../../src/service/access/rate-limit.ts'
import { openKeyRing, startService, type ServiceLimits } from '../../../src/service/index.ts'
import type { ServiceSettings } from '../../../src/service/settings.ts'
import { createSimulatedClock } from '../../helpers/simulated-clock.ts'
import {
  API_KEY,
  openCaptureSession,
  openVideoSession,
  put,
  startUnderTest,
  TOKEN,
  type ServiceUnderTest,
} from '../service-under-test.ts'

async function startWith(
  limits: ServiceLimits,
  options: Parameters<typeof startUnderTest>[0] = {},
): Promise<ServiceUnderTest> {
  const service = await startUnderTest({ limits, ...options })
  onTestFinished(() => service.close())
  return service
}

const VIDEO = { movement_type_id: 1, player_id: 'p-17', session_date: '2026-11-20', session_type_id: 2 }
const files = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    ...{ raw_file_name: `${index}.mp4`, file_size_bytes: 1, number_of_chunks: 1 },
  }))

describe('a rate limit', () => {
  it('lets a minute’s worth through at once and then no more than trickles back, whenever it is asked', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.array(fc.integer({ min: -2_000, max: 5_000 }), { maxLength: 200 }),
        (perMinute, steps) => {
          let now = 1e12
          const limit = createRateLimit(perMinute, () => now)
          let [taken, passedMs] = [0, 0]
          for (const step of steps) {
            now += step
            // The clock may be set back: that gives nobody anything but the time that it then goes forward again.
            passedMs += Math.max(0, step)
            if (limit.take('org') === 0) taken += 1
            expect(taken).toBeLessThanOrEqual(perMinute + (passedMs * perMinute) / 60_000 + 1e-6)
          }
        },
      ),
    )
  })

  it('says exactly how long to wait, and keeps keys apart', () => {
    let now = 0
    const limit = createRateLimit(2, () => now)
    expect([limit.take('a'), limit.take('a'), limit.take('a'), limit.take('b')]).toEqual([0, 0, 30_000, 0])
    now = 29_999
    expect(limit.waitOf('a')).toBeCloseTo(1)
    now = 30_000
    expect([limit.waitOf('a'), limit.take('a'), limit.take('a')]).toEqual([0, 0, 30_000])
  })

  it('takes nothing from anybody when the clock is set back, and gives nothing', () => {
    let now = 3_600_000
    const limit = createRateLimit(2, () => now)
    limit.take('a')
    now = 0
    expect([limit.take('a'), limit.take('a')]).toEqual([0, 30_000])
  })

  it('remembers ten thousand keys at most: whoever has not called for the longest time is forgotten', () => {
    const limit = createRateLimit(1, () => 0)
    limit.take('first')
    limit.take('second')
    limit.take('third')
    limit.take('second')
    for (let index = 0; index < 9_998; index += 1) limit.take(String(index))
    expect(['first', 'second', 'third'].map(limit.waitOf)).toEqual([0, 60_000, 60_000])
    limit.take('another')

    expect(['second', 'third'].map(limit.waitOf)).toEqual([60_000, 0])
  })
})

describe('credentials that were right before', () => {
  it('are remembered ten thousand at most: those that were not used for the longest time are forgotten', () => {
    const limits = { callsPerMinute: 0, refusalsPerMinute: 1 }
    const admission = createAdmission({ limits, now: () => 0, bearerHeaders: [] } as unknown as ServiceSettings)
    const withKey = (key: string) => ({ ip: '192.0.2.1', headers: { 'x-api-key': key } }) as unknown as FastifyRequest
    const use = (key: string) => admission.countCall(withKey(key), 'org')
    use('first')
    use('second')
    for (let index = 0; index < 9_998; index += 1) use(String(index))
    use('first')
    use('last')

    admission.countRefusal(withKey('wrong'))

    expect(() => admission.checkAddress(withKey('first'))).not.toThrow()
    expect(() => admission.checkAddress(withKey('second'))).toThrow('Too many calls with improper credentials')
  })

  it('are like any other once they are refused: a revoked key is not looked up for ever', () => {
    const limits = { callsPerMinute: 0, refusalsPerMinute: 1 }
    const admission = createAdmission({ limits, now: () => 0, bearerHeaders: [] } as unknown as ServiceSettings)
    const revoked = { ip: '192.0.2.1', headers: { 'x-api-key': 'revoked' } } as unknown as FastifyRequest
    admission.countCall(revoked, 'org')

    admission.countRefusal(revoked)

    expect(() => admission.checkAddress(revoked)).toThrow('Too many calls with improper credentials')
  })
})

describe('calls of an organisation', () => {
  it('beyond its minute are answered 429 with Retry-After, whatever they are and whoever makes them', async () => {
    const service = await startWith({ callsPerMinute: 6 })
    const list = (headers?: Record<string, string>) => service.call('GET', '/requested_analyses', undefined, headers)
    for (let count = 0; count < 6; count += 1) expect((await list()).status).toBe(200)

    const refused = await list({ authorization: `Bearer ${TOKEN}` })
    const unread = await service.call('POST', '/upload_videos', '{ not even JSON')

    expect([refused.status, unread.status]).toEqual([429, 429])
    expect(refused.headers.get('retry-after')).toBe('10')
    expect(refused.json).toEqual({
      error: {
        code: 'rate_limited',
        message: 'The organisation has used up its 6 calls a minute. Try again in 10 s.',
        retry_after_seconds: 10,
      },
    })
    service.advance(10_000)
    expect([(await list()).status, (await list()).status]).toEqual([200, 429])
    expect((await service.call('GET', '/healthz')).status).toBe(200)
  })

  it('are not the PUTs to its addresses', async () => {
    const service = await startWith({ callsPerMinute: 1 })
    const { files: opened } = await openVideoSession(service, [{ bytes: 2, chunks: 2 }])

    for (const url of opened[0]!.urls) expect((await put(url, 'x')).status).toBe(200)
    expect((await service.call('GET', '/players')).status).toBe(429)
  })

  it('are made again by our client when the service said to', async () => {
    const clock = createSimulatedClock()
    const service = await startWith({ callsPerMinute: 3 }, { now: () => clock.wallNow() })
    for (let count = 0; count < 3; count += 1) await service.call('GET', '/players')
    const uplink = createUplink({ baseUrl: service.url, credentials: { apiKey: API_KEY }, clock })
    onTestFinished(() => uplink.close())

    const ended = new AbortController()
    const made = uplink.client.playerGroupSegments
      .create({ movementTypeId: 1, domHand: 'RHA' })
      .finally(() => ended.abort())
    const waits: number[] = []
    while (!ended.signal.aborted) {
      await turn()
      const nextMs = clock.nextDueInMs ?? 0
      // Twenty seconds and at most a tenth more, so that not all who wait come back at once. No timeout is so long.
      if (nextMs < 20_000 || nextMs > 22_000) continue
      waits.push(nextMs)
      await clock.advance(nextMs)
    }

    expect(waits).toHaveLength(1)
    expect((await made).analysisSegmentId).toBeGreaterThan(0)
  })
})

describe('calls with improper credentials', () => {
  const improper = { 'x-api-key': 'guess' }

  it('use up the refusals of their address, and are then not looked at', async () => {
    const service = await startWith({ refusalsPerMinute: 3 })
    const statuses: number[] = []
    for (let count = 0; count < 5; count += 1)
      statuses.push((await service.call('DELETE', '/upload_videos/x', undefined, improper)).status)
    const other = await service.call('GET', '/requested_analyses', undefined, {})
    // A right credential that was never seen before is not looked at either.
    const unseen = await service.call('GET', '/players')
    service.advance(20_000)

    expect(statuses).toEqual([401, 401, 401, 429, 429])
    expect([other.status, other.headers.get('retry-after')]).toEqual([429, '20'])
    expect(other.json).toMatchObject({ error: { code: 'rate_limited', retry_after_seconds: 20 } })
    expect(unseen.status).toBe(429)
    expect((await service.call('GET', '/players')).status).toBe(200)
  })

  it('lock nobody out whose credential was right before, and let nobody go on to guess another kind', async () => {
    const service = await startWith({ refusalsPerMinute: 1 })
    const statusWith = async (headers: Record<string, string>) =>
      (await service.call('GET', '/players', undefined, headers)).status
    const right = [
      { 'x-api-key': API_KEY },
      { authorization: `Bearer ${TOKEN}` },
      { authentication: `Bearer ${TOKEN}` },
    ]
    const guesses = [improper, { authorization: 'Bearer guess' }, { authentication: 'Bearer guess' }]
    for (const headers of right) expect(await statusWith(headers)).toBe(200)
    await statusWith(improper)

    for (const headers of guesses) expect(await statusWith(headers)).toBe(429)
    for (const headers of right) expect(await statusWith(headers)).toBe(200)
  })

  it('are told apart by X-Forwarded-For only where proxies are trusted', async () => {
    const from = (service: ServiceUnderTest, forwarded: string) =>
      service.call('GET', '/players', undefined, { ...improper, 'x-forwarded-for': forwarded })
    const behindOne = await startWith({ refusalsPerMinute: 1 }, { trustedProxies: 1 })
    const open = await startWith({ refusalsPerMinute: 1 })

    expect((await from(behindOne, '198.51.100.1')).status).toBe(403)
    expect((await from(behindOne, '198.51.100.2')).status).toBe(403)
    // What stands before the proxy's own word is the client's, who may say anything.
    expect((await from(behindOne, '203.0.113.7, 198.51.100.2')).status).toBe(429)
    expect((await from(open, '198.51.100.1')).status).toBe(403)
    expect((await from(open, '198.51.100.2')).status).toBe(429)
  })

  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::9', '2001:db8:0:0::/64'],
    ['2001:DB8::1:2:3:4:5', '2001:db8:0:1::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    // As Azure's gateways write X-Forwarded-For.
    ['192.0.2.7:51234', '192.0.2.7'],
    ['[2001:db8:1:2::9]:51234', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::9]', '2001:db8:1:2::/64'],
  ])('of %s count for %s', (address, network) => {
    expect(networkOf(address)).toBe(network)
  })
})

describe('what one call may ask for', () => {
  it('of files, names and bytes is refused whole beyond, with the limit', async () => {
    const service = await startWith({ filesPerSession: 2, namesPerCall: 2, bodyBytes: 1024 })
    const session_id = await openCaptureSession(service)
    const register = (filenames: string[]) => service.call('POST', '/mocap_session_file', { session_id, filenames })
    const create = (count: number) => service.call('POST', '/upload_videos', { ...VIDEO, files: files(count) })

    const [manyFiles, manyNames] = [await create(3), await register(['a.action', 'b.action', 'c.action'])]
    const large = await service.call('POST', '/upload_videos', {
      ...VIDEO,
      player_id: 'x'.repeat(1024),
      files: files(1),
    })

    expect([manyFiles.status, manyFiles.json]).toEqual([
      422,
      {
        error: {
          ...{ code: 'too_many_files', limit: 2 },
          message: 'One session has at most 2 files, this one would have 3.',
        },
      },
    ])
    expect([manyNames.status, manyNames.json]).toEqual([
      422,
      {
        error: {
          ...{ code: 'too_many_names', limit: 2 },
          message: 'One call registers at most 2 names, this one has 3.',
        },
      },
    ])
    expect([large.status, large.json]).toEqual([
      413,
      { error: { code: 'body_too_large', message: 'The body is larger than 1024 bytes.', limit: 1024 } },
    ])
    expect((await register(['a.action', 'b.action'])).status).toBe(200)
    expect((await create(2)).json).toHaveProperty('pre_signed_urls')
  })

  it.each([
    ['announced', 'Content-Length: 2000', ' '.repeat(1_500), ' '.repeat(500)],
    ['sent', 'Transfer-Encoding: chunked', `5dc\r\n${' '.repeat(1_500)}\r\n`, '0\r\n\r\n'],
  ])(
    'leaves the connection to a client that has %s too many bytes, until it reads that',
    async (_, how, begun, rest) => {
      const { port } = await startWith({ bodyBytes: 1024 })
      const socket = connect(port, '127.0.0.1').on('error', () => undefined)
      onTestFinished(() => void socket.destroy())
      let answers = ''
      socket.on('data', (bytes: Buffer) => (answers += bytes.toString()))
      const head = `x-api-key: ${API_KEY}\r\nContent-Type: application/json\r\n${how}\r\n\r\n`

      socket.write(`POST /mocap_session HTTP/1.1\r\nHost: x\r\n${head}${begun}`)
      await expect.poll(() => answers).toContain('body_too_large')
      expect(answers).not.toContain('connection: close')
      socket.write(`${rest}GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`)

      await expect.poll(() => answers).toContain('"ok"')
    },
  )
})

describe('open sessions', () => {
  const HELLO = '5d41402abc4b2a76b9719d911017c592'

  it('beyond the limit are refused, until one is finished or cancelled', async () => {
    const service = await startWith({ openSessions: 2 })
    const create = () => service.call('POST', '/upload_videos', { ...VIDEO, files: files(1) })
    const [first, second] = [
      await openVideoSession(service, [
        { bytes: 5, chunks: 1 },
        { bytes: 5, chunks: 1 },
      ]),
      await openVideoSession(service, [{ bytes: 5, chunks: 1 }]),
    ]
    const confirm = async (which: number, isThere: boolean) => {
      const { id, urls } = first.files[which]!
      await put(urls[0]!, 'hello')
      return service.call('PATCH', '/upload_videos', {
        ...{ upload_session_id: first.sessionId, affected_file_id: id, upload_successful: isThere },
        file_part_info: isThere ? [{ etag: HELLO, part_number: 1 }] : [],
      })
    }

    const refused = await create()
    expect([refused.status, refused.json]).toEqual([
      409,
      {
        error: {
          ...{ code: 'too_many_open_sessions', limit: 2 },
          message: 'The organisation has 2 unfinished video sessions: finish or cancel some of them.',
        },
      },
    ])
    await confirm(1, false)
    await confirm(0, true)
    // A failed file can still come.
    expect((await create()).status).toBe(409)
    expect((await confirm(1, true)).status).toBe(200)
    expect((await create()).status).toBe(200)
    expect((await create()).status).toBe(409)
    await service.call('DELETE', `/upload_videos/${second.sessionId}`)
    await service.call('DELETE', `/upload_videos/${second.sessionId}`)
    expect((await create()).status).toBe(200)
    expect((await create()).status).toBe(409)
    // Capture sessions have no end, and no limit.
    await openCaptureSession(service)
  })
})

it('is counted for each organisation by itself: none is refused for what another has used up', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'service-limits-'))
  onTestFinished(() => rm(dataDir, { recursive: true }))
  await (await startUnderTest({ dataDir })).close()
  const ring = await openKeyRing({ dataDir })
  const { key } = await ring.create('org-other', 'ballpark')
  await ring.close()
  const service = await startWith({ openSessions: 1, callsPerMinute: 3 }, { dataDir })
  const create = () => service.call('POST', '/upload_videos', { ...VIDEO, files: files(1) })
  const createAsOther = () =>
    service.call('POST', '/upload_videos', { ...VIDEO, files: files(1) }, { 'x-api-key': key })
  const statusesOf = async (one: typeof create) => [(await one()).status, (await one()).status]

  expect(await statusesOf(create)).toEqual([200, 409])
  expect(await statusesOf(create)).toEqual([409, 429])
  expect(await statusesOf(createAsOther)).toEqual([200, 409])
})

it.each([
  [{ callsPerMinute: -1 }, 'limits.callsPerMinute must be an integer from 0 to'],
  [{ refusalsPerMinute: 0.5 }, 'limits.refusalsPerMinute must'],
  [{ filesPerSession: 0 }, 'limits.filesPerSession must be an integer from 1 to 100000'],
  [{ namesPerCall: Infinity }, 'limits.namesPerCall must'],
  [{ bodyBytes: 1023 }, 'limits.bodyBytes must be an integer from 1024 to'],
  [{ openSessions: NaN }, 'limits.openSessions must'],
])('startService refuses %j before it opens anything', async (limits, words) => {
  await expect(startService({ limits })).rejects.toThrow(words)
  await expect(startService({ trustedProxies: 11 })).rejects.toThrow('trustedProxies must')
})
