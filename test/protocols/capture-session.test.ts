// The capture protocol against answers written by hand: names in order, and a second registration only for our own names.

import { describe, expect, it } from 'vitest'
import type { PlannedFile, Unit } from '../../src/core/ports.ts'
import { captureSession, type CaptureSessionOptions } from '../../src/protocols/capture-session.ts'
import { errorOf, NEVER, startClientRig } from './client-rig.ts'

function start(own: Partial<CaptureSessionOptions> = {}) {
  const rig = startClientRig()
  const fields = { orgId: 'org-1', mocapTypeId: 2, sessionDate: '2026-11-19', sessionTypeId: 1 }
  return { ...rig, protocol: captureSession({ client: rig.client, ...fields, ...own }) }
}

function plan(fileIndex: number, name: string): PlannedFile {
  return { fileIndex, name, sizeBytes: 10, partCount: 1, partSizeBytes: 10 }
}

const files = [plan(4, 'take-2.action'), plan(5, '__proto__'), plan(6, 'take-10.action')]
/** As JSON, so that `__proto__` is a key like any other. */
const addresses =
  '{"take-10.action":"https://store.example/c","__proto__":"https://store.example/b","take-2.action":"https://store.example/a"}'
const DUPLICATE = { status: 409, body: { message: 'a file already exists for the session' } }

describe('creating', () => {
  it('creates a session from its fields', async () => {
    const { protocol, answer } = start()

    const creating = protocol.create(files, NEVER)
    const sent = await answer({ status: 200, body: { id: 'm-1', session_id: 'm-1', status: 'pending' } })

    expect(sent).toEqual({
      method: 'POST',
      path: '/mocap_session',
      body: { org_id: 'org-1', mocap_type_id: 2, session_date: '2026-11-19', session_type_id: 1 },
    })
    expect(await creating).toEqual({ sessionId: 'm-1', hasPossibleOrphan: false })
  })

  it('says that a session may be left behind when the first answer was lost', async () => {
    const { protocol, answer } = start()

    const creating = protocol.create(files, NEVER)
    await answer({ status: 500 })
    await answer({ status: 200, body: { id: 'm-2' } })

    expect(await creating).toEqual({ sessionId: 'm-2', hasPossibleOrphan: true })
  })

  it('calls nobody when the session is known', async () => {
    const { protocol, transport } = start({ sessionId: 'm-9' })

    expect(await protocol.create(files, NEVER)).toEqual({ sessionId: 'm-9' })
    expect(transport.sent).toEqual([])
  })
})

describe('registering', () => {
  const register = (protocol: ReturnType<typeof captureSession>, isRepeat = false) =>
    protocol.register!('m-1', files, { isRepeat, signal: NEVER })

  it('sends the names in the order of the files, and gives each its address by name', async () => {
    const { protocol, answer } = start({ frameRate: 240 })

    const registering = register(protocol)
    const sent = await answer({ status: 200, body: addresses })

    expect(sent.body).toEqual({
      session_id: 'm-1',
      filenames: ['take-2.action', '__proto__', 'take-10.action'],
      video_framerate: 240,
      reprocess: false,
    })
    expect(await registering).toEqual([
      { fileIndex: 4, addresses: ['https://store.example/a'] },
      { fileIndex: 5, addresses: ['https://store.example/b'] },
      { fileIndex: 6, addresses: ['https://store.example/c'] },
    ])
  })

  it('does not overwrite what somebody else registered', async () => {
    const { protocol, transport, answer } = start()

    const registering = errorOf(register(protocol))
    await answer(DUPLICATE)

    expect(await registering).toMatchObject({ code: 'ERR_UPLOAD_SERVICE_REFUSED' })
    expect(transport.sent).toHaveLength(1)
  })

  it('asks again with reprocess for names of an earlier life of ours', async () => {
    const { protocol, answer } = start()

    const registering = register(protocol, true)
    const first = await answer(DUPLICATE)
    const second = await answer({ status: 200, body: addresses })

    expect([first.body, second.body]).toMatchObject([{ reprocess: false }, { reprocess: true }])
    expect(await registering).toHaveLength(3)
  })

  it('tells of no wait when it asks again and is answered at once', async () => {
    const { protocol, answer } = start()
    const told: unknown[] = []
    const onWaiting = (wait: unknown): void => void told.push(wait)

    const registering = protocol.register!('m-1', files, { isRepeat: true, signal: NEVER, onWaiting })
    await answer(DUPLICATE)
    await answer({ status: 200, body: addresses })
    await registering

    expect(told).toEqual([undefined, undefined])
  })

  it('asks again with reprocess when its own first answer was lost', async () => {
    const { protocol, transport, answer } = start()

    const registering = register(protocol)
    ;(await transport.next()).fail({ phase: 'answer' })
    await answer(DUPLICATE)
    const { body } = await answer({ status: 200, body: addresses })

    expect(body).toMatchObject({ reprocess: true })
    expect(await registering).toHaveLength(3)
  })

  it('does not ask again after a line that never carried the names', async () => {
    const { protocol, transport, answer } = start()

    const registering = errorOf(register(protocol))
    ;(await transport.next()).fail({ phase: 'connect' })
    await answer(DUPLICATE)

    expect(await registering).toMatchObject({ code: 'ERR_UPLOAD_SERVICE_REFUSED' })
    expect(transport.sent).toHaveLength(2)
  })

  it('believes a refusal of what was sent with reprocess', async () => {
    const { protocol, transport, answer } = start({ reprocess: true })

    const registering = errorOf(register(protocol, true))
    await answer(DUPLICATE)

    expect(await registering).toMatchObject({ code: 'ERR_UPLOAD_SERVICE_REFUSED' })
    expect(transport.sent.length).toBe(1)
  })

  it('does not answer refused credentials with reprocess', async () => {
    const { protocol, transport, answer } = start()

    const registering = errorOf(register(protocol, true))
    await answer({ status: 403 })

    expect(await registering).toMatchObject({ code: 'ERR_UPLOAD_CREDENTIALS_REFUSED' })
    expect(transport.sent).toHaveLength(1)
  })

  it.each([
    ['a name without an address', addresses.replace('"__proto__"', '"proto"'), 'ERR_UPLOAD_SERVICE_REPLY'],
    ['one address for two names', addresses.replace('/b', '/a'), 'ERR_UPLOAD_SERVICE_REPLY'],
    [
      'an address of another scheme',
      addresses.replace('https://store.example/b', 'file:///b'),
      'ERR_UPLOAD_SERVICE_REPLY',
    ],
  ])('refuses %s before anything is sent', async (_name, body, code) => {
    const { protocol, answer } = start()

    const registering = errorOf(register(protocol))
    await answer({ status: 200, body })

    expect(await registering).toMatchObject({ code })
  })
})

