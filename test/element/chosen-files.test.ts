// What was dropped, and how long the browser may take to give the handles of it.

import { afterEach, describe, expect, it, vi } from 'vitest'

import { judgeFiles, type AcceptanceRules } from '../../src/element/acceptance.ts'
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

  expect((await found).map(({ location, handle }) => [location, handle !== undefined])).toEqual([
    ['1.mp4', true],
    ['2.mp4', true],
    ['3.mp4', true],
    ['4.mp4', false],
  ])
  // What is left waits for a read that was answered since.
  await vi.advanceTimersByTimeAsync(1_000)
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

describe('the files of a folder, each of which another process of the browser is asked for', () => {
  const names = ['1.c3d', '2.c3d', '3.c3d']
  /** Answers in the next turn, and counts how many are asked for at the same time. */
  function counting() {
    let underWay = 0
    const seen = {
      most: 0,
      async answer(name: string) {
        underWay += 1
        seen.most = Math.max(seen.most, underWay)
        await new Promise((resolve) => setTimeout(resolve))
        underWay -= 1
        return new File(['one'], name)
      },
    }
    return seen
  }

  it('are asked for together where it gives handles', async () => {
    const seen = counting()
    const files = names.map((name) => ({ kind: 'file', name, getFile: () => seen.answer(name) }))
    const handle = { kind: 'directory', name: 'game', values: () => files }
    const items = [Object.assign(dropped('game'), { getAsFileSystemHandle: () => Promise.resolve(handle) })]

    const found = await filesOfDrop({ items } as unknown as DataTransfer)

    expect(found.map(({ location }) => location)).toEqual(['game/1.c3d', 'game/2.c3d', 'game/3.c3d'])
    expect(seen.most).toBe(3)
  })

  it('are asked for together where it gives none', async () => {
    const seen = counting()
    const files = names.map((name) => ({
      isFile: true,
      fullPath: `/game/${name}`,
      file: (resolve: (file: File) => void) => void seen.answer(name).then(resolve),
    }))
    const portions = [files, []]
    const createReader = () => ({ readEntries: (resolve: (portion: unknown) => void) => resolve(portions.shift()) })
    const webkitGetAsEntry = () => ({ isDirectory: true, createReader })
    const items = [Object.assign(dropped('game'), { webkitGetAsEntry, getAsFileSystemHandle: undefined })]

    const found = await filesOfDrop({ items } as unknown as DataTransfer)

    expect(found.map(({ location }) => location)).toEqual(['game/1.c3d', 'game/2.c3d', 'game/3.c3d'])
    expect(seen.most).toBe(3)
  })
})

it('takes no folder for a file whose name ends like one, where the browser gives no handle of it', async () => {
  const folder = Object.assign(new File(['of a folder'], 'game.mp4'), {
    slice: () => ({ arrayBuffer: () => Promise.reject(new DOMException('It is a folder.', 'NotReadableError')) }),
  })
  const refusing = () => Promise.reject(new DOMException('Not for pages.', 'NotAllowedError'))
  const items = [
    Object.assign(dropped('game.mp4'), { getAsFile: () => folder, getAsFileSystemHandle: refusing }),
    Object.assign(dropped('1.mp4'), { getAsFileSystemHandle: refusing }),
  ]

  const found = await filesOfDrop({ items } as unknown as DataTransfer)

  expect(found).toMatchObject([{ location: '1.mp4' }, { location: 'game.mp4', isUnreadable: true }])
  expect(found[0]!.isUnreadable).toBeUndefined()
})

it('looks whether it is a folder also where the browser never answers for its handle', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const folder = Object.assign(new File(['of a folder'], 'game.mp4'), {
    slice: () => ({ arrayBuffer: () => Promise.reject(new DOMException('It is a folder.', 'NotReadableError')) }),
  })
  const items = [Object.assign(dropped('game.mp4'), { getAsFile: () => folder }), dropped('1.mp4')]

  const found = filesOfDrop({ items } as unknown as DataTransfer)
  await vi.advanceTimersByTimeAsync(1_000)

  expect(await found).toMatchObject([{ location: '1.mp4' }, { location: 'game.mp4', isUnreadable: true }])
})

