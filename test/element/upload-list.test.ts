// The files of one element from the click on: what they are while they are looked at, and who takes them.

import { expect, it } from 'vitest'
import { chosenFile, type ChosenFile } from '../../src/element/chosen-files.ts'
import type { Source } from '../../src/core/ports.ts'
import type { Item } from '../../src/element/items.ts'
import { createUploadList } from '../../src/element/upload-list.ts'
import type { Outage, Upload } from '../../src/flows/upload.ts'
import { chosen, ignore, refuse, UPLINK, driven } from './upload-list-rig.ts'

/** A list with one file, which has changed behind its handle since it was chosen, and the uploads that were begun. */
function listed() {
  const file = new File(['swing'], 'swing-01.mp4', { lastModified: 7 })
  const changed = new File(['another swing'], 'swing-01.mp4', { lastModified: 9 })
  const handle = { getFile: () => Promise.resolve(changed) } as FileSystemFileHandle
  const list = createUploadList({ change: ignore, told: ignore, settled: ignore })
  list.add([chosenFile(file, 'cam1/', handle)])
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

  list.start(UPLINK, new Set(list.items), { begin })

  expect(list.phase()).toBe('uploading')
})

it('is being cancelled until the report has come, and does not upload again for a moment', () => {
  const { list } = listed()
  const upload = { on: ignore, done: () => new Promise<never>(ignore), files: () => [] }
  list.start(UPLINK, new Set(list.items), { begin: () => ({ ...upload, state: 'cancelled' }) as unknown as Upload })

  expect(list.phase()).toBe('cancelling')
})

it('has at stake what a cancel ends, and nothing of an upload that is over, which is not unfinished once all is confirmed', async () => {
  const { list } = listed()
  const { upload, say, end } = driven('first', 5)
  list.start(UPLINK, new Set(list.items), { begin: () => upload })
  say(0, 'confirmed', 5)
  expect(list.atStake()).toMatchObject({ filesConfirmed: 1, confirmedBytes: 5 })
  end()
  await upload.done()

  expect(list.atStake()).toMatchObject({ filesConfirmed: 0, confirmedBytes: 0 })
  expect(list.unfinished()).toEqual([])
})

it.each([
  ['keeps what is confirmed when the rest is given up', true, ['confirmed', 'cancelled', 'cancelled'], 5],
  ['gives up what is confirmed with all the rest', undefined, ['cancelled', 'cancelled', 'cancelled'], 0],
])('%s, and counts no byte of what is given up', async (_, keepsConfirmed, states, bytes) => {
  const list = createUploadList({ change: ignore, told: ignore, settled: ignore })
  list.add(['swing-01.mp4', 'swing-02.mp4', 'swing-03.mp4'].map((name) => chosen(name, 5)))
  const { upload, say } = driven('first', 5, 5, 5)
  let cancelled = (): void => undefined
  const done = new Promise((_resolve, reject) => {
    cancelled = () =>
      reject(Object.assign(new Error('no'), { report: { status: 'cancelled', keepsConfirmed, files: [] } }))
  })
  list.start(UPLINK, new Set(list.items), { begin: () => ({ ...upload, done: () => done }) as Upload })
  say(0, 'confirmed', 5)
  say(1, 'failed', 3)
  say(2, 'uploading', 2)

  cancelled()

  await expect.poll(() => list.phase()).toBe('settled')
  expect(list.items.map(({ state }) => state)).toEqual(states)
  expect(list.totals()).toMatchObject({ sentBytes: bytes, confirmedBytes: bytes })
  expect(list.retryable()).toEqual([])
  expect(list.items.map(({ error }) => error)).toEqual([undefined, undefined, undefined])
})

