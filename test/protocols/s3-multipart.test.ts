// Multipart uploads to an S3-compatible store, over real sockets and through the real engine.

import { describe, expect, it } from 'vitest'
import { s3Multipart } from '../../src/protocols/s3-multipart.ts'
import { passTurns } from '../helpers/pass-turns.ts'
import { createSimulatedClock } from '../helpers/simulated-clock.ts'
import { expectObject, NEVER, plan, SMALL, sourceOf, startS3Rig } from './s3-rig.ts'

describe('an upload', () => {
  it('stores every file as one object of its parts in order', async () => {
    const { s3, run } = await startS3Rig()

    const { result, record } = await run([
      sourceOf('a.mp4', 4_500),
      sourceOf('dir name & <b>.mov', 1),
      sourceOf('empty', 0),
    ])

    expect(result).toEqual({ confirmedCount: 3, failedCount: 0 })
    expectObject(s3, 'a.mp4', 4_500)
    expectObject(s3, 'dir name & <b>.mov', 1)
    expectObject(s3, 'empty', 0)
    expect(s3.objects.get('a.mp4')?.etag).toMatch(/^"[0-9a-f]{32}-5"$/)
    expect(s3.uploads.size).toBe(0)
    const receipts = record.ledger().files.flatMap((file) => file.parts.map((part) => part.receipt?.isVerified))
    expect(receipts).toEqual(Array.from({ length: 7 }, () => true))
  })

  it('signs the parts of a file when its turn comes, and not all of them with the session', async () => {
    const { s3, protocol } = await startS3Rig()
    const files = Array.from({ length: 6 }, (_, index) => plan(index, `clip-${String(index)}`, 3))

    const { sessionId } = await protocol.create(files, NEVER)
    const addressed = await protocol.register!(sessionId, files.slice(2, 4), { isRepeat: false, signal: NEVER })

    expect(s3.requestsOf('create')).toHaveLength(6)
    expect(addressed.map(({ fileIndex, addresses }) => [fileIndex, addresses.length])).toEqual([
      [2, 3],
      [3, 3],
    ])
    expect(addressed.map(({ serverFileId }) => s3.uploads.get(String(serverFileId))?.key)).toEqual(['clip-2', 'clip-3'])
  })

  it('signs a file anew when the addresses expired before they were used', async () => {
    const { s3, run } = await startS3Rig()
    let hasExpired = false

    const { result } = await run([sourceOf('a.mp4', 6_000)], {
      concurrency: 1,
      onEvent(event) {
        if (event.type !== 'received' || hasExpired) return
        hasExpired = true
        s3.expireAddresses()
      },
    })

    expect(result).toEqual({ confirmedCount: 1, failedCount: 0 })
    expectObject(s3, 'a.mp4', 6_000)
    expect(s3.requestsOf('part').map((request) => request.partNumber)).toEqual([1, 2, 3, 4, 5, 6])
  })

  it('sends the headers of parts that the host names, and no others of its own', async () => {
    const { s3, run } = await startS3Rig({}, { partHeaders: { 'x-amz-storage-class': 'STANDARD_IA' } })

    await run([sourceOf('a', 1_500)])

    const names = s3.requestsOf('part').map(({ headers }) => Object.keys(headers).sort())
    expect(names).toEqual([
      ['connection', 'content-length', 'host', 'x-amz-storage-class'],
      ['connection', 'content-length', 'host', 'x-amz-storage-class'],
    ])
  })

  it('needs no ETag to be an MD5', async () => {
    const { s3, run } = await startS3Rig({ hasOpaqueEtags: true })

    const { result, record } = await run([sourceOf('a', 2_500)])

    expect(result.confirmedCount).toBe(1)
    expect(record.ledger().files[0]?.parts.map((part) => part.receipt?.isVerified)).toEqual([false, false, false])
    expectObject(s3, 'a', 2_500)
  })
})

