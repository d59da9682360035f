import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { aMocapSession, answerNext, clientUnderTest, rejection } from './client-under-test.ts'
import type { ServiceClient } from './client-under-test.ts'
import { videoUploadFromWire } from '../../src/client/contract/videos.ts'
import type { ScriptedReply } from '../helpers/scripted-transport.ts'

async function errorOf(reply: ScriptedReply, call: (client: ServiceClient) => Promise<unknown>): Promise<unknown> {
  const subject = clientUnderTest({ retries: 0 })
  const failure = rejection(call(subject.client))
  await answerNext(subject, reply)
  return failure
}

async function resultOf<TResult>(
  body: unknown,
  call: (client: ServiceClient) => Promise<TResult>,
  headers: Record<string, string> = {},
): Promise<TResult> {
  const subject = clientUnderTest()
  const result = call(subject.client)
  await answerNext(subject, { status: 200, body, headers })
  return result
}

const html = { 'content-type': 'text/html; charset=utf-8' }
const createSession = (client: ServiceClient): Promise<unknown> => client.mocapSessions.create(aMocapSession)
const confirm = (client: ServiceClient): Promise<void> =>
  client.videoUploads.confirm({ uploadSessionId: 'u', sessionFileId: 1, parts: [{ partNumber: 1, etag: 'e' }] })
const createVideo = (client: ServiceClient) =>
  client.videoUploads.create({
    files: [{ name: 'a.mp4', sizeBytes: 3, partCount: 1 }],
    movementTypeId: 1,
    playerId: 'p',
    sessionDate: '2026-11-20',
    sessionTypeId: 1,
  })
const register =
  (...filenames: string[]) =>
  (client: ServiceClient): Promise<Map<string, string>> =>
    client.mocapSessionFiles.register({ sessionId: 's', filenames })

it.each([
  [900_000, 'at once'],
  [1_100_000, 'in a later task, so that a page can draw in between'],
])('sense is made of an answer of %i bytes %s', async (length, when) => {
  const subject = clientUnderTest()
  let isMade = false
  const made = subject.client.mocapSessions.create(aMocapSession).then(() => (isMade = true))
  await answerNext(subject, { status: 200, body: { id: 's', notes: 'x'.repeat(length) } })
  // All that is left to do in this task is done.
  await new Promise(setImmediate)

  expect(isMade).toBe(when === 'at once')
  await subject.clock.advance(0)
  await made
})

