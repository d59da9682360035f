// The files of an earlier life: what is matched with them, and until when their handles are kept.

import { describe, expect, it } from 'vitest'
import type { KeptHandles } from '../../../src/adapters/browser/kept-handles.ts'
import { blobSource } from '../../../src/adapters/web/blob-source.ts'
import { createPickedFiles, type SessionFile } from '../../../src/adapters/browser/picked-files.ts'
import { memoryJournal } from '../../../src/adapters/web/memory-journal.ts'
import type { SoughtFile } from '../../../src/core/ports.ts'

const CHANGED_AT = 1_700_000_000_000

function file(name: string, text: string, folder = ''): File {
  const made = new File([text], name, { lastModified: CHANGED_AT })
  return Object.defineProperty(made, 'webkitRelativePath', { value: folder === '' ? '' : `${folder}/${name}` })
}

async function journalOf(
  names: readonly string[],
  locations: readonly string[],
  time: { modifiedAtMs?: number } = { modifiedAtMs: CHANGED_AT },
) {
  const journal = memoryJournal()
  const session = await journal.open('k')
  const files = names.map((name, fileIndex) => ({
    ...{ fileIndex, name, sizeBytes: 3, partCount: 1, partSizeBytes: 3, ...time },
  }))
  const begun = { type: 'session.begun', at: 1, version: 1, key: 'k', flow: 'capture', params: {} } as const
  await session.append([{ ...begun, files, locations }])
  await session.close()
  return journal
}

/** As `resume` asks for it. */
function sought({ fileIndex, name, location, bytes: sizeBytes }: SessionFile): SoughtFile {
  return { fileIndex, name, location, sizeBytes }
}

describe('files that are picked again', () => {
  it('are known by the name they have with the person, also where the service has another one', async () => {
    const journal = await journalOf(['day-1 swing.c3d', 'day-2 swing.c3d'], ['day-1/swing.c3d', 'day-2/swing.c3d'])
    const picked = createPickedFiles(journal, undefined)
    const again = [file('swing.c3d', 'two', 'day-2'), file('swing.c3d', 'one', 'day-1')]

    expect((await picked.look('k', again)).missing).toEqual([])
    const sourceOf = await picked.sources('k', again)
    const { all } = await picked.look('k', again)
    const texts = all.map(async (wanted) => {
      const reader = await sourceOf(sought(wanted)).open({ sizeBytes: 3, modifiedAtMs: CHANGED_AT })
      return reader.blob!(0, 3).text()
    })
    expect(await Promise.all(texts)).toEqual(['one', 'two'])
  })

  it('are others when their size or time differs, or only the end of their name is the same', async () => {
    const picked = createPickedFiles(await journalOf(['a swing.c3d'], ['a/swing.c3d']), undefined)
    const others = [
      file('swing.c3d', 'longer'),
      file('ing.c3d', 'one'),
      new File(['one'], 'swing.c3d', { lastModified: CHANGED_AT + 1 }),
    ]

    expect((await picked.look('k', others)).missing.map((missing) => missing.name)).toEqual(['a swing.c3d'])
  })

  it('are known by name and size where nobody knows of when they were', async () => {
    const picked = createPickedFiles(await journalOf(['swing.c3d'], ['swing.c3d'], {}), undefined)

    expect((await picked.look('k', [file('swing.c3d', 'one')])).missing).toEqual([])
  })

  it.each([
    [['1', '2', '3'], 'needs 1, 2, 3. Pick'],
    [['1', '2', '3', '4', '5'], 'needs 1, 2, 3 and 2 more. Pick'],
  ])('are asked for by the names of the first three: %j', async (names, said) => {
    const picked = createPickedFiles(await journalOf(names, names), undefined)

    await expect(picked.sources('k')).rejects.toThrow(said)
  })

  it('are looked through a few times each, however many they are, also where all were picked one by one', async () => {
    const names = Array.from({ length: 300 }, (_, index) => `take-${String(index)}.c3d`)
    const picked = createPickedFiles(await journalOf(names, names), undefined)
    let reads = 0
    const again = names.toReversed().map((name) => {
      const get = () => ((reads += 1), name)
      return Object.defineProperty(file(name, 'one'), 'name', { get })
    })

    expect((await picked.look('k', again)).missing).toEqual([])
    expect(reads).toBeLessThan(4 * names.length)
  })
})