describe('a signer that does not sign the address of a part', () => {
  it('is asked again when it fails, and costs the file in the end and no other', async () => {
    let refusals = 8
    const { s3, run } = await startS3Rig(
      {},
      {
        sign(request) {
          const isFailing = request.operation === 'part' && (request.key === 'b' || refusals > 0)
          if (!isFailing) return Promise.resolve(s3.sign(request))
          if (request.key === 'a') refusals -= 1
          return Promise.reject(new Error('the signer sleeps'))
        },
      },
    )

    const { result, record } = await run([sourceOf('a', 2_500), sourceOf('b', 500)])

    expect(result).toEqual({ confirmedCount: 1, failedCount: 1 })
    expectObject(s3, 'a', 2_500)
    expect(record.ledger().files[1]?.error).toMatchObject({
      code: 'ERR_UPLOAD_SERVICE_REPLY',
      message: 'b: The host did not sign the part of b. It says: the signer sleeps',
    })
  })

  it('is asked again when it hangs', async () => {
    const clock = createSimulatedClock()
    let asked = 0
    const { s3, protocol } = await startS3Rig(
      {},
      {
        clock,
        sign(request) {
          asked += Number(request.operation === 'part')
          return asked === 1 ? new Promise(() => {}) : Promise.resolve(s3.sign(request))
        },
      },
    )
    const { sessionId } = await protocol.create([plan(0, 'a')], NEVER)

    const registering = protocol.register!(sessionId, [plan(0, 'a')], { isRepeat: false, signal: NEVER })
    await clock.advance(40_000)

    expect((await registering).map(({ addresses }) => addresses.length)).toEqual([1])
    expect([asked, clock.pending]).toEqual([2, 0])
  })
})

it('sends no call that was stopped while the host signed it, whatever the transport makes of its signal', async () => {
  for (let turns = 0; turns < 12; turns += 1) {
    const stop = new AbortController()
    const handed: boolean[] = []
    const protocol = s3Multipart({
      ...{ clock: createSimulatedClock(), random: () => 0.01, unitLimits: SMALL },
      transport: {
        send({ signal }) {
          handed.push(signal.aborted)
          return Promise.reject(signal.aborted ? (signal.reason as Error) : new Error('nobody is there'))
        },
        endingOf: () => 'neverWhole',
        close: () => Promise.resolve(),
      },
      sign() {
        void passTurns(turns).then(() => stop.abort(new Error('cancelled')))
        return Promise.resolve({ url: 'https://store.test/a?X-Amz-Signature=s' })
      },
    })

    await expect(protocol.create([plan(0, 'a')], stop.signal)).rejects.toThrow()

    expect({ turns, handed: handed.filter((wasAborted) => wasAborted) }).toEqual({ turns, handed: [] })
  }
})

// Ceph 16: an expired address is AccessDenied with an empty message.
it('believes a store that denies access without a word only after new addresses', async () => {
  const denied = { status: 403, body: '<Error><Code>AccessDenied</Code><Message></Message></Error>' }
  const once = await startS3Rig({ faults: [{ operation: 'part', nth: 1, answer: denied }] })
  const always = await startS3Rig({ faults: [{ operation: 'part', nth: 'every', answer: denied }] })

  const { result } = await once.run([sourceOf('a', 500)])
  const refused = await always.run([sourceOf('a', 500)])

  expect(result).toEqual({ confirmedCount: 1, failedCount: 0 })
  expect(refused.record.ledger().files[0]?.error).toEqual({
    code: 'ERR_UPLOAD_ADDRESS_REFUSED',
    status: 403,
    message: 'a: The storage refused part 1 (403 AccessDenied).',
    ...{ file: 'a', partNumber: 1, attempt: 4 },
  })
  expect(always.s3.requestsOf('part')).toHaveLength(4)
})

it('believes a store that has ended every upload after a new one of the file has ended too', async () => {
  const gone = { status: 404, body: '<Error><Code>NoSuchUpload</Code></Error>' }
  const { s3, run } = await startS3Rig({ faults: [{ operation: 'part', nth: 'every', answer: gone }] })

  const { record } = await run([sourceOf('a', 500)])

  expect(record.ledger().files[0]?.error).toMatchObject({
    code: 'ERR_UPLOAD_ADDRESS_REFUSED',
    message: 'a: The storage refused part 1 (404 NoSuchUpload: this upload was ended or swept away there).',
  })
  expect([s3.requestsOf('create').length, s3.uploads.size]).toEqual([2, 1])
})

it('tries a part again before it believes once that its upload is gone', async () => {
  const gone = { status: 404, body: '<Error><Code>NoSuchUpload</Code></Error>' }
  const { s3, run } = await startS3Rig({ faults: [{ operation: 'part', nth: 1, answer: gone }] })

  const { result } = await run([sourceOf('a', 500)])

  expect(result).toEqual({ confirmedCount: 1, failedCount: 0 })
  expect(s3.requestsOf('create')).toHaveLength(1)
})