describe('a success that is none', () => {
  it.each([
    [{ status: 200 }, 'an empty body instead of JSON'],
    [{ status: 200, body: ' \r\n' }, 'an empty body instead of JSON'],
    [{ status: 200, body: '{"id":' }, 'a body that is not JSON'],
    [{ status: 200, body: '\uFEFF <p>Log in</p>', headers: html }, 'a web page (HTML) instead of JSON'],
    [
      { status: 200, body: '<p>Log in', headers: { 'content-type': ' Application/XHTML+xml' } },
      'a web page (HTML) instead of JSON',
    ],
    [{ status: 200, headers: html }, 'an empty body instead of JSON'],
    [{ status: 200, body: '\n<!DOCTYPE html><p>Log in' }, 'a web page (HTML) instead of JSON'],
  ])('%o', async (reply, what) => {
    expect(await errorOf(reply, createSession)).toMatchObject({
      code: 'ERR_UPLOAD_SERVICE_REPLY',
      message: `The service answered 200 with ${what} when asked to create the capture session. Check the base URL.`,
      details: { isBaseUrlDoubtful: true, operation: 'mocapSessions.create', status: 200 },
    })
  })

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('that a proxy has compressed is called so (%s)', async (encoding, pack) => {
    const body = pack('{"session_id":"s-1","status":"pending","num_players":0}')
    const headers = { 'content-encoding': encoding }
    expect(await errorOf({ status: 200, body, headers }, confirm)).toMatchObject({ code: 'ERR_UPLOAD_SERVICE_REPLY' })
    expect(await errorOf({ status: 200, body, headers }, createSession)).toMatchObject({
      code: 'ERR_UPLOAD_SERVICE_REPLY',
      message:
        'The service answered 200 with a body that a proxy has compressed when asked to create the capture session. Check the base URL.',
    })
  })

  it('is one that the platform has unpacked, whatever its header says still', async () => {
    // A character that somebody's machine could not read is text like any other.
    const body = { session_id: 's-1', note: 'Ren\u{FFFD}' }
    expect(await resultOf(body, createSession, { 'content-encoding': 'gzip' })).toMatchObject({ sessionId: 's-1' })
  })

  it('may be plain words in a confirmation, where the platform has unpacked those', async () => {
    await expect(resultOf('OK', confirm, { 'content-encoding': 'gzip' })).resolves.toBe(undefined)
  })

  it('asks for bodies as they are', async () => {
    const subject = clientUnderTest()
    void createSession(subject.client).catch(() => undefined)
    expect((await subject.transport.next()).headers).toMatchObject({ 'accept-encoding': 'identity' })
  })

  it('is never a login page in place of a confirmation', async () => {
    expect(await errorOf({ status: 200, body: '<html>Welcome to the hotel' }, confirm)).toMatchObject({
      code: 'ERR_UPLOAD_SERVICE_REPLY',
    })
  })

  it.each([undefined, 'OK', 'no <html', 're\u{FFFD}u', {}, { done: true }, 'null'])(
    'a confirmation may be answered with %j',
    async (body) => {
      await expect(resultOf(body, confirm)).resolves.toBeUndefined()
      await expect(resultOf(body, confirm, html)).resolves.toBeUndefined()
    },
  )

  it('is no page because it is not labelled and begins as a page does', async () => {
    await expect(resultOf('<ok/>', confirm)).resolves.toBe(undefined)
  })

  it('is no page because a server labels its JSON so', async () => {
    const body = { analysis_segment_id: 7 }
    const segment = (client: ServiceClient) => client.playerGroupSegments.create({ movementTypeId: 1, domHand: 'RHA' })
    expect(await resultOf(body, segment, html)).toMatchObject({ analysisSegmentId: 7 })
  })

  it.each([undefined, 'OK'])('a submission may be answered with %j', async (body) => {
    expect(await resultOf(body, (client) => client.requestedAnalyses.submit(3))).toStrictEqual({})
  })

  it.each([undefined, 'OK'])('an update may be answered with %j', async (body) => {
    const change = { id: 3, data: { name: 'Fastballs' } }
    expect(await resultOf(body, (client) => client.requestedAnalyses.update(change))).toStrictEqual({})
    expect(await resultOf(body, (client) => client.playerGroupSegments.update(change))).toStrictEqual({})
  })
})

describe('what a reply lacks', () => {
  it('is named with what was sent and what came back, a segment', async () => {
    const error = await errorOf(
      { status: 200, body: { errors: ['dom_hand is misspelt'], trace: 'secret-value' } },
      (client) => client.playerGroupSegments.create({ movementTypeId: 1, domHand: 'RHA', extra: { domhand: 'RHA' } }),
    )

    expect(error).toMatchObject({
      code: 'ERR_UPLOAD_SERVICE_REPLY',
      message:
        'The service answered 200 without a valid analysis_segment_id when asked to create the segment. Sent were the fields ' +
        'domhand, movement_type_id, dom_hand; the reply has the fields errors, trace. Check the names and forms of what ' +
        'was sent. It says: dom_hand is misspelt',
      details: { sentFields: ['domhand', 'movement_type_id', 'dom_hand'] },
    })
  })

  it.each([
    { upload_session_id: 'u' },
    { pre_signed_urls: [] },
    { upload_session_id: '', pre_signed_urls: [] },
    { upload_session_id: 'u', pre_signed_urls: {} },
    { upload_session_id: 'u', pre_signed_urls: [{ session_file_id: 1 }] },
    { upload_session_id: 'u', pre_signed_urls: [{ info: [] }] },
    { upload_session_id: 'u', pre_signed_urls: [{ session_file_id: 1, info: [{}] }] },
    { upload_session_id: 'u', pre_signed_urls: [{ session_file_id: 1, info: [{ url: '/relative?sig=abcdef' }] }] },
    { upload_session_id: 9007199254740992, pre_signed_urls: [] },
    { upload_session_id: -5, pre_signed_urls: [] },
    { upload_session_id: 1.5, pre_signed_urls: [] },
    { upload_session_id: 'u', pre_signed_urls: [{ session_file_id: -1, info: [] }] },
  ])('is refused in a video upload: %j', async (body) => {
    const error = await errorOf({ status: 200, body }, createVideo)

    expect(error).toMatchObject({ code: 'ERR_UPLOAD_SERVICE_REPLY' })
    expect(String(error)).toContain('without a valid upload_session_id and a well-formed pre_signed_urls')
    expect(String(error)).not.toContain('abcdef')
  })

  it('says whether an earlier try may have begun a session, too', async () => {
    const subject = clientUnderTest()
    const failure = rejection(createVideo(subject.client))
    await answerNext(subject, { status: 500 })
    await subject.clock.advance(250)
    await answerNext(subject, { status: 200, body: { upload_session_id: 5 } })

    expect(await failure).toMatchObject({
      code: 'ERR_UPLOAD_SERVICE_REPLY',
      details: { sessionId: 5, isDoubtful: true },
    })
  })

  it('is told without the credential, wherever the reply repeats it', async () => {
    const body = { 'key-0123456789abcdef': 1, message: 'nothing for key-0123456789abcdef' }
    const { message } = (await errorOf({ status: 200, body }, (client) => client.requestedAnalyses.list())) as Error

    expect(message).toMatch(/the reply has the fields …, message\. .* It says: nothing for …$/)
  })

  it.each([{}, { id: null }, { session_id: '' }, { session_id: -5 }, { session_id: 1.5 }, [], 'null'])(
    'is refused in a session: %j',
    async (body) => {
      const error = await errorOf({ status: 200, body }, createSession)
      expect(error).toMatchObject({ code: 'ERR_UPLOAD_SERVICE_REPLY' })
      expect(String(error)).toContain('answered 200 without a valid session_id when')
    },
  )

  it.each([-7, 7.5, '-7'])('is refused in a segment: %j', async (analysis_segment_id) => {
    const create = (client: ServiceClient) => client.playerGroupSegments.create({ movementTypeId: 1, domHand: 'LHA' })
    expect(await errorOf({ status: 200, body: { analysis_segment_id } }, create)).toMatchObject({
      code: 'ERR_UPLOAD_SERVICE_REPLY',
    })
  })
})