describe('an answer of the storage', () => {
  const { protocol } = start()
  const unit: Unit = { fileIndex: 4, partNumber: 1, start: 0, end: 10 }
  const judge = (status: number, headers: Record<string, string> = {}, body = '') =>
    protocol.judge({ status, headers, body: new TextEncoder().encode(body), isBodyCut: false }, unit)

  it.each([200, 201, 204, 299])('%i is a receipt without an ETag', (status) => {
    expect(judge(status)).toEqual({ kind: 'received', acceptedEnd: 10 })
  })

  it('keeps an ETag where there is one, to compare', () => {
    expect(judge(200, { etag: 'W/"aa"' })).toEqual({ kind: 'received', acceptedEnd: 10, etag: 'W/"aa"' })
    expect(judge(200, { etag: 'null' })).toEqual({ kind: 'received', acceptedEnd: 10 })
  })

  it.each([
    ['labelled', { 'content-type': 'text/html; charset=utf-8' }, '\n<title>Sign in</title>'],
    ['without a label, and with an ETag', { etag: '"5f3a-1b2c"' }, '<!DOCTYPE html><title>Sign in</title>'],
  ])('that is a web page with 200 comes from somebody else, and is waited for: %s', (_, headers, body) => {
    expect(judge(200, headers, body)).toMatchObject({
      kind: 'retry',
      isThrottle: true,
      error: {
        code: 'ERR_UPLOAD_SERVICE_REPLY',
        isRetryable: true,
        status: 200,
        message: 'A web page answered for the storage: sign in to the network.',
      },
    })
    expect(judge(201, headers, body).kind).toBe('received')
  })

  it.each([
    [503, 'retry'],
    [403, 'renew'],
    [300, 'final'],
    [302, 'final'],
    [413, 'final'],
  ])('%i means %s', (status, kind) => {
    expect(judge(status).kind).toBe(kind)
  })
})

it('sends a file as one PUT without a header of its own, a hundred names in one registration', () => {
  const { protocol } = start()

  expect(protocol.request({ fileIndex: 0, partNumber: 1, start: 0, end: 10 }, 'https://store.example/b')).toEqual({
    ...{ method: 'PUT', headers: {} },
  })
  expect(protocol.traits.batchSize).toBe(100)
})

it('says what it is: one PUT a file, in batches, without a confirm and without a cancel', () => {
  const { protocol } = start({ batchSize: 7 })

  expect(protocol.traits).toEqual({
    units: { minBytes: 0, maxBytes: 5 * 1024 ** 3, maxCount: 1, multipleOfBytes: 1 },
    ...{ order: 'any', addressing: 'batches', batchSize: 7 },
  })
  expect(protocol.cancel).toBe(undefined)
  expect(protocol.confirm).toBe(undefined)
})
