// Files that are chosen again, given to the unfinished uploads that miss them.

import { expect, it } from 'vitest'

import type { BrowserUplink, SessionFile } from '../../src/browser.ts'
import { UploadError, type UploadErrorCode } from '../../src/core/errors.ts'
import { chosenFile, type ChosenFile } from '../../src/element/chosen-files.ts'
import { feedOffers, findOffers, offerOf, resumeOffer, type Offer } from '../../src/element/offers.ts'

function chosen(path: string): ChosenFile {
  const nameFrom = path.lastIndexOf('/') + 1
  return chosenFile(new File(['one'], path.slice(nameFrom), { lastModified: 7 }), path.slice(0, nameFrom))
}

/** Two cameras' files, which the service has under names of their own. */
function offerOfTwo(): Offer {
  const missing = ['cam1_take.c3d', 'cam2_take.c3d'].map((name, fileIndex) => ({
    ...{ fileIndex, name, fileName: 'take.c3d', location: 'take.c3d', bytes: 3, modifiedAtMs: 7, how: 'pick' as const },
  }))
  return offerOf({} as Offer['session'], missing)
}

it('know a file by the name that it has with the person, whatever the service calls it', () => {
  const files = [chosen('cam1/take.c3d'), chosen('cam2/take.c3d')]

  const { offers, rest } = feedOffers([offerOfTwo()], files)

  expect(rest).toEqual([])
  expect(offers).toMatchObject([{ missing: [] }])
  expect([...(offers[0]?.found.values() ?? [])]).toEqual(files)
})

it('take no file of the name that is another, such as the next take', () => {
  const other = { ...offerOfTwo().files[0]!, bytes: 4 }
  const file = chosen('cam1/take.c3d')

  expect(feedOffers([offerOf({} as Offer['session'], [other])], [file])).toMatchObject({ complete: [], rest: [file] })
})

it.each(['open', 'partial', 'failed', 'confirmed', 'cancelled'])(
  'are of this flow and unfinished: one that is %s',
  async (status) => {
    const sessions = ['capture', 'video'].map((flow) => ({ key: `${flow}-1`, flow, status }))
    const uplink = { sessions: () => Promise.resolve(sessions), sessionFiles: () => Promise.resolve([]) }
    const keysOf = async (inUse: readonly string[]) =>
      (await findOffers(uplink as unknown as BrowserUplink, 'capture', new Set(inUse))).map(
        ({ session }) => session.key,
      )

    const isOver = status === 'confirmed' || status === 'cancelled'
    expect(await keysOf([])).toEqual(isOver ? [] : ['capture-1'])
    expect(await keysOf(['capture-1'])).toEqual([])
  },
)

it('take one file for one of two that look the same, and go on missing the other', () => {
  const { offers } = feedOffers([offerOfTwo()], [chosen('cam1/take.c3d')])

  expect(offers[0]?.missing).toHaveLength(1)
})

it('take what an offer has already only when it then misses nothing', () => {
  const [confirmed, missing] = offerOfTwo().files
  const { how, ...had } = { ...confirmed!, fileName: 'had.c3d' }
  const offer = offerOf({} as Offer['session'], [had, missing!])
  expect(how).toBe('pick')

  expect(feedOffers([offer], [chosen('had.c3d')])).toMatchObject({ complete: [], rest: [{ location: 'had.c3d' }] })
  const all = feedOffers([offer], [chosen('had.c3d'), chosen('take.c3d')])
  expect(all).toMatchObject({ rest: [] })
  expect(all.complete).toHaveLength(1)
})

it('give a file to the offer that misses it, before an older one that has it already', () => {
  const [confirmed, missing] = offerOfTwo().files
  const { how, ...had } = confirmed!
  const older = offerOf({} as Offer['session'], [had])
  const newer = offerOf({} as Offer['session'], [missing!])
  expect(how).toBe('pick')

  const { complete, rest } = feedOffers([older, newer], [chosen('take.c3d')])

  expect(rest).toEqual([])
  expect(complete).toMatchObject([{ files: [missing] }])
})

/** Takes an offer up that the browser finds to miss `missing` by now. */
async function takeUp(offer: Offer, missing: readonly SessionFile[], code: UploadErrorCode = 'ERR_UPLOAD_SOURCE_READ') {
  const uplink = {
    missingFiles: () => Promise.resolve(missing),
    sessionFiles: () =>
      Promise.resolve(offer.files.map((file) => missing.find((each) => each.name === file.name) ?? file)),
  } as unknown as BrowserUplink
  return resumeOffer(uplink, offer, () => Promise.reject(new UploadError(code, 'It cannot go on.')))
}

it('show what is missing by now when one is taken up, such as a file that was deleted, and keep what was chosen', async () => {
  const [deleted, wanted] = offerOfTwo().files
  const { how, ...had } = deleted!
  const file = chosen('cam2/take.c3d')
  const offer = offerOf({} as Offer['session'], [had, wanted!], new Map([[1, file]]))
  expect(offer.missing).toEqual([])

  expect(await takeUp(offer, [{ ...had, how }])).toMatchObject({
    missing: [{ fileIndex: 0 }],
    found: new Map([[1, file]]),
  })
})

it('ask once more for a file that was chosen and does not do', async () => {
  const { session, files } = offerOfTwo()
  const offer = offerOf(
    session,
    files,
    new Map([
      [0, chosen('cam1/take.c3d')],
      [1, chosen('cam2/take.c3d')],
    ]),
  )

  expect(await takeUp(offer, [files[1]!])).toMatchObject({ missing: [{ fileIndex: 1 }], found: { size: 1 } })
})

it('tell what else keeps one from being taken up, and a failure to read what is there', async () => {
  const { session, files } = offerOfTwo()
  const offer = offerOf(session, files)

  await expect(takeUp(offer, files, 'ERR_UPLOAD_JOURNAL')).rejects.toThrow('It cannot go on.')
  await expect(takeUp(offer, [])).rejects.toThrow('It cannot go on.')
})

it('look at each file that is missing a few times, however many are chosen again', () => {
  const files = Array.from({ length: 300 }, (_, index) => chosen(`take-${String(index)}.c3d`))
  let reads = 0
  const missing = files.map(({ location: name }, fileIndex) => ({
    ...{ fileIndex, name, location: name, bytes: 3, modifiedAtMs: 7, how: 'pick' as const },
    get fileName() {
      reads += 1
      return name
    },
  }))

  const { complete } = feedOffers([offerOf({} as Offer['session'], missing)], files.toReversed())

  expect(complete).toHaveLength(1)
  // By the first look for what it misses, and by the second for what it has.
  expect(reads).toBeLessThan(8 * files.length)
})
