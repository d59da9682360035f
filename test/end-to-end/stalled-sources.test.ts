// Sources whose bytes stop coming: whoever pauses or cancels is not kept waiting for them.

import { describe, expect, it, onTestFinished } from 'vitest'
import { streamSource, type Source, type Upload } from '../../src/node.ts'
import { bytesOf, MIB, startRig, VIDEO } from './rig.ts'

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
