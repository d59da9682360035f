// A service of its own for each test, and uploads that stop in the middle.

import { randomBytes } from 'node:crypto'
import { mkdtemp, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { diskJournal } from '../../src/adapters/node/journal/disk-journal.ts'
import { createSessionList } from '../../src/flows/session-list.ts'
import type { Fault } from '../helpers/independent-records.ts'
import { startIndependentService } from '../helpers/independent-service.ts'
import type { IndependentService } from '../helpers/independent-service.ts'
import { installCli, jsonLines, VIDEO } from './cli-under-test.ts'
import type { CliEnd, CliProcess, CliUnderTest, JsonLine } from './cli-under-test.ts'

export const MIB = 1024 * 1024
/** The third part of big.mp4 is stored, and nobody says so, the first time. */
const SILENT_THIRD: Fault = {
  ...{ operation: 'put', nth: 1, fileName: 'big.mp4', partNumber: 3, action: { delayMs: 600_000 } },
}

/** What is known of an upload that has everything but the third part. */
export const FOUND = { status: 'open', filesConfirmed: 1, confirmedBytes: 10 * MIB + 7 } as const

/** When big.mp4 was written. A time of whole seconds can be set again exactly: a Date keeps no part of a millisecond. */
export const WRITTEN_AT = 1_000_000_000

export let cli: CliUnderTest
export let service: IndependentService
export let stateDir: string
export const big = randomBytes(12 * MIB)

/** Called once by each test file. */
export function useInterruptedUploads(): void {
  beforeAll(async () => {
    cli = await installCli()
    await writeFile(join(cli.folder, 'small.mp4'), 'content')
    await writeFile(join(cli.folder, 'big.mp4'), big)
    await utimes(join(cli.folder, 'big.mp4'), WRITTEN_AT, WRITTEN_AT)
    for (const name of ['take-1.action', 'take-2.action']) await writeFile(join(cli.folder, name), name)
  })
  afterAll(() => cli.remove())
  beforeEach(async () => {
    stateDir = join(await mkdtemp(join(cli.folder, 'state-')), 'sessions')
  })
  afterEach(() => service.close())
}

export function environment(more: Record<string, string> = {}): Record<string, string> {
  return { MOCAP_BASE_URL: service.url, MOCAP_API_KEY: service.apiKey, MOCAP_STATE_DIR: stateDir, ...more }
}

export const run = (...args: string[]): Promise<CliEnd> => cli.run(args, environment())

export async function sessions(): Promise<JsonLine[]> {
  const { stdout } = await run('sessions', '--json')
  return jsonLines(stdout).filter(({ event }) => event === 'session')
}

interface Interrupted {
  readonly upload: CliProcess
  readonly key: string
}

/** Starts the service of this test, which is ended after it. */
export async function startService(...options: Parameters<typeof startIndependentService>): Promise<void> {
  service = await startIndependentService(...options)
}

/** An upload of small.mp4 and big.mp4 that has everything but the third part, and waits. */
export async function waitingUpload(...faults: Fault[]): Promise<Interrupted> {
  await startService({ faults: [SILENT_THIRD, ...faults] })
  const upload = cli.start(['video', 'small.mp4', 'big.mp4', ...VIDEO, '--json'], environment())
  // Looked at here: to ask a command again and again would cost more than the upload.
  const look = createSessionList({ journal: diskJournal({ folder: stateDir }) })
  await expect.poll(look).toMatchObject([FOUND])
  // Killed before that, it would leave the silence to the process that goes on, which waits a minute for the answer.
  const puts = () => service.requestsOf('put')
  await expect.poll(puts).toContainEqual(expect.objectContaining({ partNumber: 3, bodyBytes: 2 * MIB }))
  const [session] = await look()
  return { upload, key: String(session?.key) }
}

export async function killedUpload(...faults: Fault[]): Promise<string> {
  const { upload, key } = await waitingUpload(...faults)
  upload.process.kill('SIGKILL')
  await upload.ended
  return key
}
