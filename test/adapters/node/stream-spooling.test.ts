import { createReadStream } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { PassThrough, Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'

import type { StreamInput } from '../../../src/adapters/node/files/stream-pull.ts'
import { bytesOf, counting } from '../../../src/testing/source/contents.ts'
import { spooledStreams } from './spooled-streams.ts'

const kinds = ['a Node stream', 'a web stream', 'an async sequence'] as const

describe('the spool file of a stream', () => {
  const spooled = spooledStreams()
  const { sourceOf } = spooled

  it('is gone when its source is disposed of, and has no name before, so that no kill leaves it behind', async () => {
    const source = sourceOf(Readable.from([counting(9)]))
    await source.describe()
    if (process.platform !== 'win32') expect(await readdir(spooled.tempDir)).toEqual([])

    await source.dispose?.()

    expect(await readdir(spooled.tempDir)).toEqual([])
    await expect(source.describe()).rejects.toMatchObject({
      code: 'ERR_UPLOAD_SOURCE_READ',
      message: expect.stringContaining('its source has been disposed of') as string,
    })
  })

  it('lets a retry read again what can be streamed only once', async () => {
    const source = sourceOf(createReadStream(import.meta.filename))
    const identity = await source.describe()
    const whole = await readFile(import.meta.filename)

    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const reader = await source.open(identity)
      expect(await bytesOf(reader, 0, identity.sizeBytes)).toEqual(whole)
      await reader.close()
    }
  })

  it('is gone when disposal comes while it is being made, and the bytes keep coming', async () => {
    const stream = new PassThrough()
    stream.write(counting(1000))
    const source = sourceOf(stream, 2000)
    await source.describe()

    await source.dispose?.()

    expect(await readdir(spooled.tempDir)).toEqual([])
    expect(stream.destroyed).toBe(true)
  })

  it.each(kinds)('ends %s that was never read when it is let go', async (label) => {
    const ended: string[] = []
    const endless: Readonly<Record<(typeof kinds)[number], () => StreamInput>> = {
      'a Node stream': () => new PassThrough().once('close', () => ended.push('ended')),
      'a web stream': () => new ReadableStream<Uint8Array>({ cancel: () => void ended.push('ended') }),
      // A sequence that was not begun holds nothing, so there is nothing to end.
      'an async sequence': () => {
        ended.push('ended')
        return pending()
      },
    }

    await sourceOf(endless[label]()).dispose?.()
    await new Promise((resolve) => setImmediate(resolve))

    expect(ended).toEqual(['ended'])
  })

  it.each(kinds)('does not wait for %s that gives nothing', async (label) => {
    const silent: Readonly<Record<(typeof kinds)[number], () => StreamInput>> = {
      'a Node stream': () => new PassThrough(),
      'a web stream': () => new ReadableStream<Uint8Array>(),
      'an async sequence': pending,
    }
    const source = sourceOf(silent[label](), 10)
    const reader = await source.open(await source.describe())
    const refused = expect(bytesOf(reader, 0, 5)).rejects.toMatchObject({ code: 'ERR_UPLOAD_SOURCE_READ' })

    await source.dispose?.()

    await refused
    expect(await readdir(spooled.tempDir)).toEqual([])
  })
})

/** A sequence whose first piece never comes. */
function pending(): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }) }
}
