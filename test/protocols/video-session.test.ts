// The video protocol against answers written by hand: what it sends, what it takes for a receipt, when a refusal is none.

import { describe, expect, it } from 'vitest'
import type { PlannedFile, Unit } from '../../src/core/ports.ts'
import { videoSession, type VideoSessionOptions } from '../../src/protocols/video-session.ts'
import { errorOf, NEVER, startClientRig } from './client-rig.ts'

const plan: PlannedFile = {
  ...{ fileIndex: 0, name: '__proto__', sizeBytes: 10, partCount: 2, partSizeBytes: 5 },
  extra: { frameRate: 240, camera: 'left' },
}
const reply = (origin: string) => ({
  upload_session_id: 's-1',
  pre_signed_urls: [{ session_file_id: 7, info: [{ url: `${origin}/1` }, { url: `${origin}/2` }] }],
})

function start(own: Partial<VideoSessionOptions> = {}) {
  const rig = startClientRig()
  const fields = { movementTypeId: 1, playerId: 'p-17', sessionDate: '2026-11-20', sessionTypeId: 2 }
  return { ...rig, protocol: videoSession({ client: rig.client, ...fields, ...own }) }
}

const unit: Unit = { fileIndex: 0, partNumber: 2, start: 5, end: 10 }
const answered = (status: number, headers: Record<string, string> = {}, body = '') => ({
  ...{ status, headers, body: new TextEncoder().encode(body), isBodyCut: false },
})

describe('creating', () => {
  it('sends the plan, and gives the addresses with the ids as they came', async () => {
    const { protocol, answer } = start()

    const creating = protocol.create([plan], NEVER)
    const sent = await answer({ status: 200, body: reply('https://store.example') })

    expect(sent).toEqual({
      method: 'POST',
      path: '/upload_videos',
      body: {
        files: [{ raw_file_name: '__proto__', file_size_bytes: 10, number_of_chunks: 2, file_id: 1, frame_rate: 240 }],
        ...{ movement_type_id: 1, player_id: 'p-17', session_date: '2026-11-20', session_type_id: 2 },
      },
    })
    expect(await creating).toEqual({
      sessionId: 's-1',
      files: [{ fileIndex: 0, serverFileId: 7, addresses: ['https://store.example/1', 'https://store.example/2'] }],
      hasPossibleOrphan: false,
    })
  })

  it('says that a session may be orphaned when the first answer was lost', async () => {
    const { protocol, transport, answer } = start()

    const creating = protocol.create([plan], NEVER)
    ;(await transport.next()).fail({ phase: 'answer' })
    expect(await answer({ status: 200, body: [] })).toMatchObject({ method: 'GET', path: '/requested_analyses' })
    await answer({ status: 200, body: reply('https://store.example') })

    expect((await creating).hasPossibleOrphan).toBe(true)
  })

  it('refuses addresses that fit the files in no certain way, and names the session', async () => {
    const { protocol, answer } = start()

    const creating = errorOf(protocol.create([plan, { ...plan, fileIndex: 1 }], NEVER))
    await answer({ status: 200, body: reply('https://store.example') })

    expect(await creating).toMatchObject({ code: 'ERR_UPLOAD_SERVICE_REPLY', details: { sessionId: 's-1' } })
  })

  it('says of a session whose addresses are refused that an earlier try may have opened another', async () => {
    const { protocol, transport, answer } = start()

    const creating = errorOf(protocol.create([plan, { ...plan, fileIndex: 1 }], NEVER))
    ;(await transport.next()).fail({ phase: 'answer' })
    await answer({ status: 200, body: [] })
    await answer({ status: 200, body: reply('https://store.example') })

    expect(await creating).toMatchObject({ details: { sessionId: 's-1', isDoubtful: true } })
  })
})

describe('every call', () => {
  const calls: readonly (readonly [string, (signal: AbortSignal, onWaiting: () => void) => Promise<unknown>])[] = [
    ['create', (signal, onWaiting) => start().protocol.create([plan], signal, onWaiting)],
    ['confirm', (signal, onWaiting) => start().protocol.confirm!('s-1', 7, [part], signal, onWaiting)],
    ['cancel', (signal) => start().protocol.cancel!('s-1', signal)],
  ]
  const part = { partNumber: 1, receipt: { acceptedEnd: 5, etag: '"e"', isVerified: false } }

  it.each(calls)('ends with its signal: %s', async (_, call) => {
    const reason = new Error('enough')

    expect(await errorOf(call(AbortSignal.abort(reason), () => undefined))).toBe(reason)
  })

  it.each(calls.slice(0, 2))('tells when a try begins: %s', async (_, call) => {
    const stop = new AbortController()
    let begun = 0
    const ended = errorOf(call(stop.signal, () => (begun += 1)))
    expect(begun).toBe(1)

    stop.abort(new Error('enough'))
    await ended
  })
})