it('offers to try again what failed once its upload is over, but not what has to be chosen again, and keeps why', async () => {
  const list = createUploadList({ change: ignore, told: ignore, settled: ignore })
  list.add(['swing-01.mp4', 'swing-02.mp4'].map((name) => chosen(name, 5)))
  const { upload, say, end } = driven('first', 5, 5)
  list.start(UPLINK, new Set(list.items), { begin: () => upload })
  say(0, 'failed', 3)
  list.totals()
  expect(list.retryable()).toEqual([])

  end()
  await expect.poll(() => list.phase()).toBe('settled')

  // The second was never begun.
  expect(list.items).toMatchObject([
    { state: 'failed', error: { code: 'ERR_UPLOAD_SOURCE_CHANGED' } },
    { state: 'failed', error: undefined },
  ])
  expect(list.retryable()).toEqual([list.items[1]])
})

it('takes the report of a failure also where the Uplink came with another copy of the package', async () => {
  const told: unknown[] = []
  const list = createUploadList({ change: ignore, told: ignore, settled: (_, report) => told.push(report) })
  list.add([chosenFile(new File(['swing'], 'swing-01.mp4'))])
  const report = { status: 'failed', files: [] }
  const done = () => Promise.reject(Object.assign(new Error('no'), { code: 'ERR_UPLOAD_FAILED', report }))

  list.start(UPLINK, new Set(list.items), {
    begin: () => ({ on: ignore, done, state: 'failed', files: () => [] }) as unknown as Upload,
  })

  await expect.poll(() => told).toEqual([report])
})

it.each([
  ['paused where it was paused', 'pause', ['pause']],
  ['not paused where it goes on', 'resume', []],
  ['not at all where all was cancelled', 'giveUp', undefined],
] as const)('begins what a start still waited to begin %s meanwhile', (_, wish, expected) => {
  const { list } = listed()
  let said: string[] | undefined
  const { upload } = driven('first', 5)
  void list[wish]('discard')

  list.start(UPLINK, new Set(list.items), {
    begin() {
      said = []
      return { ...upload, pause: () => said?.push('pause') }
    },
  })

  expect(said).toEqual(expected)
})

it('begins none of the files that were added after the start was asked for, nor one that is gone', () => {
  const { list, begin, given } = listed()
  list.add([chosen('swing-02.mp4', 5), chosen('swing-03.mp4', 5)])
  const asked = new Set(list.items.slice(0, 2))
  list.remove(list.items[1]!)

  list.start(UPLINK, asked, { begin })

  expect(given.map(({ name }) => name)).toEqual(['swing-01.mp4'])
  expect(list.items.map(({ state }) => state)).toEqual(['waiting', 'ready'])
})

it('begins one upload, however quickly one clicks', () => {
  const { list, begin, begun } = listed()

  list.start(UPLINK, new Set(list.items), { begin })
  list.start(UPLINK, new Set(list.items), { begin })

  expect(begun).toEqual([1])
})

it('uploads the file as it was when it was chosen, and never what its handle leads to by then', async () => {
  const { list, given, begin } = listed()

  list.start(UPLINK, new Set(list.items), { begin })

  const [source] = given
  expect(source).toMatchObject({ name: 'swing-01.mp4', location: 'cam1/swing-01.mp4' })
  expect(await source?.describe()).toMatchObject({ sizeBytes: 5, modifiedAtMs: 7 })
})

it('knows a file of an earlier life as the person has it, whatever name the service gave it', () => {
  const { list } = listed()
  const identity = { fileName: 'take.c3d', location: 'cam1/take.c3d', bytes: 3 }
  const known = { fileIndex: 0, name: 'cam1_take.c3d', ...identity }
  const pending = new Promise<never>(ignore)
  const files = () => [{ fileIndex: 0, name: known.name, bytes: 3 }]
  const upload = { on: ignore, done: () => pending, state: 'uploading', files } as unknown as Upload

  list.adopt(UPLINK, upload, { files: [known], found: new Map() })

  expect(list.items[1]).toMatchObject(identity)
})