describe('ids', () => {
  it.each(['s-1', 17])('stay as they came: %j', async (id) => {
    expect(await resultOf({ session_id: id }, createSession)).toStrictEqual({ id, sessionId: id })
  })

  it.each([-1, 1.5])('that are none are left as fields that we do not know: %j', async (id) => {
    const session = await resultOf({ session_id: 's-1', id, mocap_type_id: id, num_players: id }, createSession)
    expect(session).toStrictEqual({ id: 's-1', sessionId: 's-1', mocap_type_id: id, num_players: id })
  })

  it.each([0, '1'])('that number no part are left as fields that we do not know: %j', (part_number) => {
    const url = 'https://store.example/1'
    const reply = { upload_session_id: 's-1', pre_signed_urls: [{ session_file_id: 7, info: [{ url, part_number }] }] }

    expect(videoUploadFromWire(reply)).toStrictEqual({
      uploadSessionId: 's-1',
      sessionFiles: [{ sessionFileId: 7, partAddresses: [{ address: url, part_number }] }],
    })
  })

  it.each([4711, '4711'])('of a segment become an integer: %j', async (id) => {
    const create = (client: ServiceClient) => client.playerGroupSegments.create({ movementTypeId: 1, domHand: 'LHA' })
    expect(await resultOf({ analysis_segment_id: id }, create)).toStrictEqual({ analysisSegmentId: 4711 })
  })

  it('go back in a path as one segment', async () => {
    const subject = clientUnderTest()
    const analysis = subject.client.requestedAnalyses.get('a/b?c#d é')
    const request = await subject.transport.next()
    request.reply({ status: 200, body: { requested_analysis_id: 'a/b?c#d é' } })

    expect(request.url).toBe('https://service.example/requested_analyses/a%2Fb%3Fc%23d%20%C3%A9')
    expect(await analysis).toStrictEqual({ id: 'a/b?c#d é' })
  })

  it('of an analysis is `id` where a reply has both names for it', async () => {
    const body = { requested_analysis_id: 9, id: 7 }
    const analysis = await resultOf(body, (client) => client.requestedAnalyses.get(7))
    expect(analysis).toStrictEqual({ requested_analysis_id: 9, id: 7 })
  })

  it.each(['.', '..', ''])('that would leave the path are refused: %j', async (id) => {
    const subject = clientUnderTest()
    expect(await rejection(subject.client.videoUploads.cancel(id))).toMatchObject({
      code: 'ERR_UPLOAD_INVALID_ARGUMENT',
    })
    expect(subject.transport.sent).toHaveLength(0)
  })
})

