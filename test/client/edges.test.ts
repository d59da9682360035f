// The edges of what the client takes and reads, each of which a small mistake in one condition would move.

import { describe, expect, it } from 'vitest'
import { checkFileName, checkId } from '../../src/client/checks.ts'
import { analysisFromWire } from '../../src/client/contract/analyses.ts'
import { addressesByName, mocapSessionFromWire } from '../../src/client/contract/captures.ts'
import { aMocapSession, answerNext, clientUnderTest, rejection, type ServiceClient } from './client-under-test.ts'

describe('before any call', () => {
  it.each(['retries', 'giveUpAfterMs', 'callTimeoutMs', 'maxReplyBytes'])(
    'a client whose %s is no number is refused: it would try for ever, or take no answer',
    (name) => {
      expect(() => clientUnderTest({ [name]: NaN })).toThrow(`${name} is NaN: give an integer`)
      expect(() => clientUnderTest({ [name]: -1 })).toThrow(`${name} is -1: give an integer`)
    },
  )

  it('a file name of one dot is refused, and one that begins with it is not', () => {
    expect(() => checkFileName('.', 'name')).toThrow('name is ".": give the file\'s name without a path')
    expect(checkFileName('.action', 'name')).toBe('.action')
  })

  it('an id has at most 1,024 characters, and may begin with dots', () => {
    expect(checkId('x'.repeat(1_024), 'id')).toHaveLength(1_024)
    expect(checkId('...', 'id')).toBe('...')
    expect(() => checkId('..', 'id')).toThrow('id is no id of the service: give it as issued.')
  })

  it.each(['a=1', ['a'], 7])('a query that is no object is refused: %j', async (query) => {
    const { client } = clientUnderTest()

    for (const asked of [client.requestedAnalyses.list({ query: query as never }), callWith(client, query)])
      expect(await rejection(asked)).toMatchObject({
        code: 'ERR_UPLOAD_INVALID_ARGUMENT',
        message: expect.stringMatching(/^query is .+: give an object\.$/) as string,
        details: { field: 'query' },
      })
  })

  it('a list without its input asks for all, whatever plain JavaScript gives in its place', async () => {
    const subject = clientUnderTest()
    const list = subject.client.requestedAnalyses.list(null as never)
    await answerNext(subject, { status: 200, body: [] })

    expect((await list).items).toStrictEqual([])
  })

  it('a file that was given up is reported without receipts, which one that was not needs', async () => {
    const subject = clientUnderTest()
    const file = { uploadSessionId: 'us-1', sessionFileId: 7, parts: [] }
    const told = subject.client.videoUploads.confirm({ ...file, isSuccessful: false })
    const sent = await subject.transport.next()
    sent.reply({ status: 200 })
    await told

    expect(await sent.bodyJson()).toMatchObject({ upload_successful: false, file_part_info: [] })
    await expect(subject.client.videoUploads.confirm(file)).rejects.toThrow('parts is empty: give at least one.')
  })

  it('a segment may name no movement', async () => {
    const subject = clientUnderTest()
    const made = subject.client.playerGroupSegments.create({ movementTypeId: 1, domHand: 'RHA', orgMovementIds: [] })
    await answerNext(subject, { status: 200, body: { analysis_segment_id: 7 } })

    expect(await made).toStrictEqual({ analysisSegmentId: 7 })
  })
})

describe('a capture session', () => {
  it('keeps its two ids apart when they differ', () => {
    expect(mocapSessionFromWire({ id: 1, session_id: 2 })).toStrictEqual({ id: 1, sessionId: 2 })
  })

  it.each([7, null, { of: 'theirs' }])('says nothing under a name of ours that is no word: %j', (status) => {
    expect(mocapSessionFromWire({ id: 1, status })).toStrictEqual({ id: 1, sessionId: 1 })
    expect(analysisFromWire({ id: 1, status, name: status })).toStrictEqual({ id: 1 })
  })

  it('is not renamed by an unknown field that has the name of ours', () => {
    const fields = { id: 1, orgId: 'theirs', org_id: 'ours', created_at: 'then', createdAt: 'never' }
    expect(mocapSessionFromWire(fields)).toMatchObject({ orgId: 'ours', createdAt: 'then' })
  })
})

it.each([
  ...['https://:secret@store.example/k', 'https://store.example/\tk', 'https://store.example/k\n'],
  ...['ftp://store.example/k', '/k', '//store.example/k', 'https:///store.example/k', 'https:\\\\store.example/k'],
  ...[' https://store.example/k', 'https://store.example:port/k', 'https://'],
])(
  'an address with a password, with what a parser drops, or that is no whole one of the web is none: %j',
  (address) => {
    expect(addressesByName({ a: address, undefined: 'https://store.example/u' }, ['a', 'b'])).toMatchObject({
      missing: ['a', 'b'],
    })
  },
)

it('an address has at most 16,384 characters', () => {
  const ofLength = (length: number): string => 'https://store.example/'.padEnd(length, 'k')

  expect(addressesByName({ a: ofLength(16_384), b: ofLength(16_385) }, ['a', 'b']).missing).toEqual(['b'])
})

it.each(['HTTPS://store.example/k', 'http://[::1]:9000/k', 'https://bücher.example/k', 'https://store.example?k'])(
  'an address of the web is one however it is written: %j',
  (address) => {
    expect(addressesByName({ a: address }, ['a']).addresses.get('a')).toBe(address)
  },
)

it.each([
  ['key-1234', 'key-1234'],
  ['a+b/c=0123', 'a%2Bb%2Fc%3D0123'],
])('an answer that holds the credential %s as %s is not used', async (apiKey, held) => {
  const subject = clientUnderTest({ credentials: { apiKey } })
  const failure = rejection(subject.client.mocapSessions.create(aMocapSession))
  await answerNext(subject, { status: 200, body: { id: 's-1', note: `for ${held}` } })

  const error = await failure
  expect(error).toMatchObject({ code: 'ERR_UPLOAD_SERVICE_REPLY' })
  expect(String(error)).toContain('The service repeats the credential in its answer')
})

it('a submission whose answer was lost is made again, because submitting twice is the same', async () => {
  const subject = clientUnderTest()
  const submitted = subject.client.requestedAnalyses.submit(7)
  await answerNext(subject, { status: 500 })
  await subject.clock.advance(0)
  await subject.clock.advance(2_000)
  await answerNext(subject, { status: 200, body: { id: 7, status: 'requested' } })

  expect(await submitted).toStrictEqual({ id: 7, status: 'requested' })
  expect(subject.transport.sent).toHaveLength(2)
})

function callWith(client: ServiceClient, query: unknown): Promise<unknown> {
  return client.call('GET', '/players', { query: query as never })
}
