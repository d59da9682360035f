// Resuming when more than the process was lost: addresses that have died meanwhile, and a disk without room.

import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { openAsBlob } from 'node:fs'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, it, onTestFinished } from 'vitest'

import { diskJournal } from '../../src/adapters/node/journal/disk-journal.ts'
import { createSessionList } from '../../src/flows/session-list.ts'
import { startService } from '../../src/service/index.ts'
import { canMount } from '../helpers/can-mount.ts'
import { startIndependentService } from '../helpers/independent-service.ts'
import { startUnderTest, startWithObjectsIn } from '../service/service-under-test.ts'
import { refusingAddress } from '../../src/testing/refusing-address.ts'
import { installCli, CAPTURE, lastLine, VIDEO } from './cli-under-test.ts'
import type { CliUnderTest } from './cli-under-test.ts'

const MIB = 1024 * 1024
const HOUR_MS = 3_600_000
/** A process that begins two hours later than it does. */
const LATER = `--import=data:text/javascript,${encodeURIComponent(`const { now } = Date; Date.now = () => now() + ${2 * HOUR_MS}`)}`

let cli: CliUnderTest

beforeAll(async () => {
  cli = await installCli()
})
afterAll(() => cli.remove())

it('moves unfinished files to a new session when their addresses died while nobody ran', async () => {
  let aheadMs = 0
  const service = await startUnderTest({
    addressLifeMs: HOUR_MS,
    credentials: { apiKeys: ['key-of-this-test'], accessTokens: [] },
    now: () => Date.now() + aheadMs,
    // The first process is stopped where it has something to lose: it gets no answer to its third part.
    // The next process, two hours later, must not meet this: it would wait a minute for the answer.
    faults: { rules: [{ operation: 'put', nth: 3, to: 3_600, fault: { stall: { at: 'answer' } } }] },
  })
  onTestFinished(() => service.close())
  const env = { MOCAP_BASE_URL: service.url, MOCAP_API_KEY: 'key-of-this-test' }
  const big = randomBytes(11 * MIB)
  await writeFile(join(cli.folder, 'small.mp4'), 'content')
  await writeFile(join(cli.folder, 'big.mp4'), big)
  const upload = cli.start(['video', 'small.mp4', 'big.mp4', ...VIDEO, '--concurrency', '1'], env)
  const look = createSessionList({ journal: diskJournal({ folder: cli.stateDir }) })
  const session = async () => (await look())[0]
  await expect.poll(session).toMatchObject({ filesConfirmed: 1, confirmedBytes: 5 * MIB + 7 })
  upload.process.kill('SIGKILL')
  await upload.ended
  const before = await session()
  aheadMs = 2 * HOUR_MS

  const { code, stdout } = await cli.run(['resume'], { ...env, NODE_OPTIONS: LATER })

  expect(code).toBe(0)
  const after = await session()
  expect(after).toMatchObject({ flow: 'video', status: 'confirmed', key: before?.key, bytes: 11 * MIB + 7 })
  expect(after?.sessionId).not.toBe(before?.sessionId)
  expect(stdout).toContain(
    `session replaced, because its addresses died: session ${String(after?.sessionId)} takes 1 file, ` +
      'of which 5 MiB are sent again; 1 file kept\n',
  )
  expect(stdout).toMatch(/^confirmed: 2 of 2 files confirmed, 2 verified, 11 MiB, 11 MiB of it now, in /m)
  const reply = await fetch(`${service.url}/stored`, { headers: { 'x-api-key': 'key-of-this-test' } })
  const { items } = (await reply.json()) as { items: { file_name: string; url: string }[] }
  const digests = items.map(async ({ file_name, url }) => {
    const bytes = new Uint8Array(await (await fetch(url)).arrayBuffer())
    return [file_name, createHash('sha256').update(bytes).digest('hex')]
  })
  expect(await Promise.all(digests)).toEqual([
    ['small.mp4', createHash('sha256').update('content').digest('hex')],
    ['big.mp4', createHash('sha256').update(big).digest('hex')],
  ])
})

