import { describe, expect, it } from 'vitest'

import { bytesSource } from '../../src/adapters/web/bytes-source.ts'
import { ONE_PUT_LIMITS, type PartSize } from '../../src/core/plan.ts'
import { prepareFiles } from '../../src/flows/prepare.ts'

const limits = { minBytes: 10, maxBytes: 50, maxCount: 100, multipleOfBytes: 1 }
const files = [{ source: bytesSource('a.mp4', new Uint8Array(200)) }]

async function plannedWith(partSizeBytes: PartSize, own = limits) {
  const { signal } = new AbortController()
  const [plan] = await prepareFiles(files, { limits: own, partSizeBytes, signal })
  return { partCount: plan!.partCount, partSizeBytes: plan!.partSizeBytes }
}

describe('prepareFiles', () => {
  it('cuts parts of the size that a function of the file says', async () => {
    expect(await plannedWith((bytes) => bytes / 5)).toEqual({ partCount: 5, partSizeBytes: 40 })
  })

  it('moves what a function says into the limits, and refuses a number outside them', async () => {
    expect(await plannedWith(() => 1)).toEqual({ partCount: 20, partSizeBytes: 10 })
    expect(await plannedWith(() => 1000)).toEqual({ partCount: 4, partSizeBytes: 50 })
    await expect(plannedWith(1)).rejects.toMatchObject({ code: 'ERR_UPLOAD_INVALID_ARGUMENT' })
  })

  it('keeps the time of a file that has one, to compare it when the file is opened', async () => {
    const plannedOf = async (modifiedAtMs: number | undefined) => {
      const source = { ...files[0]!.source, describe: () => Promise.resolve({ sizeBytes: 1, modifiedAtMs }) }
      const [plan] = await prepareFiles([{ source }], { limits, signal: new AbortController().signal })
      return plan
    }

    expect(await plannedOf(7)).toMatchObject({ sizeBytes: 1, modifiedAtMs: 7 })
    expect(await plannedOf(undefined)).not.toHaveProperty('modifiedAtMs')
  })

  it('cuts nothing that goes out as one request', async () => {
    expect(await plannedWith(() => 10, ONE_PUT_LIMITS)).toEqual({ partCount: 1, partSizeBytes: 200 })
  })
})
