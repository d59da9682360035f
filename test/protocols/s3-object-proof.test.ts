// Which object counts as the one that these parts make, when nothing of its completion was heard; and how a completion that the
// store refuses, or does not hear, ends.

import { describe, expect, it } from 'vitest'
import { md5Hasher } from '../../src/adapters/node/hash/md5-hasher.ts'
import type { Hasher } from '../../src/core/ports.ts'
import { completeS3Upload } from '../../src/protocols/s3-complete.ts'
import type { S3CallPorts } from '../../src/protocols/s3-sign.ts'
import { failure, xml } from '../helpers/scripted-s3.ts'
import { NEVER } from './s3-rig.ts'
import { storeOfAnswers, type Asked, type Told } from './s3-rig-of-answers.ts'

const CREATED = Date.parse('2026-11-20T20:00:00Z')
const MD5_OF_A = '0cc175b9c0f1b6a831c399e269772661'
const MD5_OF_B = '92eb5ffee6ae2fec3ad71c777531578f'
/** The MD5 of both digests, one after the other, and of how many parts. */
const OF_BOTH = '96e024ba2074fe77e8e965ba43a704be-2'

/** Digests a turn of the event loop later, as one does that works in another thread. */
const lateHasher: Hasher = {
  start(lengthBytes) {
    const hash = md5Hasher().start(lengthBytes)
    const turn = () => new Promise((resolve) => setImmediate(resolve))
    return {
      async update(bytes) {
        await turn()
        await hash.update(bytes)
      },
      async digest() {
        await turn()
        return hash.digest()
      },
    }
  },
}

interface Case {
  readonly etags?: readonly string[]
  readonly hasher?: Hasher
  readonly createdAtMs?: number
}

/** Completes an upload of two parts of 10 bytes; `answerTo`: what the store says to each call. */
function completing(
  answerTo: (asked: Asked) => Told,
  { etags, hasher, createdAtMs }: Case = {},
  own: Partial<S3CallPorts> = {},
) {
  const store = storeOfAnswers(answerTo)
  const parts = (etags ?? [MD5_OF_A, MD5_OF_B]).map((etag, index) => ({
    partNumber: index + 1,
    receipt: { acceptedEnd: 10 * (index + 1), etag: `"${etag}"`, isVerified: false },
  }))
  const ended = completeS3Upload(
    { ...store.ports, tries: 1, hasher, ...own },
    { fileIndex: 0, key: 'a.mp4', uploadId: 'u', ...(createdAtMs !== undefined && { createdAtMs }) },
    parts,
    NEVER,
  ).then(
    () => 'stored',
    (error: unknown) => error,
  )
  return { ...store, ended }
}

const gone = failure(404, 'NoSuchUpload', '')
const OPEN = xml('ListPartsResult', '<Part><PartNumber>1</PartNumber><ETag>"a"</ETag><Size>1</Size></Part>')

describe('an upload that is gone, with an object under its key', () => {
  const old = 'Fri, 20 Nov 2026 19:00:00 GMT'
  const young = 'Fri, 20 Nov 2026 20:00:00 GMT'
  const opaque = 'opaque'
  const all = [MD5_OF_A, MD5_OF_B]

  it.each([
    ['its ETag is that of these parts', { hasher: lateHasher }, OF_BOTH, old, true],
    ['its ETag is that, in capitals', { hasher: lateHasher }, OF_BOTH.toUpperCase(), old, true],
    ['its ETag is that of others', { hasher: lateHasher }, `${MD5_OF_A}-2`, young, false],
    ['its ETag has another count', { hasher: lateHasher }, OF_BOTH.replace('-2', '-3'), young, false],
    ['its ETag cannot be computed, and it is young', {}, `${MD5_OF_A}-2`, young, true],
    ['its ETag cannot be computed, and it is old', {}, OF_BOTH, old, false],
    [
      'one part’s ETag is no MD5, and it is young',
      { hasher: lateHasher, etags: [MD5_OF_A, opaque] },
      OF_BOTH,
      young,
      true,
    ],
    [
      'one part’s ETag is no MD5, and it is old',
      { hasher: lateHasher, etags: [opaque, MD5_OF_B] },
      OF_BOTH,
      old,
      false,
    ],
    ['its own ETag is none of parts, and it is young', { hasher: lateHasher, etags: all }, opaque, young, true],
    ['its own ETag is none of parts, and it is old', { hasher: lateHasher }, opaque, old, false],
    ['it has no ETag, and is young', { hasher: lateHasher }, undefined, young, true],
    ['it does not say how old it is', {}, opaque, undefined, false],
  ])('where %s', async (_, own, etag, modified, isOurs) => {
    const headers = {
      'content-length': '20',
      ...(etag !== undefined && { etag: `"${etag}"` }),
      ...(modified !== undefined && { 'last-modified': modified }),
    }
    const { ended } = completing(({ operation }) => (operation === 'head' ? { status: 200, headers } : gone), {
      createdAtMs: CREATED,
      ...own,
    })

    if (isOurs) expect(await ended).toBe('stored')
    else expect(await ended).toMatchObject({ code: 'ERR_UPLOAD_CONFIRM_REFUSED' })
  })

  it.each([
    [CREATED + 1_000, true],
    [CREATED + 1_001, false],
    [undefined, false],
  ])('that was made to the second when the upload was created, at %s', async (createdAtMs, isOurs) => {
    const headers = { 'content-length': '20', 'last-modified': young }
    const { ended } = completing(
      ({ operation }) => (operation === 'head' ? { status: 200, headers } : gone),
      createdAtMs === undefined ? {} : { createdAtMs },
    )

    expect((await ended) === 'stored').toBe(isOurs)
  })

  it('that nobody may look at is not called missing', async () => {
    const { ended } = completing(({ operation }) => (operation === 'head' ? { status: 403 } : gone))

    expect(await ended).toMatchObject({ code: 'ERR_UPLOAD_ADDRESS_REFUSED', status: 403 })
  })
})

