// A protocol that the host brings, behind the face: uploaded, and taken up again in another life.

import { expect, it, onTestFinished } from 'vitest'
import {
  createUplink,
  memoryJournal,
  s3Multipart,
  type SessionReplaced,
  type Uplink,
  type UploadReport,
} from '../../src/node.ts'
import { hastyClock } from '../../src/testing/hasty-clock.ts'
import type { Upload } from '../helpers/scripted-s3.ts'
import { expectObject, sourceOf, startS3Rig, type S3Rig } from './s3-rig.ts'

function life(
  { transport }: S3Rig,
  journal: ReturnType<typeof memoryJournal>,
  own: { readonly addressPolicy?: 'public' } = {},
): Uplink {
  const uplink = createUplink({
    ...{ baseUrl: 'https://service.example', credentials: { apiKey: 'unused-0123456789' }, clock: hastyClock() },
    ...{ transport, journal, random: () => 0.01, partSizeBytes: 1_000 },
    sourceAt: ({ name }) => sourceOf(name, 3_500),
    ...own,
  })
  onTestFinished(() => uplink.close())
  return uplink
}

it('uploads by the protocol that the host brings', async () => {
  const rig = await startS3Rig()
  const uplink = life(rig, memoryJournal())

  const report = await uplink.upload({ protocol: rig.protocol, files: [{ source: sourceOf('a.bin', 3_500) }] }).done()

  expect([report.flow, report.status, report.files[0]?.parts, report.files[0]?.verified]).toEqual([
    'custom',
    'confirmed',
    4,
    true,
  ])
  expectObject(rig.s3, 'a.bin', 3_500)
})

it('goes on in another life with the protocol given again, and sends no part twice', async () => {
  const rig = await startS3Rig()
  const journal = memoryJournal()
  let isRefused = true
  const protocol = s3Multipart({
    ...rig.options,
    sign(request) {
      if (request.operation === 'complete' && isRefused) return Promise.reject(new Error('The signer is away'))
      return Promise.resolve(rig.s3.sign(request))
    },
  })
  const first = life(rig, journal).upload({ protocol, files: [{ source: sourceOf('a.bin', 3_500) }] })
  await first.done().catch(() => undefined)
  isRefused = false

  const second = life(rig, journal)
  await expect(second.resume(first.key)).rejects.toThrow(/give it again/)
  const report = await (await second.resume(first.key, { protocol })).done()

  expect(report.status).toBe('confirmed')
  expect(rig.s3.requestsOf('part')).toHaveLength(4)
  expectObject(rig.s3, 'a.bin', 3_500)
})

it('judges the addresses of a protocol of the host by its own address policy, before any byte goes out', async () => {
  const rig = await startS3Rig()
  const uplink = life(rig, memoryJournal(), { addressPolicy: 'public' })

  const upload = uplink.upload({ protocol: rig.protocol, files: [{ source: sourceOf('a.bin', 1_500) }] })

  await expect(upload.done()).rejects.toMatchObject({ code: 'ERR_UPLOAD_INSECURE_URL' })
  expect(rig.s3.requestsOf('part')).toEqual([])
})

/** A first life that sends all and completes nothing. */
async function sent() {
  const rig = await startS3Rig()
  const journal = memoryJournal()
  const protocol = s3Multipart({
    ...rig.options,
    sign: (request) =>
      request.operation === 'complete'
        ? Promise.reject(new Error('The signer is away'))
        : Promise.resolve(rig.s3.sign(request)),
  })
  const files = ['a.bin', 'b.bin', 'cc.bin'].map((name) => ({ source: sourceOf(name, 3_500) }))
  const first = life(rig, journal).upload({ protocol, files })
  await first.done().catch(() => undefined)
  return { ...rig, again: (own = rig.protocol) => life(rig, journal).resume(first.key, { protocol: own }) }
}

