// The S3 protocol against a real store: a Ceph gateway that is started here, or any store that the environment names by
// S3_ENDPOINT, S3_ACCESS_KEY, S3_SECRET_KEY, S3_BUCKET (made if missing), and S3_REGION where it is not us-east-1.

import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { md5Hasher } from '../../src/adapters/node/hash/md5-hasher.ts'
import { undiciTransport } from '../../src/adapters/node/http/undici-transport.ts'
import { bytesSource } from '../../src/adapters/web/bytes-source.ts'
import { TransportError } from '../../src/core/errors.ts'
import type { PlannedFile, Transport, TransportReply } from '../../src/core/ports.ts'
import { s3Multipart, type S3MultipartOptions } from '../../src/protocols/s3-multipart.ts'
import { listParts } from '../../src/protocols/s3-parts.ts'
import { bytesOfSeed, runProtocol } from '../../src/testing/protocol-run.ts'
import { hastyClock } from '../../src/testing/hasty-clock.ts'
import { presign, presignS3, type SigV4Options } from '../helpers/sigv4.ts'
import { missingCephPackages, startCephGateway, type CephGateway } from './ceph-gateway.ts'

const MIB = 1024 ** 2
const NEVER = new AbortController().signal
const named = storeOfEnvironment()
const missing = named === undefined ? missingCephPackages() : []
const lack =
  missing.length === 0
    ? undefined
    : `The S3 protocol was not tried against a real store. Install ${missing.join(' ')} (apt), or name one by S3_ENDPOINT.`
if (lack !== undefined) process.stderr.write(`SKIPPED: ${lack}\n`)
let keys: SigV4Options
const folder = `mocap-uplink-test-${randomBytes(6).toString('hex')}`

