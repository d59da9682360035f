// A program that may have only few files open, each connection being one of them, sends fewer parts at a time, and finishes.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { startIndependentService } from '../helpers/independent-service.ts'
import type { IndependentService } from '../helpers/independent-service.ts'
import { CAPTURE, installCli, jsonLines, lastLine, VIDEO } from './cli-under-test.ts'
import type { CliUnderTest } from './cli-under-test.ts'

/** Node itself has 20 or so open, more with its hashing threads. */
const MOST_OPEN = 40
const FILES = 150
const MIB = 1024 * 1024

let cli: CliUnderTest
let service: IndependentService

beforeAll(async () => {
  cli = await installCli()
  service = await startIndependentService()
  await mkdir(join(cli.folder, 'game'))
  for (let n = 0; n < FILES; n += 1) await writeFile(join(cli.folder, 'game', `take-${n}.action`), `bytes of take ${n}`)
  // Sparse: 26 parts of nothing.
  await writeFile(join(cli.folder, 'swing.mp4'), '')
  await truncate(join(cli.folder, 'swing.mp4'), 130 * MIB)
})
afterAll(async () => {
  await service.close()
  await cli.remove()
})

it.skipIf(process.platform === 'win32').each([
  ['capture', 'md5', FILES, ['capture', 'game', ...CAPTURE]],
  ['capture', 'off', FILES, ['capture', 'game', ...CAPTURE]],
  ['video', 'md5', 1, ['video', 'swing.mp4', ...VIDEO, '--part-size', '5MiB']],
  ['video', 'off', 1, ['video', 'swing.mp4', ...VIDEO, '--part-size', '5MiB']],
] as const)('sends all of a %s with --verify %s', async (flow, verify, count, args) => {
  const stateDir = join(cli.stateDir, `${flow}-${verify}`)
  const own = ['--state-dir', stateDir, '--concurrency', '40', '--verify', verify, '--json']
  const limited = ['-c', `ulimit -n ${MOST_OPEN}; exec "$0" "$@"`, process.execPath, cli.entry, ...args, ...own]
  const child = spawn('/bin/sh', limited, {
    cwd: cli.folder,
    env: { MOCAP_BASE_URL: service.url, MOCAP_API_KEY: service.apiKey },
  })

  const [stdout, stderr] = await Promise.all([buffer(child.stdout), buffer(child.stderr), once(child, 'close')])

  expect(stderr.toString()).toBe('')
  const lines = jsonLines(stdout.toString())
  expect(lines.filter(({ event }) => event === 'waiting')).toEqual([])
  expect(lastLine(stdout.toString())).toMatchObject({ status: 'confirmed' })
  expect(lines.at(-1)?.['files']).toHaveLength(count)
  expect(child.exitCode).toBe(0)
})
