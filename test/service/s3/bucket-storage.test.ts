// What the storage in a bucket makes of the store's answers, without the service around it: which calls it makes, what it believes,
// and what it refuses.

import { createHash } from 'node:crypto'

import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'

import type { ObjectKey } from '../../../src/service/objects/object-keys.ts'
import type { ObjectStorage, VideoObject } from '../../../src/service/objects/object-storage.ts'
import { createAddressSigner } from '../../../src/service/s3/s3-addresses.ts'
import { openBucket, type Bucket } from '../../../src/service/s3/s3-bucket.ts'
import { resolveS3 } from '../../../src/service/s3/s3-settings.ts'
import { s3Storage } from '../../../src/service/s3/s3-storage.ts'
import { startScriptedBucket, type ScriptedBucket } from '../../helpers/scripted-bucket.ts'
import { failure, xml } from '../../helpers/scripted-s3.ts'
import { presign } from '../../helpers/sigv4.ts'

const MIB = 1024 ** 2
const KEYS = { accessKeyId: 'ACCESSKEY', secretAccessKey: 'secret-of-the-bucket' }
const SESSION = '5b1c0000-0000-4000-8000-000000000000'
const ALIVE = new AbortController().signal

let store: ScriptedBucket
let bucket: Bucket
let storage: ObjectStorage
let now = 0
let lastId = 0
beforeAll(async () => {
  store = await startScriptedBucket()
  const settings = resolveS3({ bucket: 'recordings', endpoint: store.origin, keys: KEYS })
  bucket = openBucket(settings)
  const { place, region } = settings
  storage = s3Storage(bucket, createAddressSigner({ place, region, lifeSeconds: 60, now: () => now }), () => now)
})
afterAll(async () => {
  bucket.close()
  await store.close()
})
beforeEach(() => {
  store.script()
  store.before = () => undefined
})

const keyOf = (fileId: number, flow: ObjectKey['flow'] = 'videos'): ObjectKey => ({ flow, sessionId: SESSION, fileId })
const pathOf = ({ key: { flow, fileId } }: Pick<VideoObject, 'key'>) => `${flow}/${SESSION}/${fileId}`
const etagOf = (bytes: Buffer) => createHash('md5').update(bytes).digest('hex')

/** A file of these parts that nobody has begun. */
function fileOf(...parts: readonly Buffer[]): VideoObject {
  const sizeBytes = parts.reduce((sum, { length }) => sum + length, 0)
  return { key: keyOf((lastId += 1)), sizeBytes, partCount: parts.length, uploadId: null }
}

/** The same begun, and its parts sent. */
async function sent(...parts: readonly Buffer[]): Promise<{ file: VideoObject; etags: string[] }> {
  const file = fileOf(...parts)
  const [uploadId = null] = await storage.begin([file], ALIVE)
  const begun = { ...file, uploadId }
  const [addresses = []] = await storage.partAddresses([begun], ALIVE)
  for (const [index, bytes] of parts.entries())
    await fetch(addresses[index]!, { method: 'PUT', body: new Uint8Array(bytes) })
  return { file: begun, etags: parts.map(etagOf) }
}

/** An address as an independent signer writes it. */
function signed(method: string, path: string, query: Readonly<Record<string, string>> = {}): string {
  const own = {
    endpoint: store.origin,
    bucket: 'recordings',
    accessKey: KEYS.accessKeyId,
    secretKey: KEYS.secretAccessKey,
  }
  const all = new Map(Object.entries({ 'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD', ...query }))
  return presign({ ...own, lifeSeconds: 60, signedAt: new Date(now) }, method, path, all)
}

const assemble = (file: VideoObject, etags: readonly string[]) => storage.assemble!(file, etags)
const refusal = (status: number, code: string, facts: object = {}) =>
  expect.objectContaining({ status, code, facts }) as Error
const [BIG, SMALL] = [Buffer.from('the first'), Buffer.from('and last')]

