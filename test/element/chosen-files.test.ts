// What was dropped, and how long the browser may take to give the handles of it.

import { afterEach, expect, it, vi } from 'vitest'

import { filesOfDrop } from '../../src/element/chosen-files.ts'

afterEach(() => {
  vi.useRealTimers()
})

/** A dropped file whose handle comes after so long; undefined: never. */
function dropped(name: string, afterMs?: number) {
  const file = new File(['one'], name)
  const handle = { kind: 'file', name, getFile: () => Promise.resolve(file) }
  return {
    kind: 'file',
    getAsFile: () => file,
    webkitGetAsEntry: () => null,
    getAsFileSystemHandle: () =>
      new Promise((resolve) => {
        if (afterMs !== undefined) setTimeout(resolve, afterMs, handle)
      }),
  }
}

it('waits for the handles for as long as they come, and goes on without those that never do', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const items = [dropped('1.mp4', 800), dropped('2.mp4', 1_600), dropped('3.mp4', 2_400), dropped('4.mp4')]

  const found = filesOfDrop({ items } as unknown as DataTransfer)
  await vi.advanceTimersByTimeAsync(3_400)

  expect((await found).map(({ path, handle }) => [path, handle !== undefined])).toEqual([
    ['1.mp4', true],
    ['2.mp4', true],
    ['3.mp4', true],
    ['4.mp4', false],
  ])
  expect(vi.getTimerCount()).toBe(0)
})

it('asks whether it is a folder of what may be one alone, since each question holds the page up', async () => {
  const asked: string[] = []
  const asking = (name: string, rest: object = {}) => {
    const webkitGetAsEntry = (): null => (asked.push(name), null)
    return Object.assign(dropped(name, 1), { webkitGetAsEntry }, rest)
  }
  const withoutHandles = { getAsFileSystemHandle: undefined }
  const items = [
    asking('1.mp4'),
    asking('2.action'),
    asking('game'),
    asking('2026.11.20'),
    asking('3.mp4', withoutHandles),
  ]

  const found = await filesOfDrop({ items } as unknown as DataTransfer)

  expect(asked).toEqual(['game', '2026.11.20', '3.mp4'])
  expect(found).toHaveLength(5)
})
