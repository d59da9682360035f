// Uploads of an earlier life that are offered: one is taken up once, however often one clicks.

import { expect, it } from 'vitest'

import type { BrowserUplink } from '../../src/browser.ts'
import { createOfferControl } from '../../src/element/offer-control.ts'
import type { Upload } from '../../src/flows/upload.ts'

const KEY = 'capture-1'

/** One unfinished session that misses no file; resumes are answered when the test says so. */
async function offered() {
  const resumed: string[] = []
  const answers: (() => void)[] = []
  const taken: unknown[] = []
  const uplink = {
    sessions: () => Promise.resolve([{ key: KEY, flow: 'capture', status: 'open', filesTotal: 1 }]),
    missingFiles: () => Promise.resolve([]),
    resume(key: string) {
      resumed.push(key)
      return new Promise<Upload>((resolve) => answers.push(() => resolve({ key } as Upload)))
    },
  } as unknown as BrowserUplink
  const control = createOfferControl({
    attempt: (work) => work(uplink),
    choose: () => undefined,
    mayGiveUp: () => Promise.resolve(true),
    onTaken: (upload) => void taken.push(upload),
    onDiscarded: () => undefined,
    onChange: () => undefined,
  })
  await control.look(() => uplink, 'capture', new Set())
  return { control, resumed, taken, answer: () => answers.splice(0).forEach((answer) => answer()) }
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