/** Ends the uploads of these keys as a store does that sweeps up what was never completed. */
function sweep({ s3 }: Pick<S3Rig, 's3'>, ...keys: readonly string[]): void {
  const uploads = s3.uploads as Map<string, Upload>
  for (const [id, { key }] of uploads) if (keys.includes(key)) uploads.delete(id)
}

it.each(['a.bin', 'a.bin b.bin cc.bin'])(
  'sends again what a store has swept away, and nothing else: %s',
  async (swept) => {
    const rig = await sent()
    const names = swept.split(' ')
    sweep(rig, ...names)
    // The signer was away, so the answer to a completion may have been lost: the first resume asks for no second copy.
    const refused = await (await rig.again()).done().catch((error: unknown) => error as { report: UploadReport })
    const { files } = 'report' in refused ? refused.report : refused
    expect(files.map(({ status }) => status === 'failed')).toEqual(
      ['a.bin', 'b.bin', 'cc.bin'].map((name) => names.includes(name)),
    )
    const sentBefore = rig.s3.requestsOf('part').length

    const upload = await rig.again()
    const replaced: SessionReplaced[] = []
    upload.on('session.replaced', (event) => replaced.push(event))
    const report = await upload.done()

    expect(report.status).toBe('confirmed')
    for (const name of ['a.bin', 'b.bin', 'cc.bin']) expectObject(rig.s3, name, 3_500)
    expect(replaced.map(({ filesMoved, filesKept }) => [filesMoved, filesKept])).toEqual(names.map(() => [1, 2]))
    // Of each swept file, a part or several under way at once find out that its upload is gone.
    const parts = rig.s3.requestsOf('part').length - sentBefore
    expect(parts).toBeGreaterThan(4 * names.length)
    expect(parts).toBeLessThanOrEqual(8 * names.length)
    expect(rig.s3.uploads.size).toBe(0)
  },
)

it('gives one file a new upload while others have not had their turn, and those stay in the session that they are in', async () => {
  const rig = await startS3Rig()
  let isSwept = false
  const protocol = s3Multipart({
    ...rig.options,
    sign(request) {
      if (request.operation === 'part' && !isSwept) sweep(rig, request.key)
      isSwept ||= request.operation === 'part'
      return Promise.resolve(rig.s3.sign(request))
    },
  })
  const names = Array.from({ length: 12 }, (_, index) => `clip-${'x'.repeat(index)}`)
  const files = names.map((name) => ({ source: sourceOf(name, 3_500) }))

  const report = await life(rig, memoryJournal()).upload({ protocol, files }).done()

  expect(report.status).toBe('confirmed')
  for (const name of names) expectObject(rig.s3, name, 3_500)
  expect([rig.s3.requestsOf('create').length, rig.s3.uploads.size]).toEqual([13, 0])
})

it('leaves no upload behind where the addresses of a new one cannot be signed, and goes on in a later life', async () => {
  const rig = await sent()
  sweep(rig, 'a.bin')
  await (await rig.again()).done().catch(() => undefined)
  let created = 0
  const failing = s3Multipart({
    ...rig.options,
    sign(request) {
      created += Number(request.operation === 'create')
      return created > 0 && request.operation === 'part'
        ? Promise.reject(new Error('The signer is away'))
        : Promise.resolve(rig.s3.sign(request))
    },
  })

  const report = await (await rig.again(failing)).done()

  expect([report.status, created, rig.s3.uploads.size]).toEqual(['partial', 1, 0])
  expect((await (await rig.again()).done()).status).toBe('confirmed')
  expectObject(rig.s3, 'a.bin', 3_500)
})

it('ends the new upload too when the session is cancelled', async () => {
  const rig = await sent()
  sweep(rig, 'a.bin')
  await (await rig.again()).done().catch(() => undefined)
  const upload = await rig.again()
  await new Promise((resolve) => upload.on('session.replaced', resolve))
  expect([...rig.s3.uploads.values()].map(({ key }) => key)).toEqual(['a.bin'])

  await upload.cancel()

  expect(rig.s3.uploads.size).toBe(0)
})
