// Uploads that are tried again.

import { expect, it } from 'vitest'
import type { BrowserUplink } from '../../src/browser.ts'
import type { Setting } from '../../src/element/setting.ts'
import { createUploadList } from '../../src/element/upload-list.ts'
import type { Upload } from '../../src/flows/upload.ts'
import { ignore, refuse, neverBegin, keeping, UPLINK, driven, chosen } from './upload-list-rig.ts'

/** Two uploads that have failed, each of one file. */
async function withFailed() {
  const list = createUploadList({ change: ignore, told: ignore, settled: ignore })
  for (const key of ['first', 'second']) {
    const upload = { on: ignore, done: () => Promise.reject(new Error('no')), key, files: () => [] }
    list.add([chosen(`${key}.mp4`, 5)])
    list.start(UPLINK, new Set(list.items), { begin: () => upload as unknown as Upload })
  }
  await expect.poll(() => list.retryable().length).toBe(2)
  const said: string[] = []
  const resumed = (key: string) => ({
    ...driven(key, 5).upload,
    pause: () => said.push(`${key} pauses`),
    resume: () => said.push(`${key} goes`),
  })
  const retryWith = (resume: (key: string) => Promise<unknown>) =>
    list.retry(keeping('first', 'second', 'delivered'), {
      begin: neverBegin,
      resume: ((_: unknown, key: string) => resume(key)) as never,
    })
  return { list, said, resumed, retryWith }
}

it.each([
  ['that began it, where another is in use by now', keeping('other'), 'first'],
  ['in use by now where its journal has it too, since its credentials may be newer', keeping('first', 'other'), 'now'],
])('takes an upload up again with the Uplink %s', async (_, now, expected) => {
  const list = createUploadList({ change: ignore, told: ignore, settled: ignore })
  const first = keeping('first')
  const failing = { on: ignore, done: () => Promise.reject(new Error('no')), key: 'first', files: () => [] }
  list.add([chosen('first.mp4', 5)])
  list.start(first, new Set(list.items), { begin: () => failing as unknown as Upload })
  await expect.poll(() => list.retryable().length).toBe(1)
  const asked: BrowserUplink[] = []
  const resume: Setting['resume'] = async (uplink) => (asked.push(uplink), driven('first', 5).upload)

  await list.retry(now, { begin: neverBegin, resume })

  expect(asked).toEqual([expected === 'now' ? now : first])
  expect(list.jobs.map(({ uplink }) => uplink)).toEqual(asked)
})

it('can try a file again once its upload is over, and no sooner; then nothing is held against it', async () => {
  const list = createUploadList({ change: ignore, told: ignore, settled: ignore })
  const { upload, end } = driven('first', 5, 7)
  list.add([chosen('swing-01.mp4', 5), chosen('swing-02.mp4', 7)])
  list.start(UPLINK, new Set(list.items), { begin: () => upload })
  Object.assign(upload.files()[0]!, { state: 'failed', error: { code: 'ERR_UPLOAD_NETWORK', message: 'gone' } })
  list.totals()
  expect(list.items.map(({ state }) => state)).toEqual(['failed', 'waiting'])
  expect(list.retryable()).toEqual([])

  Object.assign(upload.files()[1]!, { state: 'confirmed' })
  end()
  await expect.poll(() => list.retryable()).toEqual([list.items[0]])
  // It knows nothing of its files yet.
  const resumed = { ...upload, files: () => [], done: () => new Promise<never>(ignore) }
  await list.retry(keeping('first'), { begin: neverBegin, resume: () => Promise.resolve(resumed) })

  expect(list.items).toMatchObject([{ state: 'waiting', error: undefined }, { state: 'confirmed' }])
})

it('takes an upload up once, however quickly one clicks', async () => {
  const { resumed, retryWith } = await withFailed()
  const asked: string[] = []
  const resume = (key: string) => (asked.push(key), Promise.resolve(resumed(key)))

  await Promise.all([retryWith(resume), retryWith(resume)])

  expect(asked).toEqual(['first', 'second'])
})

it('heeds a pause that comes while an upload is still taken up again', async () => {
  const { list, said, resumed, retryWith } = await withFailed()
  const arrivals = new Map<string, () => void>()
  const retried = retryWith((key) => new Promise((resolve) => arrivals.set(key, () => resolve(resumed(key)))))
  await expect.poll(() => arrivals.size).toBe(2)

  arrivals.get('first')!()
  await expect.poll(() => list.phase()).toBe('uploading')
  list.pause()
  arrivals.get('second')!()
  await retried

  expect(said).toEqual(['first goes', 'first pauses', 'second pauses'])
})