it('takes a file of a disk that hangs as it is, after a while', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const hanging = Object.assign(new File(['one'], '1.mp4'), {
    slice: () => ({ arrayBuffer: () => new Promise(() => {}) }),
  })
  const items = [Object.assign(dropped('1.mp4'), { getAsFile: () => hanging })]

  const found = filesOfDrop({ items } as unknown as DataTransfer)
  await vi.advanceTimersByTimeAsync(2_000)

  expect((await found).map(({ location }) => location)).toEqual(['1.mp4'])
})

it('keeps a clip that its handle calls a file and that cannot be read now, so that its row can say so', async () => {
  const unreadable = () => Promise.reject(new DOMException('Another program has it.', 'NotReadableError'))
  const file = Object.assign(new File(['one'], '1.mp4'), { slice: () => ({ arrayBuffer: unreadable }) })
  const handle = { kind: 'file', name: '1.mp4', getFile: unreadable }
  const items = [
    Object.assign(dropped('1.mp4'), { getAsFile: () => file, getAsFileSystemHandle: () => Promise.resolve(handle) }),
  ]

  const found = await filesOfDrop({ items } as unknown as DataTransfer)

  expect(found.map(({ location }) => location)).toEqual(['1.mp4'])
})

describe('a folder in which one cannot be read', () => {
  const refuses = () => Promise.reject(new DOMException('', 'NoModificationAllowedError'))
  const file = new File(['one'], 'a.mp4')
  const folders = {
    'by their handles': (name: string) => {
      const closed = { kind: 'directory', name, values: () => ({ [Symbol.asyncIterator]: () => ({ next: refuses }) }) }
      const clip = { kind: 'file', name: 'a.mp4', getFile: () => Promise.resolve(file) }
      async function* values() {
        yield* await Promise.resolve([closed, clip])
      }
      const getAsFileSystemHandle = () => Promise.resolve({ kind: 'directory', name: 'card', values })
      return { kind: 'file', getAsFile: () => null, webkitGetAsEntry: () => null, getAsFileSystemHandle }
    },
    'by their entries': (name: string) => {
      const closed = {
        ...{ isDirectory: true, name, fullPath: `/card/${name}` },
        createReader: () => ({ readEntries: (_: unknown, fail: (error: unknown) => void) => fail('closed') }),
      }
      const clip = { isFile: true, fullPath: '/card/a.mp4', file: (give: (file: File) => void) => give(file) }
      const createReader = () => {
        const portions = [[closed, clip], []]
        return { readEntries: (give: (entries: unknown) => void) => give(portions.shift()) }
      }
      const entry = { isDirectory: true, fullPath: '/card', createReader }
      return { kind: 'file', getAsFile: () => null, webkitGetAsEntry: () => entry }
    },
  }
  const rules: AcceptanceRules = { accept: '.mp4', session: undefined, isRenaming: false, offered: [], driven: [] }
  const walked = (item: object) => filesOfDrop({ items: [item] } as unknown as DataTransfer)
  const found = async (item: object) => (await walked(item)).map(({ location }) => location)

  it.each(Object.entries(folders))(
    'gives its other files, and is silent on what is left out anyway, %s',
    async (_, folder) => {
      for (const name of ['.Trashes', 'System Volume Information', 'lost+found'])
        expect(await found(folder(name))).toEqual(['card/a.mp4'])
    },
  )

  it.each(Object.entries(folders))(
    'gives its other files, and the folder to be refused by its name, %s',
    async (_, folder) => {
      const { accepted, refused } = judgeFiles(await walked(folder('camera 2')), [], rules)

      expect(accepted.map(({ location }) => location)).toEqual(['card/a.mp4'])
      expect(refused).toEqual([{ name: 'camera 2', location: 'card/camera 2', reason: 'unreadable' }])
    },
  )

  it('is refused by its name if it was dropped by itself', async () => {
    const closed = {
      isDirectory: true,
      name: 'camera 2',
      fullPath: '/camera 2',
      createReader: () => ({ readEntries: (_: unknown, fail: (error: unknown) => void) => fail('closed') }),
    }
    const item = { kind: 'file', getAsFile: () => null, webkitGetAsEntry: () => closed }
    const { refused } = judgeFiles(await walked(item), [], rules)

    expect(refused).toEqual([{ name: 'camera 2', location: 'camera 2', reason: 'unreadable' }])
  })
})
