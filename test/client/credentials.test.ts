import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Credentials } from '../../src/client/credentials.ts'
import { UploadError } from '../../src/core/errors.ts'
import { anAnalysis, answerNext, clientUnderTest, makeHostKnown, rejection } from './client-under-test.ts'
import type { HostWait } from '../../src/core/ports.ts'
import type { ClientUnderTest } from './client-under-test.ts'

const ok = { status: 200, body: [] }

describe('the header', () => {
  it.each([
    [{ apiKey: 'k-1' }, undefined, { 'x-api-key': 'k-1' }],
    [{ accessToken: 't-1' }, undefined, { authorization: 'Bearer t-1' }],
    [{ accessToken: 't-1' }, 'Authorization', { authorization: 'Bearer t-1' }],
    [{ accessToken: 't-1' }, 'Authentication', { authentication: 'Bearer t-1' }],
    [{ apiKey: () => 'k-2' }, undefined, { 'x-api-key': 'k-2' }],
    [{ accessToken: () => Promise.resolve('t-2') }, undefined, { authorization: 'Bearer t-2' }],
  ] as const)('of %o with %s', async (credentials, bearerHeader, headers) => {
    const subject = clientUnderTest({ credentials, ...(bearerHeader === undefined ? {} : { bearerHeader }) })
    const list = subject.client.requestedAnalyses.list()
    const request = await subject.transport.next()
    request.reply(ok)
    await list

    expect(request.headers).toStrictEqual({ accept: 'application/json', 'accept-encoding': 'identity', ...headers })
  })

  it('of an access token is one of two', () => {
    expect(() => clientUnderTest({ bearerHeader: 'X-Token' as 'Authorization' })).toThrow('bearerHeader is unknown')
  })
})

describe('what cannot be a credential', () => {
  it.each([
    ['', 'apiKey is empty or not a string: give its value.'],
    [
      'secret-value\n',
      'apiKey has a control or non-ASCII character in it (a line break at its end?): give it as issued.',
    ],
    [
      'secret\0value',
      'apiKey has a control or non-ASCII character in it (a line break at its end?): give it as issued.',
    ],
    [
      '“secret-value”',
      'apiKey has a control or non-ASCII character in it (a line break at its end?): give it as issued.',
    ],
    [' secret-value', 'apiKey begins or ends with a blank: give it as issued.'],
  ])('%j is refused without being shown', async (apiKey, message) => {
    expect(() => clientUnderTest({ credentials: { apiKey } })).toThrow(
      expect.objectContaining({ code: 'ERR_UPLOAD_INVALID_ARGUMENT', message }) as Error,
    )
    const subject = clientUnderTest({ credentials: { apiKey: () => apiKey } })
    expect(await rejection(subject.client.requestedAnalyses.list())).toMatchObject({
      code: 'ERR_UPLOAD_INVALID_ARGUMENT',
      message,
    })
  })

  it.each([
    undefined,
    {},
    { apiKey: 'a', accessToken: 'b' },
    { apiKey: 7 },
    { accessToken: 'Bearer abc' },
    { accessToken: {} },
  ])('refuses %o', (credentials) => {
    expect(() => clientUnderTest({ credentials: credentials as unknown as Credentials })).toThrow(
      expect.objectContaining({ code: 'ERR_UPLOAD_INVALID_ARGUMENT' }) as Error,
    )
  })
})