it('goes on with what was cancelled while it was still taken up again only when it is asked to', async () => {
  const { list, said, resumed, retryWith } = await withFailed()
  const arrivals = new Map<string, () => void>()
  const retried = retryWith((key) => new Promise((resolve) => arrivals.set(key, () => resolve(resumed(key)))))
  await expect.poll(() => arrivals.size).toBe(2)

  await list.giveUp('discard')
  for (const arrive of arrivals.values()) arrive()
  await retried

  expect(said).toEqual(['first pauses', 'second pauses'])
})

it.each(['pause', 'giveUp'] as const)(
  'goes on with nothing for which %s came while it was still taken up again, when other files are started after that',
  async (verb) => {
    const { list, said, resumed, retryWith } = await withFailed()
    const arrivals = new Map<string, () => void>()
    const retried = retryWith((key) => new Promise((resolve) => arrivals.set(key, () => resolve(resumed(key)))))
    await expect.poll(() => arrivals.size).toBe(2)

    await list[verb]('discard')
    list.wish = 'resume'
    list.add([chosen('other.mp4', 5)])
    list.start(UPLINK, new Set(list.items), { begin: () => driven('other', 5).upload })
    for (const arrive of arrivals.values()) arrive()
    await retried

    expect(said).toEqual(['first pauses', 'second pauses'])
  },
)

it('tries again also after a pause', async () => {
  const { list, said, resumed, retryWith } = await withFailed()
  list.pause()

  await retryWith((key) => Promise.resolve(resumed(key)))

  expect(said).toEqual(['first goes', 'second goes'])
})

it('begins nothing anew that was cancelled while it was looked for, and leaves it ready, with nothing against it', async () => {
  const list = createUploadList({ change: ignore, told: ignore, settled: ignore })
  const failing = { ...driven('first', 5).upload, done: () => Promise.reject(new Error('no')) }
  Object.assign(failing.files()[0]!, { state: 'failed', error: { code: 'ERR_UPLOAD_NETWORK', message: 'gone' } })
  list.add([chosen('swing-01.mp4', 5)])
  list.start(UPLINK, new Set(list.items), { begin: () => failing })
  await expect.poll(() => list.retryable().length).toBe(1)

  const retried = list.retry(UPLINK, { begin: neverBegin, resume: refuse })
  await list.giveUp('discard')
  await retried

  expect(list.items).toMatchObject([{ state: 'ready', error: undefined }])
})

it('takes up no upload that has nothing left to do', async () => {
  const { list, resumed, retryWith } = await withFailed()
  const { upload, say, end } = driven('delivered', 5)
  list.add([chosen('delivered.mp4', 5)])
  list.start(UPLINK, new Set(list.items), { begin: () => upload })
  say(0, 'confirmed', 5)
  end()
  await expect.poll(() => list.phase()).toBe('settled')
  const asked: string[] = []

  await retryWith((key) => (asked.push(key), Promise.resolve(resumed(key))))

  expect(asked).toEqual(['first', 'second'])
})

it('begins anew also after a cancel', async () => {
  const { list } = await withFailed()
  await list.giveUp('discard')
  const begun: number[] = []
  const begin: Setting['begin'] = (_uplink, sources) => {
    begun.push(sources.length)
    return driven('anew', 5).upload
  }

  await list.retry(UPLINK, { begin, resume: refuse })

  expect(begun).toEqual([1, 1])
})

it('takes up the others where one cannot be', async () => {
  const { list, resumed, retryWith } = await withFailed()
  const gone = new Error('gone')

  const retried = retryWith((key) => (key === 'first' ? Promise.reject(gone) : Promise.resolve(resumed(key))))

  await expect(retried).rejects.toBe(gone)
  await expect.poll(() => list.items.map(({ state }) => state)).toEqual(['failed', 'waiting'])
})

it('begins anew what no journal has heard of also where another one cannot be taken up', async () => {
  const { list } = await withFailed()
  const begun: string[] = []
  const begin: Setting['begin'] = (_uplink, sources) => {
    begun.push(...sources.map(({ name }) => name))
    return driven('anew', 5).upload
  }

  const retried = list.retry(keeping('first'), { begin, resume: refuse })

  await expect(retried).rejects.toThrow('nothing to take up')
  await expect.poll(() => begun).toEqual([list.items[1]?.fileName])
})

it('begins anew what no journal has heard of in as many uploads as before, whose captures may have the same names', async () => {
  const { list } = await withFailed()
  const begun: string[][] = []
  const begin: Setting['begin'] = (_uplink, sources) => {
    begun.push(sources.map(({ name }) => name))
    if (begun.length === 1) throw new Error('no such player')
    return driven('anew', 5).upload
  }

  await expect(list.retry(UPLINK, { begin, resume: refuse })).rejects.toThrow('no such player')

  await expect.poll(() => begun).toEqual([['first.mp4'], ['second.mp4']])
  expect(list.items.map(({ state }) => state)).toEqual(['ready', 'waiting'])
})

