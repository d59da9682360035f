// The rows of a list, when a whole night's files are added to it.

// The counter of steps has to be there first.
import { growth } from '../helpers/growth.ts'

import { expect, it } from 'vitest'
import { chosenFile } from '../../src/element/chosen-files.ts'
import { createRows } from '../../src/element/rows.ts'

const files = Array.from({ length: 1_000 }, (_, index) => {
  return chosenFile(new File(['swing'], `swing-${String(index)}.mp4`))
})

it('adds ten times as many files in about ten times as many steps, to an empty list and to a long one', async () => {
  const grown = await growth(
    (size) => {
      const rows = createRows()
      for (let times = 0; times < 2; times += 1) rows.add(files.slice(0, size))
    },
    100,
    1_000,
  )

  expect(grown).toBeLessThan(15)
})

it('adds files that were given up, ten times as many in about ten times as many steps', async () => {
  const grown = await growth(
    (size) => {
      const rows = createRows()
      rows.add(files.slice(0, size))
      for (const item of rows.items()) item.state = 'cancelled'
      rows.add(files.slice(0, size))
      expect(rows.items()).toHaveLength(size)
    },
    100,
    1_000,
  )

  expect(grown).toBeLessThan(15)
})

it('lets files that were chosen again while they were under way take their rows, ten times as many in about ten times as many steps', async () => {
  const grown = await growth(
    (size) => {
      const rows = createRows()
      rows.add(files.slice(0, size))
      const begun = rows.items()
      for (const item of begun) item.state = 'uploading'
      const again = files.slice(0, size).map((chosen) => ({ ...chosen }))
      rows.add(again, new Map(begun.map((item, index) => [item, again[index]!])))
      expect(rows.items()).toHaveLength(2 * size)
      for (const item of begun) {
        item.state = 'cancelled'
        rows.giveWay(item)
      }
      expect(rows.items()).toHaveLength(size)
    },
    100,
    1_000,
  )

  expect(grown).toBeLessThan(15)
})