describe('a file', () => {
  it.each([
    [0, 1, undefined],
    [1, 1, undefined],
    [5 * MIB, 2, 'expected at most 1: no chunk but the last may be below 5 MiB'],
    [5 * MIB + 1, 2, undefined],
    [10 * MIB, 3, 'expected at most 2: no chunk but the last may be below 5 MiB'],
    [10 * MIB + 1, 4, 'expected at most 3: no chunk but the last may be below 5 MiB'],
  ])('of %i bytes in %i parts: %s', (sizeBytes, partCount, problem) => {
    expect(storage.problemOf(sizeBytes, partCount)).toBe(problem)
  })

  it('of one part is begun without a call, one of several by one', async () => {
    const ids = await storage.begin([fileOf(SMALL), fileOf(BIG, SMALL)], ALIVE)

    expect([ids[0], store.count('create'), store.count('uploads')]).toEqual([null, 1, 0])
    expect(store.uploads.has(ids[1]!)).toBe(true)
  })

  it('leaves no second upload where the answer to the first try is lost', async () => {
    const file = fileOf(BIG, SMALL)
    store.script({ operation: 'create', nth: 1, work: true })

    const [uploadId] = await storage.begin([file], ALIVE)

    const ofFile = [...store.uploads].filter(([, { key }]) => key === pathOf(file)).map(([id]) => id)
    expect([store.count('create'), ofFile]).toEqual([2, [uploadId]])
  })

  it('is begun also where that upload cannot be looked for', async () => {
    store.script(
      { operation: 'create', nth: 1 },
      { operation: 'uploads', nth: 'every', answer: failure(403, 'AccessDenied', '') },
    )

    const [uploadId] = await storage.begin([fileOf(BIG, SMALL)], ALIVE)
    expect([store.uploads.has(uploadId!), store.count('uploads')]).toEqual([true, 1])
  })

  it('is not begun for a caller who has left', async () => {
    const left = new Error('The caller has left.')

    await expect(storage.begin([fileOf(BIG, SMALL)], AbortSignal.abort(left))).rejects.toBe(left)
    expect(store.count('create')).toBe(0)
  })

  it('whose upload gets no id is refused with what was asked', async () => {
    store.script({ operation: 'create', nth: 'every', answer: xml('InitiateMultipartUploadResult', '') })

    await expect(storage.begin([fileOf(BIG, SMALL)], ALIVE)).rejects.toThrow('of no use when asked to create an upload')
  })

  it('has addresses that name its parts and upload; one of one part has neither', async () => {
    const [one, many] = [fileOf(SMALL), { ...fileOf(BIG, SMALL), uploadId: '2~abc' }]
    const addresses = await storage.partAddresses([one, many], ALIVE)

    expect(addresses).toEqual([
      [signed('PUT', pathOf(one))],
      ['1', '2'].map((partNumber) => signed('PUT', pathOf(many), { partNumber, uploadId: '2~abc' })),
    ])
  })
})

describe('a capture', () => {
  it('is sent, measured and read by addresses of its own', async () => {
    const keys = [1_001, 1_002].map((fileId) => keyOf(fileId, 'captures'))
    const [first, second] = keys.map(await storage.captureSigner())
    expect((await fetch(first!, { method: 'PUT', body: 'bytes' })).status).toBe(200)
    expect(second).toBe(signed('PUT', `captures/${SESSION}/1002`))

    expect(await storage.captureSizes(keys)).toEqual(new Map([[`captures/${SESSION}/1001`, 5]]))
    const toRead = await storage.readAddress(keys[0]!)
    expect(toRead).toBe(signed('GET', `captures/${SESSION}/1001`))
    expect((await fetch(toRead)).status).toBe(200)
    expect((await fetch(await storage.readAddress(keys[1]!))).status).toBe(404)
  })
})

