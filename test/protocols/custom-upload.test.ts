// A protocol that the host brings, behind the face: uploaded, and taken up again in another life.

import { expect, it, onTestFinished } from 'vitest'
import { createUplink, memoryJournal, s3Multipart, type Uplink } from '../../src/node.ts'
import { hastyClock } from '../../src/testing/hasty-clock.ts'
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
