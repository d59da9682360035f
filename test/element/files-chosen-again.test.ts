// Files that are chosen again: which row they take, and what is counted and sent of them.

import { expect, it } from 'vitest'
import { chosenFile, type ChosenFile } from '../../src/element/chosen-files.ts'
import type { Setting } from '../../src/element/setting.ts'
import { isDelivered, isReady } from '../../src/element/items.ts'
import { createUploadList, type UploadList } from '../../src/element/upload-list.ts'
import { ignore, neverBegin, refuse, keeping, UPLINK, driven, chosen } from './upload-list-rig.ts'

/** Chooses files, the first of them in place of the first row. */
function again(list: UploadList, ...files: readonly [ChosenFile, ...ChosenFile[]]): void {
  list.add(files, new Map([[list.items[0]!, files[0]]]))
}

/** A list of two files, the first of which changed while the second is on its way. */
async function withChangedFile() {
  const list = createUploadList({ change: ignore, told: ignore, settled: ignore })
  const first = driven('first', 100, 1000)
  list.add([chosen('swing-01.mp4', 100), chosen('swing-02.mp4', 1000)])
  list.start(UPLINK, new Set(list.items), { begin: () => first.upload })
  first.say(0, 'failed', 40)
  first.say(1, 'uploading', 500)
  // As each frame does.
  list.totals()
  return { list, first }
}

const counts = (filesTotal: number, filesConfirmed: number, filesFailed: number) => ({
  ...{ filesTotal, filesConfirmed, filesFailed },
})

it('counts a file that was chosen again once: while the rest of its former upload runs, and after that', async () => {
  const { list, first } = await withChangedFile()
  expect(list.totals()).toMatchObject({ ...counts(2, 0, 1), sentBytes: 540, totalBytes: 1100 })

  const second = driven('second', 120)
  again(list, chosen('swing-01.mp4', 120))
  expect(list.totals()).toMatchObject({ ...counts(1, 0, 0), sentBytes: 500, totalBytes: 1000 })
  list.start(UPLINK, new Set(list.items), { begin: () => second.upload })
  second.say(0, 'confirmed', 120)
  expect(list.totals()).toMatchObject({ ...counts(2, 1, 0), sentBytes: 620, totalBytes: 1120 })
  second.end()
  first.say(1, 'confirmed', 1000)
  first.end()
  await expect.poll(() => list.phase()).toBe('settled')

  expect(list.totals()).toMatchObject({ ...counts(2, 2, 0), confirmedBytes: 1120, totalBytes: 1120 })
})

it('knows of an upload that nothing is left of as soon as another one has delivered its file, and draws no frame for it', async () => {
  const { list, first } = await withChangedFile()
  first.say(1, 'confirmed', 1000)
  first.end()
  await expect.poll(() => list.phase()).toBe('settled')
  const second = driven('second', 120, 10)
  again(list, chosen('swing-01.mp4', 120), chosen('swing-03.mp4', 10))
  list.start(UPLINK, new Set(list.items), { begin: () => second.upload })
  const left = () => list.unfinished().map(({ upload: { key }, items }) => [key, items.every(isDelivered)])
  second.say(0, 'confirming', 120)
  expect(left()).toEqual([['first', false]])

  second.say(0, 'confirmed', 120)

  expect(left()).toEqual([['first', true]])
  list.unfinished()[0]!.isDiscarded = true
  expect(left()).toEqual([])
})

it.each([
  ['another size', 120, 7],
  ['another date', 100, 8],
])('gives another clip of the same name a row of its own: %s', async (_other, bytes, modifiedAtMs) => {
  const { list } = await withChangedFile()

  list.add([chosen('swing-01.mp4', bytes, modifiedAtMs)])
  expect(list.items.map(({ state }) => state)).toEqual(['failed', 'uploading', 'ready'])

  list.add([chosen('swing-01.mp4', 100)])
  expect(list.items.map(({ state }) => state)).toEqual(['uploading', 'ready', 'ready'])
})

it('gives the clip of another camera a row of its own, also where it has the size and the date of one that failed', async () => {
  const list = createUploadList({ change: ignore, told: ignore, settled: ignore })
  const { file } = chosen('swing-01.mp4', 100)
  const first = driven('first', 100)
  list.add([chosenFile(file, 'cam1/')])
  list.start(UPLINK, new Set(list.items), { begin: () => first.upload })
  first.say(0, 'failed', 40)
  list.totals()

  list.add([chosenFile(file, 'cam2/')])
  list.add([chosenFile(file, 'day 1/cam1/')])

  expect(list.items.map(({ location }) => location)).toEqual(['cam2/swing-01.mp4', 'day 1/cam1/swing-01.mp4'])
})

