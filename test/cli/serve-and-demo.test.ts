// `serve` hands out its address and credentials and stops cleanly; `demo` plays the whole product and leaves nothing.

import { execFileSync } from 'node:child_process'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'

import { canMount } from '../helpers/can-mount.ts'
import { installCli, jsonLines, lastLine } from './cli-under-test.ts'
import type { CliUnderTest } from './cli-under-test.ts'

/** Node's options for a command that does this as soon as it says those words. A test that is held for seconds would be too late. */
function whenItSays(words: string, deed: string): { readonly NODE_OPTIONS: string } {
  const script = `
    import { readFileSync } from 'node:fs'
    const { pid, stdout } = process
    const { write } = stdout
    stdout.write = (text, ...rest) => {
      if (String(text).includes(${JSON.stringify(words)})) {
        stdout.write = write
        ${deed}
      }
      return write.call(stdout, text, ...rest)
    }`
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` }
}

/** Lets the demo of this copy make few small files. Most of what is tested of it has nothing to do with their bytes, which take long. */
async function makeSamplesSmall({ entry }: CliUnderTest): Promise<void> {
  const whole = /trackingFiles: 40, clipBytes: \[[^\]]*\]/
  const folder = dirname(entry)
  const modules = (await readdir(folder)).filter((name) => name.endsWith('.js'))
  const texts = await Promise.all(
    modules.map(async (name) => ({ name, text: await readFile(join(folder, name), 'utf8') })),
  )
  const found = texts.filter(({ text }) => whole.test(text))
  expect(found).toHaveLength(1)
  for (const { name, text } of found)
    await writeFile(join(folder, name), text.replace(whole, 'trackingFiles: 4, clipBytes: [4e5, 12e6]'))
}

let cli: CliUnderTest
let temporary: string

beforeAll(async () => {
  cli = await installCli()
  await makeSamplesSmall(cli)
  temporary = join(cli.folder, 'tmp')
  await mkdir(temporary)
})
afterAll(() => cli.remove())

it('serve makes credentials up, takes calls with them, and stops on Ctrl-C', async () => {
  const serve = cli.start(['serve', '--port', '0', '--json'], { TMPDIR: temporary })
  let listening: ReturnType<typeof jsonLines>[number] | undefined
  serve.process.stdout!.once('data', (text: string) => (listening = jsonLines(text)[0]))
  await serve.seen(/"listening"/)
  const url = String(listening?.['url'])
  const call = (env: Record<string, string>) =>
    cli.run(['api', 'GET', '/requested_analyses'], { MOCAP_BASE_URL: url, ...env })

  const byKey = await call({ MOCAP_API_KEY: String(listening?.['apiKey']) })
  const byToken = await call({ MOCAP_ACCESS_TOKEN: String(listening?.['accessToken']) })
  const refused = await call({ MOCAP_API_KEY: 'another' })
  serve.process.kill('SIGINT')
  const { code } = await serve.ended

  expect([byKey.code, byToken.code, refused.code]).toEqual([0, 0, 4])
  expect(code).toBe(130)
  expect(await readdir(temporary)).toEqual([])
})

it.each([
  ['0.0.0.0', [], true],
  ['0.0.0.0', ['--public-url', 'http://lab-server:8787'], false],
] as const)(
  'serve at %s with %j says that files of other machines would not get through: %s',
  async (host, more, isSaid) => {
    const serve = cli.start(['serve', '--port', '0', '--host', host, ...more])
    await serve.seen(/listens on/)
    serve.process.kill('SIGTERM')
    const { stderr } = await serve.ended

    const said = /^Files go to addresses that begin with http:\/\/127\.0\.0\.1:\d+, which only this machine reaches\./m
    expect(said.test(stderr)).toBe(isSaid)
  },
)

it('serve says at once that it starts, and begins with the empty database beside the command, for its user alone', async () => {
  const serve = cli.start(['serve', '--port', '0', '--data', 'begun'])
  await serve.seen(/listens on/)
  serve.process.kill('SIGTERM')
  const { stdout } = await serve.ended

  expect(stdout.split('\n')[0]).toBe('Starting the service …')
  // PGlite would let everybody read and write the files that it makes itself.
  const { mode } = await stat(join(cli.folder, 'begun', 'db', 'PG_VERSION'))
  expect(mode & 0o777).toBe(process.platform === 'win32' ? 0o666 : 0o600)
})

it('serve ends with an error of its own as any command does: with 1, and with a result in JSON', async () => {
  const env = whenItSays('"event":"listening"', "setImmediate(() => { throw new Error('at fault') })")

  const { code, stdout, stderr } = await cli.run(['serve', '--port', '0', '--json'], { ...env, MOCAP_API_KEY: 'key' })

  expect({ code, lines: stderr.split('\n').filter((line) => line.includes('at fault')) }).toEqual({
    code: 1,
    lines: ['error: at fault'],
  })
  const error = { code: 'ERR_UPLOAD_INTERNAL', message: 'at fault' }
  expect(lastLine(stdout)).toMatchObject({ event: 'result', flow: 'serve', status: 'failed', error })
})

it.each([
  // An address of one link, of which the system wants to know the interface. A machine without IPv6 has no such address.
  [
    'an address that the system refuses',
    'fe80::1',
    '',
    /^error: This machine (?:cannot listen on|has no address) fe80::1: give another --host\. \(/,
  ],
  [
    'a name where no name server answers',
    'recorder',
    `import dns from 'node:dns'
    dns.lookup = (...args) => args.at(-1)(Object.assign(new Error('getaddrinfo EAI_AGAIN recorder'), { code: 'EAI_AGAIN' }))`,
    /^error: No name server says which address recorder is: give the address itself as --host\. \(/,
  ],
])('serve says what to give for %s, and does not ask to report it', async (_what, host, preload, words) => {
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(preload)}`

  const { code, stderr } = await cli.run(['serve', '--port', '0', '--host', host, '--quiet'], {
    ...{ NODE_OPTIONS, MOCAP_API_KEY: 'key-of-the-test' },
  })

  expect([code, stderr]).toEqual([2, expect.stringMatching(words)])
})