describe('unknown fields', () => {
  it('are kept under their wire names, whatever they are called', async () => {
    const body = JSON.parse(
      '{"id":"s","num_players":"many","__proto__":"kept","created_at":null,"new_field":[1]}',
    ) as object
    const session = await resultOf(body, (client) => client.mocapSessions.create(aMocapSession))

    expect(Object.entries(session).sort()).toStrictEqual([
      ['__proto__', 'kept'],
      ['created_at', null],
      ['id', 's'],
      ['new_field', [1]],
      ['num_players', 'many'],
      ['sessionId', 's'],
    ])
  })
})

describe('names', () => {
  const a = 'https://s.example/1?sig=1'
  const b = 'https://s.example/2?sig=2'
  const composed = 'Bj\u00f6rn.action'
  const decomposed = 'Bjo\u0308rn.action'

  it('are found in their composed form, in the order asked', async () => {
    const addresses = await resultOf({ 'z.action': a, [composed]: b }, register(decomposed, 'z.action'))

    expect([...addresses]).toStrictEqual([
      [decomposed, b],
      ['z.action', a],
    ])
  })

  it('that differ in form only are told apart where the service does', async () => {
    const addresses = await resultOf({ [composed]: a, [decomposed]: b }, register(decomposed, composed))

    expect([...addresses]).toStrictEqual([
      [decomposed, b],
      [composed, a],
    ])
  })

  it.each([
    [{ [composed]: a }, [decomposed, composed], 'without an address for Bjo\u0308rn.action when', [a]],
    [{ 'a.action': a, 'b.action': a }, ['a.action', 'b.action'], 'of its own for each of a.action, b.action', [a]],
    [{ '\u00c5': a, 'A\u030a': b }, ['\u212b'], 'without an address for \u212b', [a, b]],
    [{ '\u00c5': a }, ['\u212b', 'A\u030a'], 'without an address for \u212b, A\u030a', [a]],
    [{ 'a.action': 7 }, ['a.action'], 'without an address for a.action', []],
    [{ 'a.action': 'nonsense?sig=abcdef' }, ['a.action'], 'without an address for a.action', ['abcdef']],
    [{}, ['toString', '__proto__'], 'without an address for toString, __proto__', []],
    [[], ['a.action'], 'the reply has no object', []],
  ])('that have no address of their own are an error: %j', async (body, names, what, hidden) => {
    const error = await errorOf({ status: 200, body }, register(...names))

    expect(error).toMatchObject({ code: 'ERR_UPLOAD_SERVICE_REPLY' })
    expect(String(error)).toContain(what)
    for (const secret of hidden) expect(String(error)).not.toContain(secret)
  })

  it('of ten thousand files are matched in no time, and a message names ten', async () => {
    const names = Array.from({ length: 10_000 }, (_, index) => `pitch-${index}.action`)
    const all = Object.fromEntries(names.map((name) => [name, `https://s.example/${name}`]))

    expect((await resultOf(all, register(...names))).get('pitch-9999.action')).toBe(
      'https://s.example/pitch-9999.action',
    )
    expect(String(await errorOf({ status: 200, body: {} }, register(...names)))).toContain(
      'pitch-9.action and 9990 more when',
    )
  })
})

describe('lists', () => {
  const item = { id: 1, name: 'A', flag: true }

  it.each([
    [[item]],
    [{ requested_analyses: [item], next: 2 }],
    [{ data: [item] }],
    [{ results: [item], count: 1 }],
    [{ items: [item] }],
  ])('are read from %j', async (body) => {
    const list = await resultOf(body, (client) => client.requestedAnalyses.list())

    expect(list).toStrictEqual({ items: [{ id: 1, name: 'A', flag: true }], raw: body })
  })

  it.each([{}, { analyses: [] }, { data: [], items: [] }, { data: {} }, [1], 'null'])(
    'are not guessed: %j',
    async (body) => {
      expect(await errorOf({ status: 200, body }, (client) => client.requestedAnalyses.list())).toMatchObject({
        code: 'ERR_UPLOAD_SERVICE_REPLY',
      })
    },
  )

  it('take a query', async () => {
    const subject = clientUnderTest()
    const list = subject.client.requestedAnalyses.list({
      query: { name: 'A & B', limit: 10, none: undefined, id: [1, 2] },
    })
    const request = await subject.transport.next()
    request.reply({ status: 200, body: [] })
    await list

    expect(request.url).toBe('https://service.example/requested_analyses?name=A+%26+B&limit=10&id=1&id=2')
  })
})