describe('a file is put together', () => {
  it('from the parts that are listed, in one call, and a repeat finds it done', async () => {
    const { file, etags } = await sent(BIG, SMALL)

    await assemble(file, etags)
    expect(store.objects.get(pathOf(file))?.bytes).toEqual(Buffer.concat([BIG, SMALL]))
    store.script()
    await assemble(file, etags)
    expect(store.count('complete')).toBe(0)
  })

  it('only of what was announced: a part that is missing, another or of another size is named', async () => {
    const { file, etags } = await sent(BIG, SMALL)

    await expect(assemble(file, [...etags, etags[0]!])).rejects.toEqual(
      refusal(409, 'part_not_stored', { part_number: 3 }),
    )
    await expect(assemble(file, [etags[0]!, etags[0]!])).rejects.toEqual(
      refusal(409, 'etag_mismatch', { part_number: 2 }),
    )
    await expect(assemble({ ...file, sizeBytes: file.sizeBytes + 1 }, etags)).rejects.toEqual(
      refusal(409, 'size_mismatch'),
    )
    expect(store.count('complete')).toBe(0)
  })

  it.each([
    ['EntityTooSmall', 'part_too_small'],
    ['InvalidPart', 'etag_mismatch'],
    ['InvalidPartOrder', 'etag_mismatch'],
  ])('not where the store says %s: %s', async (code, told) => {
    const { file, etags } = await sent(BIG, SMALL)
    store.script({ operation: 'complete', nth: 'every', answer: failure(400, code, '') })

    await expect(assemble(file, etags)).rejects.toEqual(refusal(409, told))
  })

  it('by no other refusal of the store, which is passed on by its code alone', async () => {
    const { file, etags } = await sent(BIG, SMALL)
    store.script({ operation: 'complete', nth: 'every', answer: failure(403, 'AccessDenied', 'secret-of-the-bucket') })

    await expect(assemble(file, etags)).rejects.toThrow(
      /^The object store would not complete the upload: AccessDenied \(403\)\.$/,
    )
  })

  it('by somebody else just before: the object shows it', async () => {
    const { file, etags } = await sent(BIG, SMALL)
    store.script({ operation: 'complete', nth: 'every', work: true, answer: failure(403, 'AccessDenied', '') })

    await assemble(file, etags)
    expect(store.objects.has(pathOf(file))).toBe(true)
  })

  it.each([
    [405, 'MethodNotAllowed'],
    [501, 'NotSupported'],
    [400, 'NotImplemented'],
  ])('of parts that cannot be listed, as %i %s says, by the completion alone', async (status, code) => {
    const { file, etags } = await sent(BIG, SMALL)
    store.script({ operation: 'list', nth: 'every', answer: failure(status, code, '') })

    await expect(assemble(file, [etags[1]!, etags[0]!])).rejects.toEqual(refusal(409, 'etag_mismatch'))
    await assemble(file, etags)
    expect(store.objects.has(pathOf(file))).toBe(true)
  })

  it.each([
    [400, 'RequestTimeout'],
    [409, 'OperationAborted'],
    [429, 'TooManyRequests'],
    [500, 'SomeError'],
  ])('not now where the parts cannot be listed for %i %s', async (status, code) => {
    const { file, etags } = await sent(BIG, SMALL)
    store.script({ operation: 'list', nth: 'every', answer: failure(status, code, '') })

    await expect(assemble(file, etags)).rejects.toEqual(refusal(503, 'storage_unavailable'))
  })

  it('not where the store refuses to list the parts, which it knows to do', async () => {
    const { file, etags } = await sent(BIG, SMALL)
    store.script({ operation: 'list', nth: 'every', answer: failure(403, 'AccessDenied', '') })

    await expect(assemble(file, etags)).rejects.toThrow('would not list the parts: AccessDenied (403).')
  })

  it('also by a store that goes on listing the parts of what is done, as OpenStack Swift does', async () => {
    const { file, etags } = await sent(BIG, SMALL)
    const upload = store.uploads.get(file.uploadId!)
    store.before = (operation) => {
      if (operation === 'head') (store.uploads as Map<string, unknown>).set(file.uploadId!, upload)
    }

    for (let count = 0; count < 2; count += 1) await assemble(file, etags)
    store.script({ operation: 'complete', nth: 'every', answer: failure(404, 'NoSuchUpload', '') })
    await assemble(file, etags)
    expect(store.objects.has(pathOf(file))).toBe(true)
  })

  it('no more once the store has lost upload and object, also where it cannot list parts', async () => {
    const { file, etags } = await sent(BIG, SMALL)
    await storage.release([file])

    await expect(assemble(file, etags)).rejects.toEqual(refusal(409, 'upload_lost'))
    store.script({ operation: 'list', nth: 'every', answer: failure(501, 'NotImplemented', '') })
    await expect(assemble(file, etags)).rejects.toEqual(refusal(409, 'upload_lost'))
  })

  it('no more once the upload vanishes between the list and the completion', async () => {
    const { file, etags } = await sent(BIG, SMALL)
    let isGone = false
    store.before = async (operation) => {
      if (operation !== 'complete' || isGone) return
      isGone = true
      await storage.release([file])
    }

    await expect(assemble(file, etags)).rejects.toEqual(refusal(409, 'upload_lost'))
  })

  it.each(['NoSuchUpload', 'NoSuchKey'])(
    'but %s is not yet believed where the upload is still listed',
    async (code) => {
      const { file, etags } = await sent(BIG, SMALL)
      store.script({ operation: 'complete', nth: 'every', answer: failure(404, code, '') })

      await expect(assemble(file, etags)).rejects.toEqual(refusal(503, 'storage_unavailable'))
    },
  )
})

