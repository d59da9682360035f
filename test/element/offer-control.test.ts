// Uploads of an earlier life that are offered: one is taken up once, however often one clicks, and what a person did
// with its card outlives the looks at the journal that come between.

import { afterEach, expect, it, vi } from 'vitest'

import type { BrowserUplink, MissingFile, SessionFile } from '../../src/browser.ts'
import { chosenFile } from '../../src/element/chosen-files.ts'
import { createOfferControl } from '../../src/element/offer-control.ts'
import type { Upload } from '../../src/flows/upload.ts'

const KEY = 'capture-1'
const SECOND_MS = 1_000

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

/** One unfinished session of these files; resumes, and looks that are held, are answered when the test says so. */
async function offered(...missing: readonly SessionFile[]) {
  const resumed: string[] = []
  let answer = (): void => undefined
  const answered = new Promise<void>((resolve) => (answer = resolve))
  const held: (() => void)[] = []
  const taken: Upload[] = []
  const asked: number[] = []
  const discarded: string[] = []
  const journal = {
    missing,
    isOpen: true,
    isHeld: false,
    broken: '',
    status: 'open',
    filesConfirmed: 0,
    reads: 0,
    isAgreed: true,
  }
  const listed = () => {
    const { status, filesConfirmed } = journal
    return journal.isOpen ? [{ key: KEY, flow: 'capture', status, filesConfirmed, filesTotal: 2 }] : []
  }
  const uplink = {
    sessions() {
      journal.reads += 1
      if (journal.broken === 'sessions') return Promise.reject(new Error('the journal failed'))
      const found = listed()
      return journal.isHeld ? new Promise((resolve) => held.push(() => resolve(found))) : Promise.resolve(found)
    },
    sessionFiles: () =>
      journal.broken === 'sessionFiles'
        ? Promise.reject(new Error('the journal failed'))
        : Promise.resolve(journal.missing),
    allowFiles() {
      // What the person allows is missing no more.
      if (journal.isAgreed) journal.missing = journal.missing.map((file) => ({ ...file, how: undefined }))
      return Promise.resolve([])
    },
    discardSession() {
      discarded.push(KEY)
      journal.isOpen = false
      return Promise.resolve()
    },
    async resume(key: string) {
      resumed.push(key)
      await answered
      return { key } as Upload
    },
  } as unknown as BrowserUplink
  const control = createOfferControl({
    target: { isConnected: true },
    attempt: (work) => work(uplink),
    setting: () => ({ flow: 'capture', uplink: () => uplink, resume: (of, key, options) => of.resume(key, options) }),
    keysInUse: () => new Set(taken.map(({ key }) => key)),
    choose: () => undefined,
    mayDiscard(atStake) {
      asked.push(atStake.filesConfirmed)
      return Promise.resolve(journal.isAgreed)
    },
    onTaken: (_, upload) => void taken.push(upload),
    onDiscarded: () => undefined,
    onLooked: () => undefined,
    onChange: () => undefined,
  })
  const { look } = control
  await look()
  const answerLooks = () => held.splice(0).forEach((answerLook) => answerLook())
  return {
    control,
    journal,
    look,
    resumed,
    taken,
    asked,
    discarded,
    answer,
    answerLooks,
  }
}

function missingFile(fileIndex: number, how: MissingFile['how'] = 'pick'): MissingFile {
  const name = `${fileIndex}.c3d`
  return { fileIndex, name, fileName: name, location: name, bytes: 3, how }
}

function chosen(name: string) {
  return chosenFile(new File(['one'], name))
}

it('takes an offer up once, however quickly one clicks', async () => {
  const { control, resumed, taken, answer } = await offered()

  const clicks = [control.accept(KEY), control.accept(KEY)]
  answer()
  await Promise.all(clicks)

  expect(resumed).toEqual([KEY])
  expect(taken).toHaveLength(1)
  expect(control.offers).toEqual([])
})

it('takes an offer up at one click where the browser remembers its files and the person allows them', async () => {
  const { control, taken, answer } = await offered(missingFile(0, 'allow'), missingFile(1, 'allow'))

  answer()
  await control.accept(KEY)

  expect(taken).toHaveLength(1)
  expect(control.offers).toEqual([])
})

it('takes an offer up once, when one clicks while its last file is looked into', async () => {
  const { control, resumed, taken, answer } = await offered(missingFile(0))

  control.feed([chosen('0.c3d')])
  const click = control.accept(KEY)
  answer()
  await click
  await expect.poll(() => taken).toHaveLength(1)

  expect(resumed).toEqual([KEY])
})

it('keeps what was chosen while the browser asked for the rest, and was refused', async () => {
  const { control, journal } = await offered(missingFile(0, 'allow'), missingFile(1, 'allow'))
  journal.isAgreed = false

  const click = control.accept(KEY)
  control.feed([chosen('0.c3d')])
  await click

  expect(control.offers).toMatchObject([{ missing: [{ fileIndex: 1 }] }])
})

