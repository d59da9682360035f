// The files of one element from the click on: what they are while they are looked at, and who takes them.

import { expect, it } from 'vitest'

import type { BrowserUplink } from '../../src/browser.ts'
import type { ChosenFile } from '../../src/element/chosen-files.ts'
import type { Source } from '../../src/core/ports.ts'
import type { Offer } from '../../src/element/offers.ts'
import type { Setting } from '../../src/element/setting.ts'
import { isDelivered } from '../../src/element/items.ts'
import { createUploadList, type UploadList } from '../../src/element/upload-list.ts'
import type { Outage, Upload, UploadFileStatus, UploadReport } from '../../src/flows/upload.ts'

const ignore = (): void => undefined
const refuse = (): Promise<never> => Promise.reject(new Error('There is nothing to take up.'))
const neverBegin = (): never => {
  throw new Error('Nothing is begun.')
}

/** An Uplink whose journal has these sessions. */
function keeping(...keys: readonly string[]): BrowserUplink {
  // In a later task, as a database of a browser answers.
  const sessions = () => new Promise((resolve) => setTimeout(() => resolve(keys.map((key) => ({ key })))))
  return { sessions } as unknown as BrowserUplink
}
const UPLINK = keeping()

/** A list with one file, which has changed behind its handle since it was chosen, and the uploads that were begun. */
function listed() {
  const file = new File(['swing'], 'swing-01.mp4', { lastModified: 7 })
  const changed = new File(['another swing'], 'swing-01.mp4', { lastModified: 9 })
  const handle = { getFile: () => Promise.resolve(changed) } as FileSystemFileHandle
  const list = createUploadList({ change: ignore, told: ignore, settled: ignore })
  list.add([{ file, path: 'cam1/swing-01.mp4', handle } satisfies ChosenFile])
  const begun: number[] = []
  const given: Source[] = []
  const begin = (_uplink: unknown, sources: readonly Source[]): Upload => {
    begun.push(sources.length)
    given.push(...sources)
    const pending = new Promise<never>(ignore)
    return { on: ignore, done: () => pending, state: 'creating', files: () => [] } as unknown as Upload
  }
  return { list, begin, begun, given }
}

it('is under way as soon as it was begun: a second click finds nothing that is ready', () => {
  const { list, begin } = listed()

  list.start(UPLINK, list.items, { begin })

  expect(list.phase()).toBe('uploading')
})

it('is being cancelled until the report has come, and does not upload again for a moment', () => {
  const { list } = listed()
  const upload = { on: ignore, done: () => new Promise<never>(ignore), files: () => [] }
  list.start(UPLINK, list.items, { begin: () => ({ ...upload, state: 'cancelled' }) as unknown as Upload })

  expect(list.phase()).toBe('cancelling')
})

it('has at stake what a cancel ends, and nothing of an upload that is over', async () => {
  const { list } = listed()
  const { upload, say, end } = driven('first', 5)
  list.start(UPLINK, list.items, { begin: () => upload })
  say(0, 'confirmed', 5)
  expect(list.atStake()).toMatchObject({ filesConfirmed: 1, confirmedBytes: 5 })
  end()
  await upload.done()

  expect(list.atStake()).toMatchObject({ filesConfirmed: 0, confirmedBytes: 0 })
})

it('takes the report of a failure also where the Uplink came with another copy of the package', async () => {
  const told: unknown[] = []
  const list = createUploadList({ change: ignore, told: ignore, settled: (_, report) => told.push(report) })
  list.add([{ file: new File(['swing'], 'swing-01.mp4'), path: 'swing-01.mp4' }])
  const report = { status: 'failed', files: [] }
  const done = () => Promise.reject(Object.assign(new Error('no'), { code: 'ERR_UPLOAD_FAILED', report }))

  list.start(UPLINK, list.items, {
    begin: () => ({ on: ignore, done, state: 'failed', files: () => [] }) as unknown as Upload,
  })

  await expect.poll(() => told).toEqual([report])
})

it('begins one upload, however quickly one clicks', () => {
  const { list, begin, begun } = listed()

  list.start(UPLINK, list.items, { begin })
  list.start(UPLINK, list.items, { begin })

  expect(begun).toEqual([1])
})

it('uploads the file as it was when it was chosen, and never what its handle leads to by then', async () => {
  const { list, given, begin } = listed()

  list.start(UPLINK, list.items, { begin })

  const [source] = given
  expect(source).toMatchObject({ name: 'swing-01.mp4', location: 'cam1/swing-01.mp4' })
  expect(await source?.describe()).toMatchObject({ sizeBytes: 5, modifiedAtMs: 7 })
})

it('knows a file of an earlier life as the person has it, whatever name the service gave it', () => {
  const { list } = listed()
  const known = { fileIndex: 0, name: 'cam1_take.c3d', fileName: 'take.c3d', location: 'cam1/take.c3d', bytes: 3 }
  const pending = new Promise<never>(ignore)
  const files = () => [{ fileIndex: 0, name: known.name, bytes: 3 }]
  const upload = { on: ignore, done: () => pending, state: 'uploading', files } as unknown as Upload

  list.adopt({
    uplink: UPLINK,
    upload,
    offer: { session: {} as Offer['session'], files: [known], missing: [], found: new Map() },
  })

  expect(list.items[1]).toMatchObject({ name: 'cam1_take.c3d', present: known })
})