describe('a function', () => {
  it('is asked once for many calls, and once more when its token is refused', async () => {
    const asked: string[] = []
    const subject = clientUnderTest({ credentials: { accessToken: () => tokenNumber(asked) } })
    const first = subject.client.requestedAnalyses.list()
    const second = subject.client.requestedAnalyses.list()
    const [one, two] = [await subject.transport.next(), await subject.transport.next()]
    one.reply({ status: 401 })
    two.reply({ status: 403 })
    const [three, four] = [await subject.transport.next(), await subject.transport.next()]
    three.reply(ok)
    four.reply(ok)
    await Promise.all([first, second])

    expect(asked).toStrictEqual(['token-1', 'token-2'])
    expect([one, two, three, four].map(({ headers }) => headers['authorization'])).toStrictEqual([
      'Bearer token-1',
      'Bearer token-1',
      'Bearer token-2',
      'Bearer token-2',
    ])
  })

  it('is not asked again by a call that was refused with a token already replaced', async () => {
    const asked: string[] = []
    const subject = clientUnderTest({ credentials: { accessToken: () => tokenNumber(asked) } })
    const first = subject.client.requestedAnalyses.list()
    const second = subject.client.requestedAnalyses.list()
    const [one, late] = [await subject.transport.next(), await subject.transport.next()]
    one.reply({ status: 401 })
    await answerNext(subject, ok)
    await first
    late.reply({ status: 401 })
    const repeated = await subject.transport.next()
    repeated.reply(ok)
    await second

    expect(repeated.headers['authorization']).toBe('Bearer token-2')
    expect(asked).toStrictEqual(['token-1', 'token-2'])
  })

  it('is not asked again for a call whose new token is refused too', async () => {
    const asked: string[] = []
    const subject = clientUnderTest({ credentials: { accessToken: () => tokenNumber(asked) } })
    const failure = rejection(subject.client.requestedAnalyses.list())
    await answerNext(subject, { status: 401 })
    await answerNext(subject, { status: 401, body: { message: 'token-2 is unknown' } })

    expect(await failure).toMatchObject({
      code: 'ERR_UPLOAD_CREDENTIALS_REFUSED',
      message:
        'The service refused the credentials when asked to list the analyses (401): check the API key or the access token. It says: … is unknown',
      status: 401,
    })
    expect(asked).toHaveLength(2)
  })

  it('is asked again by a call that waits for the service longer than its new token lives', async () => {
    const asked: string[] = []
    const subject = clientUnderTest({
      credentials: { accessToken: () => tokenNumber(asked) },
      giveUpAfterMs: 86_400_000,
    })
    const list = subject.client.requestedAnalyses.list()
    const used: (string | undefined)[] = []
    for (const answer of [{ status: 401 }, { status: 503 }, { status: 401 }, ok]) {
      const next = subject.transport.next()
      await subject.clock.advance(2_000)
      const request = await next
      used.push(request.headers['authorization'])
      request.reply(answer)
    }

    expect((await list).items).toStrictEqual([])
    expect(used).toStrictEqual(['Bearer token-1', 'Bearer token-2', 'Bearer token-2', 'Bearer token-3'])
  })

  it('lets a create be repeated with the new token: a refused one was not done', async () => {
    const subject = clientUnderTest({ credentials: { accessToken: () => tokenNumber([]) } })
    const analysis = subject.client.requestedAnalyses.create({ name: 'A', primaryAnalysisSegmentId: 1 })
    await answerNext(subject, { status: 401 })
    await answerNext(subject, { status: 201, body: { id: 3 } })

    expect(await analysis).toStrictEqual({ id: 3 })
  })

  it('that fails is named without its message', async () => {
    const subject = clientUnderTest({
      credentials: { accessToken: () => Promise.reject(new RangeError('no token in {"refresh_token":"r-123"}')) },
    })
    const error = await rejection(subject.client.requestedAnalyses.list())

    expect(error).toMatchObject({
      code: 'ERR_UPLOAD_CREDENTIALS_REFUSED',
      message: 'The accessToken function ended in RangeError.',
    })
    expect(inspect(error, { depth: 9 })).not.toContain('r-123')
  })

  it('that fails with an error of this package is not taken for one that is late', async () => {
    const own = () => Promise.reject(new UploadError('ERR_UPLOAD_TIMEOUT', 'no token within 9 s: r-123'))
    const subject = clientUnderTest({ credentials: { accessToken: own } })

    expect(await rejection(subject.client.requestedAnalyses.list())).toMatchObject({
      code: 'ERR_UPLOAD_CREDENTIALS_REFUSED',
      message: 'The accessToken function ended in UploadError.',
    })
  })

  const named = Object.assign(new Error('no token'), { name: 'token r-123' })
  it.each([undefined, null, 'r-123', { name: 'r123' }, named])(
    'that fails with what has no name of an error is told without it: %o',
    async (reason) => {
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- A host in plain JavaScript may reject with anything.
      const subject = clientUnderTest({ credentials: { accessToken: () => Promise.reject(reason) } })

      expect(await rejection(subject.client.requestedAnalyses.list())).toMatchObject({
        code: 'ERR_UPLOAD_CREDENTIALS_REFUSED',
        message: 'The accessToken function ended in a failure.',
      })
    },
  )

  it('that reaches nobody is asked three times at first contact, and its own failure is told', async () => {
    let asked = 0
    const subject = clientUnderTest({
      credentials: { accessToken: () => Promise.reject(new TypeError(`fetch failed ${String(++asked)} r-123`)) },
    })
    const failure = rejection(subject.client.requestedAnalyses.list())
    await subject.clock.advance(60_000)
    const error = await failure

    expect(error).toMatchObject({
      code: 'ERR_UPLOAD_NETWORK',
      message: 'The accessToken function ended in TypeError.',
      details: { credential: 'accessToken', operation: 'requestedAnalyses.list', attempts: 0, isDoubtful: false },
    })
    expect([asked, subject.clock.pending]).toStrictEqual([3, 0])
    expect(inspect(error, { depth: 9 })).not.toContain('r-123')
  })

  it('that reaches nobody for an hour is waited for, as the service is, once that has answered', async () => {
    const asked: string[] = []
    let isOut = false
    const subject = clientUnderTest({
      credentials: { accessToken: () => (isOut ? Promise.reject(new TypeError('no way')) : tokenNumber(asked)) },
      giveUpAfterMs: 2 * 3_600_000,
    })
    await makeHostKnown(subject)
    const waits: (HostWait | null | undefined)[] = []
    const analysis = subject.client.requestedAnalyses.create(anAnalysis, { onWaiting: (wait) => waits.push(wait) })
    isOut = true
    await answerNext(subject, { status: 401 })
    await subject.clock.advance(3_600_000)
    const [last] = waits.filter((wait) => wait).slice(-1)
    isOut = false
    const created = subject.transport.next()
    void created.then((request) => request.reply({ status: 201, body: { id: 3 } }))
    await subject.clock.advance(60_000)

    expect(await analysis).toStrictEqual({ id: 3 })
    expect(last).toMatchObject({ host: 'service.example:443', reason: 'no accessToken', isDoubtful: false })
    expect((await created).headers['authorization']).toBe('Bearer token-2')
  })

  it('that reaches nobody is given up with the time that a service is given', async () => {
    let isOut = false
    const subject = clientUnderTest({
      credentials: { apiKey: () => (isOut ? Promise.reject(new TypeError('fetch failed')) : 'key-1') },
      giveUpAfterMs: 600_000,
    })
    await makeHostKnown(subject)
    const failure = rejection(subject.client.requestedAnalyses.list())
    isOut = true
    await answerNext(subject, { status: 401 })
    await subject.clock.advance(700_000)

    expect(await failure).toMatchObject({
      code: 'ERR_UPLOAD_NETWORK',
      message: 'The apiKey function ended in TypeError.',
      details: { credential: 'apiKey', attempts: 1 },
    })
  })

  it('that hangs has a deadline, after which it is asked anew', async () => {
    let asked = 0
    const subject = clientUnderTest({
      callTimeoutMs: 5000,
      credentials: { accessToken: () => (++asked === 1 ? new Promise<string>(() => {}) : 'token-2') },
    })
    const list = subject.client.requestedAnalyses.list()
    await subject.clock.advance(4999)
    expect(asked).toBe(1)
    void answerNext(subject, ok)
    await subject.clock.advance(10_000)

    expect((await list).items).toStrictEqual([])
    expect([asked, subject.clock.pending]).toStrictEqual([2, 0])
  })

  it('that always hangs is told as late', async () => {
    const subject = clientUnderTest({
      callTimeoutMs: 5000,
      credentials: { accessToken: () => new Promise<string>(() => {}) },
    })
    const failure = rejection(subject.client.requestedAnalyses.list())
    await subject.clock.advance(60_000)

    expect(await failure).toMatchObject({
      code: 'ERR_UPLOAD_TIMEOUT',
      message: 'The accessToken function gave no answer within 5 s.',
    })
    expect(subject.clock.pending).toBe(0)
  })
})

