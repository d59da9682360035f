// Which address belongs to which part: every order that a service may answer in, and every reply that is not certain.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { videoUploadFromWire } from '../../src/client/contract/videos.ts'
import type { PlannedFile } from '../../src/core/ports.ts'
import { checkAddressed } from '../../src/flows/check-addressed.ts'
import { matchAddresses } from '../../src/protocols/match-addresses.ts'

interface Entry {
  session_file_id: string | number
  file_id?: unknown
  raw_file_name?: string
  info: { url: string; part_number?: unknown }[]
}

const url = (text: string): string => `https://store.example/${text}`

function plan(fileIndex: number, name: string, partCount: number): PlannedFile {
  return { fileIndex, name, sizeBytes: 10, partCount, partSizeBytes: 1 }
}

/** Two files of two and one parts, as a service answers them in order. */
const files = [plan(0, 'a.mp4', 2), plan(1, 'b.mp4', 1)]
const entries = (): [Entry, Entry] => [
  { session_file_id: 'fa', info: [{ url: url('a/1') }, { url: url('a/2') }] },
  { session_file_id: 'fb', info: [{ url: url('b/1') }] },
]

/** As the client reads it from the wire, and as a flow takes it. */
function match(plans: readonly PlannedFile[], answered: readonly Entry[]) {
  const matched = matchAddresses(plans, videoUploadFromWire({ upload_session_id: 's', pre_signed_urls: answered })!)
  checkAddressed(plans, matched, { request: () => ({ method: 'PUT', headers: {} }) }, {})
  return matched
}

const RIGHT = [
  { fileIndex: 0, serverFileId: 'fa', addresses: [url('a/1'), url('a/2')] },
  { fileIndex: 1, serverFileId: 'fb', addresses: [url('b/1')] },
]

describe('a match', () => {
  it('is by position when nothing is echoed', () => {
    expect(match(files, entries())).toEqual(RIGHT)
  })

  it.each([
    ['a number', 1, 2],
    ['text', '1', '2'],
  ])('is by the echoed id, as %s, whatever the order', (_name, first, second) => {
    const [a, b] = entries()

    expect(
      match(files, [
        { ...b, file_id: second },
        { ...a, file_id: first },
      ]),
    ).toEqual(RIGHT)
  })

  it('is by the echoed name where each name is there once', () => {
    const [a, b] = entries()

    expect(
      match(files, [
        { ...b, raw_file_name: 'b.mp4' },
        { ...a, raw_file_name: 'a.mp4' },
      ]),
    ).toEqual(RIGHT)
  })

  it('prefers the id to the name', () => {
    const [a, b] = entries()
    const answered = [
      { ...b, file_id: 2, raw_file_name: 'a.mp4' },
      { ...a, file_id: 1, raw_file_name: 'b.mp4' },
    ]

    expect(match(files, answered)).toEqual(RIGHT)
  })

  it('is by position when the names were changed there', () => {
    const [a, b] = entries()

    expect(
      match(files, [
        { ...a, raw_file_name: 'upload-1' },
        { ...b, raw_file_name: 'upload-2' },
      ]),
    ).toEqual(RIGHT)
  })

  it.each(['x-1', '1e6c', ''])(
    'is by position where some names are told, and no ids that are numbers: %j',
    (file_id) => {
      const [a, b] = entries()

      expect(
        match(files, [
          { ...a, raw_file_name: 'a.mp4', file_id },
          { ...b, raw_file_name: 'y.mp4' },
        ]),
      ).toEqual(RIGHT)
    },
  )

  it('is by position for files of one name', () => {
    const twins = [plan(0, 'a.mp4', 2), plan(1, 'a.mp4', 1)]
    const [a, b] = entries()

    expect(
      match(twins, [
        { ...a, raw_file_name: 'a.mp4' },
        { ...b, raw_file_name: 'a.mp4' },
      ]),
    ).toEqual(RIGHT)
  })

  it('is by the echoed name in whichever Unicode form the service keeps it', () => {
    const [a, b] = entries()
    const decomposed = ['é1.mp4', 'é2.mp4'].map((name) => name.normalize('NFD'))
    const plans = decomposed.map((name, index) => plan(index, name, 2 - index))
    const [first = '', second = ''] = decomposed.map((name) => name.normalize('NFC'))

    expect(
      match(plans, [
        { ...b, raw_file_name: second },
        { ...a, raw_file_name: first },
      ]),
    ).toEqual(RIGHT)
  })

  it('tells two forms of one name apart where the service does', () => {
    const [a, b] = entries()
    const [nfc, nfd] = ['NFC', 'NFD'].map((form) => 'é.mp4'.normalize(form)) as [string, string]

    expect(
      match(
        [plan(0, nfc, 2), plan(1, nfd, 1)],
        [
          { ...b, raw_file_name: nfd },
          { ...a, raw_file_name: nfc },
        ],
      ),
    ).toEqual(RIGHT)
  })

  it('keeps ids of the service as they are', () => {
    const [a, b] = entries()

    const matched = match(files, [
      { ...a, session_file_id: 7 },
      { ...b, session_file_id: '7' },
    ])

    expect(matched.map(({ serverFileId }) => serverFileId)).toEqual([7, '7'])
  })

  it('takes names of objects for names', () => {
    const odd = ['__proto__', 'constructor', 'toString'].map((name, index) => plan(index, name, 1))
    const answered = odd.map(({ name }) => ({
      session_file_id: `id ${name}`,
      raw_file_name: name,
      info: [{ url: url(name) }],
    }))

    const matched = match(odd, answered.toReversed())

    expect(matched.map(({ serverFileId }) => serverFileId)).toEqual(['id __proto__', 'id constructor', 'id toString'])
  })

  it.each([
    ['numbers', 1, 2],
    ['text', '1', '2'],
  ])('puts parts in the order of their numbers, as %s', (_name, first, second) => {
    const [a, b] = entries()
    const info = [
      { url: url('a/2'), part_number: second },
      { url: url('a/1'), part_number: first },
    ]

    expect(match(files, [{ ...a, info }, b])).toEqual(RIGHT)
  })

  it('takes the numbers in the queries where they agree', () => {
    const [first, second] = [url('x?uploadId=u&partNumber=1'), url('x?uploadId=u&partNumber=2')]

    const [matched] = match([plan(0, 'x', 2)], [{ session_file_id: 1, info: [{ url: first }, { url: second }] }])

    expect(matched?.addresses).toEqual([first, second])
  })
})

