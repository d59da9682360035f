// Addresses that do not fit what was asked for, from whoever gives them: judged before they are written down, so that no part goes
// to another's place and no journal is left that nobody can read.

import { describe, expect, it } from 'vitest'

import { bytesSource } from '../../src/adapters/web/bytes-source.ts'
import { classifyStorageFailure } from '../../src/core/attempt/storage-failure.ts'
import type { AddressedFile, PlannedFile, Protocol, Unit } from '../../src/core/ports.ts'
import { checkAddressed } from '../../src/flows/check-addressed.ts'
import { CAPTURE, createFarEnd, endOf, expiredStorage, goodService, goodStorage, VIDEO } from '../security/far-end.ts'

const at = (place: string): string => `https://store.example/${place}`
const file = (name: string, sizeBytes = 3) => ({ source: bytesSource(name, new Uint8Array(sizeBytes)) })

/** Two signings of one place. */
const SIGNED_TWICE = [
  [
    'AWS',
    'k?X-Amz-Date=20261120T200000Z&X-Amz-Signature=1&x-id=PutObject',
    'k?X-Amz-Date=20261120T200001Z&X-Amz-Signature=2&x-id=PutObject',
  ],
  ['the older AWS', 'k?AWSAccessKeyId=a&Expires=1&Signature=1', 'k?AWSAccessKeyId=a&Expires=2&Signature=2'],
  ['CloudFront', 'k?Policy=1&Signature=1&Key-Pair-Id=a', 'k?Policy=2&Signature=2&Key-Pair-Id=a'],
  ['the older Google', 'k?GoogleAccessId=a&Expires=1&Signature=1', 'k?GoogleAccessId=a&Expires=2&Signature=2'],
  ['Google', 'k?X-Goog-Date=1&X-Goog-Signature=1', 'k?X-Goog-Date=2&X-Goog-Signature=2'],
  ['Azure', 'k?sv=2&st=1&se=1&sr=b&sp=w&sig=1', 'k?sv=2&st=2&se=2&sr=b&sp=w&sig=2'],
] as const

/** As a host in plain JavaScript may make it. */
function withHole(address: string): string[] {
  const addresses = new Array<string>(2)
  addresses[1] = address
  return addresses
}

describe('what was asked for', () => {
  const plan = (fileIndex: number, partCount: number): PlannedFile => ({
    ...{ fileIndex, name: `${'ab'.charAt(fileIndex)}.mp4`, sizeBytes: 2, partCount, partSizeBytes: 1 },
  })
  const asked = [plan(0, 2), plan(1, 1)]
  const fit: AddressedFile[] = [
    { fileIndex: 1, addresses: [at('b?partNumber=1')] },
    { fileIndex: 0, addresses: [at('a?x=1&partNumber=1'), at('a?x=1&partNumber=2')] },
  ]

  const plainPut: Pick<Protocol, 'request'> = { request: () => ({ method: 'PUT', headers: {} }) }

  it('fits in any order of the files', () => {
    expect(() => checkAddressed(asked, fit, plainPut, {})).not.toThrow()
  })

  it.each<[string, AddressedFile[], RegExp]>([
    ['nothing', [], /0 files, and 2/],
    ['a file too few', fit.slice(1), /1 files, and 2/],
    ['a file that was not asked for', [fit[0]!, { ...fit[1]!, fileIndex: 7 }], /0 addresses came for the 2 parts of a/],
    ['a file twice', [fit[0]!, fit[0]!], /0 addresses came for the 2 parts of a/],
    ['a part too few', [fit[0]!, { fileIndex: 0, addresses: [at('a')] }], /1 addresses came for the 2 parts of a/],
    ['an address twice', [fit[0]!, { fileIndex: 0, addresses: [at('a'), at('a')] }], /twice; the second time for a/],
    ...SIGNED_TWICE.map(([store, one, other]): [string, AddressedFile[], RegExp] => [
      `an object that was signed twice in the form of ${store}`,
      [fit[0]!, { fileIndex: 0, addresses: [at(one), at(other)] }],
      /twice; the second time for a/,
    ]),
    [
      'an array with a hole',
      [fit[0]!, { fileIndex: 0, addresses: withHole(at('a')) }],
      /An address is no http or https URL/,
    ],
    [
      'parts in another order',
      [fit[0]!, { fileIndex: 0, addresses: fit[1]!.addresses.toReversed() }],
      /addresses for a.mp4 do not carry the part numbers 1 to 2/,
    ],
  ])('is not %s', (_what, given, says) => {
    expect(() => checkAddressed(asked, given, plainPut, {})).toThrow(says)
  })

  it.each([
    [
      'parts of one upload',
      'k?uploadId=u&partNumber=1&X-Amz-Signature=1',
      'k?uploadId=u&partNumber=2&X-Amz-Signature=2',
    ],
    ['blocks of one blob', 'k?sv=2&comp=block&blockid=AA&sig=1', 'k?sv=2&comp=block&blockid=AB&sig=2'],
    ['objects that a query names', 'o?name=a&X-Goog-Signature=1', 'o?name=b&X-Goog-Signature=2'],
    ['tokens that say themselves what they are for', 'put?token=1', 'put?token=2'],
    [
      'such tokens of a name that stores have for what they sign',
      'put?signature=1&expires=1',
      'put?signature=2&expires=1',
    ],
    ['such a token of a short name', 'put?sig=1', 'put?sig=2'],
  ])('fits where the query tells places apart: %s', (_what, one, other) => {
    const given = [fit[0]!, { fileIndex: 0, addresses: [at(one), at(other)] }]
    expect(() => checkAddressed(asked, given, plainPut, {})).not.toThrow()
  })

  it('fits with one address for all parts where a header of each request says which it is, in any order', () => {
    const request = ({ start, end }: Unit) => ({ method: 'PUT', headers: { 'content-range': `bytes ${start}-${end}` } })
    const given = [fit[0]!, { fileIndex: 0, addresses: [at('a'), at('a')] }]
    expect(() => checkAddressed(asked, given, { request }, {})).not.toThrow()
    const shared = [fit[0]!, { fileIndex: 0, addresses: [at('a'), at('b?partNumber=1')] }]
    expect(() => checkAddressed(asked, shared, plainPut, {})).toThrow(/do not carry the part numbers/)
  })
})

