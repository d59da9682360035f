// Bytes on the disk of the service: a body is there whole or not at all, and nobody else reads it.

import { mkdir, mkdtemp, open, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'

import { expect, it, onTestFinished, vi } from 'vitest'

import { createObjectStore } from '../../../src/service/objects/object-store.ts'

async function openStore() {
  const root = await mkdtemp(join(tmpdir(), 'object-store-'))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  const folder = join(root, 'objects')
  const store = await createObjectStore(folder)
  const left = async () => [await readdir(join(folder, 'incoming')), await readdir(join(folder, 'stored'))]
  const modeOf = async (...path: string[]) => (await stat(join(folder, ...path))).mode & 0o777
  return { store, folder, left, modeOf }
}

const bodyOf = (...pieces: string[]): Readable => Readable.from(pieces.map((piece) => Buffer.from(piece)))

it('keeps a body whole, for its owner alone, and says what it is', async () => {
  const { store, left, modeOf } = await openStore()
  const told: number[] = []

  const stored = await store.receive(bodyOf('hel', 'lo'), 5, (bytes) => told.push(bytes))

  const { blob } = stored
  expect(stored).toEqual({ blob, sizeBytes: 5, md5: '5d41402abc4b2a76b9719d911017c592' })
  expect([await left(), told]).toEqual([
    [[], [blob]],
    [3, 2],
  ])
  expect([await modeOf('stored', blob), await modeOf('stored'), await modeOf('incoming')]).toEqual([
    0o600, 0o700, 0o700,
  ])
  const file = await store.open(blob)
  expect((await file.readFile()).toString()).toBe('hello')
  await file.close()
})

it('has a body on the disk before its name, and its name before it is answered for', async () => {
  const { store, folder, left } = await openStore()
  const handle = await open(folder)
  const handles = Object.getPrototypeOf(handle) as typeof handle
  await handle.close()
  const { sync } = handles
  const found: number[][] = []
  vi.spyOn(handles, 'sync').mockImplementation(async function (this: typeof handle) {
    found.push((await left()).map(({ length }) => length))
    return sync.call(this)
  })

  await store.receive(bodyOf('hello'), 5)

  expect(found).toEqual([
    [1, 0],
    [0, 1],
  ])
})

it.each([4, 6])('keeps nothing of five bytes that were announced as %i', async (lengthBytes) => {
  const { store, left } = await openStore()

  await expect(store.receive(bodyOf('hello'), lengthBytes)).rejects.toThrow(
    `The body ended after 5 of ${String(lengthBytes)} bytes.`,
  )

  expect(await left()).toEqual([[], []])
})

it('keeps nothing of a body that breaks off', async () => {
  const { store, left } = await openStore()
  const body = Readable.from(
    (function* () {
      yield Buffer.from('hel')
      throw new Error('aborted')
    })(),
  )

  await expect(store.receive(body, 5)).rejects.toThrow('aborted')

  expect(await left()).toEqual([[], []])
})

it('removes what is there, and takes what is gone for removed', async () => {
  const { store, left } = await openStore()
  const [{ blob: one }, { blob: other }] = [await store.receive(bodyOf('a'), 1), await store.receive(bodyOf('b'), 1)]

  await store.remove(['gone', one])

  expect(await left()).toEqual([[], [other]])
})

it('is out of reach where its folder is', async () => {
  const { store, folder } = await openStore()
  await expect(store.checkReachable()).resolves.toBeUndefined()

  await rm(folder, { recursive: true })

  await expect(store.checkReachable()).rejects.toThrow('ENOENT')
})

it('sweeps thousands, and asks for no more of them at once than a thousand', async () => {
  const { store, folder, left } = await openStore()
  for (let count = 0; count < 1_001; count += 1) await writeFile(join(folder, 'stored', `blob-${String(count)}`), '')
  const asked: number[] = []
  const known = (names: readonly string[]) => (asked.push(names.length), Promise.resolve(new Set(['blob-7'])))

  // A file's time has parts of a millisecond, the clock has none.
  await store.sweep({ known, graceMs: -1 })

  expect([asked, await left()]).toEqual([
    [1_000, 1],
    [[], ['blob-7']],
  ])
})

it('sweeps past a folder, such as one that a file server has made for itself', async () => {
  const { store, folder, left } = await openStore()
  for (const place of ['incoming', 'stored']) {
    await mkdir(join(folder, place, '@eaDir'))
    await writeFile(join(folder, place, 'unknown'), '')
  }

  await store.sweep({ known: () => Promise.resolve(new Set()), graceMs: 0 })

  expect(await left()).toEqual([['@eaDir'], ['@eaDir']])
})