describe('a reply is refused', () => {
  const refusals: Record<string, { plans?: PlannedFile[]; change: (a: Entry, b: Entry) => Entry[]; says: RegExp }> = {
    'with a file too few': { change: (a) => [a], says: /1 files for the 2/ },
    'with a file too many': {
      change: (a, b) => [a, b, { session_file_id: 'fc', info: [{ url: url('c') }] }],
      says: /3 files for the 2/,
    },
    'with a part too few': {
      change: (a, b) => [{ ...a, info: a.info.slice(1) }, b],
      says: /1 addresses came for the 2 parts of a\.mp4/,
    },
    'with a part too many': {
      change: (a, b) => [a, { ...b, info: [...b.info, { url: url('b/2') }] }],
      says: /2 addresses came for the 1/,
    },
    'with an address twice in a file': {
      change: (a, b) => [{ ...a, info: [a.info[0]!, a.info[0]!] }, b],
      says: /same address came twice; the second time for a\.mp4/,
    },
    'with an address in two files': {
      change: (a, b) => [a, { ...b, info: [a.info[1]!] }],
      says: /same address came twice; the second time for b\.mp4/,
    },
    'with a file id of its own twice': {
      change: (a, b) => [a, { ...b, session_file_id: 'fa' }],
      says: /same file id twice; the second time for b\.mp4/,
    },
    'with an echoed id twice': {
      change: (a, b) => [
        { ...a, file_id: 1 },
        { ...b, file_id: 1 },
      ],
      says: /echoed file ids/,
    },
    'with an id that was not sent': {
      change: (a, b) => [
        { ...a, file_id: 1 },
        { ...b, file_id: 3 },
      ],
      says: /echoed file ids/,
    },
    'with echoed ids that are none': {
      change: (a, b) => [
        { ...a, file_id: -1 },
        { ...b, file_id: 1.5 },
      ],
      says: /echoed file ids/,
    },
    'with an id for some files only': { change: (a, b) => [{ ...a, file_id: 1 }, b], says: /echoed file ids/ },
    'in another order that its names betray': {
      plans: [plan(0, 'a.mp4', 1), plan(1, 'a.mp4', 1), plan(2, 'b.mp4', 1)],
      change: (_, b) => [
        { ...b, raw_file_name: 'b.mp4' },
        { session_file_id: 2, raw_file_name: 'a.mp4', info: [{ url: url('2') }] },
        { session_file_id: 3, raw_file_name: 'a.mp4', info: [{ url: url('3') }] },
      ],
      says: /another order/,
    },
    'in another order that its names betray in another Unicode form': {
      plans: ['é.mp4', 'é.mp4', 'b.mp4'].map((name, index) => plan(index, name.normalize('NFD'), 1)),
      change: (_, b) => [
        { ...b, raw_file_name: 'b.mp4' },
        ...[2, 3].map((id) => ({
          session_file_id: id,
          raw_file_name: 'é.mp4'.normalize('NFC'),
          info: [{ url: url(String(id)) }],
        })),
      ],
      says: /another order/,
    },
    'with a part number twice': {
      change: (a, b) => [{ ...a, info: a.info.map((part) => ({ ...part, part_number: 1 })) }, b],
      says: /do not carry the part numbers 1 to 2/,
    },
    'with part numbers that are none': {
      change: (a, b) => [{ ...a, info: a.info.map((part, index) => ({ ...part, part_number: index - 1.5 })) }, b],
      says: /do not carry the part numbers 1 to 2/,
    },
    'with part numbers from 0': {
      change: (a, b) => [{ ...a, info: a.info.map((part, index) => ({ ...part, part_number: String(index) })) }, b],
      says: /do not carry the part numbers 1 to 2/,
    },
    'with a wrong number for one part and none for the other': {
      change: (a, b) => [{ ...a, info: [{ ...a.info[0]!, part_number: 2 }, a.info[1]!] }, b],
      says: /do not carry the part numbers 1 to 2/,
    },
    'with the numbers in the queries in another order': {
      change: (a, b) => [{ ...a, info: [{ url: url('a?partNumber=2') }, { url: url('a?partNumber=1') }] }, b],
      says: /do not carry the part numbers 1 to 2/,
    },
    'with a number in the query that is none': {
      change: (a, b) => [a, { ...b, info: [{ url: url('b?partNumber=1st') }] }],
      says: /do not carry the part numbers 1 to 1/,
    },
    'with numbers beside the addresses that the queries contradict': {
      change: (a, b) => [
        { ...a, info: [1, 2].map((n) => ({ url: url(`a?partNumber=${String(3 - n)}`), part_number: n })) },
        b,
      ],
      says: /do not carry the part numbers 1 to 2/,
    },
  }
  it.each(Object.entries(refusals))('%s', (_name, { plans = files, change, says }) => {
    const error = refusalOf(() => match(plans, change(...entries())))

    expect(error).toMatchObject({ code: 'ERR_UPLOAD_SERVICE_REPLY', isRetryable: false })
    expect(error.message).toMatch(says)
    expect(error.message).toMatch(/None of them is used\.$/)
    expect(error.message).not.toContain('store.example')
  })
})

