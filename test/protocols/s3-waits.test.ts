// A store that is out of reach while an upload needs one of its calls: it is said as of a service, and a pause takes hold.

import { describe, expect, it } from 'vitest'

import { bytesSource } from '../../src/adapters/web/bytes-source.ts'
import { TransportError } from '../../src/core/errors.ts'
import type { Transport, TransportReply } from '../../src/core/ports.ts'
import type { UploadEvents } from '../../src/flows/upload.ts'
import { s3Multipart, type S3SignRequest } from '../../src/s3.ts'
import { createFarEnd, endOf, goodStorage } from '../security/far-end.ts'
import { xml, type Answer } from '../helpers/scripted-s3.ts'
import { SMALL } from './s3-rig.ts'

const MINUTE_MS = 60_000
const files = ['a.bin', 'b.bin'].map((name) => ({ source: bytesSource(name, new Uint8Array([1, 2, 3])) }))

/** How a try ends without an answer. */
type Missing = 'no connection' | 'connection lost' | 'redirect refused'
type Calls = (operation: S3SignRequest['operation'], nth: number) => Answer | Missing | undefined

function missing(how: Missing): TransportError {
  if (how === 'no connection') {
    return new TransportError('ERR_UPLOAD_NETWORK', 'No connection', { phase: 'connect', ending: 'neverWhole' })
  }
  const code = how === 'redirect refused' ? 'ERR_UPLOAD_REDIRECT_REFUSED' : 'ERR_UPLOAD_NETWORK'
  return new TransportError(code, 'Lost', { phase: 'answer', ending: 'doubtful' })
}

/** A store that answers what `calls` says to the nth call of an operation, and as it should where that is nothing. */
function storeOf(calls: Calls, onPart: () => unknown = () => undefined) {
  const line = { isDown: false, scheme: 'https' }
  const asked: string[] = []
  const rig = createFarEnd({
    service: goodStorage,
    storage(request, body) {
      onPart()
      return goodStorage(request, body)
    },
  })
  const good = (operation: string, nth: number): Answer => {
    if (operation === 'create') return xml('InitiateMultipartUploadResult', `<UploadId>u${String(nth)}</UploadId>`)
    if (operation === 'complete') return xml('CompleteMultipartUploadResult', '')
    return operation === 'list' ? xml('ListPartsResult', '') : { status: 204 }
  }
  const transport: Transport = {
    send({ url }) {
      const operation = new URL(url).searchParams.get('do') as S3SignRequest['operation']
      asked.push(operation)
      const nth = asked.filter((one) => one === operation).length
      if (line.isDown) {
        const how = { phase: 'connect', ending: 'neverWhole' } as const
        return Promise.reject(new TransportError('ERR_UPLOAD_NETWORK', 'No connection', how))
      }
      const answer = calls(operation, nth) ?? good(operation, nth)
      if (typeof answer === 'string') return Promise.reject(missing(answer))
      const { status, body = '', headers = {} } = answer
      const reply: TransportReply = { status, headers, body: new TextEncoder().encode(body), isBodyCut: false }
      return Promise.resolve(reply)
    },
    endingOf: () => 'neverWhole',
    close: () => Promise.resolve(),
  }
  const protocol = s3Multipart({
    ...{ transport, clock: rig.clock, random: () => 0.5, unitLimits: SMALL },
    sign: ({ operation, key, ...more }) => {
      const part = 'partNumber' in more ? `&partNumber=${String(more.partNumber)}` : ''
      return Promise.resolve({ url: `${line.scheme}://bucket.example/${key}?do=${operation}${part}` })
    },
  })
  const start = (sources = files) => {
    const upload = rig.uplink.upload({ protocol, files: sources })
    const states: string[] = []
    const waits: UploadEvents['waiting'][] = []
    upload.on('state', ({ state }) => states.push(state))
    upload.on('waiting', (wait) => waits.push(wait))
    return { upload, states, waits }
  }
  const until = async (upload: { readonly state: string }, state: string): Promise<void> => {
    for (let turn = 0; turn < 10_000 && upload.state !== state; turn += 1)
      await rig.clock.advance(rig.clock.nextDueInMs ?? 0)
    expect(upload.state).toBe(state)
  }
  return { ...rig, line, asked, start, until }
}

/** Every way in which a store is away. */
const AWAY = [429, 502, 503, 504, 'no connection', 'connection lost'] as const

