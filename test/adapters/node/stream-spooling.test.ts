import { createReadStream } from 'node:fs'
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'

import { streamSource } from '../../../src/adapters/node/files/stream-source.ts'
import type { StreamInput } from '../../../src/adapters/node/files/stream-pull.ts'
import { bytesOf, counting } from '../../../src/testing/source/contents.ts'
import { spooledStreams } from './spooled-streams.ts'

const kinds = ['a Node stream', 'a web stream', 'an async sequence'] as const

describe('the spool file of a stream', () => {
  const spooled = spooledStreams()
  const { sourceOf } = spooled

  async function spoolIn(folder: string): Promise<{ folder: string; file: string }> {
    const [name] = await readdir(folder)
    return { folder: join(folder, name!), file: join(folder, name!, 'spool') }
  }

  it('is for its owner only, and holds what has come', async () => {
    const source = sourceOf(Readable.from([counting(9)]))
    await source.describe()

    const { folder, file } = await spoolIn(spooled.tempDir)

    expect(await readFile(file)).toEqual(Buffer.from(counting(9)))
    if (process.platform === 'win32') return
    expect(((await stat(file)).mode & 0o777).toString(8)).toBe('600')
    expect(((await stat(folder)).mode & 0o777).toString(8)).toBe('700')
  })

  it('is made when the stream is first needed, and is gone when its source is disposed of', async () => {
    const source = sourceOf(Readable.from([counting(9)]))
    expect(await readdir(spooled.tempDir)).toEqual([])
    await source.describe()
    expect(await readdir(spooled.tempDir)).toHaveLength(1)

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

  it('stays readable when a cleaner of temporary files deletes it', async () => {
    const source = sourceOf(Readable.from([counting(9)]))
    const reader = await source.open(await source.describe())
    await rm((await spoolIn(spooled.tempDir)).folder, { recursive: true })

    expect(await bytesOf(reader, 0, 9)).toEqual(Buffer.from(counting(9)))
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

  it('can lie in a folder of the host', async () => {
    const folder = join(spooled.tempDir, 'host')
    await mkdir(folder)
    const source = streamSource('take-7.mp4', Readable.from([counting(9)]), { tempDir: folder })
    await source.describe()

    expect(await readdir(folder)).toHaveLength(1)

    await source.dispose?.()
    await rm(folder, { recursive: true })
  })
})

/** A sequence whose first piece never comes. */
function pending(): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }) }
}