it('says what it is: parts in any order, addresses with the session, a confirm and one cancel for all', () => {
  const { traits, confirm, cancel } = start().protocol
  const unitLimits = { minBytes: 1, maxBytes: 2, maxCount: 3, multipleOfBytes: 1 }

  expect(traits).toEqual({
    units: { minBytes: 5 * 1024 ** 2, maxBytes: 5 * 1024 ** 3, maxCount: 10_000, multipleOfBytes: 1 },
    ...{ order: 'any', addressing: 'session', batchSize: 0 },
  })
  expect([typeof confirm, typeof cancel]).toEqual(['function', 'function'])
  expect(start({ unitLimits }).protocol.traits.units).toBe(unitLimits)
})

it('sends no frame rate that is none', async () => {
  const { protocol, answer } = start()
  const creating = protocol.create([{ ...plan, extra: { frameRate: '240' } }], NEVER)
  const { body } = await answer({ status: 200, body: reply('https://store.example') })

  expect((body as { readonly files: readonly object[] }).files[0]).not.toHaveProperty('frame_rate')
  await creating
})

describe('an answer of the storage', () => {
  const { protocol } = start()

  it.each([
    ['"d41d8cd98f00b204e9800998ecf8427e"', '"d41d8cd98f00b204e9800998ecf8427e"'],
    ['W/"d41d8cd98f00b204e9800998ecf8427e"', 'W/"d41d8cd98f00b204e9800998ecf8427e"'],
    ['d41d8cd98f00b204e9800998ecf8427e', 'd41d8cd98f00b204e9800998ecf8427e'],
    [' "opaque-1" ', '"opaque-1"'],
  ])('with ETag %j is a receipt with %j', (etag, kept) => {
    expect(protocol.judge(answered(200, { etag }), unit)).toEqual({ kind: 'received', acceptedEnd: 10, etag: kept })
    expect(protocol.judge(answered(204, { etag }), unit)).toEqual({ kind: 'received', acceptedEnd: 10, etag: kept })
  })

  it.each([199, 300])('of status %i is no receipt', (status) => {
    expect(protocol.judge(answered(status, { etag: '"e"' }), unit).kind).toBe('final')
  })

  it('whose ETag a page cannot read ends the file at once, and says what to do', () => {
    const { protocol } = start()
    const hidden = { ...answered(200), hidesHeaders: true }

    expect(protocol.judge(hidden, unit)).toMatchObject({
      kind: 'final',
      error: {
        code: 'ERR_UPLOAD_ETAG_MISSING',
        isRetryable: false,
        message: expect.stringMatching(/part 2.*cannot be read in a page.*ExposeHeaders/) as string,
      },
    })
    expect(protocol.judge({ ...hidden, hidesHeaders: false }, unit).kind).toBe('retry')
    expect(protocol.judge({ ...hidden, headers: { etag: '""' } }, unit).kind).toBe('retry')
  })

  it('without an ETag is tried again in a page, too, once the page has read one of that session: no rule hides it', () => {
    const { protocol } = start()
    const inPage = { ...answered(200), hidesHeaders: true }

    expect(protocol.judge({ ...inPage, headers: { etag: '"e"' } }, unit).kind).toBe('received')
    expect(protocol.judge(inPage, unit)).toMatchObject({
      kind: 'retry',
      error: { code: 'ERR_UPLOAD_ETAG_MISSING', isRetryable: true },
    })
  })

  it.each([[undefined], [''], ['""'], ['null'], ['"undefined"'], ['W/""']])(
    'with ETag %j is none, and tried again',
    (etag) => {
      const verdict = protocol.judge(answered(200, etag === undefined ? {} : { etag }), unit)

      expect(verdict).toMatchObject({ kind: 'retry', error: { code: 'ERR_UPLOAD_ETAG_MISSING', isRetryable: true } })
      expect(verdict).not.toHaveProperty('isThrottle')
    },
  )

  it.each([
    [500, '', 'retry', 'ERR_UPLOAD_HTTP_STATUS'],
    [307, '', 'final', 'ERR_UPLOAD_REDIRECT_REFUSED'],
    [
      403,
      '<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>',
      'renew',
      'ERR_UPLOAD_ADDRESS_EXPIRED',
    ],
    [403, '<Error><Code>SignatureDoesNotMatch</Code></Error>', 'final', 'ERR_UPLOAD_ADDRESS_REFUSED'],
    [404, '<Error><Code>NoSuchUpload</Code></Error>', 'final', 'ERR_UPLOAD_ADDRESS_REFUSED'],
  ])('%i %s is %s with %s', (status, body, kind, code) => {
    expect(protocol.judge(answered(status, { etag: '"a"' }, body), unit)).toMatchObject({ kind, error: { code } })
  })
})

it('sends a unit as a PUT without a header of its own', () => {
  expect(start().protocol.request(unit, 'https://store.example/2')).toEqual({ method: 'PUT', headers: {} })
})