describe.each(['create', 'complete'] as const)('a store that is away for ten minutes at a %s', (step) => {
  it.each(AWAY)('costs no file (%s)', async (how) => {
    const line = { isBack: false }
    const store = storeOf((operation) =>
      line.isBack || (operation !== step && operation !== 'head')
        ? undefined
        : typeof how === 'number'
          ? { status: how }
          : how,
    )
    store.clock.setTimeout(() => (line.isBack = true), 10 * MINUTE_MS)
    const { upload, waits } = store.start(files.slice(0, 1))

    const isOrphan = step === 'create' && (how === 502 || how === 504 || how === 'connection lost')
    expect(await store.settled(upload.done())).toMatchObject({ status: 'confirmed', hasPossibleOrphan: isOrphan })
    expect(waits.length).toBeGreaterThan(10)
    expect(store.clock.monotonicNow()).toBeGreaterThanOrEqual(10 * MINUTE_MS)
    if (isOrphan) expect(store.asked.filter((operation) => operation === 'create')).toHaveLength(2)
  })

  it.each(AWAY)('is given up in its time (%s)', async (how) => {
    const store = storeOf((operation) =>
      operation !== step && operation !== 'head' ? undefined : typeof how === 'number' ? { status: how } : how,
    )
    const { upload } = store.start(files.slice(0, 1))
    const { error } = await store.settled(endOf(upload))

    const failed = step === 'create' ? { code: 'ERR_UPLOAD_HOST_UNREACHABLE' } : {}
    expect(error).toMatchObject({ ...failed, report: { status: 'failed' } })
    expect(store.clock.monotonicNow()).toBe(60 * MINUTE_MS)
    expect(store.clock.pending).toBe(0)
  })
})

it('goes to the end at once where the platform refused a redirect of the store', async () => {
  const store = storeOf((operation) => (operation === 'create' ? 'redirect refused' : undefined))
  const { error } = await store.settled(endOf(store.start().upload))

  expect(error).toMatchObject({ code: 'ERR_UPLOAD_REDIRECT_REFUSED' })
  expect(store.clock.monotonicNow()).toBeLessThan(MINUTE_MS)
})

describe('a store that is out of reach for ten minutes', () => {
  it('when the uploads are created is waited for and told, and then the upload goes on', async () => {
    const store = storeOf(() => undefined)
    store.line.isDown = true
    const { upload, states, waits } = store.start()
    await store.until(upload, 'waiting')
    while (store.clock.monotonicNow() < 10 * MINUTE_MS) await store.clock.step()
    store.line.isDown = false

    expect(await store.settled(upload.done())).toMatchObject({ status: 'confirmed', hasPossibleOrphan: false })
    expect(states).toEqual(['waiting', 'creating', 'uploading', 'settling', 'confirmed'])
    expect(waits.length).toBeGreaterThan(10)
    // Once the first upload is made, a wait for the second may leave one behind.
    expect(waits[0]).toMatchObject({ isDoubtful: false })
    for (const { sinceMs, untilMs, giveUpAtMs, ...wait } of waits) {
      expect(wait).toMatchObject({ host: 'bucket.example:443', operation: 'create', reason: 'no connection' })
      if (untilMs !== undefined) expect(untilMs).toBeGreaterThan(sinceMs)
      expect(giveUpAtMs! - sinceMs).toBe(60 * MINUTE_MS)
    }
  })

  it('when the parts are joined is waited for and told', async () => {
    const store = storeOf(
      () => undefined,
      () => (store.line.isDown = true),
    )
    const { upload, waits } = store.start()
    await store.until(upload, 'waiting')
    store.line.isDown = false

    expect(await store.settled(upload.done())).toMatchObject({ status: 'confirmed' })
    expect(waits.some(({ operation }) => operation === 'complete')).toBe(true)
  })

  it('lets itself be paused at once and leaves no timer', async () => {
    const store = storeOf(() => undefined)
    store.line.isDown = true
    const { upload } = store.start()
    await store.until(upload, 'waiting')
    upload.pause()
    await store.clock.advance(0)

    expect(upload.state).toBe('paused')
    expect(store.clock.pending).toBe(0)
    expect(upload.snapshot().hasPossibleOrphan).toBe(false)
    store.line.isDown = false
    upload.resume()
    expect(await store.settled(upload.done())).toMatchObject({ status: 'confirmed', hasPossibleOrphan: false })
  })
})