describe('against a real store', () => {
  const transport = undiciTransport()
  let gateway: CephGateway | undefined
  const created: string[] = []

  const optionsWith = (own: Partial<S3MultipartOptions> = {}): S3MultipartOptions => ({
    ...{ transport, clock: hastyClock(), random: Math.random, hasher: md5Hasher(), isHttpAllowed: true },
    sign: (request) => Promise.resolve(presignS3(keys, request)),
    keyOf: (file) => keyOf(file.name),
    ...own,
  })
  const keyOf = (name: string): string => {
    const key = `${folder}/${name}`
    created.push(key)
    return key
  }
  const upload = async (name: string, sizeBytes: number, own: Partial<S3MultipartOptions> = {}) => {
    const bytes = bytesOfSeed(sizeBytes, name.length)
    const options = optionsWith(own)
    const sources = [bytesSource(name, bytes)]
    const run = await runProtocol({ protocol: s3Multipart(options), transport, sources, partSizeBytes: 5 * MIB })
    return { run, sha256: sha256(bytes) }
  }
  const stored = async (name: string): Promise<string> => {
    const response = await fetch(presign(keys, 'GET', `${folder}/${name}`))
    if (response.status !== 200) return String(response.status)
    return sha256(new Uint8Array(await response.arrayBuffer()))
  }
  const put = (url: string, bytes: Uint8Array): Promise<TransportReply> =>
    transport.send({ method: 'PUT', url, headers: {}, body: { kind: 'bytes', bytes }, signal: NEVER })
  const begin = async (name: string, partCount: number) => {
    const options = optionsWith()
    const protocol = s3Multipart(options)
    const partSizeBytes = 5 * MIB
    const plan: PlannedFile = { fileIndex: 0, name, sizeBytes: partCount * partSizeBytes, partCount, partSizeBytes }
    const { sessionId } = await protocol.create([plan], NEVER)
    const [file] = await protocol.register!(sessionId, [plan], { isRepeat: false, signal: NEVER })
    const uploadId = String(file?.serverFileId)
    const store = { key: `${folder}/${name}`, uploadId }
    return { options, protocol, sessionId, uploadId, store, addresses: file?.addresses ?? [] }
  }

  beforeAll(async () => {
    if (lack !== undefined) return
    if (named === undefined) gateway = await startCephGateway()
    keys = named ?? { bucket: 'mocap-uplink-test', ...gateway! }
    const response = await fetch(presign(keys, 'PUT', ''), { method: 'PUT' })
    expect([200, 409]).toContain(response.status)
  })
  beforeEach(({ skip }) => skip(lack !== undefined, lack))
  afterAll(async () => {
    for (const key of new Set(created)) await fetch(presign(keys, 'DELETE', key), { method: 'DELETE' })
    await transport.close()
    await gateway?.stop()
  })

  it.each([
    ['empty.action', 0],
    ['small.mov', 1],
    ['many parts & a blank+plus.mp4', 23 * MIB + 7],
    ['ünïcode-日本.mp4', 6 * MIB],
  ])('stores %s (%i bytes) with the bytes of its source', async (name, sizeBytes) => {
    const { run, sha256 } = await upload(name, sizeBytes)

    expect(run.record.ledger().files[0]?.error).toBe(undefined)
    expect(run.result).toEqual({ confirmedCount: 1, failedCount: 0 })
    expect(run.record.ledger().files[0]?.parts.every((part) => part.receipt?.isVerified)).toBe(true)
    expect(await stored(name)).toBe(sha256)
  })

  it('goes on from the list of parts', async () => {
    const { options, protocol, sessionId, uploadId, store, addresses } = await begin('resumed.mp4', 3)
    const bytes = bytesOfSeed(15 * MIB, 5)
    const part = (partNumber: number) => bytes.subarray((partNumber - 1) * 5 * MIB, partNumber * 5 * MIB)
    const before = (await listParts(options, store, NEVER))!
    for (const partNumber of [3, 1]) await put(addresses[partNumber - 1]!, part(partNumber))

    const listed = (await listParts(options, store, NEVER))!
    const { headers } = await put(addresses[1]!, part(2))
    const etags = new Map(listed.map(({ partNumber, etag }) => [partNumber, etag])).set(2, headers['etag'] ?? '')
    const receipts = [1, 2, 3].map((partNumber) => ({
      partNumber,
      receipt: { acceptedEnd: partNumber * 5 * MIB, etag: etags.get(partNumber)!, isVerified: true },
    }))
    await protocol.confirm!(sessionId, uploadId, receipts, NEVER)

    expect(before).toEqual([])
    expect(listed.map(({ partNumber, sizeBytes }) => [partNumber, sizeBytes])).toEqual([
      [1, 5 * MIB],
      [3, 5 * MIB],
    ])
    expect(await stored('resumed.mp4')).toBe(sha256(bytes))
  })

  it('reads a list of several pages', async () => {
    const { options, protocol, sessionId, store, addresses } = await begin('paged.mp4', 1_003)
    const statuses = new Set<number>()
    for (const [index, address] of addresses.entries()) {
      statuses.add((await put(address, Uint8Array.of(index & 255))).status)
    }

    const listed = (await listParts(options, store, NEVER))!
    await protocol.cancel!(sessionId, NEVER)

    // OpenStack's Swift refuses parts above 1,000 unless max_upload_part_num says more.
    expect([...statuses]).toEqual([200])
    expect(listed.map(({ partNumber }) => partNumber)).toEqual(Array.from({ length: 1_003 }, (_, index) => index + 1))
  })

  it('leaves no upload behind when it is cancelled, and says so twice', async () => {
    const { options, protocol, sessionId, store, addresses } = await begin('cancelled.mp4', 2)
    await put(addresses[0]!, bytesOfSeed(5 * MIB, 1))

    await protocol.cancel!(sessionId, NEVER)
    await protocol.cancel!(sessionId, NEVER)

    expect(await listParts(options, store, NEVER)).toBe(undefined)
    const late = await put(addresses[1]!, Uint8Array.of(1))
    expect(protocol.judge(late, { fileIndex: 0, partNumber: 2, start: 0, end: 1 })).toMatchObject({
      kind: 'renew',
      error: { serviceCode: 'NoSuchUpload' },
    })
  })

  it('gives a file whose upload was swept away a new one, and sends no other file again', async () => {
    const [kept, swept] = [bytesOfSeed(10 * MIB, 1), bytesOfSeed(20 * MIB, 2)]
    const uploadIds = new Map<string, Set<string>>()
    let puts = 0
    const run = await runProtocol({
      protocol: s3Multipart(
        optionsWith({
          sign(request) {
            if (request.operation === 'part') {
              const { key, uploadId } = request
              uploadIds.set(key, (uploadIds.get(key) ?? new Set()).add(uploadId))
            }
            return Promise.resolve(presignS3(keys, request))
          },
        }),
      ),
      transport: {
        ...transport,
        async send(request) {
          puts += 1
          const reply = await transport.send(request)
          const key = `${folder}/swept.mp4`
          const [uploadId] = uploadIds.get(key) ?? []
          // Its first part is stored by now, or on its way.
          if (puts === 2 && uploadId !== undefined)
            await fetch(presignS3(keys, { operation: 'abort', key, uploadId }).url, { method: 'DELETE' })
          return reply
        },
      },
      sources: [bytesSource('kept.mp4', kept), bytesSource('swept.mp4', swept)],
      partSizeBytes: 5 * MIB,
      concurrency: 2,
    })

    expect(run.result).toEqual({ confirmedCount: 2, failedCount: 0 })
    expect([uploadIds.get(`${folder}/kept.mp4`)?.size, uploadIds.get(`${folder}/swept.mp4`)?.size]).toEqual([1, 2])
    expect(run.record.ledger().files.map(({ generation }) => generation)).toEqual([0, 1])
    expect([await stored('kept.mp4'), await stored('swept.mp4')]).toEqual([sha256(kept), sha256(swept)])
  })

  it('is not told of success for an upload that was ended', async () => {
    const { protocol, sessionId, uploadId, addresses } = await begin('ended.mp4', 1)
    const { headers } = await put(addresses[0]!, Uint8Array.of(1, 2, 3))
    await protocol.cancel!(sessionId, NEVER)
    const parts = [{ partNumber: 1, receipt: { acceptedEnd: 3, etag: headers['etag'] ?? '', isVerified: true } }]

    await expect(protocol.confirm!(sessionId, uploadId, parts, NEVER)).rejects.toMatchObject({
      code: 'ERR_UPLOAD_CONFIRM_REFUSED',
    })
    expect(await stored('ended.mp4')).toBe('404')
  })

  it('signs anew where an address has expired', async () => {
    let signatures = 0
    const { run, sha256 } = await upload('expired.mp4', 10 * MIB, {
      sign(request) {
        signatures += Number(request.operation === 'part')
        const isStale = request.operation === 'part' && signatures <= 2
        const stale = { ...keys, lifeSeconds: 1, signedAt: new Date(Date.now() - 60_000) }
        return Promise.resolve(presignS3(isStale ? stale : keys, request))
      },
    })

    expect(run.result).toEqual({ confirmedCount: 1, failedCount: 0 })
    expect(signatures).toBe(4)
    expect(await stored('expired.mp4')).toBe(sha256)
  })

  it('fails a file whose addresses were tampered with, and shows nothing of them', async () => {
    const { run } = await upload('tampered.mp4', 100, {
      sign(request) {
        const { url } = presignS3(keys, request)
        const changed = url.replace(/Signature=(.)/, (_, digit: string) => `Signature=${digit === 'a' ? 'b' : 'a'}`)
        return Promise.resolve({ url: request.operation === 'part' ? changed : url })
      },
    })

    const error = run.record.ledger().files[0]?.error
    expect(run.result).toEqual({ confirmedCount: 0, failedCount: 1 })
    expect(error).toEqual({
      code: 'ERR_UPLOAD_ADDRESS_REFUSED',
      message: 'tampered.mp4: The storage refused part 1 (403 SignatureDoesNotMatch).',
      ...{ file: 'tampered.mp4', partNumber: 1, attempt: 1, status: 403 },
    })
  })

  it('is refused with a stale ETag', async () => {
    const { protocol, sessionId, uploadId, addresses } = await begin('stale.mp4', 1)
    const first = await put(addresses[0]!, Uint8Array.of(1, 2, 3))
    await put(addresses[0]!, Uint8Array.of(4, 5, 6))
    const etag = first.headers['etag'] ?? ''
    const parts = [{ partNumber: 1, receipt: { acceptedEnd: 3, etag, isVerified: true } }]

    await expect(protocol.confirm!(sessionId, uploadId, parts, NEVER)).rejects.toMatchObject({
      code: 'ERR_UPLOAD_CONFIRM_REFUSED',
      details: { status: 400 },
    })
  })

  it.each(['with', 'without'])(
    'knows its object when the answer to the completion is lost, %s a hasher',
    async (how) => {
      const lossy = losingTransport(transport)
      const name = `lost-${how}.mp4`
      const own = { transport: lossy.transport, hasher: how === 'with' ? md5Hasher() : undefined }
      const { run, sha256 } = await upload(name, 11 * MIB, own)

      expect(run.result).toEqual({ confirmedCount: 1, failedCount: 0 })
      expect(lossy.lostCount()).toBe(1)
      expect(await stored(name)).toBe(sha256)
      process.stdout.write(`after a lost answer (${how} a hasher) the store said: ${lossy.story().join(', ')}\n`)
    },
  )
})

