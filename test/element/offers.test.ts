// Files that are chosen again, given to the unfinished uploads that miss them.

import { expect, it } from 'vitest'

import { chosenFile, type ChosenFile } from '../../src/element/chosen-files.ts'
import { feedOffers, offerOf, type Offer } from '../../src/element/offers.ts'

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