it('tries again what failed, and not what is merely ready', async () => {
  const list = createUploadList({ change: ignore, told: ignore, settled: ignore })
  const add = (name: string): void => list.add([{ file: new File(['swing'], name), path: name }])
  const failing = { on: ignore, done: () => Promise.reject(new Error('no')), key: 'unheard', files: () => [] }
  const begun: number[] = []
  const begin = (_uplink: unknown, sources: readonly unknown[]): Upload => {
    begun.push(sources.length)
    return failing as unknown as Upload
  }
  add('swing-01.mp4')
  list.start(UPLINK, list.items, { begin })
  await expect.poll(() => list.retryable().length).toBe(1)
  add('swing-02.mp4')

  await list.retry(UPLINK, { begin, resume: refuse })

  expect(begun).toEqual([1, 1])
  expect(list.items.map(({ name, state }) => [name, state])[1]).toEqual(['swing-02.mp4', 'ready'])
})

it('waits no more while bytes go, whoever is asked later: a part may be minutes on its way', async () => {
  const { list } = listed()
  let sentBytes = 3
  let tell: (outage: Partial<Outage>) => void = ignore
  const upload = {
    ...{ state: 'waiting', files: () => [], progress: () => ({ sentBytes }), done: () => new Promise<never>(ignore) },
    on(name: string, handler: typeof tell) {
      if (name === 'waiting') tell = handler
    },
  }
  list.start(UPLINK, list.items, { begin: () => upload as unknown as Upload })

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
  // The network is back: parts go, and the call that is asked again later keeps nobody.
  sentBytes += 1
  expect(list.phase()).toBe('uploading')
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
  let tell: (status: UploadFileStatus) => void = ignore
  const on = (name: string, handler: typeof tell): void => {
    if (name === 'file') tell = handler
  }
  const verbs = { pause: ignore, resume: ignore }
  const upload = { ...{ key, state: 'uploading', on, done: () => done, files: () => statuses }, ...verbs, progress }
  const say = (fileIndex: number, state: UploadFileStatus['state'], sentBytes: number): void => {
    const error = { code: 'ERR_UPLOAD_SOURCE_CHANGED', message: 'It has changed.' } as const
    tell(
      Object.assign(
        statuses[fileIndex]!,
        { state, sentBytes, confirmedBytes: sentBytes },
        state === 'failed' ? { error } : {},
      ),
    )
  }
  return { upload: upload as unknown as Upload, say, end: () => end({ status: 'partial', files: [] }) }
}

function chosen(name: string, bytes: number, lastModified = 7): ChosenFile {
  return { file: new File([new Uint8Array(bytes)], name, { lastModified }), path: name }
}

/** Chooses files, the first of them in place of the first row. */
function again(list: UploadList, ...files: readonly [ChosenFile, ...ChosenFile[]]): void {
  list.add(files, new Map([[list.items[0]!, files[0]]]))
}

/** A list of two files, the first of which changed while the second is on its way. */
async function withChangedFile() {
  const list = createUploadList({ change: ignore, told: ignore, settled: ignore })
  const first = driven('first', 100, 1000)
  list.add([chosen('swing-01.mp4', 100), chosen('swing-02.mp4', 1000)])
  list.start(UPLINK, list.items, { begin: () => first.upload })
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
  list.start(UPLINK, list.items, { begin: () => second.upload })
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
  list.start(UPLINK, list.items, { begin: () => second.upload })
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

  expect(list.items.map(({ name, state }) => [name, state])).toEqual([
    ['swing-02.mp4', 'confirmed'],
    ['swing-01.mp4', 'failed'],
  ])
  expect(list.totals()).toMatchObject(counts(2, 1, 1))
  expect(list.unfinished().map(({ upload }) => upload.key)).toEqual(['first'])
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

  expect(list.items.map(({ name, bytes, state }) => [name, bytes, state])).toEqual([
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
  list.start(UPLINK, list.items, { begin: () => second.upload })
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

/** Two uploads that have failed, each of one file. */
async function withFailed() {
  const list = createUploadList({ change: ignore, told: ignore, settled: ignore })
  for (const key of ['first', 'second']) {
    const upload = { on: ignore, done: () => Promise.reject(new Error('no')), key, files: () => [] }
    list.add([chosen(`${key}.mp4`, 5)])
    list.start(UPLINK, list.items, { begin: () => upload as unknown as Upload })
  }
  await expect.poll(() => list.retryable().length).toBe(2)
  const said: string[] = []
  const resumed = (key: string) => ({
    ...driven(key, 5).upload,
    pause: () => said.push(`${key} pauses`),
    resume: () => said.push(`${key} goes`),
  })
  const retryWith = (resume: (key: string) => Promise<unknown>) =>
    list.retry(keeping('first', 'second'), {
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
  list.start(first, list.items, { begin: () => failing as unknown as Upload })
  await expect.poll(() => list.retryable().length).toBe(1)
  const asked: BrowserUplink[] = []
  const resume: Setting['resume'] = async (uplink) => (asked.push(uplink), driven('first', 5).upload)

  await list.retry(now, { begin: neverBegin, resume })

  expect(asked).toEqual([expected === 'now' ? now : first])
  expect(list.jobs.map(({ uplink }) => uplink)).toEqual(asked)
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
  expect(begun).toEqual([list.items[1]?.name])
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

it('leaves to the browser what it had found by itself, beside what was chosen again and is not sent twice', async () => {
  const list = createUploadList({ change: ignore, told: ignore, settled: ignore })
  const first = driven('first', 100, 1000)
  const files = ['swing-01.mp4', 'swing-02.mp4'].map((name, fileIndex) => {
    return { fileIndex, name, fileName: name, location: name, bytes: [100, 1000][fileIndex]!, modifiedAtMs: 7 }
  })
  const offer = { session: {} as Offer['session'], files, missing: [], found: new Map() }
  list.adopt({ uplink: UPLINK, upload: first.upload, offer })
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