/** The store that the environment names, if it does; a name without the others is a mistake, not a wish to skip. */
function storeOfEnvironment(): SigV4Options | undefined {
  const { S3_ENDPOINT, S3_BUCKET, S3_ACCESS_KEY, S3_SECRET_KEY, S3_REGION } = process.env
  if (S3_ENDPOINT === undefined) return undefined
  if (S3_BUCKET === undefined || S3_ACCESS_KEY === undefined || S3_SECRET_KEY === undefined) {
    throw new Error('S3_ENDPOINT is set: set S3_BUCKET, S3_ACCESS_KEY and S3_SECRET_KEY, too.')
  }
  return {
    ...{ endpoint: S3_ENDPOINT, bucket: S3_BUCKET, accessKey: S3_ACCESS_KEY, secretKey: S3_SECRET_KEY },
    ...(S3_REGION === undefined ? {} : { region: S3_REGION }),
  }
}

/** Loses the answer to the first completion, after the store has done its work. */
function losingTransport(inner: Transport) {
  const story: string[] = []
  let lostCount = 0
  const transport: Transport = {
    ...inner,
    async send(request) {
      const reply = await inner.send(request)
      const text = new TextDecoder().decode(reply.body)
      const said = /<Code>(\w+)<\/Code>/.exec(text)?.[1]
      story.push([request.method, reply.status, ...(said === undefined ? [] : [said])].join(' '))
      const isCompletion = text.includes('CompleteMultipartUploadResult')
      if (!isCompletion || lostCount > 0) return reply
      lostCount += 1
      throw new TransportError('ERR_UPLOAD_NETWORK', 'The answer was lost.', { ending: 'doubtful', phase: 'answer' })
    },
    endingOf: () => 'doubtful',
  }
  return { transport, lostCount: () => lostCount, story: () => story }
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