describe('secrecy', () => {
  it('shows no credential in the client', async () => {
    const subject = clientUnderTest({ credentials: { apiKey: () => 'key-of-a-function' } })
    const list = subject.client.requestedAnalyses.list()
    await answerNext(subject, ok)
    await list

    for (const client of [clientUnderTest().client, subject.client]) {
      const shown = inspect(client, { depth: 9, showHidden: true }) + JSON.stringify(client)
      expect(shown).toContain('mocapSessions')
      expect(shown).not.toMatch(/key-/)
    }
  })

  const secrets = fc.stringMatching(/^[\x21-\x7e]{12,60}$/).filter((secret) => !/^bearer /i.test(secret))
  /** Where a service may say a credential back. */
  const echoes: readonly ((secret: string) => { status: number; body?: unknown; headers?: Record<string, string> })[] =
    [
      (secret) => ({ status: 401, body: { message: `Key ${secret} is unknown` } }),
      (secret) => ({ status: 403, body: { error: { code: secret, message: `${secret}${secret}` } } }),
      (secret) => ({ status: 422, body: { detail: [{ msg: `\u0007${secret}\n`, loc: [secret] }, secret] } }),
      (secret) => ({
        status: 400,
        body: { message: `See https://service.example/help?key=${encodeURIComponent(secret)}` },
      }),
      (secret) => ({ status: 500, body: `<html>${secret}</html>` }),
      (secret) => ({ status: 404, body: secret, headers: { 'content-type': 'text/plain', 'x-echo': secret } }),
      (secret) => ({ status: 301, headers: { location: `https://service.example/?k=${secret}` } }),
      (secret) => ({ status: 200, body: { [secret]: secret, message: secret } }),
      (secret) => ({ status: 200, body: `not JSON: ${secret}` }),
      (secret) => ({ status: 200, body: secret, headers: { 'content-type': 'text/html' } }),
    ]

  it('never lets a credential into an error, whatever the service says', async () => {
    const kinds = fc.constantFrom<'apiKey' | 'accessToken'>('apiKey', 'accessToken')
    await fc.assert(
      fc.asyncProperty(secrets, kinds, fc.constantFrom(...echoes), async (secret, kind, echo) => {
        const subject = clientUnderTest({ credentials: { [kind]: secret } as unknown as Credentials, retries: 0 })
        for (const start of [createSegment, submit]) {
          const outcome = start(subject).catch((error: unknown) => error)
          await answerNext(subject, echo(secret))
          const error = await outcome
          if (error instanceof Error) expect(textsIn(error).filter((text) => text.includes(secret))).toStrictEqual([])
        }
      }),
    )
  })
})

/** Every string in a value, as it is: inspect and JSON would escape quotes, and a secret with them would slip by. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  const own = value as Record<PropertyKey, unknown>
  return Reflect.ownKeys(value).flatMap((key) => [String(key), ...textsIn(own[key])])
}

function createSegment({ client }: ClientUnderTest): Promise<unknown> {
  return client.playerGroupSegments.create({ movementTypeId: 1, domHand: 'RHA' })
}

function submit({ client }: ClientUnderTest): Promise<unknown> {
  return client.requestedAnalyses.submit('a-1')
}

function tokenNumber(asked: string[]): Promise<string> {
  asked.push(`token-${asked.length + 1}`)
  return Promise.resolve(asked.at(-1)!)
}
