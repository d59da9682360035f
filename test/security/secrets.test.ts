// Marked secrets go through uploads that fail in every way, and must be in nothing that a host or a log can see.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { bytesSource } from '../../src/adapters/web/bytes-source.ts'
import { memoryJournal } from '../../src/adapters/web/memory-journal.ts'
import { TransportError } from '../../src/core/errors.ts'
import type { Source, TransportRequest } from '../../src/core/ports.ts'
import type { Uplink } from '../../src/uplink.ts'
import {
  CAPTURE,
  createFarEnd,
  endOf,
  expiredStorage,
  goodService,
  listenTo,
  shown,
  VIDEO,
  type Answer,
} from './far-end.ts'

const KEY = 'MARKkey7c1f'
const SIGNATURE = 'MARKsig93ab'
const CREDENTIAL = 'MARKakid55/20261120/eu/s3/aws4_request'
const SESSION_TOKEN = 'MARKtoken+/='
const MARK = /MARK/

const signed = (fileIndex: number, partNumber: number): string =>
  `https://store.example/bucket/${String(fileIndex)}/${String(partNumber)}?X-Amz-Signature=${SIGNATURE}` +
  `&X-Amz-Credential=${encodeURIComponent(CREDENTIAL)}&X-Amz-Security-Token=${encodeURIComponent(SESSION_TOKEN)}`

/** What a storage may do with a request, its words always holding the address that it was sent to. */
const STORAGE: readonly ((request: TransportRequest) => Answer | Error | undefined)[] = [
  () => ({ status: 200, headers: { etag: '"0123456789abcdef0123456789abcdef-2"' } }),
  () => ({ status: 200 }),
  () => undefined,
  // Successes whose ETag is the address, or what signed it.
  ({ url }) => ({ status: 200, headers: { etag: `"${url}"` } }),
  ({ url }) => ({ status: 200, headers: { etag: new URL(url).search.slice(1) } }),
  () => ({ status: 200, headers: { etag: `"${SIGNATURE}"` } }),
  () => ({ status: 200, headers: { etag: `W/"x-${encodeURIComponent(CREDENTIAL)}"` } }),
  ({ url }) => ({
    status: 403,
    body: `<Error><Code>SignatureDoesNotMatch</Code><Message>${url}</Message><StringToSign>${url}</StringToSign></Error>`,
  }),
  ({ url }) => ({
    status: 403,
    body: `<Error><Code>AccessDenied</Code><Message>Request has expired ${url}</Message></Error>`,
  }),
  ({ url }) => ({ status: 400, body: `<Error><Code>${url}</Code><Message>${url}</Message></Error>` }),
  // A code that is well formed, and is what signed the address.
  () => ({ status: 403, body: `<Error><Code>${SIGNATURE}</Code></Error>` }),
  () => ({ status: 409, headers: { 'x-ms-error-code': SIGNATURE } }),
  ({ url }) => ({ status: 307, headers: { location: url } }),
  ({ url }) => ({ status: 503, headers: { 'retry-after': url, server: url }, body: url }),
  ({ url }) => ({ status: 500, body: `<html>${url} x-api-key: ${KEY}</html>` }),
  // A host's own transport outside its contract, as fetch words it.
  ({ url }) => new TypeError(`Failed to parse URL from ${url}`),
  ({ url }) => {
    const cause = new Error(`connect ${url}`)
    const lost = { phase: 'send', ending: 'neverWhole' } as const
    return new TransportError('ERR_UPLOAD_NETWORK', 'Connection to store.example was reset', {
      ...lost,
      cause: undefined,
      details: { host: 'store.example', words: cause.name },
    })
  },
]

/** What the service may answer to anything but what opens the session. */
const SERVICE: readonly (() => Answer | undefined)[] = [
  () => ({ status: 200 }),
  () => ({ status: 500, body: { message: `upstream failed: x-api-key: ${KEY}`, error: { message: signed(0, 1) } } }),
  () => ({ status: 409, body: { message: `bad ${signed(0, 1)} for ${KEY}`, code: KEY } }),
  () => ({ status: 401, body: { message: KEY, detail: `Authorization: Bearer ${KEY}` } }),
  () => ({ status: 302, headers: { location: `https://elsewhere.example/?key=${KEY}` } }),
  () => ({ status: 200, body: `<html>${KEY}</html>`, headers: { 'content-type': 'text/html' } }),
  () => undefined,
]