it('keeps what was chosen when it looks again, of what is missing still, and tells the newest of the rest', async () => {
  const { control, journal, look } = await offered(missingFile(0), missingFile(1), missingFile(2))
  control.feed([chosen('0.c3d'), chosen('1.c3d')])

  // Another tab has confirmed the first meanwhile.
  journal.missing = [{ ...missingFile(0), how: undefined }, missingFile(1), missingFile(2)]
  await look()

  expect(control.offers).toMatchObject([{ missing: [{ fileIndex: 2 }] }])
  expect([...(control.offers[0]?.found.keys() ?? [])]).toEqual([1])
})

it.each(['given up', 'taken up'])('offers nothing that was %s while it looked', async (how) => {
  const { control, journal, look, answer, answerLooks } = await offered()
  journal.isHeld = true
  const looking = look()
  journal.isHeld = false

  const click = how === 'given up' ? control.discard(KEY) : control.accept(KEY)
  answer()
  await click
  answerLooks()
  await looking

  expect(control.offers).toEqual([])
})

it('offers nothing that was taken up while a look that had begun in between went on', async () => {
  const { control, journal, look, resumed, taken, answer, answerLooks } = await offered()
  const click = control.accept(KEY)
  await expect.poll(() => resumed).toEqual([KEY])
  journal.isHeld = true
  const looking = look()
  await expect.poll(() => journal.reads).toBe(3)
  journal.isHeld = false

  answer()
  await click
  answerLooks()
  await looking

  expect(taken).toHaveLength(1)
  expect(control.offers).toEqual([])
})

it('heeds the answer of the newest look alone, whichever comes last', async () => {
  const { control, journal, look, answerLooks } = await offered(missingFile(0))
  journal.isHeld = true
  const looks = [look()]
  await expect.poll(() => journal.reads).toBe(2)
  journal.isHeld = false
  journal.isOpen = false
  looks.push(look())
  await expect.poll(() => control.offers).toEqual([])

  answerLooks()
  await Promise.all(looks)

  expect(control.offers).toEqual([])
})

it('gives up an offer that was looked at anew while the person was asked', async () => {
  const { control, look } = await offered()

  const click = control.discard(KEY)
  await Promise.all([look(), click])

  expect(control.offers).toEqual([])
})

it('asks about what is confirmed now, when it was offered before another tab went on, and lets go of the rest alone', async () => {
  const { control, journal, asked, discarded } = await offered(missingFile(0))
  journal.filesConfirmed = 1

  await control.discard(KEY)

  expect(asked).toEqual([1])
  expect(discarded).toEqual([KEY])
})

it('gives up nothing that the person wants to keep, and asks again at the next click', async () => {
  const { control, journal, asked, discarded } = await offered(missingFile(0))
  journal.isAgreed = false

  await control.discard(KEY)

  expect(discarded).toEqual([])
  expect(control.offers).toHaveLength(1)
  await control.discard(KEY)
  expect(asked).toEqual([0, 0])
})

it('gives up nothing that another tab has finished since it was offered', async () => {
  const { control, journal, asked } = await offered(missingFile(0))
  journal.status = 'confirmed'

  await control.discard(KEY)

  expect(asked).toEqual([])
  expect(journal.isOpen).toBe(true)
  expect(control.offers).toEqual([])
})

it('gives up nothing that another tab has taken up since it was offered, and asks nothing about it', async () => {
  const { control, asked, discarded } = await offered(missingFile(0))
  const held = [{ name: `mocap-uplink session mocap-uplink ${JSON.stringify(KEY)}` }]
  vi.stubGlobal('navigator', { locks: { query: () => Promise.resolve({ held }) } })

  await control.discard(KEY)

  expect([asked, discarded]).toEqual([[], []])
  expect(control.offers).toEqual([])
})

it('takes nothing up that another element of the page has taken up since it was offered, and offers it no more', async () => {
  const { control, resumed, answer } = await offered()
  const held = [{ name: `mocap-uplink session mocap-uplink ${JSON.stringify(KEY)}` }]
  vi.stubGlobal('navigator', { locks: { query: () => Promise.resolve({ held }) } })

  answer()
  await control.accept(KEY)

  expect(resumed).toEqual([])
  expect(control.offers).toEqual([])
})

it.each([
  ['accept', 'sessions'],
  ['accept', 'sessionFiles'],
  ['discard', 'sessions'],
] as const)('tells what is wrong when the look before %s fails in %s', async (verb, broken) => {
  const { control, journal, resumed, discarded } = await offered(missingFile(0, 'allow'))
  journal.broken = broken

  await expect(control[verb](KEY)).rejects.toThrow('the journal failed')

  expect([resumed, discarded]).toEqual([[], []])
})

it('gives an offer up once, however quickly one clicks', async () => {
  const { control, asked, discarded } = await offered(missingFile(0))

  await Promise.all([control.discard(KEY), control.discard(KEY)])

  expect([asked, discarded]).toEqual([[0], [KEY]])
})

