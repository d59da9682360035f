// What a view sees of an upload: snapshots that stay the same while nothing changed, told once however much happened.

import { describe, expect, it, vi } from 'vitest'
import { UploadFailedError, type UploadFileStatus } from '../../src/flows/upload.ts'
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
    for (const name of ['state', 'progress', 'file', 'waiting'] as const) expect(upload.isHeard(name)).toBe(false)

    store.start(begin)
    expect(begin).toHaveBeenCalledTimes(1)
    expect(store.view()).toMatchObject({ state: 'creating', report: undefined })
  })

  it('shows where an upload is that began elsewhere', async () => {
    const { store, draw } = storeByHand()
    const upload = Object.assign(scriptedUpload(), { state: 'paused' as const })
    upload.setFiles([file(0, { sentBytes: 7 })])
    store.start(() => upload)
    await settled()
    draw()

    expect(store.view()).toMatchObject({ state: 'paused', progress: { filesTotal: 1 }, files: [{ sentBytes: 7 }] })
  })

  it('shows all files as soon as one of them is told of, where none was known before', async () => {
    const { store, draw } = storeByHand()
    const upload = scriptedUpload()
    store.start(() => upload)
    await settled()
    upload.setFiles([file(0), file(1)])
    upload.emit('file', file(1))
    draw()

    expect(store.view().files).toHaveLength(2)
  })

  const failed = { code: 'ERR_UPLOAD_NETWORK', message: 'The line broke.' } as const
  it.each([
    { sentBytes: 9 },
    { confirmedBytes: 9 },
    { state: 'uploading' },
    { error: failed },
    { name: 'swing-01 (2).mp4' },
    { bytes: 9 },
  ] satisfies Partial<UploadFileStatus>[])('shows a file anew that has changed by %j alone', async (change) => {
    const { store, draw, upload } = await started()
    upload.setFiles([file(0, change), file(1)])
    upload.emit('progress', upload.progress())
    draw()

    expect(store.view().files[0]).toMatchObject(change)
  })

  it('keeps the list of files as it was where none of them has changed', async () => {
    const { store, draw, upload } = await started()
    const { files } = store.view()
    upload.emit('progress', { ...upload.progress(), bytesPerSecond: 5 })
    draw()

    expect(store.view().progress.bytesPerSecond).toBe(5)
    expect(store.view().files).toBe(files)
  })

  it.each([
    ['is over', report('partial')],
    ['failed', new UploadFailedError('ERR_UPLOAD_FAILED', 'No file arrived.', report('failed'))],
  ])('shows what had become of all files when the upload %s, and waits for nothing', async (_, outcome) => {
    const { store, draw, upload } = await started()
    upload.emit('state', { state: 'waiting' })
    upload.emit('waiting', { ...STORAGE, sinceMs: 1, untilMs: undefined })
    draw()
    upload.setFiles([file(0, { state: 'failed' }), file(1), file(2)])
    upload.settle(outcome)
    await settled()
    draw()

    const { files, progress, waiting, isActive } = store.view()
    expect(files.map(({ state }) => state)).toEqual(['failed', 'pending', 'pending'])
    expect([progress.filesTotal, waiting, isActive]).toEqual([3, undefined, false])
  })

  it('forgets nothing of an upload that is active, and gives up none that is over', async () => {
    const { store, draw, upload } = await started()
    store.reset()
    expect(store.view()).toMatchObject({ isActive: true, upload })

    upload.settle(report('confirmed'))
    await settled()
    draw()
    store.cancel()
    expect(upload.verbs).toEqual([])
  })

  it('asks nothing of an upload that was asked of the one before', async () => {
    const { store, upload } = await started()
    store.pause()
    store.cancel()
    upload.settle(report('cancelled'))
    await settled()
    const next = scriptedUpload()
    store.start(() => next)
    await settled()

    expect(upload.verbs).toEqual(['pause', 'cancel'])
    expect(next.verbs).toEqual([])
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

  it('shows as an error what was thrown and is none', async () => {
    const { store, draw } = storeByHand()
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- Code that is not ours does so.
    store.start(() => Promise.reject('no player'))
    await settled()
    draw()

    expect(store.view().error).toEqual(new Error('no player'))
  })

  it.each([
    ['nothing', undefined],
    ['its report', report('confirmed')],
  ])('shows as an error that begin gave no upload but %s', async (_what, given) => {
    const { store, draw } = storeByHand()
    store.start(() => given as never)
    await settled()
    draw()

    expect(store.view()).toMatchObject({ state: 'failed', isActive: false, report: undefined })
    expect(store.view().error).toBeInstanceOf(TypeError)
  })

  it('passes pause and resume on', async () => {
    const { store, upload } = await started()
    store.pause()
    store.resume()

    expect(upload.verbs).toEqual(['pause', 'resume'])
  })
})