it('opens none twice that is still taken up again when another could not be', async () => {
  const { resumed, retryWith } = await withFailed()
  const asked: string[] = []
  const arrivals: (() => void)[] = []
  const resume = (key: string) => {
    asked.push(key)
    if (key === 'first') return Promise.reject(new Error('gone'))
    return new Promise((resolve) => arrivals.push(() => resolve(resumed(key))))
  }
  const clicked = retryWith(resume)
  await expect(clicked).rejects.toThrow('gone')

  await expect(retryWith(resume)).rejects.toThrow('gone')

  expect(asked).toEqual(['first', 'second', 'first'])
})

it('lets nothing go on unseen that was put away while it was still taken up again', async () => {
  const { list, resumed, retryWith } = await withFailed()
  const discarded: string[] = []
  const arrivals: (() => void)[] = []
  const retried = retryWith((key) => {
    const upload = { ...resumed(key), discard: () => discarded.push(key) }
    return new Promise((resolve) => arrivals.push(() => resolve(upload)))
  })
  await expect.poll(() => arrivals.length).toBe(2)

  list.clear()
  for (const arrive of arrivals) arrive()
  await retried

  expect([discarded, list.items]).toEqual([['first', 'second'], []])
})

it('sends nothing in place of a file that the browser had found by itself, where no journal has its upload any more', async () => {
  const list = createUploadList({ change: ignore, told: ignore, settled: ignore })
  const first = driven('first', 100)
  const file = { fileIndex: 0, name: 'swing-01.mp4', fileName: 'swing-01.mp4', location: 'swing-01.mp4', bytes: 100 }
  const offer = { files: [file], found: new Map() }
  const failing = { ...first.upload, done: () => Promise.reject(new Error('no')) }
  first.say(0, 'uploading', 60)
  list.adopt(UPLINK, failing, offer)
  await expect.poll(() => list.retryable().length).toBe(1)
  const sent: unknown[] = []
  const begin: Setting['begin'] = (_uplink, sources) => {
    sent.push(...sources)
    return driven('second', 100).upload
  }

  await list.retry(UPLINK, { begin, resume: refuse })

  expect(sent).toEqual([])
  // It can be chosen again, which takes its row.
  expect(list.items.map(({ state }) => state)).toEqual(['cancelled'])
  // As of any other that was given up, no bytes are counted.
  expect(list.totals()).toMatchObject({ sentBytes: 0, confirmedBytes: 0 })
  list.add([chosen('swing-01.mp4', 100)])
  expect(list.items).toMatchObject([{ state: 'ready' }])
})

it('counts what was confirmed also where no journal has its upload any more and the rest is begun anew', async () => {
  const list = createUploadList({ change: ignore, told: ignore, settled: ignore })
  const first = driven('first', 5, 7)
  list.add([chosen('swing-01.mp4', 5), chosen('swing-02.mp4', 7)])
  list.start(UPLINK, new Set(list.items), { begin: () => first.upload })
  first.say(0, 'confirmed', 5)
  first.end()
  await expect.poll(() => list.retryable().length).toBe(1)

  await list.retry(UPLINK, { begin: () => driven('second', 7).upload, resume: refuse })

  expect(list.items.map(({ state }) => state)).toEqual(['confirmed', 'waiting'])
  expect(list.totals()).toMatchObject({ filesTotal: 2, filesConfirmed: 1, confirmedBytes: 5, totalBytes: 12 })
})

it('goes on without a file that the browser had found by itself and that has changed since', async () => {
  const list = createUploadList({ change: ignore, told: ignore, settled: ignore })
  const first = driven('first', 100, 100, 100)
  const files = ['swing-01.mp4', 'swing-02.mp4', 'swing-03.mp4'].map((name, fileIndex) => ({
    ...{ fileIndex, name, fileName: name, location: name, bytes: 100 },
  }))
  list.adopt(UPLINK, first.upload, { files, found: new Map([[2, chosen('swing-03.mp4', 100)]]) })
  first.end()
  await expect.poll(() => list.retryable().length).toBe(3)
  // The browser has no handle of the last one, which the person had chosen.
  const allowFiles = () => Promise.resolve([0, 2].map((index) => ({ ...files[index]!, how: 'pick' as const })))
  let sizes: unknown[] = []
  const resume: Setting['resume'] = async (_uplink, _key, { source }) => {
    const given = files.map((file) => source!({ ...file, sizeBytes: file.bytes }))
    sizes = await Promise.all(given.map(async (each) => each && (await each.describe()).sizeBytes))
    return driven('first', 100, 100, 100).upload
  }

  await list.retry({ ...keeping('first'), allowFiles }, { begin: neverBegin, resume })

  // It is given an empty one, so that it fails alone. The browser finds the second again, and the page has the third.
  expect(sizes).toEqual([0, undefined, 100])
})
