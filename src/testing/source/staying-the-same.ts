// Of a source: that it is what it was, and how it says that it is not, or is not there.

import { describe, expect, it } from 'vitest'
import type { Reader, Source, SourceIdentity } from '../../core/ports.ts'
import { bytesOf, counting } from './contents.ts'
import type { SourceRig } from './rig.ts'

const caught = (error: unknown): unknown => error
/** A promise even where the reader answers at once. What throws instead of rejecting is not hidden. */
const verified = (reader: Reader): Promise<void> => Promise.resolve(reader.verify())
const opened = (source: Source, expected: SourceIdentity): Promise<Reader> => Promise.resolve(source.open(expected))

/** The check of an open source, and each change and each loss that was named. */
export function describeStayingTheSame({ begin, open, beginReading }: SourceRig): void {
  describe('being what it was', () => {
    it('passes its check as long as nothing touches it', async () => {
      const { reader } = await beginReading(counting(10))

      expect(await reader.verify()).toBeUndefined()
      await bytesOf(reader, 0, 10)
      expect(await reader.verify()).toBeUndefined()
    })

    it.each([9, 11])(
      'does not open as a source of another size (%d instead of 10), and says both',
      async (sizeBytes) => {
        const { source } = await begin(counting(10))

        await expect(source.open({ sizeBytes })).rejects.toMatchObject({
          code: 'ERR_UPLOAD_SOURCE_CHANGED',
          message: expect.stringMatching(
            new RegExp(`\\b${sizeBytes}\\b.*\\b10\\b|\\b10\\b.*\\b${sizeBytes}\\b`),
          ) as string,
        })
      },
    )

    // A copy that is put back is older than what it replaces.
    it.each([-5, 5])('does not open as a source of another time (by %d ms), where it has one', async (byMs) => {
      const { source } = await begin(counting(10))
      const { sizeBytes, modifiedAtMs } = await source.describe()
      if (modifiedAtMs === undefined) return

      const opening = source.open({ sizeBytes, modifiedAtMs: modifiedAtMs + byMs })

      await expect(opening).rejects.toMatchObject({ code: 'ERR_UPLOAD_SOURCE_CHANGED' })
    })

    it('opens by what a journal keeps of what it was, which is JSON', async () => {
      const { source } = await begin(counting(10))
      const kept = JSON.parse(JSON.stringify(await source.describe())) as SourceIdentity

      const reader = await open(source, kept)

      expect(await bytesOf(reader, 3, 5)).toEqual(Buffer.from([3, 4]))
    })

    it('opens when the time it had is not known', async () => {
      const { source } = await begin(counting(10))

      const reader = await open(source, { sizeBytes: 10 })

      expect(await bytesOf(reader, 3, 5)).toEqual(Buffer.from([3, 4]))
    })

    it('fails its check, and does not open again, after each change that can happen to it', async () => {
      const { changes = {} } = await begin(counting(10))
      for (const how of Object.keys(changes)) {
        const changed = await beginReading(counting(10))
        await changed.changes?.[how]?.()

        const failed = { code: expect.stringMatching(/^ERR_UPLOAD_SOURCE_(CHANGED|READ)$/) as string }
        await expect(verified(changed.reader), how).rejects.toMatchObject({ code: 'ERR_UPLOAD_SOURCE_CHANGED' })
        await expect(opened(changed.source, changed.identity), how).rejects.toMatchObject(failed)
        // A read may still find what it did. What is known to differ is refused, with a code that says so.
        const problem = await bytesOf(changed.reader, 0, 10).then(() => undefined, caught)
        if (problem !== undefined) expect(problem, how).toMatchObject(failed)
      }
    })
  })

  it('says of each loss that it cannot be read, and not that it has changed: it may come back as it was', async () => {
    const { losses = {} } = await begin(counting(10))
    for (const how of Object.keys(losses)) {
      const lost = await beginReading(counting(10))
      await lost.losses?.[how]?.()

      const unread = { code: 'ERR_UPLOAD_SOURCE_READ', isRetryable: false }
      await expect(verified(lost.reader), how).rejects.toMatchObject(unread)
      await expect(opened(lost.source, lost.identity), how).rejects.toMatchObject(unread)
      await expect(lost.source.describe(), how).rejects.toMatchObject(unread)
      // What is open may go on being read, as a deleted file can, but never as something else.
      const found = await bytesOf(lost.reader, 0, 10).catch(caught)
      if (found instanceof Error) expect(found, how).toMatchObject(unread)
      else expect(found, how).toEqual(Buffer.from(counting(10)))
    }
  })
}
