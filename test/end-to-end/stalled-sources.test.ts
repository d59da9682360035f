// Sources whose bytes stop coming: whoever pauses or cancels is not kept waiting for them.

import { describe, expect, it, onTestFinished } from 'vitest'
import { bytesSource, memoryJournal, streamSource, type Source, type Upload } from '../../src/node.ts'
import { bytesOf, MIB, sample, startRig, VIDEO } from './rig.ts'

const HERE_BYTES = 6 * MIB

/** A stream that gives some bytes and then nothing, not even its end. `isWaitedFor` settles when a read wants what never comes. */
function stalledSource(options: { readonly sizeBytes?: number }): {
  source: Source
  isDry: Promise<void>
  isWaitedFor: Promise<void>
} {
  let [tellDry, tellWaitedFor]: (() => void)[] = []
  const isDry = new Promise<void>((resolve) => (tellDry = resolve))
  const isWaitedFor = new Promise<void>((resolve) => (tellWaitedFor = resolve))
  async function* pieces(): AsyncGenerator<Uint8Array> {
    yield bytesOf(HERE_BYTES, 7)
    tellDry?.()
    await new Promise(() => {})
  }
  const stream = streamSource('live.mp4', pieces(), options)
  onTestFinished(() => stream.dispose?.())
  const source: Source = {
    ...stream,
    async open(expected) {
      const reader = await stream.open(expected)
      return {
        ...reader,
        read(into, at, signal) {
          if (at + into.byteLength > HERE_BYTES) tellWaitedFor?.()
          return reader.read(into, at, signal)
        },
      }
    },
  }
  return { source, isDry, isWaitedFor }
}

/** Settles when the upload has come to this state. */
function reached(upload: Upload, wanted: Upload['state']): Promise<void> {
  return new Promise((resolve) => {
    upload.on('state', ({ state }) => {
      if (state === wanted) resolve()
    })
  })
}

/** The session is there, and one of its parts waits for bytes. */
async function underWay(partSizeBytes: number): Promise<Upload> {
  const { uplink } = await startRig({ minPartBytes: 1 })
  const { source, isWaitedFor } = stalledSource({ sizeBytes: 20 * MIB })
  const unitLimits = { minBytes: 1, maxBytes: 10 * MIB, maxCount: 10_000, multipleOfBytes: 1 }
  const upload = uplink.uploadVideos({ ...VIDEO, files: [{ source }], partSizeBytes, unitLimits })
  await isWaitedFor
  return upload
}

// The second size goes out in one piece.
describe.each([5 * MIB, 60 * 1024])(
  'a stream that stalls in the middle of its upload, in parts of %d bytes',
  (size) => {
    it('does not hold up a cancel', async () => {
      const upload = await underWay(size)

      expect((await upload.cancel()).status).toBe('cancelled')
    })

    it('does not hold up a pause, and its file is not failed by it', async () => {
      const upload = await underWay(size)
      const paused = reached(upload, 'paused')

      upload.pause()
      await paused

      expect(upload.files().map(({ error }) => error)).toEqual([undefined])
      await upload.cancel()
    })
  },
)

describe('a stream of unknown size that stalls before its upload has begun', () => {
  it('does not hold up a cancel', async () => {
    const { uplink, service } = await startRig()
    const { source, isDry } = stalledSource({})
    const upload = uplink.uploadVideos({ ...VIDEO, files: [{ source }] })
    await isDry

    expect((await upload.cancel()).status).toBe('cancelled')
    expect(service.records.requests).toEqual([])
  })
})

describe('a source that never opens', () => {
  const neverOpens = (): Source => ({ ...bytesSource('a.mp4', bytesOf(MIB, 1)), open: () => new Promise(() => {}) })

  it('does not hold up a cancel', async () => {
    const { uplink } = await startRig()
    const upload = uplink.uploadVideos({ ...VIDEO, files: [{ source: neverOpens() }] })
    await reached(upload, 'uploading')

    expect((await upload.cancel()).status).toBe('cancelled')
  })

  it('does not hold up a pause, and what opens too late is closed', async () => {
    const { uplink } = await startRig()
    const opens: (() => void)[] = []
    const closed: string[] = []
    const source = bytesSource('a.mp4', bytesOf(MIB, 1))
    const late: Source = {
      ...source,
      async open(expected) {
        if (opens.length === 0) await new Promise<void>((resolve) => opens.push(resolve))
        const reader = await source.open(expected)
        return {
          ...reader,
          close() {
            closed.push('reader')
            return reader.close()
          },
        }
      },
    }
    const upload = uplink.uploadVideos({ ...VIDEO, files: [{ source: late }] })
    await expect.poll(() => opens).toHaveLength(1)

    upload.pause()
    await reached(upload, 'paused')
    opens[0]?.()
    await expect.poll(() => closed).toHaveLength(1)
    upload.resume()

    expect((await upload.done()).status).toBe('confirmed')
    expect(closed).toHaveLength(2)
  })

  it('does not hold up a later life that looks at what was sent', async () => {
    const refused = { operation: 'confirm', nth: 1, action: { status: 401 } } as const
    const { uplink, service } = await startRig(
      { faults: [refused] },
      { journal: memoryJournal(), sourceAt: neverOpens },
    )
    const first = uplink.uploadVideos({ ...VIDEO, files: [sample('a.mp4', MIB, 1)] })
    await expect(first.done()).rejects.toMatchObject({ code: 'ERR_UPLOAD_CREDENTIALS_REFUSED' })

    const upload = await uplink.resume(first.key)
    const paused = reached(upload, 'paused')
    upload.pause()
    await paused

    expect((await upload.cancel()).status).toBe('cancelled')
    expect(service.requestsOf('put')).toHaveLength(1)
  })
})
