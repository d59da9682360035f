import { open, rm, writeFile, type FileHandle } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { describe, expect, it, vi } from 'vitest'

import { streamSource } from '../../../../src/adapters/node/files/stream-source.ts'
import type { StreamInput } from '../../../../src/adapters/node/files/stream-pull.ts'
import { sourceContract } from '../../../../src/testing/source-contract.ts'
import { bytesOf, counting } from '../../../../src/testing/source/contents.ts'
import { spooledStreams } from '../spooled-streams.ts'

const makers: Readonly<Record<string, (bytes: Uint8Array) => StreamInput>> = {
  'a Node stream': (bytes) => Readable.from(pieces(bytes)),
  'a web stream': (bytes) => Readable.toWeb(Readable.from(pieces(bytes))) as ReadableStream<Uint8Array>,
  'an async sequence': async function* (bytes) {
    yield* pieces(bytes)
  },
}

for (const [label, makeStream] of Object.entries(makers)) {
  for (const isKnown of [true, false]) {
    sourceContract(`streamSource over ${label} of ${isKnown ? 'a known' : 'an unknown'} size`, (bytes) =>
      Promise.resolve({
        source: streamSource('take-7.mp4', makeStream(bytes), isKnown ? { sizeBytes: bytes.length } : {}),
      }),
    )
  }
}

it.each(['utf8', 'latin1', 'hex'] as const)('refuses a stream that gives text instead of its bytes: %s', (encoding) => {
  const stream = new PassThrough().setEncoding(encoding)

  expect(() => streamSource('take-7.mp4', stream)).toThrow(
    expect.objectContaining({
      code: 'ERR_UPLOAD_INVALID_ARGUMENT',
      message: `streamSource: the stream gives text (${encoding}), not its bytes. Pass one without an encoding.`,
    }) as Error,
  )
})