it('is no longer said to be waited for once the first of ten uploads got through', async () => {
  const many = Array.from({ length: 10 }, (_, n) => ({ source: bytesSource(`${String(n)}.bin`, new Uint8Array([1])) }))
  const line = { isBack: false }
  const seen: string[] = []
  const store = storeOf((operation, nth) => {
    if (operation !== 'create') return undefined
    if (!line.isBack) return 'no connection'
    seen.push(upload.state)
    return xml('InitiateMultipartUploadResult', `<UploadId>u${String(nth)}</UploadId>`)
  })
  store.clock.setTimeout(() => (line.isBack = true), 10 * MINUTE_MS)
  const { upload, states } = store.start(many)
  await store.settled(upload.done())

  // Three that waited beside the first are the last to be tried again: nothing is on its way until then, and that is said.
  expect(seen.slice(0, 7)).toEqual(['waiting', ...Array.from({ length: 6 }, () => 'creating')])
  expect(seen).toHaveLength(10)
  expect(states.slice(0, 2)).toEqual(['waiting', 'creating'])
  expect(states.slice(-3)).toEqual(['uploading', 'settling', 'confirmed'])
})

it('one of two uploads that waits while the other is on its way lets that one come to its end', async () => {
  let isSlow = true
  const store = storeOf((operation, nth) =>
    operation === 'create' && nth !== 2 && isSlow ? { status: 503, headers: { 'retry-after': '60' } } : undefined,
  )
  const { upload } = store.start()
  await store.until(upload, 'waiting')
  upload.pause()
  await store.clock.advance(0)

  // The upload that was made is ended again, and the store knows of none.
  expect(store.asked).toContain('abort')
  expect(upload.snapshot().hasPossibleOrphan).toBe(false)
  isSlow = false
  upload.resume()
  expect(await store.settled(upload.done())).toMatchObject({ status: 'confirmed' })
})

it.each([
  ['is refused', { status: 403 }, false],
  ['fails without a clear answer', { status: 500 }, true],
  ['is answered without an id', xml('InitiateMultipartUploadResult', ''), true],
])('a create that %s may have made an upload: %j, %j', async (_how, answer, hasPossibleOrphan) => {
  const store = storeOf((operation) => (operation === 'create' ? answer : undefined))
  const { error } = await store.settled(endOf(store.start().upload))

  expect(error).toMatchObject({ report: { status: 'failed', hasPossibleOrphan } })
})

it('an upload that was made beside one that was refused is ended once more when the store did not hear it', async () => {
  const store = storeOf((operation, nth) => {
    if (operation === 'create' && nth === 2) return { status: 403 }
    return operation === 'abort' && nth === 1 ? 'no connection' : undefined
  })
  const { error } = await store.settled(endOf(store.start().upload))

  expect(error).toMatchObject({ code: 'ERR_UPLOAD_ADDRESS_REFUSED', report: { hasPossibleOrphan: false } })
  expect(store.asked.filter((operation) => operation === 'abort')).toHaveLength(2)
})

it('an upload that was made beside one that was refused is told of when the store never hears of it', async () => {
  const store = storeOf((operation, nth) => {
    if (operation === 'create' && nth === 2) return { status: 403 }
    return operation === 'abort' ? { status: 403 } : undefined
  })
  const { upload } = store.start()
  const warnings: unknown[] = []
  upload.on('warning', (warning) => warnings.push(warning))
  await store.settled(endOf(upload))

  expect(warnings).toMatchObject([{ message: expect.stringContaining('u1') as string }])
})

it('a create that may have made an upload may still have made it when its next try cannot be sent', async () => {
  const store = storeOf(() => {
    store.line.scheme = 'http'
    return { status: 500 }
  })
  const { error } = await store.settled(endOf(store.start().upload))

  expect(error).toMatchObject({ code: 'ERR_UPLOAD_INSECURE_URL', report: { hasPossibleOrphan: true } })
})

it('is told as one however many uploads are created while some of them wait', async () => {
  const many = Array.from({ length: 40 }, (_, n) => ({ source: bytesSource(`${String(n)}.bin`, new Uint8Array([1])) }))
  const store = storeOf((operation, nth) =>
    operation === 'create' && nth <= 4 ? { status: 503, headers: { 'retry-after': '60' } } : undefined,
  )
  const { upload, waits } = store.start(many)
  await store.settled(upload.done())

  // Of the four that waited each may be tried by itself.
  expect(waits.length).toBeGreaterThanOrEqual(2)
  expect(waits.length).toBeLessThanOrEqual(8)
})
