// What can be proven later: the receipt of a session, made from its journal.

import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { memoryJournal } from '../../src/node.ts'
import { bytesOf, MIB, sample, startRig, VIDEO } from './rig.ts'

it('lists every part with its ETag and digest, and holds no address', async () => {
  const journal = memoryJournal()
  const rig = await startRig({}, { journal, verify: 'full' })
  const upload = rig.uplink.uploadVideos({ ...VIDEO, files: [sample('a.mp4', 12 * MIB, 1)] })
  const report = await upload.done()

  const receipt = await rig.uplink.receipt(upload.key)

  const bytes = bytesOf(12 * MIB, 1)
  const md5 = (start: number, end: number) => createHash('md5').update(bytes.subarray(start, end)).digest('hex')
  const ranges: [number, number][] = [
    [0, 5 * MIB],
    [5 * MIB, 10 * MIB],
    [10 * MIB, 12 * MIB],
  ]
  expect(receipt).toMatchObject({
    ...{ format: 'mocap-uplink-receipt', version: 1, key: upload.key, flow: 'video', status: 'confirmed' },
    sessionId: report.sessionId,
    files: [
      {
        ...{ name: 'a.mp4', bytes: 12 * MIB, status: 'confirmed', isVerified: true },
        sha256: createHash('sha256').update(bytes).digest('hex'),
        parts: ranges.map(([start, end], index) => ({
          ...{
            partNumber: index + 1,
            start,
            end,
            md5: md5(start, end),
            etag: `"${md5(start, end)}"`,
            isVerified: true,
          },
        })),
      },
    ],
  })
  expect(JSON.stringify(receipt)).not.toMatch(/https?:|Signature|key-/)
})
