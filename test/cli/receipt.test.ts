// What was delivered, and the proof of it against files: shown and checked by processes of their own.

import { createHash, randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { startIndependentService, type IndependentService } from '../helpers/independent-service.ts'
import { buildCli, lastLine, type CliEnd, type CliUnderTest, VIDEO } from './cli-under-test.ts'

let cli: CliUnderTest
let service: IndependentService
let key: string
const bytes = randomBytes(12 * 1024 * 1024)

const run = (...args: string[]): Promise<CliEnd> =>
  cli.run(args, {
    ...{ MOCAP_BASE_URL: service.url, MOCAP_API_KEY: service.apiKey, MOCAP_STATE_DIR: join(cli.folder, 'state') },
  })

beforeAll(async () => {
  cli = await buildCli()
  service = await startIndependentService()
  await writeFile(join(cli.folder, 'swing.mp4'), bytes)
  const { stdout } = await run(
    'video',
    'swing.mp4',
    ...VIDEO,
    '--json',
    '--verify',
    'full',
    '--receipt',
    'receipt.json',
  )
  key = String(lastLine(stdout)['key'])
})
afterAll(async () => {
  await service.close()
  await cli.remove()
})

it('shows every part of a session with its digest, and no address', async () => {
  const text = await readFile(join(cli.folder, 'receipt.json'), 'utf8')

  const receipt = JSON.parse(text) as { files: { name: string; status: string; parts: { md5: string }[] }[] }
  expect(receipt.files.map(({ name, status, parts }) => [name, status, parts.length])).toEqual([
    ['swing.mp4', 'confirmed', 3],
  ])
  expect(text).not.toMatch(/https?:|X-Amz|Signature/)
  expect(text).not.toContain(service.apiKey)
})

it('is the same when it is shown later, and holds the SHA-256 of a fully verified file', async () => {
  const shown = await run('receipt', 'show', key)

  const receipt = JSON.parse(shown.stdout) as { files: { sha256: string }[] }
  expect(receipt).toEqual(JSON.parse(await readFile(join(cli.folder, 'receipt.json'), 'utf8')))
  expect(receipt.files[0]?.sha256).toBe(createHash('sha256').update(bytes).digest('hex'))
})

it('proves the file that was delivered', async () => {
  const { code, stdout } = await run('receipt', 'check', 'receipt.json', 'swing.mp4')

  expect([code, stdout]).toEqual([0, 'proven swing.mp4\n1 of 1 file proven\n'])
})

it('finds one byte that differs, and names the part', async () => {
  const changed = Buffer.from(bytes)
  changed[6 * 1024 * 1024] = (changed[6 * 1024 * 1024] ?? 0) ^ 1
  await mkdir(join(cli.folder, 'copy'))
  await writeFile(join(cli.folder, 'copy', 'swing.mp4'), changed)

  const { code, stdout } = await run('receipt', 'check', 'receipt.json', 'copy')

  expect([code, stdout]).toEqual([1, 'differs swing.mp4: part 2 is not what was sent\n0 of 1 file proven\n'])
})

it('refuses what is no receipt, and a session that is unknown', async () => {
  expect((await run('receipt', 'check', 'swing.mp4', 'swing.mp4')).code).toBe(2)
  expect((await run('receipt', 'show', 'video-nobody')).code).toBe(2)
})