describe('streamSource', () => {
  const spooled = spooledStreams()
  const { sourceOf } = spooled

  describe('bytes that are still arriving', () => {
    it('describes itself at once when the size is known, and reads what has come while more is coming', async () => {
      const stream = new PassThrough()
      const source = sourceOf(stream, 10)
      expect(await source.describe()).toEqual({ sizeBytes: 10 })
      const reader = await source.open({ sizeBytes: 10 })

      stream.write(counting(6))

      expect(await bytesOf(reader, 2, 6)).toEqual(Buffer.from([2, 3, 4, 5]))
      await expect(reader.verify()).resolves.toBeUndefined()
    })

    it('lets a read wait until its last byte has come', async () => {
      const stream = new PassThrough()
      const source = sourceOf(stream, 10)
      const reader = await source.open(await source.describe())
      const order: string[] = []
      const reading = bytesOf(reader, 1, 8).then((found) => {
        order.push('read')
        return found
      })

      stream.write(counting(7))
      expect(await bytesOf(reader, 0, 7)).toEqual(Buffer.from(counting(7)))
      order.push('eighth byte written')
      stream.write(Buffer.from([7]))

      expect(await reading).toEqual(Buffer.from([1, 2, 3, 4, 5, 6, 7]))
      expect(order).toEqual(['eighth byte written', 'read'])
    })

    it('holds back the range with the last byte until the stream has ended', async () => {
      const stream = new PassThrough()
      const source = sourceOf(stream, 10)
      const reader = await source.open(await source.describe())
      const order: string[] = []
      stream.write(counting(10))
      const last = bytesOf(reader, 9, 10).then(() => order.push('last byte read'))
      await bytesOf(reader, 0, 9)

      order.push('stream ended')
      stream.end()
      await last

      expect(order).toEqual(['stream ended', 'last byte read'])
    })

    it('waits for the end when the size is not known', async () => {
      const stream = new PassThrough()
      const source = sourceOf(stream)
      const order: string[] = []
      const describing = source.describe().then((identity) => {
        order.push('described')
        return identity
      })
      await new Promise((resolve) => stream.write(counting(7), resolve))

      order.push('ended')
      stream.end(counting(3))

      expect(await describing).toEqual({ sizeBytes: 10 })
      expect(order).toEqual(['ended', 'described'])
    })

    it('stops waiting for the size when its signal is aborted, and can be asked again', async () => {
      const stream = new PassThrough()
      const source = sourceOf(stream)
      const abort = new AbortController()
      const describing = source.describe(abort.signal)

      abort.abort(new Error('no longer wanted'))
      await expect(describing).rejects.toThrow('no longer wanted')
      stream.end(counting(3))

      expect(await source.describe()).toEqual({ sizeBytes: 3 })
    })

    it('refuses reads that wait when the reader is closed, and does not wait for the stream', async () => {
      const source = sourceOf(new PassThrough(), 10)
      const reader = await source.open(await source.describe())
      const refused = expect(bytesOf(reader, 0, 5)).rejects.toMatchObject({
        code: 'ERR_UPLOAD_SOURCE_READ',
        message: '"take-7.mp4" was closed while a read waited for its stream.',
      })

      await reader.close()

      await refused
    })

    it('asks for the next piece only when the disk has the last one', async () => {
      const buffer = new Uint8Array(3)
      const stream = (async function* () {
        for (let round = 0; round < 50; round += 1) {
          // The same memory again: only a consumer that waits for the disk gets the right bytes.
          buffer.fill(round)
          yield buffer
        }
      })()
      const source = sourceOf(stream)

      const reader = await source.open(await source.describe())

      const expected = Buffer.from(Array.from({ length: 150 }, (_, index) => Math.floor(index / 3)))
      expect(await bytesOf(reader, 0, 150)).toEqual(expected)
    })

    it('takes text as UTF-8 and passes over empty pieces', async () => {
      const source = sourceOf(Readable.from(['frame ', '', 'für ', Buffer.from('⚾'), Buffer.alloc(0)]))

      const { sizeBytes } = await source.describe()
      const reader = await source.open({ sizeBytes })

      expect((await bytesOf(reader, 0, sizeBytes)).toString()).toBe('frame für ⚾')
    })
  })

  describe('a length that is not the announced one', () => {
    it('is changed when the stream ends early, saying both numbers', async () => {
      const source = sourceOf(Readable.from([counting(4), counting(3)]), 10)
      const reader = await source.open({ sizeBytes: 10 })

      await expect(bytesOf(reader, 5, 10)).rejects.toMatchObject({
        code: 'ERR_UPLOAD_SOURCE_CHANGED',
        message: expect.stringContaining('announced with 10 bytes and gave only 7') as string,
      })
      await expect(reader.verify()).rejects.toMatchObject({ code: 'ERR_UPLOAD_SOURCE_CHANGED' })
      await expect(source.describe()).rejects.toMatchObject({ code: 'ERR_UPLOAD_SOURCE_CHANGED' })
    })

    it('is changed when the stream gives more, and stops the stream, which may have no end', async () => {
      let given = 0
      const stream = new Readable({
        highWaterMark: 4,
        read() {
          given += 4
          this.push(counting(4))
        },
      })
      const source = sourceOf(stream, 10)
      const reader = await source.open({ sizeBytes: 10 })

      await expect(bytesOf(reader, 0, 10)).rejects.toMatchObject({
        code: 'ERR_UPLOAD_SOURCE_CHANGED',
        message: expect.stringContaining('announced with 10 bytes and gave at least 12') as string,
      })
      expect(stream.destroyed).toBe(true)
      expect(given).toBeLessThan(40)
    })

    it('is changed when nothing was announced and something came', async () => {
      await expect(sourceOf(Readable.from([counting(1)]), 0).describe()).rejects.toMatchObject({
        code: 'ERR_UPLOAD_SOURCE_CHANGED',
        message: expect.stringContaining('announced with 0 bytes and gave at least 1') as string,
      })
    })

    it.each([-1, 1.5, Number.NaN, 2 ** 53])('refuses an announced size of %d at once', (sizeBytes) => {
      expect(() => streamSource('take-7.mp4', Readable.from([]), { sizeBytes })).toThrow(
        expect.objectContaining({ code: 'ERR_UPLOAD_INVALID_ARGUMENT' }),
      )
    })
  })

  describe('a stream that fails', () => {
    it('rejects all who wait, with the error of the stream as the cause, and deletes the file', async () => {
      const stream = new PassThrough()
      const source = sourceOf(stream, 10)
      const reader = await source.open(await source.describe())
      stream.write(counting(5))
      await bytesOf(reader, 0, 5)
      const cause = new Error('camera unplugged')
      const failed = {
        code: 'ERR_UPLOAD_SOURCE_READ',
        message: 'The stream "take-7.mp4" failed before its end.',
        cause,
      }
      const waiting = expect(bytesOf(reader, 5, 8)).rejects.toMatchObject(failed)

      stream.destroy(cause)

      await waiting
      await expect(bytesOf(reader, 0, 5)).rejects.toMatchObject(failed)
      await expect(reader.verify()).rejects.toMatchObject(failed)
      await expect(source.describe()).rejects.toMatchObject(failed)
    })

    it('reports an error that came before anyone asked, and does not end the process', async () => {
      const stream = new PassThrough()
      const source = sourceOf(stream)
      const cause = new Error('camera unplugged')
      stream.destroy(cause)
      await new Promise((resolve) => stream.once('close', resolve))

      await expect(source.describe()).rejects.toMatchObject({ code: 'ERR_UPLOAD_SOURCE_READ', cause })
    })

    it('does not take a stream that was cut off for one that ended', async () => {
      const stream = new PassThrough()
      const source = sourceOf(stream)
      const describing = source.describe()
      stream.write(counting(5))

      stream.destroy()

      await expect(describing).rejects.toMatchObject({ code: 'ERR_UPLOAD_SOURCE_READ' })
    })

    it('reports a download that was cut off', async () => {
      const server = createServer((_request, response) => {
        response.writeHead(200, { 'content-length': 100 })
        response.write('half', () => response.destroy())
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const { port } = server.address() as AddressInfo
      const reply = await fetch(`http://127.0.0.1:${String(port)}/`)

      await expect(sourceOf(reply.body!).describe()).rejects.toMatchObject({ code: 'ERR_UPLOAD_SOURCE_READ' })

      await new Promise((resolve) => server.close(resolve))
    })

    it.each([
      ['a Node stream', () => Readable.from([counting(5)])],
      ['a web stream', () => new Blob([counting(5)]).stream()],
    ])('does not take %s that somebody has read to its end for one without bytes', async (_, make) => {
      const stream = make()
      await buffer(stream)

      await expect(sourceOf(stream).describe()).rejects.toMatchObject({
        code: 'ERR_UPLOAD_SOURCE_READ',
        message: expect.stringContaining('it was read before') as string,
      })
    })

    it('takes what is left of a stream of which somebody has seen the beginning, and one without bytes', async () => {
      const stream = new PassThrough()
      stream.end(counting(5))
      stream.unshift(stream.read())

      expect(await sourceOf(stream).describe()).toEqual({ sizeBytes: 5 })
      expect(await sourceOf(Readable.from([])).describe()).toEqual({ sizeBytes: 0 })
    })

    it('refuses pieces that are neither bytes nor text', async () => {
      await expect(sourceOf(Readable.from([{ frame: 1 }])).describe()).rejects.toMatchObject({
        code: 'ERR_UPLOAD_SOURCE_READ',
        message: expect.stringContaining('neither bytes nor text') as string,
      })
    })

    it('refuses a web stream that somebody else reads', async () => {
      const stream = new ReadableStream<Uint8Array>()
      stream.getReader()

      await expect(sourceOf(stream).describe()).rejects.toMatchObject({ code: 'ERR_UPLOAD_SOURCE_READ' })
    })

    it('names the folder that cannot take the file, and ends the stream', async () => {
      const file = join(spooled.tempDir, 'not a folder')
      await writeFile(file, '')
      const stream = Readable.from([counting(1)])
      const source = streamSource('take-7.mp4', stream, { tempDir: file })

      await expect(source.describe()).rejects.toMatchObject({
        code: 'ERR_UPLOAD_SOURCE_READ',
        message: `"${file}" cannot be used for temporary files: a part of this path is not a folder. Check the path.`,
      })
      expect(stream.destroyed).toBe(true)
      await rm(file)
    })

    it('is lost for good where it could not be kept: its bytes do not come back with the disk', async () => {
      const handle = await open(import.meta.filename)
      await handle.close()
      const handles = Object.getPrototypeOf(handle) as Pick<FileHandle, 'write'>
      vi.spyOn(handles, 'write').mockRejectedValueOnce(Object.assign(new Error('EIO'), { code: 'EIO' }))
      const source = sourceOf(Readable.from([counting(10)]), 10)
      const reader = await source.open({ sizeBytes: 10 })

      for (const ask of [() => bytesOf(reader, 0, 10), () => source.open({ sizeBytes: 10 })])
        await expect(ask()).rejects.toMatchObject({
          code: 'ERR_UPLOAD_SOURCE_READ',
          message: expect.stringContaining('the disk or the network drive failed') as string,
          isRetryable: false,
          details: { systemCode: 'EIO' },
        })
    })
  })
})

/** The bytes in pieces of uneven length, one of them empty. */
function pieces(bytes: Uint8Array): Buffer[] {
  const cuts = [0, 1, 1, 7, 64, 1000, bytes.length].map((cut) => Math.min(cut, bytes.length))
  return cuts.slice(1).map((cut, index) => Buffer.from(bytes.subarray(cuts[index], cut)))
}