describe('a completion that the store refuses', () => {
  it('is told as the refusal of these parts, with its cause, and nothing else is asked', async () => {
    const { ended, operations } = completing(() => failure(400, 'InvalidPart', ''))

    expect(await ended).toMatchObject({
      ...{ code: 'ERR_UPLOAD_CONFIRM_REFUSED', details: { operation: 'complete' } },
      cause: { code: 'ERR_UPLOAD_HTTP_STATUS', serviceCode: 'InvalidPart' },
    })
    expect(operations()).toEqual(['complete'])
  })

  it.each([
    ['what may pass', failure(503, 'SlowDown', ''), 'ERR_UPLOAD_HTTP_STATUS'],
    ['an address', { status: 403 }, 'ERR_UPLOAD_ADDRESS_REFUSED'],
  ])('for %s is told as it was', async (_, answer, code) => {
    const { ended, operations } = completing(() => answer)

    expect(await ended).toMatchObject({ code, status: answer.status })
    expect(operations()).toEqual(['complete'])
  })

  it('behind a 200 ends there when the upload is still open and no other try would help', async () => {
    const refusal = { ...failure(400, 'InvalidPart', ''), status: 200 }
    const { ended, operations } = completing(({ operation }) => (operation === 'list' ? OPEN : refusal))

    expect(await ended).toMatchObject({ code: 'ERR_UPLOAD_CONFIRM_REFUSED' })
    expect(operations()).toEqual(['complete', 'list'])
  })

  it.each([
    ['is answered without a clear word', {}, 'ERR_UPLOAD_HTTP_STATUS', 500],
    [
      'is not signed',
      {
        sign: ({ operation }: { readonly operation: string }) =>
          operation === 'complete'
            ? Promise.reject(new Error('no key'))
            : Promise.resolve({ url: `https://bucket.example/a.mp4?do=${operation}` }),
      },
      'ERR_UPLOAD_SERVICE_REPLY',
      undefined,
    ],
  ] as const)(
    'or that %s is asked for three times, with rests between, and told as it was',
    async (_, own, code, status) => {
      const { ended, asked, clock } = completing(
        ({ operation }) => (operation === 'list' ? OPEN : { status: 500 }),
        {},
        own,
      )
      await clock.advance(60_000)

      expect(await ended).toMatchObject({ code, ...(status !== undefined && { status }) })
      const [first, second, third] = asked.filter(({ operation }) => operation === 'list').map(({ atMs }) => atMs)
      expect([first === 0, second! > first!, third! > second!]).toEqual([true, true, true])
      expect(asked.filter(({ operation }) => operation === 'list')).toHaveLength(3)
      expect(clock.pending).toBe(0)
    },
  )

  it('rests no more after the last try', async () => {
    const { ended, clock } = completing(({ operation }) => (operation === 'list' ? OPEN : { status: 500 }))
    const state = { isOver: false }
    void ended.then(() => (state.isOver = true))
    await clock.advance(0)
    const rests: number[] = []
    while (!state.isOver) {
      rests.push(clock.nextDueInMs!)
      await clock.advance(clock.nextDueInMs!)
    }

    expect(rests).toHaveLength(2)
    expect(rests[1]).toBeGreaterThan(rests[0]!)
  })
})