describe('the object itself', () => {
  const head = (bytes: number, etag: string, headers: Record<string, string> = {}) =>
    store.script({
      operation: 'head',
      nth: 'every',
      answer: { status: 200, headers: { 'content-length': String(bytes), etag, ...headers } },
    })
  const other = '0'.repeat(32)

  it('of one part is compared by size and ETag, whatever made that', async () => {
    const { file, etags } = await sent(SMALL)
    await assemble(file, etags)
    await expect(assemble(file, [other])).rejects.toEqual(refusal(409, 'etag_mismatch', { part_number: 1 }))
    await expect(assemble({ ...file, sizeBytes: 1 }, etags)).rejects.toEqual(refusal(409, 'size_mismatch'))
    head(SMALL.length, '"opaque"', { 'x-amz-server-side-encryption': 'aws:kms' })
    await assemble(file, ['opaque'])
    await expect(assemble(file, etags)).rejects.toEqual(refusal(409, 'etag_mismatch', { part_number: 1 }))
  })

  it('of one part that was never sent is said to lack that', async () => {
    await expect(assemble(fileOf(SMALL), [other])).rejects.toEqual(refusal(409, 'part_not_stored', { part_number: 1 }))
  })

  it('of several parts is compared by an ETag only where that is made of theirs', async () => {
    const { file, etags } = await sent(BIG, SMALL)
    await assemble(file, etags)
    const made = etagOf(Buffer.concat(etags.map((etag) => Buffer.from(etag, 'hex'))))

    head(file.sizeBytes, `"${made}-2"`)
    await assemble(file, etags)
    head(file.sizeBytes, `"${made}-2"`, { 'x-amz-server-side-encryption': 'AES256' })
    await assemble(file, etags)
    for (const headers of [{}, { 'x-amz-server-side-encryption': 'AES256' }]) {
      head(file.sizeBytes, `"${other}-2"`, headers)
      await expect(assemble(file, etags)).rejects.toEqual(refusal(409, 'etag_mismatch', { part_number: 1 }))
    }
    for (const headers of [
      { 'x-amz-server-side-encryption': 'aws:kms' },
      { 'x-amz-server-side-encryption': 'aws:fsx' },
      { 'x-amz-server-side-encryption-customer-algorithm': 'AES256' },
    ]) {
      head(file.sizeBytes, `"${other}-2"`, headers)
      await assemble(file, etags)
      head(file.sizeBytes - 1, `"${other}-2"`, headers)
      await expect(assemble(file, etags)).rejects.toEqual(refusal(409, 'size_mismatch'))
    }
    // Made in some other way.
    for (const etag of ['opaque', other, `${other}-2x`, `x${other}-2`]) {
      head(file.sizeBytes, `"${etag}"`)
      await assemble(file, etags)
    }
    head(file.sizeBytes, `"${other}-2"`)
    for (const opaque of [`x${other}`, `${other}x`]) await assemble(file, [etags[0]!, opaque])
  })
})

describe('the health check', () => {
  it('trusts a good answer for five seconds, and none of a time that is yet to come', async () => {
    const askAt = async (ms: number) => {
      now = ms
      await storage.checkReachable()
      return store.count('bucket')
    }

    expect([await askAt(100_000), await askAt(104_999), await askAt(105_000)]).toEqual([1, 1, 2])
    // The clock was set back.
    expect([await askAt(50_000), await askAt(50_000)]).toEqual([3, 3])
  })

  it('needs no store that knows the call', async () => {
    now += 5_000
    store.script({ operation: 'bucket', nth: 'every', answer: { status: 501 } })

    await expect(storage.checkReachable()).resolves.toBeUndefined()
  })
})

