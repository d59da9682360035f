// The files of one element from the click on: what they are while they are looked at, and who takes them.

import { expect, it } from 'vitest'

import type { BrowserUplink } from '../../src/browser.ts'
import type { ChosenFile } from '../../src/element/chosen-files.ts'
import type { Offer } from '../../src/element/offers.ts'
import { createUploadList } from '../../src/element/upload-list.ts'
import type { Outage, Upload, UploadFileStatus, UploadReport } from '../../src/flows/upload.ts'

const ignore = (): void => undefined

/** A list with one file, whose handle answers when the test says so, and the uploads that were begun. */
function listed() {
  const file = new File(['swing'], 'swing-01.mp4')
  let answer = ignore
  const looked = new Promise<File>((resolve) => (answer = () => resolve(file)))
  const handle = { getFile: () => looked } as FileSystemFileHandle
  const list = createUploadList({ change: ignore, told: ignore, settled: ignore })
  list.add([{ file, path: file.name, handle } satisfies ChosenFile])
  const begun: number[] = []
  const begin = (sources: readonly unknown[]): Upload => {
    begun.push(sources.length)
    const pending = new Promise<never>(ignore)
    return { on: ignore, done: () => pending, state: 'creating', files: () => [] } as unknown as Upload
  }
  return { list, begin, begun, answer: () => answer() }
}

it('stays ready until an upload carries the files: nothing is over before it began', async () => {
  const { list, begin, answer } = listed()

  const started = list.start(list.items, begin)
  expect(list.phase()).toBe('ready')
  answer()
  await started

  expect(list.phase()).toBe('uploading')
})

it('has at stake what a cancel ends, and nothing of an upload that is over', async () => {
  const { list, answer } = listed()
  const progress = { filesTotal: 1, filesConfirmed: 1, filesFailed: 0, sentBytes: 5, confirmedBytes: 5, totalBytes: 5 }
  const upload = { on: ignore, state: 'confirmed', files: () => [], progress: () => progress }
  answer()
  let end = ignore
  const done = new Promise((resolve) => (end = () => resolve({ status: 'confirmed', files: [] })))
  await list.start(list.items, () => ({ ...upload, done: () => done }) as unknown as Upload)
  expect(list.atStake()).toMatchObject({ filesConfirmed: 1, confirmedBytes: 5 })
  end()
  await done

  expect(list.atStake()).toMatchObject({ filesConfirmed: 0, confirmedBytes: 0 })
})

it('begins one upload, however quickly one clicks', async () => {
  const { list, begin, begun, answer } = listed()

  const started = [list.start(list.items, begin), list.start(list.items, begin)]
  answer()
  await Promise.all(started)

  expect(begun).toEqual([1])
})

it('knows a file of an earlier life as the person has it, whatever name the service gave it', () => {
  const { list } = listed()
  const known = { fileIndex: 0, name: 'cam1_take.c3d', fileName: 'take.c3d', location: 'cam1/take.c3d', bytes: 3 }
  const pending = new Promise<never>(ignore)
  const files = () => [{ fileIndex: 0, name: known.name, bytes: 3 }]
  const upload = { on: ignore, done: () => pending, state: 'uploading', files } as unknown as Upload

  list.adopt({ upload, offer: { session: {} as Offer['session'], files: [known], missing: [], found: new Map() } })

  expect(list.items[1]).toMatchObject({ name: 'cam1_take.c3d', present: known })
})

it('leaves out a file that was removed while it was looked at', async () => {
  const { list, begin, begun, answer } = listed()

  const started = list.start(list.items, begin)
  list.remove(list.items[0]!)
  answer()
  await started

  expect(begun).toEqual([])
  expect(list.phase()).toBe('empty')
})

it('tries again what failed, and not what is merely ready', async () => {
  const list = createUploadList({ change: ignore, told: ignore, settled: ignore })
  const add = (name: string): void => list.add([{ file: new File(['swing'], name), path: name }])
  const failing = { on: ignore, done: () => Promise.reject(new Error('no')), key: 'unheard', files: () => [] }
  const begun: number[] = []
  const begin = (sources: readonly unknown[]): Upload => {
    begun.push(sources.length)
    return failing as unknown as Upload
  }
  add('swing-01.mp4')
  await list.start(list.items, begin)
  await expect.poll(() => list.retryable().length).toBe(1)
  add('swing-02.mp4')

  const anew = await list.retry({ sessions: () => Promise.resolve([]) } as unknown as BrowserUplink)
  await list.start(anew, begin)

  expect(begun).toEqual([1, 1])
  expect(list.items.map(({ name, state }) => [name, state])[1]).toEqual(['swing-02.mp4', 'ready'])
})

it('waits no more while a host that was away is tried, and takes the bytes: a part may be minutes on its way', async () => {
  const { list, answer } = listed()
  let sentBytes = 3
  let tell: (outage: Partial<Outage>) => void = ignore
  const upload = {
    ...{ state: 'waiting', files: () => [], progress: () => ({ sentBytes }), done: () => new Promise<never>(ignore) },
    on(name: string, handler: typeof tell) {
      if (name === 'waiting') tell = handler
    },
  }
  answer()
  await list.start(list.items, () => upload as unknown as Upload)

  tell({ untilMs: 60_000 })
  expect(list.phase()).toBe('waiting')
  tell({ untilMs: undefined })
  expect(list.phase()).toBe('waiting')
  sentBytes += 1
  expect(list.phase()).toBe('uploading')
  // The try had no success: what it sent does not count, and the next one is later.
  sentBytes -= 1
  tell({ untilMs: 120_000 })
  expect(list.phase()).toBe('waiting')
})