it('gives each file its own addresses, whatever the order of files and parts', () => {
  const counts = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(counts, fc.boolean(), fc.infiniteStream(fc.nat()), (partCounts, isByName, chance) => {
      const shuffled = <T>(items: readonly T[]): T[] =>
        items
          .map((item) => ({ item, rank: Number(chance.next().value) }))
          .sort((a, b) => a.rank - b.rank)
          .map(({ item }) => item)
      const plans = partCounts.map((partCount, index) => plan(index, `clip ${String(index)}`, partCount))
      const answered = plans.map(({ name, fileIndex, partCount }): Entry => ({
        session_file_id: `id ${name}`,
        ...(isByName ? { raw_file_name: name } : { file_id: fileIndex + 1 }),
        info: shuffled(
          Array.from({ length: partCount }, (_, part) => ({
            url: url(`${name}/${String(part + 1)}`),
            part_number: part + 1,
          })),
        ),
      }))

      const matched = match(plans, shuffled(answered))

      expect(matched).toEqual(
        plans.map(({ name, fileIndex, partCount }) => ({
          fileIndex,
          serverFileId: `id ${name}`,
          addresses: Array.from({ length: partCount }, (_, part) => url(`${name}/${String(part + 1)}`)),
        })),
      )
    }),
  )
})

function refusalOf(task: () => unknown): Error {
  try {
    task()
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error('Nothing was refused.')
}
