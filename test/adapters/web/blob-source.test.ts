import { openAsBlob } from 'node:fs'
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'

import { blobSource } from '../../../src/adapters/web/blob-source.ts'
import { sourceContract } from '../../../src/testing/source-contract.ts'
import { bytesOf, counting } from '../../../src/testing/source/contents.ts'

sourceContract('blobSource over a Blob in memory', (bytes) =>
  Promise.resolve({ source: blobSource('take-7.mp4', new Blob([Uint8Array.from(bytes)])) }),
)

sourceContract('blobSource over a File', (bytes) =>
  Promise.resolve({
    source: blobSource(new File([Uint8Array.from(bytes)], 'take-7.mp4', { lastModified: 1_789_000_000_123 })),
  }),
)

// A Blob over a file on the disk behaves as a File that a person chose in a page: the platform watches the file.
sourceContract('blobSource over a Blob that is backed by the disk', async (bytes) => {
  const folder = await mkdtemp(join(tmpdir(), 'blob-source-'))
  const path = join(folder, 'chosen')
  await writeFile(path, bytes)
  return {
    source: blobSource('take-7.mp4', await openAsBlob(path)),
    changes: {
      'it became longer': () => writeFile(path, counting(11)),
      'it became shorter': () => truncate(path, 9),
    },
    cleanUp: () => rm(folder, { recursive: true }),
  }
})

describe('blobSource', () => {
  afterEach(() => {
    vi.useRealTimers()
    vi.unstubAllGlobals()
  })

  it('takes name and time from a File', async () => {
    const source = blobSource(new File(['abc'], 'swing.mov', { lastModified: 1_789_000_000_123 }))

    expect(source.name).toBe('swing.mov')
    expect(await source.describe()).toEqual({ sizeBytes: 3, modifiedAtMs: 1_789_000_000_123 })
  })

  it('takes a name that is given, and the time of the File beside it', async () => {
    const source = blobSource('other.mov', new File(['abc'], 'swing.mov', { lastModified: 5 }))

    expect(source.name).toBe('other.mov')
    expect(await source.describe()).toEqual({ sizeBytes: 3, modifiedAtMs: 5 })
  })

  it('has no time where the Blob has none', async () => {
    expect(await blobSource('a', new Blob(['abc'])).describe()).toEqual({ sizeBytes: 3 })
  })

  it('says of a file that was written to after it was chosen that it has changed, and to choose it again', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'blob-source-'))
    await writeFile(join(folder, 'chosen'), counting(10))
    const source = blobSource('take-7.mp4', await openAsBlob(join(folder, 'chosen')))
    const reader = await source.open(await source.describe())
    expect(await bytesOf(reader, 0, 3)).toEqual(Buffer.from([0, 1, 2]))

    await truncate(join(folder, 'chosen'), 5)

    await expect(reader.read(new Uint8Array(3), 0)).rejects.toMatchObject({
      code: 'ERR_UPLOAD_SOURCE_CHANGED',
      message: expect.stringMatching(/^"take-7\.mp4" has changed.*choose it again/) as string,
      cause: expect.objectContaining({ name: 'NotReadableError' }) as Error,
    })
    await rm(folder, { recursive: true })
  })

  it('gives each part its own bytes in any order, more than once, and of other lengths in between', async () => {
    const bytes = counting(100)
    const source = blobSource('take-7.mp4', new Blob([bytes]))
    const reader = await source.open(await source.describe())
    for (const [start, end] of [
      ...[
        [20, 30],
        [0, 10],
        [90, 100],
        [0, 10],
        [30, 37],
        [30, 40],
        [10, 20],
        [10, 20],
        [95, 100],
        [50, 50],
      ],
    ] as [number, number][]) {
      const slice = new Uint8Array(await reader.blob!(start, end).arrayBuffer())
      expect(slice, `${String(start)} to ${String(end)}`).toEqual(bytes.slice(start, end))
    }
    expect(reader.blob!(0, 100).size).toBe(100)
  })

  it('sends a File whole as it is, and without the type that would become a header', async () => {
    for (const type of ['', 'video/mp4']) {
      const file = new File(['abc'], 'a.mp4', { type })
      const source = blobSource(file)
      const whole = (await source.open(await source.describe())).blob!(0, 3)
      expect([whole === file, whole.type]).toEqual([type === '', ''])
    }
  })

  it('looks once after several that were sent, and waits for none but those', async () => {
    vi.resetModules()
    const { blobSource: fresh } = await import('../../../src/adapters/web/blob-source.ts')
    const readers = await Promise.all(
      ['a.mp4', 'b.mp4', 'c.mp4', 'd.mp4'].map(async (name) => {
        const source = fresh(name, new Blob(['abc']))
        return source.open(await source.describe())
      }),
    )
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] })
    vi.stubGlobal('document', { visibilityState: 'visible' })
    const ended: string[] = []
    for (const reader of readers) reader.blob!(0, 3)
    const [a, b, c, d] = readers
    await d!.verify()

    const first = a!.verify()!.then(() => ended.push('a'))
    await new Promise((resolve) => setImmediate(resolve))
    const second = b!.verify()!.then(() => ended.push('b'))
    await new Promise((resolve) => setImmediate(resolve))
    expect(ended).toEqual([])
    await c!.verify()

    await Promise.all([first, second])
    expect(ended).toEqual(['a', 'b'])
  })

  /** What the platform gives of a slice that does not begin at the file's beginning. */
  type Given = Pick<Blob, 'arrayBuffer' | 'stream'>
  const refusing = (error: Error): Given => ({ arrayBuffer: () => Promise.reject(error), stream: () => failing(error) })
  const empty = new Blob([])
  it.each<[string, Given]>([
    [
      'became shorter and is read as it is now, as in Firefox',
      { arrayBuffer: () => empty.arrayBuffer(), stream: () => empty.stream() },
    ],
    [
      'became shorter in the second in which it was written, where zeros can be read of it, as in WebKit',
      { arrayBuffer: () => Promise.resolve(new ArrayBuffer(1)), stream: () => empty.stream() },
    ],
    ['is gone', refusing(new DOMException('The operation was aborted.', 'AbortError'))],
  ])('notices a file that %s', async (_how, { arrayBuffer, stream }) => {
    const blob = Object.assign(new Blob([counting(10)]), {
      // What is left of it can be read.
      slice: (start: number) => Object.assign(new Blob(['a']), start === 0 ? {} : { arrayBuffer, stream }),
    })
    const reader = await blobSource('take-7.mp4', blob).open({ sizeBytes: 10 })

    await expect(reader.verify()).rejects.toMatchObject({ code: 'ERR_UPLOAD_SOURCE_CHANGED' })
  })

  it('finds an empty file unchanged', async () => {
    const source = blobSource('take-7.mp4', empty)
    const reader = await source.open(await source.describe())

    await expect(reader.verify()).resolves.toBeUndefined()
  })

  it('calls any other failure to read what it is', async () => {
    const blob = Object.assign(new Blob([counting(10)]), {
      slice: () => Object.assign(new Blob(['abc']), refusing(new Error('disk gone'))),
    })
    const reader = await blobSource('take-7.mp4', blob).open({ sizeBytes: 10 })

    await expect(reader.verify()).rejects.toMatchObject({
      code: 'ERR_UPLOAD_SOURCE_READ',
      cause: expect.objectContaining({ message: 'disk gone' }) as Error,
    })
  })
})

function failing(error: Error): ReadableStream {
  return new ReadableStream({ start: (controller) => controller.error(error) })
}
