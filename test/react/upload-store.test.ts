// What a view sees of an upload: snapshots that stay the same while nothing changed, told once however much happened.

import { describe, expect, it, vi } from 'vitest'
import { UploadFailedError } from '../../src/flows/upload.ts'
import { createUploadStore } from '../../src/react/upload-store.ts'
import { deferred, file, report, scriptedUpload } from './scripted-upload.ts'

/** A store whose frames are drawn by the test. */
function storeByHand() {
  const frames: (() => void)[] = []
  const store = createUploadStore({ schedule: (tell) => void frames.push(tell) })
  const draw = (): void => frames.splice(0).forEach((frame) => frame())
  const told = vi.fn()
  store.subscribe(told)
  return { store, draw, told, frames }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

async function started() {
  const rig = storeByHand()
  const upload = scriptedUpload()
  upload.setFiles([file(0), file(1)])
  rig.store.start(() => upload)
  await settled()
  rig.draw()
  rig.told.mockClear()
  return { ...rig, upload }
}

const STORAGE = { who: 'storage', host: 'store.example:443', giveUpAtMs: 3_600_000 } as const

describe('a store', () => {
  it('is idle, and its view keeps its identity', () => {
    const { store } = storeByHand()

    expect(store.view()).toMatchObject({ state: 'idle', isActive: false, files: [], error: undefined })
    expect(store.view()).toBe(store.view())
  })

  it('shows at once that an upload begins', () => {
    const { store, told } = storeByHand()
    store.start(() => scriptedUpload())

    expect(store.view()).toMatchObject({ state: 'creating', isActive: true })
    expect(told).toHaveBeenCalledTimes(1)
  })

  it('tells a thousand events as one change, and keeps files that did not change as they were', async () => {
    const { store, draw, told, frames, upload } = await started()
    const before = store.view()
    for (let at = 1; at <= 1_000; at += 1) {
      upload.setFiles([file(0), file(1, { sentBytes: at, state: 'uploading' })])
      upload.emit('progress', upload.progress())
    }

    expect(store.view()).toBe(before)
    expect(frames.length).toBe(1)
    draw()
    expect(told).toHaveBeenCalledTimes(1)
    expect(store.view().files[1]).toMatchObject({ sentBytes: 1_000 })
    expect(store.view().files[0]).toBe(before.files[0])
  })

  it('shows a file that changed its state without asking for all the others', async () => {
    const { store, draw, upload } = await started()
    const [first] = store.view().files
    const asked = vi.spyOn(upload, 'files')
    upload.emit('file', file(1, { state: 'confirmed' }))
    draw()

    expect(store.view().files.map(({ state }) => state)).toEqual(['pending', 'confirmed'])
    expect(store.view().files[0]).toBe(first)
    expect(asked).not.toHaveBeenCalled()
  })

  it('says since when the storage is out of reach, until it is reached', async () => {
    const { store, draw, upload } = await started()
    upload.emit('state', { state: 'waiting' })
    upload.emit('waiting', { ...STORAGE, sinceMs: 1, untilMs: 2 })
    draw()
    expect(store.view()).toMatchObject({ state: 'waiting', waiting: { sinceMs: 1, untilMs: 2 } })

    upload.emit('state', { state: 'uploading' })
    draw()
    expect(store.view()).toMatchObject({ state: 'uploading', waiting: undefined })
  })

  it('keeps the last twenty warnings', async () => {
    const { store, draw, upload } = await started()
    for (let at = 1; at <= 30; at += 1) upload.emit('warning', { code: 'ERR_UPLOAD_JOURNAL', message: `w${at}` })
    draw()

    expect(store.view().warnings.map(({ message }) => message)).toEqual(
      Array.from({ length: 20 }, (_, index) => `w${index + 11}`),
    )
  })

  it('begins nothing while an upload is active, and anew after its end', async () => {
    const { store, draw, upload } = await started()
    const begin = vi.fn(() => scriptedUpload())
    store.start(begin)
    expect(begin).not.toHaveBeenCalled()

    upload.settle(report('confirmed'))
    await settled()
    draw()
    expect(store.view()).toMatchObject({ state: 'confirmed', isActive: false, report: { status: 'confirmed' } })
    expect(upload.isHeard('progress')).toBe(false)

    store.start(begin)
    expect(begin).toHaveBeenCalledTimes(1)
    expect(store.view()).toMatchObject({ state: 'creating', report: undefined })
  })

  it('shows an end only together with its report', async () => {
    const { store, draw, upload } = await started()
    upload.emit('state', { state: 'confirmed' })
    draw()

    expect(store.view().state).not.toBe('confirmed')
  })

  it('shows why an upload failed, with its report', async () => {
    const { store, draw, upload } = await started()
    upload.settle(new UploadFailedError('ERR_UPLOAD_FAILED', 'No file arrived.', report('failed')))
    await settled()
    draw()

    expect(store.view()).toMatchObject({ state: 'failed', report: { status: 'failed' } })
    expect(store.view().error?.message).toBe('No file arrived.')
  })

  it.each(['cancel', 'discard'] as const)('takes a %s for no error', async (verb) => {
    const { store, draw, upload } = await started()
    store[verb]()
    expect(upload.verbs).toEqual([verb])
    upload.settle(new UploadFailedError('ERR_UPLOAD_CANCELLED', 'Cancelled.', report('cancelled')))
    await settled()
    draw()

    expect(store.view()).toMatchObject({ state: 'cancelled', error: undefined, report: { status: 'cancelled' } })
  })

  it.each(['cancel', 'discard'] as const)('heeds a %s of an upload that was only about to begin', async (verb) => {
    const { store } = storeByHand()
    const upload = scriptedUpload()
    const found = deferred<typeof upload>()
    store.start(() => found.promise)
    store[verb]()
    found.resolve(upload)
    await settled()

    expect(upload.verbs).toEqual([verb])
  })

  it('heeds the first of two verbs that were asked of an upload about to begin', async () => {
    const { store } = storeByHand()
    const upload = scriptedUpload()
    const found = deferred<typeof upload>()
    store.start(() => found.promise)
    store.cancel()
    store.discard()
    found.resolve(upload)
    await settled()

    expect(upload.verbs).toEqual(['cancel'])
  })

  it('pauses an upload that was asked to pause before it existed, unless it was asked to go on since', async () => {
    const { store } = storeByHand()
    const verbsAfter = async (...asked: readonly ('pause' | 'resume')[]): Promise<string[]> => {
      const upload = scriptedUpload()
      const begun = deferred<typeof upload>()
      store.start(() => begun.promise)
      for (const verb of asked) store[verb]()
      begun.resolve(upload)
      await settled()
      upload.settle(report('confirmed'))
      await settled()
      return upload.verbs
    }

    expect(await verbsAfter('pause')).toEqual(['pause'])
    expect(await verbsAfter('pause', 'resume')).toEqual([])
    expect(await verbsAfter()).toEqual([])
  })

  it('shows what begin threw, and can begin again', async () => {
    const { store, draw } = storeByHand()
    store.start(() => {
      throw new TypeError('playerId is missing')
    })
    await settled()
    draw()

    expect(store.view()).toMatchObject({ state: 'failed', isActive: false, report: undefined })
    expect(store.view().error?.message).toBe('playerId is missing')
    store.reset()
    expect(store.view().state).toBe('idle')
  })

  it('passes pause and resume on', async () => {
    const { store, upload } = await started()
    store.pause()
    store.resume()

    expect(upload.verbs).toEqual(['pause', 'resume'])
  })
})