it('are in no event, report, error, cause, listing or receipt, whatever fails and in whatever words', async () => {
  const run = fc.record({
    isVideo: fc.boolean(),
    storage: fc.array(fc.nat(STORAGE.length - 1), { minLength: 1, maxLength: 12 }),
    service: fc.array(fc.nat(SERVICE.length - 1), { minLength: 1, maxLength: 6 }),
    isCreateRefused: fc.boolean(),
    isBrokenSource: fc.boolean(),
  })
  let [failures, successes] = [0, 0]
  await fc.assert(
    fc.asyncProperty(run, async ({ isVideo, storage, service, isCreateRefused, isBrokenSource }) => {
      let [storageAt, serviceAt] = [0, 0]
      const open = goodService(signed)
      const journal = memoryJournal()
      const { uplink, settled } = createFarEnd({
        journal,
        credentials: { apiKey: KEY },
        ...{ retries: 2, giveUpAfterMs: 60_000 },
        storage: (request) => STORAGE[storage[storageAt++ % storage.length]!]!(request),
        service(request, body) {
          const isOpening = request.method === 'POST'
          if (isOpening && !isCreateRefused) return open(request, body)
          return SERVICE[service[serviceAt++ % service.length]!]!()
        },
      })
      const files = [bytesSource('a.action', new Uint8Array(10)), isBrokenSource ? brokenSource() : emptySource()].map(
        (source) => ({ source }),
      )
      const upload = isVideo
        ? uplink.uploadVideos({ ...VIDEO, files })
        : uplink.uploadCaptures({ ...CAPTURE, kind: 'tracking', files })
      const told = listenTo(upload)

      const end = await settled(endOf(upload))

      if (end.error === undefined) successes += 1
      else failures += 1
      const seen = [told(), shown(end), shown(end.error), shown(end.report), await looks(uplink), shown(uplink)]
      for (const text of seen) expect(text).not.toMatch(MARK)
      // The run was one with secrets in it: the journal, which is their place, has them once a session was opened.
      const [key = ''] = await journal.list()
      const records = key === '' ? '' : JSON.stringify(await journal.read(key))
      expect(records.includes(SIGNATURE)).toBe(records.includes('"addresses"'))
      expect(records).not.toContain(KEY)
    }),
    { numRuns: 150 },
  )
  expect(failures).toBeGreaterThan(20)
  expect(successes).toBeGreaterThan(0)
})

it.each([
  ['the address', (url: string) => `"${url}"`],
  ['its query', (url: string) => new URL(url).search],
  ['its signature', () => `"${SIGNATURE}"`],
  ['its session token', () => `W/"${SESSION_TOKEN}"`],
])('are in no receipt and no confirmation when the ETag is %s', async (_, etagOf) => {
  for (const isVideo of [true, false]) {
    const journal = memoryJournal()
    const confirmed: string[] = []
    const open = goodService(signed)
    const { uplink, settled } = createFarEnd({
      ...{ journal, retries: 2 },
      storage: ({ url }) => ({ status: 200, headers: { etag: etagOf(url) } }),
      service(request, body) {
        if (request.method === 'PATCH') confirmed.push(new TextDecoder().decode(body))
        return open(request, body)
      },
    })
    const files = [{ source: bytesSource('a.action', new Uint8Array(10)) }]
    const upload = isVideo
      ? uplink.uploadVideos({ ...VIDEO, files })
      : uplink.uploadCaptures({ ...CAPTURE, kind: 'tracking', files })
    const told = listenTo(upload)

    const { error, report } = await settled(endOf(upload))

    // A video cannot be confirmed without an ETag; for a capture the status alone is the receipt.
    const why = expect.stringContaining('without giving an ETag that can be kept') as string
    if (isVideo) expect(error).toMatchObject({ code: 'ERR_UPLOAD_ETAG_MISSING', message: why })
    else expect(report).toMatchObject({ status: 'confirmed' })
    const records = (await journal.read(upload.key)).filter((record) => !('files' in record))
    expect(records.some(({ type }) => type === 'part.received')).toBe(!isVideo)
    for (const text of [told(), shown(error), shown(records), ...confirmed, await looks(uplink)]) {
      expect(text).not.toMatch(MARK)
    }
    expect(confirmed).toEqual([])
  }
})