it('gives up an offer at a click also while no look comes to its end, as where the disk of its files hangs', async () => {
  const { control, journal, discarded } = await offered(missingFile(0))
  journal.isHeld = true
  vi.useFakeTimers({ toFake: ['setTimeout'] })

  const given = control.discard(KEY)
  await vi.advanceTimersByTimeAsync(5 * SECOND_MS)
  await vi.waitFor(() => expect(discarded).toEqual([KEY]))
  await given

  expect(control.offers).toEqual([])
})

it('reads the journal once for looks that come together', async () => {
  const { look, journal } = await offered(missingFile(0))
  const { reads } = journal

  await Promise.all(Array.from({ length: 20 }, look))

  expect(journal.reads).toBe(reads + 1)
})

it('goes on when files that it has already are chosen again, and begins nothing with them', async () => {
  const { how, ...had } = missingFile(0)
  const { control, resumed, taken, answer } = await offered(had)

  const rest = control.feed([chosen('0.c3d')])
  answer()
  await expect.poll(() => taken).toHaveLength(1)

  expect([how, rest, resumed]).toEqual(['pick', [], [KEY]])
})

/** Unfinished sessions that other tabs drive, which `free` ends; a journal that tells how often it was read. */
async function driven(keys: readonly string[]) {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  const held = new Set(keys)
  const done = new Set<string>()
  const target = { isConnected: true }
  const seen = { looks: 0, queries: 0 }
  const query = () => {
    seen.queries += 1
    const names = [...held].map((key) => `mocap-uplink session mocap-uplink ${JSON.stringify(key)}`)
    return Promise.resolve({ held: [...names, `of the page "${KEY}"`].map((name) => ({ name })) })
  }
  // There is nothing but the question: whoever asks for a lock of these stands in the way of an upload.
  vi.stubGlobal('navigator', { locks: { query } })
  const uplink = {
    sessions() {
      seen.looks += 1
      const open = keys.filter((key) => !done.has(key))
      return Promise.resolve(open.map((key) => ({ key, flow: 'capture', status: 'open', filesTotal: 1 })))
    },
    sessionFiles: () => Promise.resolve([]),
  } as unknown as BrowserUplink
  const control = createOfferControl({
    target,
    attempt: (work) => work(uplink),
    setting: () => ({ flow: 'capture', uplink: () => uplink, resume: (of, key, options) => of.resume(key, options) }),
    keysInUse: () => new Set(),
    choose: () => undefined,
    mayDiscard: () => Promise.resolve(true),
    onTaken: () => undefined,
    onDiscarded: () => undefined,
    onLooked: () => undefined,
    onChange: () => undefined,
  })
  const { look } = control
  const seconds = (count: number) => vi.advanceTimersByTimeAsync(count * SECOND_MS)
  await look()
  const offeredKeys = () => control.offers.map(({ session }) => session.key)
  return { held, done, target, seen, look, seconds, offeredKeys }
}

it('offers no upload that another tab drives, and offers it when that tab is gone', async () => {
  const { held, seconds, offeredKeys, seen } = await driven(['a "b"', 'c'])

  await seconds(60)
  expect(offeredKeys()).toEqual([])
  expect(seen.looks).toBe(1)

  held.delete('a "b"')
  await seconds(1)
  expect(offeredKeys()).toEqual(['a "b"'])
})

it('looks once for each of many uploads that end in turn, and asks nothing when all have', async () => {
  const keys = Array.from({ length: 10 }, (_, index) => `k${index}`)
  const { held, done, seconds, offeredKeys, seen } = await driven(keys)

  for (const key of keys) {
    done.add(key)
    held.delete(key)
    await seconds(3)
  }

  expect(seen.looks).toBe(1 + keys.length)
  expect(offeredKeys()).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
})

it('watches once, however often it looked before the tab was gone', async () => {
  const { held, look, seconds, offeredKeys, seen } = await driven([KEY])
  await Promise.all([look(), look()])
  await look()
  await seconds(1)
  const { looks, queries } = seen
  await seconds(5)
  // Not by its timers: those that another test left behind are counted too.
  expect(seen.queries).toBe(queries + 5)

  held.clear()
  await seconds(10)

  expect(seen.looks).toBe(looks + 1)
  expect(offeredKeys()).toEqual([KEY])
  // The one that found it gone, and that of the look.
  expect(seen.queries).toBe(queries + 7)
})

it('neither asks nor looks by itself for an element that is not in the page', async () => {
  const { held, target, seconds, seen } = await driven([KEY])
  const before = { ...seen }

  target.isConnected = false
  held.clear()
  await seconds(10)

  expect(seen).toEqual(before)
  expect(vi.getTimerCount()).toBe(0)
})

it('offers what there is where the browser does not tell what is held', async () => {
  const { look, offeredKeys } = await driven([KEY])
  vi.stubGlobal('navigator', { locks: { query: () => Promise.reject(new Error('of no origin')) } })

  await look()

  expect(offeredKeys()).toEqual([KEY])
})
