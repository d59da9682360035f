import { describe, expect, it } from 'vitest'

import { bytesSource } from '../../../src/adapters/web/bytes-source.ts'
import { sourceContract } from '../../../src/testing/source-contract.ts'
import { bytesOf, counting } from '../../../src/testing/source/contents.ts'

sourceContract('bytesSource', (given) => {
  const bytes = Uint8Array.from(given)
  return Promise.resolve({
    source: bytesSource('take-7.mp4', bytes),
    changes: {
      'its memory was transferred away': () => void structuredClone(bytes, { transfer: [bytes.buffer] }),
    },
  })
})

describe('bytesSource', () => {
  it('reads a window of a larger memory, and nothing around it', async () => {
    const source = bytesSource('take-7.mp4', counting(100).subarray(10, 20))

    const reader = await source.open(await source.describe())

    expect(await bytesOf(reader, 0, 10)).toEqual(Buffer.from([10, 11, 12, 13, 14, 15, 16, 17, 18, 19]))
    await expect(reader.read(new Uint8Array(2), 9)).rejects.toMatchObject({
      ...{ code: 'ERR_UPLOAD_SOURCE_CHANGED', details: { location: 'take-7.mp4' } },
      message: expect.stringContaining('bytes 9 to 11 were expected and it ends at 10') as string,
    })
  })

  it('is the same where the journal has a time: memory has none to compare', async () => {
    await expect(bytesSource('a', counting(3)).open({ sizeBytes: 3, modifiedAtMs: 7 })).resolves.toBeDefined()
  })

  it('is changed when its memory was resized', async () => {
    // Resizable memory is in every Node we run on, and not yet in the compiler's library of this year.
    const memory = new (
      ArrayBuffer as unknown as new (
        length: number,
        options: { maxByteLength: number },
      ) => ArrayBuffer & { resize(length: number): void }
    )(8, { maxByteLength: 16 })
    const source = bytesSource('take-7.mp4', new Uint8Array(memory))
    const reader = await source.open(await source.describe())

    memory.resize(4)

    await expect(reader.verify()).rejects.toMatchObject({
      code: 'ERR_UPLOAD_SOURCE_CHANGED',
      message: expect.stringContaining('it had 8 bytes and now has 4') as string,
    })
  })
})