describe('files of which a host has some itself', () => {
  it('are its own where it has them, and picked else; one that nobody has is missing', async () => {
    const picked = createPickedFiles(await journalOf(['a.c3d', 'b.c3d'], ['a.c3d', 'b.c3d']), undefined)
    const own = ({ fileIndex }: { fileIndex: number }) => (fileIndex === 0 ? blobSource('own', new Blob()) : undefined)

    await expect(picked.sources('k', [], own)).rejects.toMatchObject({ details: { missing: ['b.c3d'] } })
    const sourceOf = await picked.sources('k', [file('b.c3d', 'two')], own)

    const { all } = await picked.look('k', [])
    expect(all.map((wanted) => sourceOf(sought(wanted)).name)).toEqual(['own', 'b.c3d'])
  })

  it('are asked of the host once each: it may have no more than one source to give', async () => {
    const picked = createPickedFiles(await journalOf(['a.c3d', 'b.c3d'], ['a.c3d', 'b.c3d']), undefined)
    const ready = [blobSource('first', new Blob()), blobSource('second', new Blob())]

    const sourceOf = await picked.sources('k', [], () => ready.shift())

    const { all } = await picked.look('k', [])
    expect(all.map((wanted) => sourceOf(sought(wanted)).name)).toEqual(['first', 'second'])
  })

  it('are asked of the browser only where it has none: each question goes to another process, one by one', async () => {
    const asked: number[] = []
    const handles = [0, 1].map((fileIndex) => {
      const getFile = () => (asked.push(fileIndex), Promise.resolve(file(['a.c3d', 'b.c3d'][fileIndex]!, 'two')))
      return [fileIndex, { getFile } as FileSystemFileHandle] as const
    })
    const done = (): Promise<void> => Promise.resolve()
    const kept = { keep: done, forget: done, of: () => Promise.resolve(new Map(handles)) }
    const picked = createPickedFiles(await journalOf(['a.c3d', 'b.c3d'], ['a.c3d', 'b.c3d']), kept)

    await picked.sources('k', [], ({ fileIndex }) => (fileIndex === 0 ? blobSource('own', new Blob()) : undefined))

    expect(asked).toEqual([1])
  })
})

describe('a missing file', () => {
  it('is told by the name that the service has and the one that it has with the person', async () => {
    const picked = createPickedFiles(await journalOf(['cam1_a.c3d', 'b.c3d'], ['game/cam1/a.c3d', 'b.c3d']), undefined)

    expect((await picked.look('k', [])).missing).toMatchObject([
      { name: 'cam1_a.c3d', fileName: 'a.c3d' },
      { name: 'b.c3d', fileName: 'b.c3d' },
    ])
  })

  it('stays missing when another that looks the same was picked once', async () => {
    const picked = createPickedFiles(
      await journalOf(['cam1_a.c3d', 'cam2_a.c3d'], ['cam1/a.c3d', 'cam2/a.c3d']),
      undefined,
    )

    expect((await picked.look('k', [file('a.c3d', 'one')])).missing).toMatchObject([{ name: 'cam2_a.c3d' }])
    expect((await picked.look('k', [file('a.c3d', 'one', 'cam2')])).missing).toMatchObject([{ name: 'cam1_a.c3d' }])
  })
})

describe('kept handles', () => {
  /** A handle of a file that the person has allowed so far as `state` says, and answers so when asked. */
  async function lookThrough(state: PermissionState, answer: PermissionState | Error) {
    const handle = {
      queryPermission: () => Promise.resolve(state),
      requestPermission: () => (answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)),
      getFile: () => {
        const isAllowed = [state, answer].includes('granted')
        return isAllowed ? Promise.resolve(file('a', 'one')) : Promise.reject(new DOMException('', 'NotAllowedError'))
      },
    } as unknown as FileSystemFileHandle
    const done = (): Promise<void> => Promise.resolve()
    const kept = { keep: done, forget: done, of: () => Promise.resolve(new Map([[0, handle]])) }
    const picked = createPickedFiles(await journalOf(['a'], ['a']), kept)
    const looks = [await picked.look('k'), await picked.look('k', [], true)]
    return looks.map(({ missing }) => missing.map(({ how }) => how))
  }

  it.each([
    ['prompt', 'granted', [['allow'], []]],
    ['prompt', 'prompt', [['allow'], ['allow']]],
    ['prompt', new DOMException('Not in a click.', 'SecurityError'), [['allow'], ['allow']]],
    ['granted', 'granted', [[], []]],
  ] as const)(
    'that the person has yet to allow, or has allowed (%s, then %s), are asked for by a click',
    async (state, answer, expected) => {
      expect(await lookThrough(state, answer)).toEqual(expected)
    },
  )

  it.each([
    ['prompt', 'denied', [['allow'], ['pick']]],
    ['denied', 'denied', [['pick'], ['pick']]],
  ] as const)(
    'that the person has refused (%s, then %s) are no way on, so the files have to be picked',
    async (state, answer, expected) => {
      expect(await lookThrough(state, answer)).toEqual(expected)
    },
  )

  it.each([
    ['confirmed', ['k']],
    ['partial', []],
    ['failed', []],
    ['cancelled', ['k']],
  ])('of an upload that ends as %s are forgotten: %j', async (status, expected) => {
    const forgotten: string[] = []
    const kept: KeptHandles = {
      keep: () => Promise.resolve(),
      of: () => Promise.resolve(new Map()),
      forget: (key) => Promise.resolve(void forgotten.push(key)),
    }
    const picked = createPickedFiles(await journalOf(['a'], ['a']), kept)

    const isRejected = status === 'failed' || status === 'cancelled'
    const failure = Object.assign(new Error('no room'), { report: { status } })
    const done = () => (isRejected ? Promise.reject(failure) : Promise.resolve({ status }))
    picked.remember({ key: 'k', done }, [{} as FileSystemFileHandle])
    await new Promise((resolve) => setImmediate(resolve))

    expect(forgotten).toEqual(expected)
  })
})