describe('a protocol of the host', () => {
  const units = { minBytes: 1, maxBytes: 1_000, maxCount: 10, multipleOfBytes: 1 }
  const good = (files: readonly PlannedFile[]): AddressedFile[] =>
    files.map(({ fileIndex }) => ({ fileIndex, addresses: [at(String(fileIndex))] }))
  const protocol = (register: (files: readonly PlannedFile[]) => unknown): Protocol => ({
    traits: { units, order: 'any', addressing: 'batches', batchSize: 2 },
    create: () => Promise.resolve({ sessionId: 7 }),
    register: (_sessionId, files) => Promise.resolve(register(files) as AddressedFile[]),
    request: () => ({ method: 'PUT', headers: {} }),
    judge: (_reply, { end }) => ({ kind: 'received', acceptedEnd: end }),
  })

  it.each<[string, (files: readonly PlannedFile[]) => unknown]>([
    ['too many addresses', (files) => good(files).map((each) => ({ ...each, addresses: [at('1'), at('2')] }))],
    ['addresses of another file', () => [{ fileIndex: 9, addresses: [at('9')] }]],
    ['files without addresses', (files) => files.map(({ fileIndex }) => ({ fileIndex }))],
    ['nothing', () => null],
  ])('that answers with %s fails its files, and the journal can be resumed', async (_what, register) => {
    const { uplink, settled } = createFarEnd({ service: () => ({ status: 200 }), storage: goodStorage })
    const files = [file('a.bin'), file('b.bin')]
    const upload = uplink.upload({ protocol: protocol(register), files })

    const { error } = await settled(endOf(upload))

    expect(error).toMatchObject({
      code: 'ERR_UPLOAD_SERVICE_REPLY',
      message: expect.stringContaining('a.bin') as string,
    })
    const source = ({ fileIndex }: { readonly fileIndex: number }) => files[fileIndex]!.source
    const again = await settled(uplink.resume(upload.key, { protocol: protocol(good), source }))
    expect(await settled(again.done())).toMatchObject({ status: 'confirmed' })
  })
})

it('one address for all parts, as tus has it, is taken where each request says where its bytes go', async () => {
  const { uplink, settled, requests } = createFarEnd({ service: () => ({ status: 200 }), storage: goodStorage })
  const units = { minBytes: 1, maxBytes: 2, maxCount: 10, multipleOfBytes: 1 }
  const protocol: Protocol = {
    traits: { units, order: 'next', addressing: 'session', batchSize: 0 },
    create: (files) =>
      Promise.resolve({
        sessionId: 7,
        files: files.map(({ fileIndex, partCount }) => ({
          ...{ fileIndex, addresses: new Array<string>(partCount).fill(at(String(fileIndex))) },
        })),
      }),
    request: ({ start }) => ({ method: 'PATCH', headers: { 'upload-offset': String(start) } }),
    judge: (_reply, { end }) => ({ kind: 'received', acceptedEnd: end }),
  }

  const { report } = await settled(endOf(uplink.upload({ protocol, files: [file('a.bin', 6)] })))

  expect(report?.status).toBe('confirmed')
  expect(requests.map(({ headers }) => headers['upload-offset'])).toEqual(['0', '2', '4'])
})

