// What the demo holds for identical, and what of it is of an earlier demo.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { compareStored, storedSessions, type SourceFile } from '../../../src/cli/demo/read-back.ts'
import type { Uplink } from '../../../src/uplink.ts'

let folder: string
let sources: readonly SourceFile[]
const { signal } = new AbortController()
const NONE: ReadonlySet<string> = new Set()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-read-back-'))
  const path = join(folder, 'clip.mp4')
  await writeFile(path, 'content')
  sources = [{ kind: 'video', name: 'clip.mp4', path }]
})
afterAll(() => rm(folder, { recursive: true }))

/** An object that says what it holds in its address. */
function stored(sessionId: number, text = 'content', kind = 'video', name = 'clip.mp4') {
  return { kind, session_id: sessionId, file_name: name, size_bytes: text.length, url: `data:,${text}` }
}

/** A service that lists these, one a page. */
function serviceWith(...items: readonly object[]): Uplink {
  const call = (_method: string, _path: string, { query }: { query: { after?: string } }) => {
    const at = Number(query.after ?? 0)
    const next = at + 1 < items.length ? String(at + 1) : null
    return Promise.resolve({ data: { items: items.slice(at, at + 1), next } })
  }
  return { client: { call } } as unknown as Uplink
}

it('finds what is stored identical', async () => {
  const comparison = await compareStored(serviceWith(stored(1)), sources, NONE, signal)

  expect(comparison).toEqual({ objects: 1, identical: 1, differences: [] })
})

it.each([
  ['clip.mp4 is not what was sent', [stored(1, 'c0ntent')]],
  ['clip.mp4 is stored 0 times', []],
  ['clip.mp4 is stored 2 times', [stored(1), stored(2)]],
  ['other.mp4 was never sent', [stored(1), stored(1, 'content', 'video', 'other.mp4')]],
  ['clip.mp4 was never sent', [stored(1), stored(1, 'content', 'capture')]],
])('says that %s', async (difference, items) => {
  const { differences } = await compareStored(serviceWith(...items), sources, NONE, signal)

  expect(differences).toEqual([difference])
})

it('leaves out what an earlier demo has stored in the same folder, and only that', async () => {
  const earlier = stored(1)
  const before = await storedSessions(serviceWith(earlier), signal)

  const compare = (...items: readonly object[]) =>
    compareStored(serviceWith(earlier, ...items), sources, before, signal)

  expect(await compare(stored(2))).toEqual({ objects: 1, identical: 1, differences: [] })
  expect((await compare()).differences).toEqual(['clip.mp4 is stored 0 times'])
  // Sessions of captures are counted by themselves.
  const capture = stored(1, 'content', 'capture')
  expect((await compare(stored(2), capture)).differences).toEqual(['clip.mp4 was never sent'])
})