it('demo confirms and completes everything, finds every object identical, and cleans up', async () => {
  // Settings of somebody's own service, which the demo's must not use.
  const settings = {
    DATABASE_URL: 'postgres://uplink@127.0.0.1:1/records',
    ...{ S3_BUCKET: 'films', S3_ENDPOINT: 'http://127.0.0.1:1', S3_ACCESS_KEY: 'a', S3_SECRET_KEY: 'b' },
    ...{ MOCAP_ACCESS_TOKEN: 'token', MOCAP_CALLS_PER_MINUTE: '1', MOCAP_JWT_ISSUER: 'https://issuer.example' },
  }
  const whole = await installCli()
  onTestFinished(() => whole.remove())
  const { code, stdout, stderr } = await whole.run(['demo', '--json'], { TMPDIR: temporary, ...settings })

  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const result = lastLine(stdout)
  expect(result).toMatchObject({
    ...{ event: 'result', flow: 'demo', status: 'confirmed' },
    uploads: [
      { flow: 'capture', status: 'confirmed' },
      { flow: 'video', status: 'confirmed' },
    ],
    analysis: { status: 'completed', serviceStatus: 'completed' },
    stored: { objects: 45, identical: 45, differences: [] },
  })
  const samples = jsonLines(stdout).find(({ event }) => event === 'samples')
  expect(samples).toMatchObject({ captures: 40, videos: 5 })
  expect(await readdir(temporary)).toEqual([])
})

it('demo stops on Ctrl-C in the middle, and still cleans up', async () => {
  const env = { TMPDIR: temporary, ...whenItSays('"event":"file"', "process.kill(pid, 'SIGINT')") }

  const { code, stdout, stderr } = await cli.run(['demo', '--json'], env)

  expect(code).toBe(130)
  expect(stderr).toMatch(/Interrupted by SIGINT\. Nothing is kept\.\n$/)
  expect(lastLine(stdout)).toMatchObject({ event: 'result', flow: 'demo', status: 'interrupted' })
  expect(await readdir(temporary)).toEqual([])
})

// The children of a process are read from /proc.
it.runIf(process.platform === 'linux')('demo leaves nothing after a second signal either', async () => {
  // Its service then does not answer any more, so that the first signal cannot have ended everything before the second.
  const hold = "process.kill(Number(readFileSync('/proc/' + pid + '/task/' + pid + '/children')), 'SIGSTOP')"
  const demo = cli.start(['demo'], { TMPDIR: temporary, ...whenItSays('Uploading captures', hold) })
  await demo.seen(/Uploading captures/)

  demo.process.kill('SIGINT')
  await demo.seen(/Stopping the demo/)
  demo.process.kill('SIGTERM')
  const { code } = await demo.ended

  expect(code).toBe(143)
  expect(await readdir(temporary)).toEqual([])
})

