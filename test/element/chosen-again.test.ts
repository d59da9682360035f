// Whose place a file takes that was chosen or dropped: the very file's, saved anew, and never another clip's.

import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { findChosenAgain } from '../../src/element/chosen-again.ts'
import { chosenFile } from '../../src/element/chosen-files.ts'
import { newItem, type Item } from '../../src/element/items.ts'

const NOW_MS = Date.UTC(2026, 10, 20, 12)
const MINUTE_MS = 60_000

beforeEach(() => void vi.useFakeTimers({ now: NOW_MS, toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

/** A clip at a place on the disk; `meanwhile` goes on while the browser compares it with another. */
function clip(place: string, bytes: number, lastModified: number, meanwhile?: () => void) {
  const handle = {
    place,
    isSameEntry: (other: unknown) => {
      meanwhile?.()
      return Promise.resolve((other as { place: string }).place === place)
    },
  }
  const name = place.slice(place.lastIndexOf('/') + 1)
  const file = new File([new Uint8Array(bytes)], name, { lastModified })
  return chosenFile(file, '', handle as unknown as FileSystemFileHandle)
}

const BEFORE_MS = NOW_MS - 5 * MINUTE_MS
const itemOf = (of: ReturnType<typeof clip>): Item => newItem(of)

it.each([
  ['saved anew since it was chosen', '/desk/1.mp4', 1, true],
  ['of another folder', '/other/1.mp4', 1, false],
  // Cards of several cameras have the same place, and name their clips alike.
  ['that lies where the card of another camera was, recorded before', '/card/1.mp4', -1, false],
  ['that another camera’s clock has recorded tomorrow', '/card/1.mp4', 24 * 60, false],
])('knows a clip %s', async (_, place, savedAfterMinutes, expected) => {
  const item = itemOf(clip(place.replace('other', 'desk'), 10, BEFORE_MS))
  const later = clip(place, 12, NOW_MS + savedAfterMinutes * MINUTE_MS)
  vi.setSystemTime(NOW_MS + 2 * MINUTE_MS)

  const found = await findChosenAgain([item], [later], undefined)

  expect([...found]).toEqual(expected ? [[item, later]] : [])
})

it('takes whatever has the name where it was asked for in place of the row', async () => {
  const item = itemOf(clip('/card/1.mp4', 10, BEFORE_MS))
  const other = clip('/desk/1.mp4', 12, BEFORE_MS - 1)

  expect([...(await findChosenAgain([item], [other], item))]).toEqual([[item, other]])
})

it.each([
  ['takes what has the name of a row that asks for its file, and was saved since', 'failed', 'cam1/', 1, true],
  ['takes nothing for it that was there before, and may be of another camera', 'failed', 'cam1/', -1, false],
  ['takes nothing for it out of the folder of another camera', 'failed', 'cam2/', 1, false],
  ['takes nothing for a row that asks for nothing', 'ready', 'cam1/', 1, false],
] as const)('where no browser gives handles, %s', async (_, state, folder, savedAfterMinutes, expected) => {
  const item = newItem(chosenFile(clip('/desk/1.mp4', 10, BEFORE_MS).file, 'cam1/'), state)
  if (state === 'failed') item.error = { code: 'ERR_UPLOAD_SOURCE_CHANGED', message: 'It has changed.' }
  const { file: later } = clip('/desk/1.mp4', 12, NOW_MS + savedAfterMinutes * MINUTE_MS)
  vi.setSystemTime(NOW_MS + 2 * MINUTE_MS)

  expect((await findChosenAgain([item], [chosenFile(later, folder)], undefined)).has(item)).toBe(expected)
})

it.each(['row', 'file'])(
  'takes what a row asks for where only the %s has a handle, since the other came through an input',
  async (which) => {
    const isOfRow = which === 'row'
    const withoutHandle = (one: ReturnType<typeof clip>) => chosenFile(one.file)
    const first = clip('/desk/1.mp4', 10, BEFORE_MS)
    const item = newItem(isOfRow ? { ...first, location: '1.mp4' } : withoutHandle(first), 'failed')
    item.error = { code: 'ERR_UPLOAD_SOURCE_CHANGED', message: 'It has changed.' }
    const later = clip('/desk/1.mp4', 12, NOW_MS + MINUTE_MS)
    vi.setSystemTime(NOW_MS + 2 * MINUTE_MS)

    const found = await findChosenAgain([item], [isOfRow ? withoutHandle(later) : later], undefined)

    expect(found.has(item)).toBe(true)
  },
)

it.each(['confirming', 'confirmed'] as const)(
  'leaves a row its place that came to be %s while the others were compared',
  async (state) => {
    const first = itemOf(clip('/desk/1.mp4', 10, BEFORE_MS))
    const second = itemOf(clip('/desk/2.mp4', 10, BEFORE_MS, () => (first.state = state)))
    vi.setSystemTime(NOW_MS + 2 * MINUTE_MS)
    const later = [clip('/desk/1.mp4', 12, NOW_MS + 1), clip('/desk/2.mp4', 12, NOW_MS + 1)]

    expect([...(await findChosenAgain([first, second], later, undefined)).keys()]).toEqual([second])
  },
)
