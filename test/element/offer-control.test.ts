// Uploads of an earlier life that are offered: one is taken up once, however often one clicks, and what a person did
// with its card outlives the looks at the journal that come between.

import { expect, it } from 'vitest'

import type { BrowserUplink, MissingFile } from '../../src/browser.ts'
import { createOfferControl } from '../../src/element/offer-control.ts'
import type { Upload } from '../../src/flows/upload.ts'

const KEY = 'capture-1'

/** One unfinished session that misses these files; resumes, and looks from `hold` on, are answered when the test says so. */
async function offered(...missing: readonly MissingFile[]) {
  const resumed: string[] = []
  const answers: (() => void)[] = []
  const held: (() => void)[] = []
  const taken: Upload[] = []
  const journal = { missing, allowed: missing, isOpen: true, isHeld: false }
  const listed = () => (journal.isOpen ? [{ key: KEY, flow: 'capture', status: 'open', filesTotal: 2 }] : [])
  const uplink = {
    sessions() {
      const found = listed()
      return journal.isHeld ? new Promise((resolve) => held.push(() => resolve(found))) : Promise.resolve(found)
    },
    missingFiles: () => Promise.resolve(journal.missing),
    allowFiles: () => Promise.resolve(journal.allowed),
    cancelSession() {
      journal.isOpen = false
      return Promise.resolve()
    },
    resume(key: string) {
      resumed.push(key)
      return new Promise<Upload>((resolve) => answers.push(() => resolve({ key } as Upload)))
    },
  } as unknown as BrowserUplink
  const look = () => control.look(() => uplink, 'capture', new Set(taken.map(({ key }) => key)))
  const control = createOfferControl({
    attempt: (work) => work(uplink),
    choose: () => undefined,
    mayGiveUp: () => Promise.resolve(true),
    onTaken: ({ upload }) => void taken.push(upload),
    onDiscarded: () => undefined,
    lookAgain: () => undefined,
    onChange: () => undefined,
  })
  await look()
  const answerAll = (waiting: (() => void)[]) => waiting.splice(0).forEach((answer) => answer())
  return {
    control,
    journal,
    look,
    resumed,
    taken,
    answer: () => answerAll(answers),
    answerLooks: () => answerAll(held),
  }
}

function missingFile(fileIndex: number, how: MissingFile['how'] = 'pick'): MissingFile {
  const name = `${fileIndex}.c3d`
  return { fileIndex, name, fileName: name, bytes: 3, how }
}

function chosen(name: string) {
  return { file: new File(['one'], name), path: name }
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
  const { control } = await offered(missingFile(0, 'allow'), missingFile(1, 'allow'))

  const click = control.accept(KEY)
  control.feed([chosen('0.c3d')])
  await click

  expect(control.offers).toMatchObject([{ missing: [{ fileIndex: 1 }] }])
})

it('keeps what was chosen when it looks again, of what is missing still, and tells the newest of the rest', async () => {
  const { control, journal, look } = await offered(missingFile(0), missingFile(1), missingFile(2))
  control.feed([chosen('0.c3d'), chosen('1.c3d')])

  // Another tab has confirmed the first meanwhile.
  journal.missing = [missingFile(1), missingFile(2)]
  await look()

  expect(control.offers).toMatchObject([{ missing: [{ fileIndex: 2 }] }])
  expect([...(control.offers[0]?.found.keys() ?? [])]).toEqual([1])
})

it.each(['given up', 'taken up'])('offers nothing that was %s while it looked', async (how) => {
  const { control, journal, look, answer, answerLooks } = await offered()
  journal.isHeld = true
  const looking = look()

  const click = how === 'given up' ? control.discard(KEY) : control.accept(KEY)
  answer()
  await click
  answerLooks()
  await looking

  expect(control.offers).toEqual([])
})

it('gives up an offer that was looked at anew while the person was asked', async () => {
  const { control, look } = await offered()

  const click = control.discard(KEY)
  await Promise.all([look(), click])

  expect(control.offers).toEqual([])
})
