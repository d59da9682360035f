// A file of one part is a plain PUT to a bucket, and its address lives on after a cancel: what comes by it then is removed when
// the session is swept.

import { expect, it, onTestFinished, vi } from 'vitest'

import { startScriptedBucket } from '../../helpers/scripted-bucket.ts'
import { startWithSweep } from '../../helpers/sweep-on-demand.ts'
import { openVideoSession, put, startUnderTest } from '../service-under-test.ts'

const EIGHT_DAYS_MS = 8 * 24 * 3_600_000

it('that comes after its session was cancelled is removed once its address has expired', async () => {
  const bucket = await startScriptedBucket()
  const lines: string[] = []
  const { service, sweep } = await startWithSweep(() =>
    startUnderTest({
      s3: { endpoint: bucket.origin, bucket: 'recordings', keys: { accessKeyId: 'A', secretAccessKey: 'secret' } },
      log: { write: (line) => void lines.push(line) },
    }),
  )
  onTestFinished(async () => {
    vi.restoreAllMocks()
    await service.close()
    await bucket.close()
  })
  const { sessionId, files } = await openVideoSession(service, [{ bytes: 3, chunks: 1 }])
  const address = files[0]!.urls[0]!
  const key = new URL(address).pathname.slice('/recordings/'.length)
  expect((await service.call('DELETE', `/upload_videos/${sessionId}`)).status).toBe(200)
  expect((await put(address, new Uint8Array(3))).status).toBe(200)
  expect(bucket.objects.has(key)).toBe(true)

  vi.spyOn(performance, 'now').mockReturnValue(performance.now() + EIGHT_DAYS_MS)
  service.advance(EIGHT_DAYS_MS)
  sweep()

  await vi.waitFor(() => expect(lines.join('')).toContain('unfinished sessions were ended'), { timeout: 30_000 })
  expect(bucket.objects.has(key)).toBe(false)
})