describe('confirming', () => {
  const parts = ['"aa"', 'W/"bb"', 'cc'].map((etag, index) => ({
    partNumber: index + 1,
    receipt: { acceptedEnd: index + 1, etag, isVerified: false },
  }))

  it.each([
    [undefined, ['"aa"', 'W/"bb"', 'cc']],
    ['asReceived', ['"aa"', 'W/"bb"', 'cc']],
    ['quoted', ['"aa"', '"bb"', '"cc"']],
    ['bare', ['aa', 'bb', 'cc']],
  ] as const)('sends ETags in the form %s', async (etagForm, etags) => {
    const { protocol, answer } = start(etagForm === undefined ? {} : { etagForm })

    const confirming = protocol.confirm!('s-1', 7, parts, NEVER)
    const sent = await answer({ status: 200 })
    await confirming

    expect(sent).toEqual({
      method: 'PATCH',
      path: '/upload_videos',
      body: {
        ...{ upload_session_id: 's-1', affected_file_id: 7, upload_successful: true },
        file_part_info: etags.map((etag, index) => ({ etag, part_number: index + 1 })),
      },
    })
  })

  it.each([
    [{ message: 'File is already confirmed' }],
    [{ error: 'Upload already completed.' }],
    [{ detail: 'ALREADY ACTIVE' }],
    [{ errors: ['this file was activated already'] }],
    [{ message: 'It has already been confirmed: nothing to do' }],
    [{ code: 'ALREADY_CONFIRMED' }],
  ])('takes a 409 that says %j for success', async (body) => {
    const { protocol, answer } = start()

    const confirming = protocol.confirm!('s-1', 7, parts, NEVER)
    await answer({ status: 409, body })

    await expect(confirming).resolves.toBe(undefined)
  })

  it.each([
    [409, { message: 'ETag of part 2 does not match' }],
    [409, { message: 'the session was already cancelled' }],
    [409, { message: 'the file is already being confirmed' }],
    [409, { message: 'the file is not already confirmed' }],
    [409, { message: 'confirm refused: already failed' }],
    [409, undefined],
    [400, { message: 'File is already confirmed' }],
    [404, { message: 'no such session_file_id' }],
    [422, { message: 'file_part_info is not complete' }],
  ])('takes a %i that says %j for a refusal', async (status, body) => {
    const { protocol, answer } = start()

    const confirming = errorOf(protocol.confirm!('s-1', 7, parts, NEVER))
    await answer({ status, body })

    // By its cause it is told whether the service knows the file at all.
    expect(await confirming).toMatchObject({
      ...{ code: 'ERR_UPLOAD_CONFIRM_REFUSED', details: { status } },
      cause: { code: 'ERR_UPLOAD_SERVICE_REFUSED', status },
    })
  })

  it('lets the host say which refusal is a success', async () => {
    const { protocol, answer } = start({ isAlreadyConfirmed: (error) => error.status === 404 })

    const confirming = protocol.confirm!('s-1', 7, parts, NEVER)
    await answer({ status: 404 })

    await expect(confirming).resolves.toBe(undefined)
  })

  it('asks the host of refusals only: what is no answer confirms nothing', async () => {
    const { protocol, answer } = start({ isAlreadyConfirmed: () => true })

    const confirming = errorOf(protocol.confirm!('s-1', 7, parts, NEVER))
    await answer({ status: 200, body: '<html>Welcome to the hotel' })

    expect(await confirming).toMatchObject({ code: 'ERR_UPLOAD_SERVICE_REPLY' })
  })

  it('takes the promise of an async function for no word of success', async () => {
    const isAlreadyConfirmed = (() => Promise.resolve(false)) as unknown as () => boolean
    const { protocol, answer } = start({ isAlreadyConfirmed })

    const confirming = errorOf(protocol.confirm!('s-1', 7, parts, NEVER))
    await answer({ status: 409 })

    expect(await confirming).toMatchObject({ code: 'ERR_UPLOAD_CONFIRM_REFUSED' })
  })

  it('takes a 409 for success also where the client came with another copy of the package', async () => {
    const facts = { code: 'ERR_UPLOAD_SERVICE_REFUSED', status: 409, details: {}, isRetryable: false }
    const { client } = startClientRig()
    const confirm = () => Promise.reject(Object.assign(new Error('Refused (409). It says: already confirmed'), facts))
    const { protocol } = start({ client: { ...client, videoUploads: { ...client.videoUploads, confirm } } })

    await expect(protocol.confirm!('s-1', 7, parts, NEVER)).resolves.toBe(undefined)
  })

  it('does not call refused credentials a refusal of the file', async () => {
    const { protocol, answer } = start()

    const confirming = errorOf(protocol.confirm!('s-1', 7, parts, NEVER))
    await answer({ status: 401 })

    expect(await confirming).toMatchObject({ code: 'ERR_UPLOAD_CREDENTIALS_REFUSED' })
  })

  it('repeats the identical call after a lost answer', async () => {
    const { protocol, transport, answer } = start()

    const confirming = protocol.confirm!('s-1', 7, parts, NEVER)
    const first = await transport.next()
    first.fail({ phase: 'answer' })
    const second = await answer({ status: 200 })
    await confirming

    expect(second.body).toEqual(await first.bodyJson())
  })
})

it('cancels the session by its id, whatever is in it', async () => {
  const { protocol, answer } = start()

  const cancelling = protocol.cancel!('s/1?', NEVER)
  const { method, path } = await answer({ status: 204 })
  await cancelling

  expect([method, path]).toEqual(['DELETE', '/upload_videos/s%2F1%3F'])
})
