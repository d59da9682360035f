// A disk that is full where the output goes: what was asked for did not arrive, and that is no success.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { startIndependentService, type IndependentService } from '../helpers/independent-service.ts'
import { installCli, lastLine, VIDEO, type CliUnderTest } from './cli-under-test.ts'

/** A file of Linux on which every write finds the disk full. */
const FULL = '/dev/full'

let cli: CliUnderTest
let service: IndependentService
let key: string
beforeAll(async () => {
  cli = await installCli()
  service = await startIndependentService()
  await writeFile(join(cli.folder, 'small.mp4'), 'content')
  key = String(lastLine((await cli.run(['video', 'small.mp4', ...VIDEO, '--json'], environment())).stdout)['key'])
})
afterAll(async () => {
  await service.close()
  await cli.remove()
})

function environment(): Record<string, string> {
  return { MOCAP_BASE_URL: service.url, MOCAP_API_KEY: service.apiKey }
}

/** Runs the command with its stdout on the full disk. */
async function runIntoFull(...args: string[]): Promise<{ code: number | null; stderr: string }> {
  const full = openSync(FULL, 'w')
  const child = spawn(process.execPath, [cli.entry, ...args], {
    cwd: cli.folder,
    env: { PATH: '', MOCAP_STATE_DIR: cli.stateDir, ...environment() },
    stdio: ['ignore', full, 'pipe'],
  })
  closeSync(full)
  let stderr = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stderr }
}

const LOST = /^error: stdout cannot be written: the disk is full\. [^\n]*\n$/

describe.skipIf(!existsSync(FULL))('output that finds the disk full', () => {
  it.each([
    ['a receipt', () => ['receipt', 'show', key]],
    ['a receipt in JSON', () => ['receipt', 'show', key, '--json']],
    ['the sessions', () => ['sessions']],
    ['a plan', () => ['video', 'small.mp4', ...VIDEO, '--dry-run']],
    ['a plan in JSON', () => ['resume', '--dry-run', '--json']],
    ['an answer of the service', () => ['api', 'GET', '/requested_analyses']],
    ['the analyses', () => ['analysis', 'list']],
    ['the analyses in JSON', () => ['analysis', 'list', '--json']],
    [
      'a segment, whose id stands nowhere else',
      () => ['segment', 'create', '--movement-type', '1', '--dom-hand', 'RHA'],
    ],
  ])('fails what was asked for it: %s', async (_, args) => {
    const { code, stderr } = await runIntoFull(...args())

    expect(code).toBe(1)
    expect(stderr).toMatch(LOST)
  })

  it('is told of an upload, which goes on to its end and counts by what is stored', async () => {
    const { code, stderr } = await runIntoFull('video', 'small.mp4', ...VIDEO)

    expect(code).toBe(0)
    expect(stderr).toMatch(LOST)
  })

  it('fails where it was a new key of the service, which is shown once', async () => {
    const { code, stderr } = await runIntoFull(
      ...['serve', 'keys', 'create', '--data', join(cli.folder, 'data'), '--org', 'o', '--name', 'n'],
    )

    expect(code).toBe(1)
    expect(stderr).toMatch(LOST)
  })

  it('is told with the name of the file that was to be written', async () => {
    const { code, stderr } = await cli.run(['receipt', 'show', key, '--output', FULL])

    expect(code).not.toBe(0)
    expect(stderr).toMatch(/^error: "\/dev\/full" cannot be written: the disk is full\. Free some space/)
  })
})
