// What every Source promises, whatever its bytes come from. An adapter's test calls this with a way to make one.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytesOf, counting } from './source/contents.ts'
import { sourceRig, type SourceSubject } from './source/rig.ts'
import { describeStayingTheSame } from './source/staying-the-same.ts'

export type { SourceSubject } from './source/rig.ts'

/** As large as the largest window of the engine. */
const LARGE_WINDOW = 2 * 1024 * 1024

/**
 * Declares the tests of a source. `make` gives one of exactly these bytes under the name `take-7.mp4`; with it, what can happen to it.
 * Checked: what it says of itself, every range in any order, each change and each loss that was named, and its end. Contents are
 * a few kilobytes, once two mebibytes: neither memory nor speed is looked at.
 */
export function sourceContract(label: string, make: (bytes: Uint8Array) => Promise<SourceSubject>): void {
  describe(`${label}: the contract of a source`, () => {
    const rig = sourceRig(make)
    const { begin, open, beginReading, endAll } = rig

    describe('what it says it is', () => {
      it('has its base name and its exact size', async () => {
        const { source } = await begin(counting(1234))

        const identity = await source.describe()

        expect(source.name).toBe('take-7.mp4')
        expect(identity.sizeBytes).toBe(1234)
      })

      it('says the same when it is asked twice', async () => {
        const { source } = await begin(counting(10))

        expect(await source.describe()).toEqual(await source.describe())
      })

      it('refuses to describe itself with the reason of a signal that was aborted', async () => {
        const { source } = await begin(counting(10))
        const reason = new Error('no longer wanted')

        await expect(source.describe(AbortSignal.abort(reason))).rejects.toBe(reason)
      })

      it('can be empty', async () => {
        const { reader, identity } = await beginReading(new Uint8Array())

        await reader.read(new Uint8Array(0), 0)

        expect(identity.sizeBytes).toBe(0)
        await expect(reader.read(new Uint8Array(1), 0)).rejects.toMatchObject({ code: 'ERR_UPLOAD_SOURCE_CHANGED' })
      })
    })

    describe('reading', () => {
      it('gives every range of itself, exactly, in any order and at the same time', async () => {
        const contents = fc.uint8Array({ minLength: 0, maxLength: 5000 })
        const cuts = fc.array(fc.tuple(fc.nat(5000), fc.nat(5000)), { minLength: 1, maxLength: 8 })
        await fc.assert(
          fc.asyncProperty(contents, cuts, async (bytes, pairs) => {
            const { reader } = await beginReading(bytes)
            const ranges = pairs.map((pair) => pair.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b))

            const found = await Promise.all(ranges.map(([start, end]) => bytesOf(reader, start!, end!)))

            expect(found).toEqual(ranges.map(([start, end]) => Buffer.from(bytes.subarray(start, end))))
            await endAll()
          }),
          { numRuns: 40 },
        )
      })

      it('writes into the window it was given and nowhere beside it', async () => {
        const { reader } = await beginReading(counting(100))
        const memory = new Uint8Array(8).fill(255)

        await reader.read(memory.subarray(2, 6), 40)

        expect([...memory]).toEqual([255, 255, 40, 41, 42, 43, 255, 255])
      })

      it('fills a large window, of which a stream or a drive may give a part at a time', async () => {
        const bytes = counting(LARGE_WINDOW + 3)
        const { reader } = await beginReading(bytes)

        const found = await bytesOf(reader, 2, LARGE_WINDOW + 2)

        // Where it goes wrong, and not two mebibytes beside each other.
        expect(found.findIndex((byte, at) => byte !== bytes[at + 2])).toBe(-1)
      })

      it('fills a window on shared memory, where there is such memory', async () => {
        // Only in pages that are isolated.
        if (!('SharedArrayBuffer' in globalThis)) return
        const { reader } = await beginReading(counting(100))
        const window = new Uint8Array(new SharedArrayBuffer(4))

        await reader.read(window, 40)

        expect([...window]).toEqual([40, 41, 42, 43])
      })

      it('gives the same bytes when a range is asked for again', async () => {
        const { reader } = await beginReading(counting(100))

        expect(await bytesOf(reader, 10, 90)).toEqual(await bytesOf(reader, 10, 90))
      })

      it('gives the same bytes to two readers, also after the first was closed', async () => {
        const { source, reader, identity } = await beginReading(counting(64))
        const second = await open(source, identity)

        expect(await bytesOf(reader, 0, 64)).toEqual(Buffer.from(counting(64)))
        await reader.close()
        expect(await bytesOf(second, 0, 64)).toEqual(Buffer.from(counting(64)))
      })

      it.each([
        ['across', 95, 10],
        ['at', 100, 1],
        ['beyond', 5000, 1],
        ['four gibibytes beyond', 2 ** 32, 1],
      ])('rejects a range that reaches %s its end as changed, naming the source', async (_where, at, length) => {
        const { source, reader } = await beginReading(counting(100))

        const failed = reader.read(new Uint8Array(length), at)

        await expect(failed).rejects.toMatchObject({
          code: 'ERR_UPLOAD_SOURCE_CHANGED',
          message: expect.stringContaining(source.location ?? source.name) as string,
        })
      })

      it.each([-1, 0.5, Number.NaN])('refuses the position %d', async (at) => {
        const { reader } = await beginReading(counting(10))

        await expect(reader.read(new Uint8Array(1), at)).rejects.toMatchObject({ code: 'ERR_UPLOAD_INTERNAL' })
      })

      it('fills a window that nobody wants any more, or rejects with the reason of the signal', async () => {
        const { reader } = await beginReading(counting(100))
        const reason = new Error('no longer wanted')
        const window = Buffer.alloc(20, 0xee)

        const failed = await Promise.resolve(reader.read(window, 30, AbortSignal.abort(reason))).catch(
          (error: unknown) => error,
        )

        if (failed === undefined) expect(window).toEqual(Buffer.from(counting(100).slice(30, 50)))
        else expect(failed).toBe(reason)
      })

      it('writes nothing into a window whose read has ended, however it ended: the window is used again', async () => {
        const { reader } = await beginReading(counting(100))
        const controller = new AbortController()
        const reason = new Error('no longer wanted')
        const window = Buffer.alloc(20, 0xee)

        const reading = Promise.resolve(reader.read(window, 30, controller.signal))
        controller.abort(reason)
        const failed = await reading.catch((error: unknown) => error)
        window.fill(0xaa)
        // Whatever still reads is over by then.
        await bytesOf(reader, 0, 100)
        await reader.close()

        expect([reason, undefined]).toContain(failed)
        expect(window).toEqual(Buffer.alloc(20, 0xaa))
      })

      it('offers slices, where it does, that hold exactly the range', async () => {
        const { reader } = await beginReading(counting(100))
        if (reader.blob === undefined) return

        const slice = reader.blob(10, 30)

        expect(slice.size).toBe(20)
        expect(new Uint8Array(await slice.arrayBuffer())).toEqual(counting(100).slice(10, 30))
        expect(() => reader.blob?.(90, 101)).toThrow(expect.objectContaining({ code: 'ERR_UPLOAD_SOURCE_CHANGED' }))
      })
    })

    describeStayingTheSame(rig)

    describe('ending', () => {
      it('can be closed twice, and refuses reads from then on', async () => {
        const { reader } = await beginReading(counting(10))

        await reader.close()
        await reader.close()

        await expect(reader.read(new Uint8Array(1), 0)).rejects.toMatchObject({ code: 'ERR_UPLOAD_INTERNAL' })
      })

      it('lets reads under way come to their end before it is closed', async () => {
        const { reader } = await beginReading(counting(200))
        await bytesOf(reader, 0, 200)
        const windows = [0, 50, 100].map((at) => ({ at, into: new Uint8Array(50).fill(255) }))
        const reads = windows.map(async ({ at, into }) => {
          await reader.read(into, at)
        })

        await reader.close()

        // Which promise settles first says nothing of a reader that reads at once.
        expect(windows.map(({ into }) => into)).toEqual(windows.map(({ at }) => counting(200).slice(at, at + 50)))
        await Promise.all(reads)
      })

      it('can be disposed of twice, before and after it was read', async () => {
        const unread = await begin(counting(10))
        const { source, reader } = await beginReading(counting(10))
        await reader.close()

        for (const ending of [unread.source, source]) {
          await ending.dispose?.()
          await expect(Promise.resolve(ending.dispose?.())).resolves.toBeUndefined()
        }
      })
    })
  })
}