describe('the words of a refusal', () => {
  it.each([
    [{ message: 'No such player' }, 'No such player'],
    [{ error: 'No such player' }, 'No such player'],
    [{ detail: 'No such player' }, 'No such player'],
    [{ error: { code: 'E_PLAYER', message: 'No such player' } }, 'No such player'],
    [{ detail: [{ loc: ['body', 'player_id'], msg: 'field required' }, 'and more'] }, 'field required; and more'],
    [{ error: { code: 400, errors: [{ domain: 'global', message: 'No such player' }] } }, 'No such player'],
    [{ message: 'twice', error: 'twice' }, 'twice'],
    [{ message: 'line\r\nbreak\u001b[31m' }, 'line  break [31m'],
    [{ message: 'GET https://u:p@s.example/a?X-Amz-Signature=abc failed' }, 'GET https://s.example/a?… failed'],
    [{ message: 'x'.repeat(400) }, `${'x'.repeat(299)}…`],
    [{ message: 'x'.repeat(300) }, 'x'.repeat(300)],
    [{ message: `x${'😀'.repeat(150)}` }, `x${'😀'.repeat(149)}…`],
    [{ message: '😀'.repeat(151) }, `${'😀'.repeat(149)}…`],
    [{ message: ' ', error: ' No such player ' }, 'No such player'],
    [{ errors: ['1', '2', '3', '4', '5', '6'] }, '1; 2; 3; 4; 5'],
    [{ error: { detail: { errors: ['deep enough'] } } }, 'deep enough'],
    [{ message: 'for key-0123456789abcdef', error: 'key-0123456789abcdef' }, 'for …; …'],
  ])('%j', async (body, words) => {
    expect(await errorOf({ status: 422, body }, createSession)).toMatchObject({
      message: `The service refused to create the capture session (422). It says: ${words}`,
    })
  })

  it.each([['plain text of somebody'], ['"a JSON string"'], [{ other: 'field' }], [{ message: 7 }]])(
    'are not guessed: %j',
    async (body) => {
      expect(await errorOf({ status: 422, body }, createSession)).toMatchObject({
        message: 'The service refused to create the capture session (422).',
      })
    },
  )

  it('are not looked for without end in what is nested without end', async () => {
    const body = `${'['.repeat(32_000)}"deep"${']'.repeat(32_000)}`
    expect(await errorOf({ status: 422, body }, createSession)).toMatchObject({
      message: 'The service refused to create the capture session (422).',
    })
  })

  it('of a redirect are told behind what to do about it', async () => {
    expect(await errorOf({ status: 308, body: { message: 'Moved' } }, createSession)).toMatchObject({
      message:
        'The service answered 308 when asked to create the capture session, and redirects are not followed: ' +
        'check the base URL. It says: Moved',
    })
  })

  it('of a page are its size', async () => {
    expect(
      await errorOf({ status: 502, body: '<html>Bad gateway</html>', headers: html }, createSession),
    ).toMatchObject({
      cause: {
        message: 'The service failed to create the capture session (502). It says: a web page (HTML) of 24 bytes',
      },
    })
  })

  it('are not looked for in what is too long to be meant for people', async () => {
    const refusalOf = (length: number) =>
      errorOf({ status: 422, body: `{"message":"No such player"}`.padEnd(length) }, createSession)
    const said = (words: boolean) =>
      expect.objectContaining({ message: expect.stringMatching(words ? /player$/ : /\)\.$/) as string }) as unknown

    expect([await refusalOf(65_536), await refusalOf(65_537)]).toEqual([said(true), said(false)])
  })

  it.each([
    { error: { code: 'DUPLICATE' } },
    { code: 'DUPLICATE', error: 'No' },
    { code: 'DUPLICATE', error: { code: 7 } },
  ])('have a code where the service gives one: %j', async (body) => {
    expect(await errorOf({ status: 409, body }, createSession)).toMatchObject({
      serviceCode: 'DUPLICATE',
      status: 409,
    })
  })

  it.each(['key-0123456789abcdef', 'E.key-0123456789abcdef', 'two words', '?a=b', 'x'.repeat(65), ''])(
    'have no code that is none, or that holds the credential: %j',
    async (code) => {
      expect(await errorOf({ status: 409, body: { code } }, createSession)).toHaveProperty('serviceCode', undefined)
    },
  )

  it('hold the credential in no form', async () => {
    const apiKey = 'a+b/c=0123456'
    const subject = clientUnderTest({ credentials: { apiKey } })
    const failure = rejection(createSession(subject.client))
    await answerNext(subject, { status: 422, body: { message: `No ${apiKey}, no ${encodeURIComponent(apiKey)}` } })

    expect(await failure).toMatchObject({ message: expect.stringMatching(/It says: No …, no …$/) as string })
  })
})