/** An upload as the list sees it: each file is what the test last said that it is; `end` is its end. */
function driven(key: string, ...bytes: number[]) {
  let end: (report: Partial<UploadReport>) => void = ignore
  const done = new Promise<UploadReport>((resolve) => (end = (report) => resolve(report as UploadReport)))
  const statuses = bytes.map((each, fileIndex): UploadFileStatus => {
    const name = `swing-0${String(fileIndex + 1)}.mp4`
    return { fileIndex, name, bytes: each, parts: 1, sentBytes: 0, confirmedBytes: 0, state: 'pending' }
  })
  const sum = (field: 'bytes' | 'sentBytes'): number => statuses.reduce((total, status) => total + status[field], 0)
  const count = (of: string): number => statuses.filter(({ state }) => state === of).length
  const progress = () => {
    const [sentBytes, totalBytes] = [sum('sentBytes'), sum('bytes')]
    const files = { filesTotal: bytes.length, filesConfirmed: count('confirmed'), filesFailed: count('failed') }
    return { ...files, sentBytes, confirmedBytes: sentBytes, totalBytes, bytesPerSecond: 0, remainingMs: undefined }
  }
  const upload = { ...{ key, state: 'uploading', on: ignore, done: () => done, files: () => statuses }, progress }
  const say = (fileIndex: number, state: UploadFileStatus['state'], sentBytes: number): void => {
    const error = { code: 'ERR_UPLOAD_SOURCE_CHANGED', message: 'It has changed.' } as const
    Object.assign(statuses[fileIndex]!, { state, sentBytes }, state === 'failed' ? { error } : {})
  }
  return { upload: upload as unknown as Upload, say, end: () => end({ status: 'partial', files: [] }) }
}

function chosen(name: string, bytes: number): ChosenFile {
  return { file: new File([new Uint8Array(bytes)], name), path: name }
}

/** A list of two files, the first of which changed while the second is on its way. */
async function withChangedFile() {
  const list = createUploadList({ change: ignore, told: ignore, settled: ignore })
  const first = driven('first', 100, 1000)
  list.add([chosen('swing-01.mp4', 100), chosen('swing-02.mp4', 1000)])
  await list.start(list.items, () => first.upload)
  first.say(0, 'failed', 40)
  first.say(1, 'uploading', 500)
  list.refresh(0)
  return { list, first }
}

const counts = (filesTotal: number, filesConfirmed: number, filesFailed: number) => ({
  ...{ filesTotal, filesConfirmed, filesFailed },
})

it('counts a file that was chosen again once: while the rest of its former upload runs, and after that', async () => {
  const { list, first } = await withChangedFile()
  expect(list.totals()).toMatchObject({ ...counts(2, 0, 1), sentBytes: 540, totalBytes: 1100 })

  const second = driven('second', 120)
  list.add([chosen('swing-01.mp4', 120)])
  expect(list.totals()).toMatchObject({ ...counts(1, 0, 0), sentBytes: 500, totalBytes: 1000 })
  await list.start(list.items, () => second.upload)
  second.say(0, 'confirmed', 120)
  list.refresh(1)
  expect(list.totals()).toMatchObject({ ...counts(2, 1, 0), sentBytes: 620, totalBytes: 1120 })
  expect(list.superseded()).toEqual([])
  second.end()
  first.say(1, 'confirmed', 1000)
  first.end()
  await expect.poll(() => list.phase()).toBe('settled')

  expect(list.totals()).toMatchObject({ ...counts(2, 2, 0), confirmedBytes: 1120, totalBytes: 1120 })
  expect(list.superseded().map(({ upload }) => upload.key)).toEqual(['first'])
})

it('tells of a file that fails at once, also where no frame is drawn, as in a tab behind another', async () => {
  const { list, first } = await withChangedFile()

  first.say(1, 'failed', 500)

  expect(list.totals()).toMatchObject(counts(2, 0, 2))
})

it('has a file that changed in its place again when what was chosen in its stead is removed', async () => {
  const { list, first } = await withChangedFile()
  first.say(1, 'confirmed', 1000)
  first.end()
  await expect.poll(() => list.phase()).toBe('settled')

  list.add([chosen('swing-01.mp4', 120)])
  // What was chosen in its stead is not delivered: the former session may still be needed.
  expect(list.superseded()).toEqual([])
  list.remove(list.items.find(({ state }) => state === 'ready')!)

  expect(list.items.map(({ name, state }) => [name, state])).toEqual([
    ['swing-02.mp4', 'confirmed'],
    ['swing-01.mp4', 'failed'],
  ])
  expect(list.totals()).toMatchObject(counts(2, 1, 1))
  expect(list.unfinished().map(({ upload }) => upload.key)).toEqual(['first'])
})

it('does not send a file twice that was chosen again, when the rest of its former upload is tried again', async () => {
  const { list, first } = await withChangedFile()
  first.end()
  await expect.poll(() => list.phase()).toBe('settled')
  list.add([chosen('swing-01.mp4', 120)])
  const given: number[] = []
  const resume: BrowserUplink['resume'] = async (_key, options) => {
    for (const [fileIndex, name] of ['swing-01.mp4', 'swing-02.mp4'].entries()) {
      const source = options?.source?.({ fileIndex, name, location: name })
      given.push((await source?.describe())?.sizeBytes ?? -1)
    }
    return driven('first', 100, 1000).upload
  }

  await list.retry({ sessions: () => Promise.resolve([{ key: 'first' }]), resume } as unknown as BrowserUplink)

  expect(given).toEqual([0, 1000])
})
