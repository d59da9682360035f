// How the entries of a receipt find their files, and what that costs.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'

// First, so that it counts what the modules below do.
import { growth } from '../helpers/growth.ts'
import { proveAll } from '../../src/cli/receipt-match.ts'
import type { DeliveredFile } from '../../src/node.ts'

const MOST = 200
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-match-'))
  for (let camera = 0; camera < MOST; camera += 1) {
    await mkdir(join(folder, `cam${camera}`))
    await writeFile(join(folder, `cam${camera}`, 'clip.mp4'), '')
    await writeFile(join(folder, `take-${camera}.mp4`), '')
  }
})
afterAll(() => rm(folder, { recursive: true }))

/** Proves `count` entries by as many files, all of them empty, which come in another order. */
async function prove(count: number, nameOf: (index: number) => string, pathOf: (index: number) => string[]) {
  const indices = Array.from({ length: count }, (_, index) => index)
  const files = indices.map(pathOf).map((steps) => ({ path: join(folder, ...steps), name: steps.at(-1) ?? '' }))
  const delivered = indices.map((index): DeliveredFile => {
    return { name: nameOf(index), bytes: 0, status: 'confirmed', isVerified: true, parts: [] }
  })
  for await (const { name, path, outcome } of proveAll(delivered, files.toReversed())) {
    const own = files[indices.find((index) => nameOf(index) === name) ?? -1]?.path
    expect([outcome, path]).toEqual(['proven', own])
  }
}

it.each([
  ['of their own names', (index: number) => `take-${index}.mp4`, (index: number) => [`take-${index}.mp4`]],
  [
    'renamed by their folders',
    (index: number) => `cam${index}_clip.mp4`,
    (index: number) => [`cam${index}`, 'clip.mp4'],
  ],
])('takes ten times the steps for ten times the files %s', async (_, nameOf, pathOf) => {
  const ratio = await growth((count) => prove(count, nameOf, pathOf), MOST / 10, MOST)

  expect(ratio).toBeLessThan(12)
})

it('proves one entry by each file, though two have the same name and bytes', async () => {
  const delivered: DeliveredFile = { name: 'clip.mp4', bytes: 0, status: 'confirmed', isVerified: true, parts: [] }
  const path = join(folder, 'cam0', 'clip.mp4')
  // As where a folder is given, and a file in it.
  const again = `${folder}/cam0/../cam0/clip.mp4`
  const files = [path, again].map((one) => ({ path: one, name: 'clip.mp4' }))

  const proofs = []
  for await (const { outcome } of proveAll([delivered, delivered], files)) proofs.push(outcome)

  expect(proofs).toEqual(['proven', 'missing'])
})