it.each(['uploading', 'confirmed'] as const)(
  'gives away no row of a file that is %s to one that looks the same',
  async (state) => {
    const { list, first } = await withChangedFile()
    first.say(1, state, 1000)
    list.totals()

    list.add([chosen('swing-02.mp4', 1000)])

    expect(list.items.map((item) => item.state)).toEqual(['failed', state, 'ready'])
    first.say(1, 'failed', 1000)
    expect(list.items).toHaveLength(3)
  },
)

it('tells of a file that fails at once, also where no frame is drawn, as in a tab behind another', async () => {
  const { list, first } = await withChangedFile()

  first.say(1, 'failed', 500)

  expect(list.totals()).toMatchObject(counts(2, 0, 2))
})

it('keeps a file that is under way in sight when it is chosen again, until it has failed, and counts it once from then on', async () => {
  const { list, first } = await withChangedFile()
  const second = chosen('swing-02.mp4', 1200)
  list.add([second], new Map([[list.items[1]!, second]]))
  expect(list.items.map(({ state }) => state)).toEqual(['failed', 'uploading', 'ready'])
  expect(list.totals().sentBytes).toBe(540)

  first.say(1, 'failed', 500)

  expect(list.items.map(({ bytes }) => bytes)).toEqual([100, 1200])
  expect(list.totals()).toMatchObject(counts(1, 0, 1))
})

it('keeps a file in sight also while it is paused when it is chosen again', async () => {
  const { list, first } = await withChangedFile()
  Object.assign(first.upload, { state: 'paused' })
  list.totals()

  const second = chosen('swing-02.mp4', 1200)
  list.add([second], new Map([[list.items[1]!, second]]))

  expect(list.items.map(({ state }) => state)).toEqual(['failed', 'paused', 'ready'])
})

it('gives its row away also where its upload ends before anything is told of it', async () => {
  const { list, first } = await withChangedFile()
  const second = chosen('swing-02.mp4', 1200)
  list.add([second], new Map([[list.items[1]!, second]]))

  first.end()
  await expect.poll(() => list.phase()).not.toBe('uploading')

  expect(list.items.map(({ bytes, state }) => [bytes, state])).toEqual([
    [100, 'failed'],
    [1200, 'ready'],
  ])
  // What has given its row away is not sent any more.
  expect(list.retryable()).toEqual([])
})

it.each([
  ['is confirmed all the same', 'confirmed', ['failed', 'confirmed', 'ready']],
  ['fails, and what was chosen in its stead is gone by then', 'failed', ['failed', 'failed']],
] as const)('leaves a file that was under way its row where it %s', async (_, end, expected) => {
  const { list, first } = await withChangedFile()
  const second = chosen('swing-02.mp4', 1200)
  list.add([second], new Map([[list.items[1]!, second]]))
  if (end === 'failed') list.remove(list.items[2]!)

  first.say(1, end, 1000)
  first.end()
  await expect.poll(() => list.phase()).not.toBe('uploading')

  expect(list.items.map(({ state }) => state)).toEqual(expected)
})

it('gives its row to the last of those that were chosen in the stead of a file that is under way', async () => {
  const { list, first } = await withChangedFile()
  const [second, third] = [chosen('swing-02.mp4', 1200), chosen('swing-02.mp4', 1300)]
  list.add([second], new Map([[list.items[1]!, second]]))
  list.add([third], new Map(list.items.slice(1).map((item) => [item, third])))
  expect(list.items.map(({ bytes }) => bytes)).toEqual([100, 1000, 1300])

  first.say(1, 'failed', 500)

  expect(list.items.map(({ bytes }) => bytes)).toEqual([100, 1300])
  expect(list.totals()).toMatchObject(counts(1, 0, 1))
})

it('has a file that changed in its place again when what was chosen in its stead is removed', async () => {
  const { list, first } = await withChangedFile()
  first.say(1, 'confirmed', 1000)
  first.end()
  await expect.poll(() => list.phase()).toBe('settled')

  again(list, chosen('swing-01.mp4', 120))
  list.remove(list.items.find(({ state }) => state === 'ready')!)

  expect(list.items.map(({ fileName, state }) => [fileName, state])).toEqual([
    ['swing-02.mp4', 'confirmed'],
    ['swing-01.mp4', 'failed'],
  ])
  expect(list.totals()).toMatchObject(counts(2, 1, 1))
  expect(list.unfinished().map(({ upload }) => upload.key)).toEqual(['first'])
})

it('has nothing in its place again that was cleared meanwhile', async () => {
  const { list, first } = await withChangedFile()
  first.end()
  await expect.poll(() => list.phase()).toBe('settled')
  again(list, chosen('swing-01.mp4', 120))

  list.clear()
  list.remove(list.items[0]!)

  expect(list.items).toEqual([])
})