it.each([
  ['whose addresses live', 0],
  ['whose addresses have expired', 7_200_000],
])(
  'says of a capture session %s that a restored service does not know what may be so and what to do, and claims nothing lost',
  async (_, laterMs) => {
    for (const name of ['take-1.action', 'take-2.action']) await writeFile(join(cli.folder, name), name)
    const dataDir = join(cli.folder, `data-${laterMs}`)
    const options = {
      preparedDatabase: await openAsBlob(inject('preparedDatabase')),
      credentials: { apiKeys: ['key-of-this-test'], accessTokens: [] },
    }
    await (await startService({ ...options, port: 0, dataDir })).close()
    await cp(dataDir, `${dataDir}-backup`, { recursive: true })
    const refusal = { operation: 'put', nth: 1, fault: { status: 400 } } as const
    const address = await refusingAddress()
    onTestFinished(() => address.close())
    const { port } = address
    const service = await startService({ ...options, port, dataDir, faults: { rules: [refusal] } })
    const env = {
      MOCAP_BASE_URL: service.url,
      MOCAP_API_KEY: 'key-of-this-test',
      MOCAP_STATE_DIR: `${dataDir}-sessions`,
    }
    const upload = await cli.run(['capture', 'take-1.action', 'take-2.action', ...CAPTURE], env)
    await service.close()
    const now = () => Date.now() + laterMs
    const restored = await startService({ ...options, port, now, dataDir: `${dataDir}-backup` })
    onTestFinished(() => restored.close())

    const { code, stderr } = await cli.run(['resume'], env)

    const [, key = ''] = /To finish: mocap-uplink resume (\S+)/.exec(upload.stderr) ?? []
    expect([upload.code, code]).toEqual([3, 3])
    const [what, known, later, never] = stderr.slice(stderr.indexOf('Missing: ')).split('\n')
    expect(what).toMatch(
      /^Missing: 1 of 2 files, 13 B\. Session \S+, or what these names stand for, is not known there: the key or token may be of another .*, or the service may have been restored/,
    )
    expect(known).toMatch(/^If it knows the session: /)
    expect(later).toMatch(new RegExp(`^Once it is known: mocap-uplink resume ${key} `))
    expect(never).toMatch(new RegExp(`upload what is missing as a new session, then: mocap-uplink cancel ${key} `))
    expect(stderr).not.toMatch(/To finish|lost/)
  },
)

it('waits for a service that is being restarted, which its process has never reached but the session has, and finishes', async () => {
  const folder = join(cli.folder, 'restart')
  await mkdir(folder)
  for (const name of ['take-1.action', 'take-2.action']) await writeFile(join(folder, name), name)
  const address = await refusingAddress()
  onTestFinished(() => address.close())
  const dataDir = join(cli.folder, 'restart-data')
  const credentials = { apiKeys: ['key-of-this-test'], accessTokens: [] }
  const options = { port: address.port, credentials, now: Date.now }
  const noNames = { operation: 'register', nth: 1, fault: { stall: { at: 'answer' } } } as const
  // It would wait for the stalled call.
  const stalling = { faults: { rules: [noNames] }, stopWithinMs: 1 }
  const service = await startWithObjectsIn(dataDir, { ...options, ...stalling })
  const env = { MOCAP_BASE_URL: service.url, MOCAP_API_KEY: 'key-of-this-test', MOCAP_STATE_DIR: `${folder}-sessions` }
  const upload = cli.start(['capture', 'restart', ...CAPTURE, '--json'], env)
  await upload.seen(/"event":"state"[^\n]+"state":"uploading"/)
  upload.process.kill('SIGKILL')
  await upload.ended
  await service.close()

  const resumed = cli.start(['resume', '--json'], env)
  await resumed.seen(/"event":"waiting"[^\n]+"reason":"connection refused"/)
  const again = await startWithObjectsIn(dataDir, options)
  onTestFinished(() => again.close())

  const { code, stdout, stderr } = await resumed.ended
  expect([code, stderr]).toEqual([0, ''])
  expect(lastLine(stdout)).toMatchObject({ status: 'confirmed', files: [{ verified: true }, { verified: true }] })
})

it.skipIf(!canMount())('says that the disk is full, and finishes when it no longer is', async () => {
  const disk = join(cli.folder, 'small-disk')
  await mkdir(disk)
  const mount = (...args: string[]) => execFileSync('mount', args, { stdio: 'pipe' })
  mount('-t', 'tmpfs', '-o', 'size=80k', 'tmpfs', disk)
  onTestFinished(() => void execFileSync('umount', [disk]))
  const service = await startIndependentService()
  onTestFinished(() => service.close())
  const env = { MOCAP_BASE_URL: service.url, MOCAP_API_KEY: service.apiKey }
  await mkdir(join(cli.folder, 'game'))
  for (let index = 0; index < 300; index += 1) {
    await writeFile(join(cli.folder, 'game', `take-${index}.action`), `movement ${index}`)
  }

  const full = await cli.run(['capture', 'game', ...CAPTURE, '--state-dir', disk], env)
  const again = /To finish: mocap-uplink (.*)\n/.exec(full.stderr)?.[1] ?? ''
  mount('-o', 'remount,size=4m', disk)
  const resumed = await cli.run([...again.split(' '), '--json'], env)

  expect(again).toMatch(/^resume capture-\S+ --state-dir \//)
  expect([1, 3]).toContain(full.code)
  expect(full.stderr).toMatch(
    /error: The journal "[^"]+" cannot be written: the disk is full\. .* \(ERR_UPLOAD_JOURNAL\)/,
  )
  expect(resumed).toMatchObject({ code: 0, stderr: '' })
  expect(service.storedFiles().filter((file) => file.sizeBytes > 0)).toHaveLength(300)
})
