// Uploads by the built CLI against the independent service: exit codes, the lines of --json, what arrives in storage.

import { createHash, randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'

import { adviceOn } from '../../src/core/advice.ts'
import type { IndependentServiceOptions } from '../helpers/independent-records.ts'
import { startIndependentService } from '../helpers/independent-service.ts'
import type { IndependentService } from '../helpers/independent-service.ts'
import { refusingAddress, type RefusingAddress } from '../../src/testing/refusing-address.ts'
import { installCli, CAPTURE, jsonLines, lastLine, VIDEO } from './cli-under-test.ts'
import type { CliUnderTest } from './cli-under-test.ts'

const MIB = 1024 * 1024

let cli: CliUnderTest
let service: IndependentService
const contents = new Map<string, Buffer>()

beforeAll(async () => {
  cli = await installCli()
  await file('swing.mp4', 11 * MIB)
  await file('small.mov', 1000)
  await file('game/take-10.action', 3000)
  await file('game/take-2.action', 2000)
  await file('game/.DS_Store', 10)
  await file('clips/swing-01.MP4', 1000)
  await file('clips/swing-02.mp4', 0)
  await file('clips/notes.pdf', 10)
})
afterAll(() => cli.remove())
afterEach(() => service.close())

async function file(name: string, sizeBytes: number): Promise<void> {
  const content = randomBytes(sizeBytes)
  await mkdir(join(cli.folder, name, '..'), { recursive: true })
  await writeFile(join(cli.folder, name), content)
  contents.set(name, content)
}

async function serviceWith(options: IndependentServiceOptions = {}): Promise<Record<string, string>> {
  service = await startIndependentService(options)
  return { MOCAP_BASE_URL: service.url, MOCAP_API_KEY: service.apiKey }
}

/** Where nothing listens until the test does. */
async function nobodyThere(): Promise<RefusingAddress> {
  const address = await refusingAddress()
  onTestFinished(() => address.close())
  return address
}

function sha256(name: string): string {
  return createHash('sha256').update(contents.get(name)!).digest('hex')
}

describe('a video upload', () => {
  it('ends with 0 and the result of the contract, and every byte is stored', async () => {
    const env = await serviceWith()

    const { code, stdout, stderr } = await cli.run(['video', 'swing.mp4', 'small.mov', ...VIDEO, '--json'], env)

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const lines = jsonLines(stdout)
    expect(lines[0]).toEqual({
      ...{ event: 'start', at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string },
      ...{ flow: 'video', key: expect.stringMatching(/^video-/) as string, files: 2, bytes: 11 * MIB + 1000 },
    })
    expect(lines.filter(({ event }) => event === 'state').map(({ state }) => state)).toEqual([
      ...['creating', 'uploading', 'settling', 'confirmed'],
    ])
    expect(lines.filter(({ event }) => event === 'progress').at(-1)).toMatchObject({
      ...{ confirmedBytes: 11 * MIB + 1000, totalBytes: 11 * MIB + 1000, filesConfirmed: 2, filesTotal: 2 },
    })
    expect(lines.at(-1)).toEqual({
      ...{
        event: 'result',
        at: expect.any(String) as string,
        flow: 'video',
        status: 'confirmed',
        key: lines[0]?.['key'],
      },
      ...{ sessionId: service.storedFiles()[0]?.sessionId, bytes: 11 * MIB + 1000 },
      durationMs: expect.any(Number) as number,
      files: [
        { name: 'swing.mp4', bytes: 11 * MIB, parts: 3, status: 'confirmed', verified: true },
        { name: 'small.mov', bytes: 1000, parts: 1, status: 'confirmed', verified: true },
      ],
    })
    expect(service.storedFiles()).toMatchObject([
      { fileName: 'swing.mp4', isConfirmed: true, sha256: sha256('swing.mp4') },
      { fileName: 'small.mov', isConfirmed: true, sha256: sha256('small.mov') },
    ])
    expect(service.requestsOf('create')[0]?.body).toMatchObject({
      ...{ movement_type_id: 1, player_id: 'p-17', session_date: '2026-11-20', session_type_id: 2 },
    })
  })

  it('goes with a token from a file under the header that was chosen, and hashes nothing when told so', async () => {
    const { MOCAP_BASE_URL } = await serviceWith({ bearerHeader: 'authentication' })
    await writeFile(join(cli.folder, 'token.txt'), `${service.token}\n`)
    const token = ['--access-token-file', 'token.txt', '--bearer-header', 'Authentication']
    const choices = ['--verify', 'off', '--part-size', '6MiB', '--concurrency', '1', '--retries', '3']

    const run = await cli.run(
      ['video', 'swing.mp4', ...VIDEO, '--base-url', MOCAP_BASE_URL!, ...token, ...choices, '--json'],
      {},
    )

    expect(run.code).toBe(0)
    expect(lastLine(run.stdout)['files']).toEqual([
      { name: 'swing.mp4', bytes: 11 * MIB, parts: 2, status: 'confirmed', verified: false },
    ])
    expect(service.records.maxPutsInFlight).toBe(1)
    expect(run.stdout + run.stderr).not.toContain(service.token)
  })

  it('writes what would move a cursor or turn text around as escapes of JSON, whatever a file is called', async () => {
    const env = await serviceWith()
    const name = 'take \u009b31m\u202e1.action'
    await file(name, 100)

    const { stdout } = await cli.run(['capture', name, ...CAPTURE, '--json'], env)

    expect(stdout).not.toMatch(/[\u0080-\u009f\u202e]/)
    expect(lastLine(stdout)).toMatchObject({ status: 'confirmed', files: [{ name }] })
  })

  it('prints a line per change where there is no terminal, and one line when quiet', async () => {
    const env = await serviceWith({ faults: [{ operation: 'put', nth: 1, action: { status: 503 } }] })

    const loud = await cli.run(['video', 'small.mov', ...VIDEO], env)
    const quiet = await cli.run(['video', 'small.mov', ...VIDEO, '--quiet'], env)

    expect(loud.stdout.split('\n')).toEqual([
      'uploading',
      expect.stringMatching(/^retry small\.mov, part 1, after attempt 1, in .*503/),
      'confirmed small.mov (1000 B, 1 of 1)',
      expect.stringMatching(/^confirmed: 1 of 1 file confirmed, 1 verified, 1000 B in .*, session /),
      '',
    ])
    expect(quiet.stdout).toMatch(/^confirmed: 1 of 1 file confirmed[^\n]*\n$/)
    expect({ loud: loud.code, quiet: quiet.code }).toEqual({ loud: 0, quiet: 0 })
  })

  it('makes no call in a dry run, and needs neither an address nor a credential for it', async () => {
    const env = await serviceWith()

    const json = await cli.run(['video', 'swing.mp4', 'small.mov', ...VIDEO, '--dry-run', '--json'], {})
    const text = await cli.run(['video', 'swing.mp4', ...VIDEO, '--dry-run'], env)

    expect(json.code).toBe(0)
    expect(jsonLines(json.stdout)).toEqual([
      {
        ...{ event: 'plan', at: expect.any(String) as string, flow: 'video', bytes: 11 * MIB + 1000, parts: 4 },
        calls: { create: 1, register: 0, put: 4, confirm: 2 },
        files: [
          { name: 'swing.mp4', bytes: 11 * MIB, parts: 3, partBytes: 5 * MIB },
          { name: 'small.mov', bytes: 1000, parts: 1, partBytes: expect.any(Number) as number },
        ],
      },
    ])
    expect(text.stdout).toContain('dry run: 1 file, 3 parts, 11 MiB (11534336 bytes)')
    expect(service.records.requests).toEqual([])
  })
})

describe('a folder of videos', () => {
  it('is its videos: other files and empty ones are skipped and named, those that hold nothing even with --quiet', async () => {
    const env = await serviceWith()

    const json = await cli.run(['video', 'clips', ...VIDEO, '--json'], env)
    const quiet = await cli.run(['video', 'clips', ...VIDEO, '--quiet'], env)

    expect(jsonLines(json.stdout).slice(0, 2)).toMatchObject([
      { event: 'skipped', path: join('clips', 'notes.pdf'), reason: 'not a .mov or .mp4 file' },
      { event: 'skipped', path: join('clips', 'swing-02.mp4'), reason: 'empty' },
    ])
    expect(lastLine(json.stdout)).toMatchObject({ status: 'confirmed', files: [{ name: 'swing-01.MP4' }] })
    expect(quiet.stderr).toBe(`skipped ${join('clips', 'swing-02.mp4')}, because it is empty\n`)
    expect({ json: json.code, quiet: quiet.code }).toEqual({ json: 0, quiet: 0 })
  })
})

describe.skipIf(process.platform === 'win32')('a folder with a name that is a path elsewhere', () => {
  it('is taken where that file is skipped anyway, or a folder has the name', async () => {
    const env = await serviceWith()
    await mkdir(join(cli.folder, 'odd\\folder'))
    await writeFile(join(cli.folder, 'odd\\folder', 'notes\\1.pdf'), 'words')
    await writeFile(join(cli.folder, 'odd\\folder', 'empty\\1.mp4'), '')
    await writeFile(join(cli.folder, 'odd\\folder', 'swing.mp4'), 'content')

    const { code, stdout } = await cli.run(['video', 'odd\\folder', ...VIDEO, '--json'], env)

    expect(lastLine(stdout)).toMatchObject({ status: 'confirmed', files: [{ name: 'swing.mp4' }] })
    expect(code).toBe(0)
  })
})

describe('a capture upload', () => {
  it('takes a folder in natural order, names what it skips, and adds to a known session', async () => {
    const env = await serviceWith()

    const first = await cli.run(['capture', 'game', ...CAPTURE, '--json'], env)
    const sessionId = String(lastLine(first.stdout)['sessionId'])
    const again = ['--mocap-type', '2', '--session', sessionId, '--reprocess', '--kind', 'tracking', '--json']
    const second = await cli.run(['capture', 'game/take-2.action', ...again], env)

    expect(jsonLines(first.stdout)[0]).toMatchObject({
      event: 'skipped',
      path: 'game/.DS_Store',
      reason: 'a Finder file',
    })
    expect(lastLine(first.stdout)).toMatchObject({
      ...{ flow: 'capture', status: 'confirmed', bytes: 5000 },
      files: [
        { name: 'take-2.action', status: 'confirmed', verified: true },
        { name: 'take-10.action', status: 'confirmed', verified: true },
      ],
    })
    expect(lastLine(second.stdout)).toMatchObject({ status: 'confirmed', sessionId })
    expect({ first: first.code, second: second.code }).toEqual({ first: 0, second: 0 })
    expect(service.requestsOf('createCapture')).toHaveLength(1)
    expect(service.requestsOf('register').map(({ body }) => body)).toMatchObject([
      { filenames: ['take-2.action', 'take-10.action'], reprocess: false },
      { filenames: ['take-2.action'], reprocess: true, session_id: sessionId },
    ])
  })
})

describe('an upload that does not succeed', () => {
  it('ends with 3 when some files are confirmed and some are not', async () => {
    const env = await serviceWith({
      faults: [{ operation: 'put', nth: 'every', fileName: 'small.mov', action: { status: 400 } }],
    })

    const { code, stdout, stderr } = await cli.run(['video', 'swing.mp4', 'small.mov', ...VIDEO, '--json'], env)

    expect(code).toBe(3)
    expect(lastLine(stdout)).toMatchObject({
      status: 'partial',
      files: [
        { name: 'swing.mp4', status: 'confirmed' },
        { name: 'small.mov', status: 'failed', error: { code: 'ERR_UPLOAD_HTTP_STATUS', partNumber: 1, attempt: 1 } },
      ],
    })
    expect(stderr).toMatch(/^failed: small\.mov: The storage refused part 1 \(400/)
    expect(stderr.split('\n')[0]).toMatch(/ Show the status and the words in the message to those who run that host/)
  })

  it('says with each error in JSON which file, part and attempt it was, and what to do', async () => {
    const env = await serviceWith({ faults: [{ operation: 'put', nth: 'every', action: { status: 500 } }] })

    const { stdout } = await cli.run(['video', 'small.mov', ...VIDEO, '--retries', '2', '--json'], env)

    const lines = jsonLines(stdout)
    const passing = { code: 'ERR_UPLOAD_HTTP_STATUS', partNumber: 1, advice: adviceOn('ERR_UPLOAD_HTTP_STATUS') }
    const code = 'ERR_UPLOAD_RETRIES_EXHAUSTED'
    const final = { code, file: 'small.mov', partNumber: 1, attempt: 2, advice: adviceOn(code) }
    const failed = lines.find(({ event, state }) => event === 'file' && state === 'failed')
    expect(lines.find(({ event }) => event === 'retry')).toMatchObject({ attempt: 1, error: passing })
    expect(failed).toMatchObject({ name: 'small.mov', error: final })
    expect(lines.at(-1)).toMatchObject({ event: 'result', files: [{ name: 'small.mov', error: final }] })
  })

  it('ends with 1 when no file is confirmed', async () => {
    const env = await serviceWith({ faults: [{ operation: 'put', nth: 'every', action: { status: 400 } }] })

    const { code, stdout } = await cli.run(['video', 'small.mov', ...VIDEO, '--json'], env)

    expect(code).toBe(1)
    expect(lastLine(stdout)).toMatchObject({ event: 'result', status: 'failed', files: [{ status: 'failed' }] })
  })

  it.each([
    ['video', ['small.mov', ...VIDEO]],
    ['capture', ['game', ...CAPTURE]],
  ])('ends with 4 when the service refuses the key for a %s', async (command, args) => {
    await serviceWith()
    const env = { MOCAP_BASE_URL: service.url, MOCAP_API_KEY: 'wrong-key-5b1f' }

    const { code, stdout, stderr } = await cli.run([command, ...args, '--json'], env)

    expect(code).toBe(4)
    expect(lastLine(stdout)).toMatchObject({
      ...{ event: 'result', flow: command, status: 'failed' },
      error: {
        ...{ code: 'ERR_UPLOAD_CREDENTIALS_REFUSED', attempt: 1 },
        advice: adviceOn('ERR_UPLOAD_CREDENTIALS_REFUSED'),
      },
    })
    expect(stderr).toMatch(
      / \(ERR_UPLOAD_CREDENTIALS_REFUSED\)\nMissing: .* To finish, with a key or token that the service accepts: mocap-uplink resume /,
    )
    expect(stdout + stderr).not.toContain('wrong-key-5b1f')
    expect(service.storedFiles().flatMap(({ parts }) => parts)).toEqual([])
  })

  it('ends with 1, the reason and the way to finish when nothing answers at the address', async () => {
    await serviceWith()
    const env = { MOCAP_BASE_URL: (await nobodyThere()).origin, MOCAP_API_KEY: 'secret-key-77' }

    const { code, stdout, stderr } = await cli.run(['video', 'small.mov', ...VIDEO, '--json'], env)

    expect(code).toBe(1)
    expect(lastLine(stdout)).toMatchObject({ status: 'failed', sessionId: null })
    expect(stderr).toMatch(
      /^error: Could not reach 127\.0\.0\.1:\d+ \(connection refused\)\. [^\n]* \(ERR_UPLOAD_HOST_UNREACHABLE\)\nMissing: 1 of 1 file, [^\n]+ To finish, with the right address for URL: mocap-uplink resume video-\S+ --state-dir \S+ --base-url URL\n$/,
    )
    expect(stdout + stderr).not.toContain('secret-key-77')
  })

  it('waits for a service that is not there yet where --give-up-after is given, says so, and goes on when it comes', async () => {
    const { port, origin } = await nobodyThere()
    const env = { MOCAP_BASE_URL: origin, MOCAP_API_KEY: 'k' }
    const args = ['video', 'small.mov', ...VIDEO, '--json', '--give-up-after', '12h', '--state-dir', 'waiting-state']
    const first = cli.start(args, env)
    await first.seen(/"event":"waiting"/)
    first.process.kill('SIGINT')

    const { code, stdout, stderr } = await first.ended
    expect(code).toBe(130)
    expect(stdout).toMatch(
      new RegExp(
        `"who":"service","host":"127.0.0.1:${port}","since":"[^"]+","until":"[^"]+","giveUpAt":"[^"]+","reason":"connection refused"`,
      ),
    )
    expect(lastLine(stdout)).toMatchObject({ status: 'interrupted' })
    expect(stdout).not.toContain('hasPossibleOrphan')
    const command = / To finish: mocap-uplink (resume video-\S+ [^\n]+ --give-up-after 12h)\n/.exec(stderr)![1]!
    const second = cli.start([...command.split(' '), '--json'], env)
    await second.seen(/"event":"waiting"/)
    const late = createServer((_, response) => response.writeHead(401).end()).listen(port, '127.0.0.1')
    onTestFinished(() => void late.close())
    expect(await second.ended).toMatchObject({ code: 4 })
  })

  it('tells of a single call that waits too: as an event, for a person on stderr, and stdout has the answer alone', async () => {
    const { port, origin } = await nobodyThere()
    const env = { MOCAP_BASE_URL: origin, MOCAP_API_KEY: 'k' }
    const asJson = cli.start(['api', 'GET', '/x', '--json', '--give-up-after', '12h'], env)
    const plain = cli.start(['analysis', 'list', '--give-up-after', '12h'], env)
    const said = once(plain.process.stderr!, 'data')
    await asJson.seen(
      /"event":"waiting"[^\n]+"who":"service","host":"127\.0\.0\.1:\d+"[^\n]+"reason":"connection refused"/,
    )
    await said
    const late = createServer((_, response) => response.end('[]')).listen(port, '127.0.0.1')
    onTestFinished(() => void late.close())

    expect(await asJson.ended).toMatchObject({ code: 0, stderr: '' })
    const { code, stdout, stderr } = await plain.ended
    expect([code, stdout]).toEqual([0, '[]\n'])
    expect(stderr).toMatch(
      /^waiting: the service 127\.0\.0\.1:\d+ is out of reach since [^\n]+ \(connection refused\); it is tried again by itself, [^\n]+\n$/,
    )
  })

  it('shows no signed query, key or header in anything it prints', async () => {
    const env = await serviceWith({
      faults: [
        { operation: 'put', nth: 1, action: 'resetMidBody' },
        { operation: 'put', nth: 2, action: 'html500' },
        { operation: 'confirm', nth: 1, action: { status: 503, headers: { 'retry-after': '0' } } },
        { operation: 'put', nth: 'every', fileName: 'small.mov', action: { status: 400, body: '<Error/>' } },
      ],
    })

    const { stdout, stderr } = await cli.run(['video', 'swing.mp4', 'small.mov', ...VIDEO, '--json'], env)

    expect(lastLine(stdout)).toMatchObject({ status: 'partial' })
    const queries = service.requestsOf('put').map(({ target }) => target.split('?')[1]!)
    expect(queries.length).toBeGreaterThan(3)
    for (const secret of [service.apiKey, ...queries]) expect(stdout + stderr).not.toContain(secret)
    expect(service.records.credentialLeaks).toEqual([])
  })
})