it('has it in its place again also where what was chosen in its stead changed too, and is removed', async () => {
  const { list, first } = await withChangedFile()
  first.say(1, 'confirmed', 1000)
  first.end()
  await expect.poll(() => list.phase()).toBe('settled')
  again(list, chosen('swing-01.mp4', 120))
  const newest = chosen('swing-01.mp4', 140)
  list.add([newest], new Map([[list.items.find(({ state }) => state === 'ready')!, newest]]))
  expect(list.totals()).toMatchObject(counts(1, 1, 0))

  list.remove(list.items.find(({ state }) => state === 'ready')!)

  expect(list.items.map(({ fileName, bytes, state }) => [fileName, bytes, state])).toEqual([
    ['swing-02.mp4', 1000, 'confirmed'],
    ['swing-01.mp4', 100, 'failed'],
  ])
  expect(list.totals()).toMatchObject(counts(2, 1, 1))
})

it('has in its place again the newest of those that were begun, when the third is removed', async () => {
  const { list, first } = await withChangedFile()
  first.say(1, 'confirmed', 1000)
  first.end()
  await expect.poll(() => list.phase()).toBe('settled')
  again(list, chosen('swing-01.mp4', 120))
  const second = driven('second', 120)
  list.start(UPLINK, new Set(list.items), { begin: () => second.upload })
  second.say(0, 'failed', 0)
  second.end()
  await expect.poll(() => list.phase()).toBe('settled')
  const third = chosen('swing-01.mp4', 140)
  list.add([third], new Map([[list.items.find(({ state }) => state === 'failed')!, third]]))

  list.remove(list.items.find(({ state }) => state === 'ready')!)

  expect(list.items.map(({ bytes, state }) => [bytes, state])).toEqual([
    [1000, 'confirmed'],
    [120, 'failed'],
  ])
  expect(list.totals()).toMatchObject(counts(2, 1, 1))
})

it('has nothing in its place again when what was chosen in its stead went on with an earlier upload, and is removed there', async () => {
  const { list, first } = await withChangedFile()
  first.end()
  await expect.poll(() => list.phase()).toBe('settled')
  again(list, chosen('swing-01.mp4', 120))
  const early = list.items.filter(isReady)[0]!
  list.remove(early)
  const newest = chosen('swing-01.mp4', 140)
  list.add([newest], new Map([[list.items.find(({ bytes }) => bytes === 100)!, newest]]))

  const failing = { ...driven('earlier', 120).upload, done: () => Promise.reject(new Error('no')) }
  const { name: fileName, name, size: bytes } = early.file
  const files = [{ fileIndex: 0, name, fileName, location: name, bytes }]
  list.adopt(UPLINK, failing, { files, found: new Map([[0, early]]) })
  await expect.poll(() => list.phase()).not.toBe('uploading')
  // No journal has it any more.
  const retried = list.retry(UPLINK, { begin: neverBegin, resume: refuse })
  await list.giveUp('discard')
  await retried
  list.remove(list.items.find((item) => item.bytes === 120)!)

  expect(list.items.map((item) => item.bytes)).toEqual([1000, 140])
})

it('does not send a file twice that was chosen again, when the rest of its former upload is tried again', async () => {
  const { list, first } = await withChangedFile()
  first.end()
  await expect.poll(() => list.phase()).toBe('settled')
  again(list, chosen('swing-01.mp4', 120))
  const given: number[] = []
  const resume: Setting['resume'] = async (_uplink, _key, options) => {
    for (const [fileIndex, name] of ['swing-01.mp4', 'swing-02.mp4'].entries()) {
      const source = options.source?.({ fileIndex, name, location: name, sizeBytes: 120 })
      given.push((await source?.describe())?.sizeBytes ?? -1)
    }
    return driven('first', 100, 1000).upload
  }

  await list.retry(keeping('first'), { begin: neverBegin, resume })

  expect(given).toEqual([0, 1000])
})

it('leaves to the browser what it had found by itself, beside what was chosen again and is not sent twice', async () => {
  const list = createUploadList({ change: ignore, told: ignore, settled: ignore })
  const first = driven('first', 100, 1000)
  const files = ['swing-01.mp4', 'swing-02.mp4'].map((name, fileIndex) => {
    return { fileIndex, name, fileName: name, location: name, bytes: [100, 1000][fileIndex]!, modifiedAtMs: 7 }
  })
  const offer = { files, found: new Map() }
  list.adopt(UPLINK, first.upload, offer)
  first.say(0, 'failed', 0)
  first.end()
  await expect.poll(() => list.phase()).toBe('settled')
  again(list, chosen('swing-01.mp4', 120))
  const given: unknown[] = []
  const resume: Setting['resume'] = async (_uplink, _key, options) => {
    for (const { fileIndex, name } of files) {
      const source = options.source?.({ fileIndex, name, location: name, sizeBytes: 120 })
      given.push((await source?.describe())?.sizeBytes)
    }
    return driven('first', 100, 1000).upload
  }

  await list.retry(keeping('first'), { begin: neverBegin, resume })

  expect(given).toEqual([0, undefined])
})