it('takes of a row that goes on with an earlier upload the file and nothing else', () => {
  const { list } = listed()
  const [row] = list.items
  const { fileName, location, bytes, modifiedAtMs, file, handle } = row as Item & ChosenFile
  const heir = { ...row } as Item
  const error = { code: 'ERR_UPLOAD_NETWORK', message: 'No line.' } as const
  const early = { ...row, former: heir, replacedBy: heir, heir, error } as Item & ChosenFile
  const files = [{ fileIndex: 0, name: fileName, fileName, location, bytes }]

  list.adopt(UPLINK, driven('earlier', 5).upload, { files, found: new Map([[0, early]]) })

  const counts = { sentBytes: 0, confirmedBytes: 0, bytesPerSecond: 0, retries: 0 }
  const known = { fileName, location, bytes, modifiedAtMs, file, handle, chosenAtMs: expect.any(Number) as number }
  expect(list.items[1]).toEqual({ ...known, state: 'waiting', ...counts })
})

it('knows of an upload that is taken up, as soon as it begins, what is confirmed in it already', () => {
  const states: string[][] = []
  const list = createUploadList({
    change: ignore,
    told: ({ items }) => states.push(items.map(({ state }) => state)),
    settled: ignore,
  })
  const { upload, say } = driven('first', 5, 5)
  say(0, 'confirmed', 5)
  const files = upload.files().map((file) => ({ ...file, fileName: file.name, location: file.name }))

  list.adopt(UPLINK, upload, { files, found: new Map() })

  expect(states).toEqual([['confirmed', 'waiting']])
})

it('clears what is over, and neither what is under way nor what is ready', async () => {
  const list = createUploadList({ change: ignore, told: ignore, settled: ignore })
  const over = driven('over', 5)
  for (const [name, { upload }] of [['over.mp4', over] as const, ['going.mp4', driven('going', 5)] as const]) {
    list.add([chosen(name, 5)])
    list.start(UPLINK, new Set(list.items), { begin: () => upload })
  }
  list.add([chosen('ready.mp4', 5)])
  over.say(0, 'confirmed', 5)
  over.end()
  await over.upload.done()

  list.clear()

  expect(list.items.map(({ fileName }) => fileName)).toEqual(['going.mp4', 'ready.mp4'])
  expect(list.totals()).toMatchObject({ filesTotal: 1, filesConfirmed: 0 })
})

it('says what an upload waits for also beside one that is paused', () => {
  const list = createUploadList({ change: ignore, told: ignore, settled: ignore })
  const outage = { who: 'service' } as Outage
  for (const state of ['paused', 'waiting'] as const) {
    const { upload } = driven(state, 5)
    const on = (name: string, hear: (about: Outage) => void): void => {
      if (name === 'waiting' && state === name) hear(outage)
    }
    list.add([chosen(`${state}.mp4`, 5)])
    list.start(UPLINK, new Set(list.items), { begin: () => ({ ...upload, state, on }) as unknown as Upload })
  }

  expect([list.phase(), list.outage()]).toEqual(['waiting', { ...outage, sentBytes: 0 }])
})

it('tries again what failed, and not what is merely ready', async () => {
  const list = createUploadList({ change: ignore, told: ignore, settled: ignore })
  const add = (name: string): void => list.add([chosenFile(new File(['swing'], name))])
  const failing = { on: ignore, done: () => Promise.reject(new Error('no')), key: 'unheard', files: () => [] }
  const begun: number[] = []
  const begin = (_uplink: unknown, sources: readonly unknown[]): Upload => {
    begun.push(sources.length)
    return failing as unknown as Upload
  }
  add('swing-01.mp4')
  list.start(UPLINK, new Set(list.items), { begin })
  await expect.poll(() => list.retryable().length).toBe(1)
  add('swing-02.mp4')

  await list.retry(UPLINK, { begin, resume: refuse })

  expect(begun).toEqual([1, 1])
  expect(list.items.map(({ fileName, state }) => [fileName, state])[1]).toEqual(['swing-02.mp4', 'ready'])
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
  list.start(UPLINK, new Set(list.items), { begin: () => upload as unknown as Upload })

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