it.each(['https://store.example/a?sig=MARKsig93ab', `s-1?X-Amz-Signature=${SIGNATURE}`, 's'.repeat(1_025), 's\n1'])(
  'are in no id: a service that calls its session %s is not believed',
  async (id) => {
    const open = goodService(signed)
    const { uplink, settled } = createFarEnd({
      storage: () => ({ status: 200, headers: { etag: '"a"' } }),
      service(request, body) {
        const answer = open(request, body)
        const isCreate = request.url.endsWith('/upload_videos') && request.method === 'POST'
        if (!isCreate || answer === undefined || answer instanceof Error) return answer
        return { ...answer, body: { ...(answer.body as object), upload_session_id: id } }
      },
    })
    const upload = uplink.uploadVideos({ ...VIDEO, files: [{ source: bytesSource('a.mp4', new Uint8Array(10)) }] })
    const told = listenTo(upload)

    const { error } = await settled(endOf(upload))

    expect(error).toMatchObject({ code: 'ERR_UPLOAD_SERVICE_REPLY' })
    for (const text of [told(), shown(error), await looks(uplink)]) expect(text).not.toMatch(/MARK|s{1000}/)
  },
)

it('are in no error of a renewal, whatever the host function answers or throws', async () => {
  const renewals: (() => Promise<string[]>)[] = [
    () => Promise.reject(new Error(`could not sign ${signed(0, 1)} with ${CREDENTIAL}`)),
    () => Promise.resolve([]),
    () => Promise.resolve([`https://user:${KEY}@store.example/x`]),
    () => Promise.resolve([`ftp://store.example/?sig=${SIGNATURE}`]),
    () => Promise.resolve([`http://store.example/?sig=${SIGNATURE}`]),
    () => Promise.resolve([`not an address ${SIGNATURE}`]),
  ]
  for (const renewAddresses of renewals) {
    const { uplink, settled } = createFarEnd({ storage: expiredStorage, service: goodService(signed) })
    const files = [{ source: bytesSource('a.mp4', new Uint8Array(10)) }]
    const upload = uplink.uploadVideos({ ...VIDEO, files, renewAddresses })
    const told = listenTo(upload)

    const { error } = await settled(endOf(upload))

    expect(error).toMatchObject({ code: expect.stringMatching(/^ERR_UPLOAD_/) as string })
    expect(told() + shown(error)).not.toMatch(/MARKsig|MARKkey/)
  }
})

it('are in nothing of an analysis that fails', async () => {
  for (const answer of SERVICE.slice(1)) {
    const { uplink, settled } = createFarEnd({
      ...{ credentials: { accessToken: KEY }, giveUpAfterMs: 60_000 },
      ...{ service: answer, storage: () => undefined },
    })
    const analysis = uplink.requestAnalysis({ name: 'n', primary: { segmentId: 7 } })
    const told: unknown[] = []
    for (const event of ['state', 'status', 'warning'] as const) analysis.on(event, (payload) => told.push(payload))

    const error = await settled(analysis.done().catch((thrown: unknown) => thrown))

    expect(error).toMatchObject({ name: 'AnalysisFailedError' })
    expect(shown([told, analysis]) + shown(error)).not.toMatch(MARK)
  }
})

async function looks(uplink: Uplink): Promise<string> {
  const sessions = await uplink.sessions()
  const receipts = await Promise.all(sessions.map(({ key }) => uplink.receipt(key)))
  return shown([sessions, receipts, uplink.stats()])
}

function emptySource(): Source {
  return bytesSource('b.mp4', new Uint8Array(0))
}

/** A host's own source, whose words hold an address of its own. */
function brokenSource(): Source {
  return { ...emptySource(), open: () => Promise.reject(new Error(`GET ${signed(9, 9)} failed`)) }
}