describe('a file is released', () => {
  it('by its upload and object, and once it is gone, too', async () => {
    const { file, etags } = await sent(BIG, SMALL)
    const { file: made, etags: itsEtags } = await sent(BIG, SMALL)
    await assemble(made, itsEtags)

    // Whose id is known need not be looked for.
    store.script({ operation: 'uploads', nth: 'every', answer: failure(501, 'NotImplemented', '') })
    for (let count = 0; count < 2; count += 1) await storage.release([file, made])
    expect([store.uploads.has(file.uploadId!), store.objects.has(pathOf(made))]).toEqual([false, false])
    await expect(assemble(file, etags)).rejects.toEqual(refusal(409, 'upload_lost'))
  })

  it('of one part by its object alone', async () => {
    const { file } = await sent(SMALL)
    store.script()

    await storage.release([file])
    expect(store.objects.has(pathOf(file))).toBe(false)
    expect(['uploads', 'abort', 'list'].map((operation) => store.count(operation as 'abort'))).toEqual([0, 0, 0])
  })

  it('whose upload only the store knows, and no other one whose key begins alike', async () => {
    const file = { ...fileOf(BIG, SMALL), key: keyOf(77) }
    const neighbour = { ...fileOf(BIG, SMALL), key: keyOf(777) }
    const [own, second, others] = await storage.begin([file, file, neighbour], ALIVE)

    await storage.release([file])

    expect([own, second, others].map((id) => store.uploads.has(id!))).toEqual([false, false, true])
  })

  it.each([
    ['has none', xml('ListMultipartUploadsResult', '')],
    ['has no such call', failure(501, 'NotImplemented', '')],
  ])('by its object alone where the store lists no uploads because it %s', async (_, answer) => {
    const file = fileOf(BIG, SMALL)
    store.script({ operation: 'uploads', nth: 'every', answer })

    await storage.release([file])
    expect([store.count('abort'), store.count('remove')]).toEqual([0, 1])
  })

  it('with one abort where the store cannot list what is left', async () => {
    const { file } = await sent(BIG, SMALL)
    store.script({ operation: 'list', nth: 'every', answer: failure(501, 'NotImplemented', '') })

    await storage.release([file])
    expect([store.count('abort'), store.count('remove')]).toEqual([1, 1])
  })

  it('with one abort where an empty upload is still listed', async () => {
    const { file } = await sent(BIG, SMALL)
    store.script({ operation: 'list', nth: 'every', answer: xml('ListPartsResult', '') })

    await storage.release([file])
    expect([store.count('abort'), store.count('remove')]).toEqual([1, 1])
  })

  it('with ten aborts at most, and not said to be gone before', async () => {
    const { file } = await sent(BIG, SMALL)
    store.before = (operation) => {
      if (operation !== 'list') return
      ;(store.uploads as Map<string, unknown>).set(file.uploadId!, { key: pathOf(file), parts: new Map() })
      store.arriveLate(file.uploadId!, 1)
    }

    await expect(storage.release([file])).rejects.toEqual(refusal(503, 'storage_unavailable'))
    expect([store.count('abort'), store.count('remove')]).toEqual([10, 0])
  })

  it.each(['uploads', 'abort', 'list', 'remove'] as const)(
    'no further than to %s once it is told to stop',
    async (last) => {
      const { file } = await sent(BIG, SMALL)
      const stop = new AbortController()
      let goOn: () => void = () => undefined
      store.before = (operation) => {
        if (operation !== last) return undefined
        stop.abort(new Error('Stop.'))
        return new Promise((resolve) => (goOn = resolve))
      }
      onTestFinished(() => goOn())

      const released = storage.release([last === 'uploads' ? fileOf(BIG, SMALL) : file], stop.signal)
      await expect(released).rejects.toEqual(refusal(503, 'storage_unavailable'))
    },
  )
})

describe('pages of some origins', () => {
  it('are let in by one rule of the bucket', async () => {
    await bucket.allowOrigins(['https://app.example', 'https://other.example'])

    const rule = store.requests.findLast(({ operation }) => operation === 'cors')!.body.toString()
    const values = (name: string) =>
      [...rule.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'g'))].map(([, text]) => text)
    expect(values('AllowedOrigin')).toEqual(['https://app.example', 'https://other.example'])
    expect([values('AllowedMethod'), values('AllowedHeader')]).toEqual([['GET', 'PUT'], ['*']])
    expect(values('ExposeHeader')).toEqual(['ETag', 'Date'])
  })

  it('are not let in where the store refuses', async () => {
    store.script({ operation: 'cors', nth: 'every', answer: failure(403, 'AccessDenied', '') })

    await expect(bucket.allowOrigins(['*'])).rejects.toThrow('would not set the origins: AccessDenied (403).')
  })
})