it.runIf(process.platform === 'linux')('demo ends at once, and says why, if its service ends by itself', async () => {
  const kill = "process.kill(Number(readFileSync('/proc/' + pid + '/task/' + pid + '/children')), 'SIGKILL')"

  const { code, stdout, stderr } = await cli.run(['demo'], {
    TMPDIR: temporary,
    ...whenItSays('Uploading captures', kill),
  })

  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/(^|\n)error: The service has ended by itself \(SIGKILL\)\.\n$/) as string,
  })
  expect(stdout).not.toContain('Uploading videos')
  expect(await readdir(temporary)).toEqual([])
})

it.runIf(process.platform === 'linux')(
  'demo ends also if its service ends while its page stays, and leaves nothing',
  async () => {
    const kill = "process.kill(Number(readFileSync('/proc/' + pid + '/task/' + pid + '/children')), 'SIGKILL')"

    const { code, stderr } = await cli.run(['demo', '--open'], {
      ...{ TMPDIR: temporary, DISPLAY: '', WAYLAND_DISPLAY: '' },
      ...whenItSays('The page stays', kill),
    })

    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/(^|\n)error: The service has ended by itself \(SIGKILL\)\.\n$/) as string,
    })
    expect(await readdir(temporary)).toEqual([])
  },
)

it('demo says why its service cannot start as serve says it, with its code', async () => {
  const keep = join(cli.folder, 'kept')
  await mkdir(join(keep, 'service'), { recursive: true })
  await writeFile(join(keep, 'service', 'holiday.jpg'), 'photo')

  const { code, stdout, stderr } = await cli.run(['demo', '--keep', keep, '--json'])

  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/^error: The [^\n]+ \(ERR_SERVICE_DATA_FOREIGN\)\n$/) as string,
  })
  expect(stderr.match(/error: /g)).toHaveLength(1)
  expect(lastLine(stdout)).toMatchObject({ flow: 'demo', error: { code: 'ERR_SERVICE_DATA_FOREIGN' } })
  expect(JSON.stringify(lastLine(stdout))).not.toContain('Report it')
})

it.skipIf(!canMount())(
  'demo begins nothing on a disk that is too small for it, and says how to choose another',
  async () => {
    const disk = join(cli.folder, 'small-disk')
    await mkdir(disk)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', disk], { stdio: 'pipe' })
    onTestFinished(() => void execFileSync('umount', [disk]))

    const { code, stdout, stderr } = await cli.run(['demo'], { TMPDIR: disk })

    expect({ code, stdout, left: await readdir(disk) }).toEqual({ code: 2, stdout: '', left: [] })
    expect(stderr).toMatch(
      /^error: The demo needs [^\n]+ has 64 MiB free\. [^\n]+ with --keep or in TMPDIR\. [^\n]+\n$/,
    )
  },
)

it.skipIf(process.platform === 'win32').each([['demo'], ['serve', '--port', '0']])(
  '%s has to do without a place for temporary files, and says how to give one',
  async (...args) => {
    await writeFile(join(cli.folder, 'a-file'), '')
    const { code, stderr } = await cli.run(args, { TMPDIR: join(cli.folder, 'a-file', 'there') })

    expect(code).toBe(2)
    expect(stderr).toMatch(/^error: TMPDIR: "[^"]+" cannot be written: a part of this path is not a folder\. [^\n]+\n$/)
  },
)

// Elsewhere it would open a browser of the person who runs the tests.
it.skipIf(process.platform !== 'linux')(
  'demo --open says the address where there is no browser, and stays until Ctrl-C',
  async () => {
    const demo = cli.start(['demo', '--open', '--json'], { TMPDIR: temporary, DISPLAY: '', WAYLAND_DISPLAY: '' })
    await demo.seen(/"event":"result"/)
    demo.process.kill('SIGINT')
    const { code, stdout } = await demo.ended

    expect(code).toBe(0)
    const page = jsonLines(stdout).find(({ event }) => event === 'page')
    expect(page?.['url']).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#key=[\w-]{32}$/)
    expect(await readdir(temporary)).toEqual([])
  },
)