describe('addresses that live for one part each', () => {
  const units = { minBytes: 1, maxBytes: 1, maxCount: 100, multipleOfBytes: 1 }
  /** Each signing takes so many parts. */
  function signing(partsEach: number) {
    let signings = 0
    const taken = new Map<string, number>()
    const rig = createFarEnd({
      ...{ concurrency: 1, service: () => ({ status: 200 }) },
      storage(request, body) {
        const already = taken.get(request.url.slice(-4)) ?? 0
        taken.set(request.url.slice(-4), already + 1)
        return (already < partsEach ? goodStorage : expiredStorage)(request, body)
      },
    })
    const protocol: Protocol = {
      traits: { units, order: 'any', addressing: 'batches', batchSize: 1 },
      create: () => Promise.resolve({ sessionId: 7 }),
      register(_sessionId, [asked]) {
        signings += 1
        const serial = String(signings).padStart(4, '0')
        const addresses = Array.from({ length: asked!.partCount }, (_, part) => at(`${String(part)}?s=${serial}`))
        return Promise.resolve([{ fileIndex: 0, addresses }])
      },
      request: () => ({ method: 'PUT', headers: {} }),
      judge: (reply, unit) =>
        reply.status === 200 ? { kind: 'received', acceptedEnd: unit.end } : classifyStorageFailure(reply, unit),
    }
    return { ...rig, protocol, signings: () => signings }
  }

  it('are signed as often as the file gets on', async () => {
    const { uplink, settled, protocol, signings } = signing(1)

    const { report } = await settled(endOf(uplink.upload({ protocol, files: [file('a.bin', 20)] })))

    expect(report?.status).toBe('confirmed')
    expect(signings()).toBe(20)
  })

  it('are signed three times more where no part is taken', async () => {
    const { uplink, settled, protocol, signings } = signing(0)

    const { error } = await settled(endOf(uplink.upload({ protocol, files: [file('a.bin', 20)] })))

    expect(error).toMatchObject({ code: 'ERR_UPLOAD_ADDRESS_EXPIRED' })
    expect(signings()).toBe(4)
  })
})

it.each([
  ['the address', () => ''],
  [
    'another signature for the object',
    (count: number) => `?X-Amz-Date=20261120T20000${String(count)}Z&X-Amz-Signature=${String(count)}`,
  ],
])('a capture that is given %s of another one, in another batch, is not sent in its place', async (_what, query) => {
  let count = 0
  const { uplink, settled, requests } = createFarEnd({
    // A place in the batch is all that this service tells addresses apart by.
    ...{ service: goodService((index) => at(`${String(index)}${query((count += 1))}`)), storage: goodStorage },
  })
  const files = ['a.action', 'b.action'].map((name) => file(name))

  const { report } = await settled(endOf(uplink.uploadCaptures({ ...CAPTURE, batchSize: 1, files })))

  expect(report?.files).toMatchObject([
    { name: 'a.action', status: 'confirmed' },
    { name: 'b.action', status: 'failed', error: { code: 'ERR_UPLOAD_SERVICE_REPLY' } },
  ])
  expect(requests.filter(({ method }) => method === 'PUT')).toHaveLength(1)
})

describe('renewAddresses', () => {
  it.each<[string, (partNumbers: readonly number[]) => unknown, RegExp]>([
    ['nothing', () => null, /gave no addresses for the 3 parts/],
    ['too few', (partNumbers) => partNumbers.slice(1).map(String).map(at), /gave 2 addresses for the 3 parts/],
    ['one for all', (partNumbers) => partNumbers.map(() => at('new')), /came twice/],
    [
      'those of other parts',
      (partNumbers) => partNumbers.toReversed().map((partNumber) => at(`new?partNumber=${String(partNumber)}`)),
      /do not carry the part numbers/,
    ],
  ])('that gives %s fails its file, sends nothing there, and lets the others be', async (_what, answer, says) => {
    const { uplink, settled, requests } = createFarEnd({
      service: goodService((fileIndex, part) => at(fileIndex === 0 ? `dead?part=${String(part)}` : 'alive')),
      storage: (request, body) => (request.url.includes('dead') ? expiredStorage : goodStorage)(request, body),
    })
    const renewAddresses = ({ partNumbers }: { readonly partNumbers: readonly number[] }) =>
      Promise.resolve(answer(partNumbers) as string[])
    const files = [file('a.mp4', 12 * 1_048_576), file('b.mp4')]

    const { report } = await settled(
      endOf(uplink.uploadVideos({ ...VIDEO, files, renewAddresses, partSizeBytes: 5 * 1_048_576 })),
    )

    expect(report?.files).toMatchObject([
      { status: 'failed', error: { code: 'ERR_UPLOAD_SERVICE_REPLY', message: expect.stringMatching(says) as string } },
      { status: 'confirmed' },
    ])
    expect(requests.filter(({ url }) => url.includes('/new'))).toEqual([])
  })
})
