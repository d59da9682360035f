// Signals and a reader that goes away: what ends an upload, what does not, and what is said of it.

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { constants, existsSync } from 'node:fs'
import { mkdir, open, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'

import { isInBackground } from '../../src/cli/job-control.ts'
import { listenForSignals } from '../../src/cli/signals.ts'
import { startIndependentService } from '../helpers/independent-service.ts'
import type { IndependentService } from '../helpers/independent-service.ts'
import { installCli, CAPTURE, lastLine, VIDEO } from './cli-under-test.ts'
import type { CliProcess, CliUnderTest } from './cli-under-test.ts'

const MIB = 1024 * 1024
const FOREVER = { delayMs: 600_000 }
const NOBODY = 'http://127.0.0.1:1'
/** A process to which a folder called `drive` never answers. */
const SILENT_DRIVE = `--import=data:text/javascript,${encodeURIComponent(`
  import fs from 'node:fs/promises'
  import { syncBuiltinESMExports } from 'node:module'
  const { readdir } = fs
  fs.readdir = (path, ...rest) => {
    if (!String(path).endsWith('drive')) return readdir(path, ...rest)
    console.log('asked')
    return new Promise(() => setInterval(() => undefined, 1000))
  }
  syncBuiltinESMExports()`)}`
/** A process of which a thread waits for a drive that never answers: here a pipe into which nobody writes. */
const waitingFor = (pipe: string) =>
  `--import=data:text/javascript,${encodeURIComponent(`
    import { open } from 'node:fs'
    open(${JSON.stringify(pipe)}, 'r', () => undefined)`)}`
/** A process whose minute takes two seconds. */
const SHORT_MINUTE = `--import=data:text/javascript,${encodeURIComponent(`
  const { setTimeout } = globalThis
  globalThis.setTimeout = (call, ms, ...more) => setTimeout(call, ms === 60_000 ? 2_000 : ms, ...more)`)}`
/** A process that gives what it stops ten minutes instead of five seconds, so that it cannot end before the test goes on. */
const PATIENT_STOP = `--import=data:text/javascript,${encodeURIComponent(`
  const { setTimeout } = globalThis
  globalThis.setTimeout = (callback, ms, ...rest) => setTimeout(callback, ms === 5_000 ? 600_000 : ms, ...rest)`)}`
/** A process that hears of the end of its terminal once it has drawn something there. */
const HANG_UP = `--import=data:text/javascript,${encodeURIComponent(`
  const { stdout, pid } = process
  const { write } = stdout
  stdout.write = (text, ...rest) => {
    if (String(text).includes('% stored')) {
      stdout.write = write
      setImmediate(() => process.kill(pid, 'SIGHUP'))
    }
    return write.call(stdout, text, ...rest)
  }`)}`
/** A process to which Ctrl-C comes right after it has printed its result. */
const LATE_INTERRUPT = `--import=data:text/javascript,${encodeURIComponent(`
  const { stdout, pid } = process
  const { write } = stdout
  stdout.write = (text, ...rest) => {
    if (String(text).includes('"event":"result"')) setImmediate(() => process.kill(pid, 'SIGINT'))
    return write.call(stdout, text, ...rest)
  }`)}`
/** A process to which a second Ctrl-C comes right behind the first: of two that are sent to it, the system may give it one. */
const PASSED_ON = `--import=data:text/javascript,${encodeURIComponent(`
  process.once('SIGINT', () => process.kill(process.pid, 'SIGINT'))`)}`
/** A process to which a second Ctrl-C comes when its clock is a second further than at the first. */
const TWICE = `--import=data:text/javascript,${encodeURIComponent(`
  const now = performance.now.bind(performance)
  process.once('SIGINT', () => setImmediate(() => {
    performance.now = () => now() + 1_000
    process.kill(process.pid, 'SIGINT')
  }))`)}`

let cli: CliUnderTest
let service: IndependentService
const big = randomBytes(12 * MIB)

beforeAll(async () => {
  cli = await installCli()
  await writeFile(join(cli.folder, 'small.mp4'), 'content')
  await writeFile(join(cli.folder, 'big.mp4'), big)
  await writeFile(join(cli.folder, 'take.action'), 'content')
})
afterAll(() => cli.remove())
afterEach(() => service.close())

/** An upload of two videos of which the small one is confirmed and the big one gets no answer. */
async function stuckUpload(...more: string[]): Promise<CliProcess> {
  service = await startIndependentService({
    faults: [{ operation: 'put', nth: 'every', fileName: 'big.mp4', action: FOREVER }],
  })
  const upload = cli.start(['video', 'small.mp4', 'big.mp4', ...VIDEO, ...more], environment())
  await upload.seen(/confirmed small\.mp4|"name":"small\.mp4".*"state":"confirmed"/)
  return upload
}

/** A command that has failed and says that it waits for a drive, which is a pipe. */
async function failedBesideDrive(name: string, preload = '') {
  service = await startIndependentService()
  const pipe = join(cli.folder, name)
  execFileSync('mkfifo', [pipe])
  const env = { ...environment(), NODE_OPTIONS: `${waitingFor(pipe)} ${preload}` }
  const command = cli.start(['analysis', 'get', '999'], env)
  onTestFinished(() => void command.process.kill('SIGKILL'))
  await new Promise<void>((settle) => {
    command.process.stderr?.on('data', (text: string) => {
      if (text.includes('A drive or a name server')) settle()
    })
  })
  return { command, pipe }
}

function environment(): Record<string, string> {
  return { MOCAP_BASE_URL: service.url, MOCAP_API_KEY: service.apiKey }
}

describe('a signal', () => {
  it.each([
    ['files that were moved', ['resume', '--files-in', 'drive', '--dry-run']],
    ['sessions', ['sessions', '--state-dir', 'drive']],
    ['a session', ['receipt', 'show', 'video-1', '--state-dir', 'drive']],
  ])('ends the look for %s', async (_, args) => {
    service = await startIndependentService()
    await mkdir(join(cli.folder, 'drive'), { recursive: true })
    const command = cli.start(args, { ...environment(), NODE_OPTIONS: SILENT_DRIVE })
    onTestFinished(() => void command.process.kill('SIGKILL'))
    await command.seen(/asked/)

    command.process.kill('SIGINT')

    expect(await command.ended).toMatchObject({ code: 130, stderr: 'Interrupted by SIGINT.\n' })
  })

  it('ends the wait for a key from a pipe into which nobody writes', async () => {
    service = await startIndependentService()
    const pipe = join(cli.folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    const upload = cli.start(['video', 'small.mp4', ...VIDEO, '--api-key-file', pipe], { MOCAP_BASE_URL: service.url })
    onTestFinished(() => void upload.process.kill('SIGKILL'))
    // It can be opened for writing without a wait as soon as there is a reader.
    const opened = () => open(pipe, constants.O_WRONLY | constants.O_NONBLOCK)
    const writer = await vi.waitFor(opened, { timeout: 30_000 })
    onTestFinished(() => writer.close())

    upload.process.kill('SIGINT')

    expect(await upload.ended).toMatchObject({ code: 130, stderr: 'Interrupted by SIGINT.\n' })
  })

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s stops cleanly with %i and says what is confirmed', async (signal, expected) => {
    const upload = await stuckUpload('--json')
    upload.process.kill(signal)
    const { code, stdout, stderr } = await upload.ended

    // By its code and not by the signal: systemd, a container and other programs tell the two apart.
    expect([code, upload.process.exitCode]).toEqual([expected, expected])
    expect(lastLine(stdout)).toMatchObject({
      ...{ event: 'result', flow: 'video', status: 'interrupted', bytes: 12 * MIB + 7, confirmedBytes: 7 },
      sessionId: service.storedFiles()[0]?.sessionId,
      files: [
        { name: 'small.mp4', status: 'confirmed', verified: true },
        { name: 'big.mp4', status: 'unfinished', verified: false },
      ],
    })
    expect(stderr).toContain('unfinished: big.mp4\n')
    const { key } = lastLine(stdout)
    const place = `--state-dir ${cli.stateDir} --base-url ${service.url}`
    expect(stderr).toContain(
      `\nMissing: 1 of 2 files, 12 MiB. To finish: mocap-uplink resume ${String(key)} ${place}\n`,
    )
    expect(stderr).toContain(
      `\nTo keep the 1 file confirmed and give up the rest: mocap-uplink cancel --keep-confirmed ${String(key)} ${place}\n`,
    )
    expect(service.records.cancelledSessionIds).toEqual([])
  })

  it('leaves no lock behind where a create is still on its way: another machine could not tell that nobody holds it', async () => {
    service = await startIndependentService({ faults: [{ operation: 'create', nth: 1, action: FOREVER }] })
    const stateDir = join(cli.folder, 'stopped in time')
    const upload = cli.start(['video', 'small.mp4', ...VIDEO, '--state-dir', stateDir], environment())
    await expect.poll(() => service.requestsOf('create').length).toBe(1)
    const locks = async () => (await readdir(stateDir, { recursive: true })).filter((path) => path.includes('lock'))
    expect(await locks()).not.toEqual([])

    upload.process.kill('SIGTERM')

    expect(await upload.ended).toMatchObject({ code: 143 })
    expect(await locks()).toEqual([])
  })

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    '%s ends the process even if a drive never answers: a normal exit would wait for it',
    async (signal) => {
      service = await startIndependentService({ faults: [{ operation: 'put', nth: 'every', action: FOREVER }] })
      const pipe = join(cli.folder, `drive of ${signal}`)
      execFileSync('mkfifo', [pipe])
      const env = { ...environment(), NODE_OPTIONS: waitingFor(pipe) }
      const upload = cli.start(['video', 'small.mp4', ...VIDEO], env)
      onTestFinished(() => void upload.process.kill('SIGKILL'))
      await expect.poll(() => service.requestsOf('put').length).toBe(1)

      upload.process.kill(signal)
      const { stderr } = await upload.ended

      expect(upload.process.signalCode).toBe(signal)
      expect(stderr).toContain('To finish: mocap-uplink resume ')
    },
  )

  it('ends the wait of a command that has failed for a drive that does not answer', async () => {
    const { command } = await failedBesideDrive('drive of a failure')

    command.process.kill('SIGINT')
    await command.ended

    expect(command.process.signalCode).toBe('SIGINT')
  })

  it('that never comes leaves a command that has failed its exit code once the drive answers', async () => {
    const { command, pipe } = await failedBesideDrive('drive that comes back')

    await writeFile(pipe, '')
    const { code, stderr } = await command.ended

    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^A drive or a name server does not answer\. Waiting for it for up to a minute; Ctrl-C ends/m,
    )
  })

  it('that never comes leaves nothing that hangs: the command is killed in the end', async () => {
    const { command } = await failedBesideDrive('drive that is gone', SHORT_MINUTE)

    await command.ended

    expect(command.process.signalCode).toBe('SIGKILL')
  })

  it('that comes after the result leaves an upload its exit code, whichever thread has answered last', async () => {
    service = await startIndependentService()
    const env = { ...environment(), NODE_OPTIONS: LATE_INTERRUPT }

    const { code, stdout } = await cli.run(['video', 'small.mp4', ...VIDEO, '--json'], env)

    expect({ code, status: lastLine(stdout)['status'] }).toEqual({ code: 0, status: 'confirmed' })
  })

  it('that comes twice ends the process at once', async () => {
    service = await startIndependentService({ faults: [{ operation: 'create', nth: 1, action: FOREVER }] })
    const env = { ...environment(), NODE_OPTIONS: `${PATIENT_STOP} ${TWICE}` }
    const upload = cli.start(['video', 'small.mp4', ...VIDEO], env)
    await expect.poll(() => service.requestsOf('create').length).toBe(1)

    // A create is not aborted by the first one, so that its session is known.
    upload.process.kill('SIGINT')
    const { code, stdout } = await upload.ended

    expect(code).toBe(130)
    expect(stdout).toContain('Stopping')
    expect(stdout).not.toContain('interrupted:')
  })

  it('that another program passes on, as npm does with Ctrl-C, counts once', async () => {
    service = await startIndependentService({ faults: [{ operation: 'put', nth: 'every', action: FOREVER }] })
    const upload = cli.start(['video', 'small.mp4', ...VIDEO, '--json'], { ...environment(), NODE_OPTIONS: PASSED_ON })
    await upload.seen(/"state":"uploading"/)

    upload.process.kill('SIGINT')
    const { code, stdout, stderr } = await upload.ended

    expect(code).toBe(130)
    expect(lastLine(stdout)).toMatchObject({ event: 'result', status: 'interrupted' })
    expect(stderr).toContain('To finish: ')
  })

  it('that comes twice while the service is waited for leaves a session that another process takes up', async () => {
    service = await startIndependentService()
    const down = { ...environment(), MOCAP_BASE_URL: NOBODY, NODE_OPTIONS: TWICE }
    const upload = cli.start(['video', 'small.mp4', ...VIDEO, '--json', '--give-up-after', '12h'], down)
    await upload.seen(/"event":"waiting"/)

    upload.process.kill('SIGINT')
    const { code, stdout } = await upload.ended
    const resumed = await cli.run(['resume', /"key":"([^"]+)"/.exec(stdout)![1]!], environment())

    expect(code).toBe(130)
    expect(stdout).not.toContain('"event":"result"')
    expect(resumed.code).toBe(0)
    // The process may have ended before it could write that nobody had answered its create.
    expect(resumed.stderr).toMatch(/^(warning: a create had no clear answer[^\n]*\n)*$/i)
    expect(service.requestsOf('create')).toHaveLength(1)
  })

  it('of a hang-up may come twice, from the system and from the shell', async () => {
    service = await startIndependentService({ faults: [{ operation: 'create', nth: 1, action: FOREVER }] })
    const upload = cli.start(['video', 'small.mp4', ...VIDEO], { ...environment(), NODE_OPTIONS: PATIENT_STOP })
    await expect.poll(() => service.requestsOf('create').length).toBe(1)

    upload.process.kill('SIGHUP')
    await upload.seen(/Stopping/)
    upload.process.kill('SIGHUP')
    upload.process.kill('SIGINT')

    expect(await upload.ended).toMatchObject({ code: 130 })
  })

  it('of a hang-up ends nothing that was started with nohup, which is found by its name: Node undoes what it does', async () => {
    service = await startIndependentService({ faults: [{ operation: 'put', nth: 'every', action: FOREVER }] })
    const upload = cli.start(['video', 'small.mp4', ...VIDEO, '--json'], { ...environment(), _: '/usr/bin/nohup' })
    await upload.seen(/"state":"uploading"/)

    upload.process.kill('SIGHUP')
    upload.process.kill('SIGTERM')
    const { code, stdout } = await upload.ended

    // A second signal that counts would have ended it at once, without a result.
    expect(code).toBe(143)
    expect(lastLine(stdout)).toMatchObject({ event: 'result', status: 'interrupted' })
  })

  it('tells how to finish a capture session, and how the service was reached', async () => {
    service = await startIndependentService({ faults: [{ operation: 'put', nth: 'every', action: FOREVER }] })
    const { MOCAP_BASE_URL = '', ...env } = environment()
    const stateDir = join(cli.folder, "state of o'hara")
    const given = ['--base-url', MOCAP_BASE_URL, '--state-dir', stateDir]
    const upload = cli.start(['capture', 'take.action', ...CAPTURE, ...given], env)
    await expect.poll(() => service.requestsOf('put').length).toBe(1)

    upload.process.kill('SIGINT')
    const { code, stderr } = await upload.ended

    expect(code).toBe(130)
    const folder = `'${join(cli.folder, "state of o'\\''hara")}'`
    expect(stderr).toMatch(/To finish: mocap-uplink resume capture-\w+-\w+ --state-dir/)
    expect(stderr).toContain(` --state-dir ${folder} --base-url ${MOCAP_BASE_URL}\n`)
  })

  it('ends a wait for an analysis, and leaves the analysis alone', async () => {
    service = await startIndependentService({ analysisProgress: ['requested'] })
    const segment = '{"movement_type_id":1,"dom_hand":"RHA"}'
    const request = cli.start(['analysis', 'request', '--name', 'night', '--primary', segment, '--json'], environment())
    await request.seen(/"serviceStatus":"requested"/)

    request.process.kill('SIGINT')
    const { code, stdout, stderr } = await request.ended

    expect(code).toBe(130)
    expect(lastLine(stdout)).toMatchObject({ flow: 'analysis', status: 'interrupted', serviceStatus: 'requested' })
    expect(stderr).toMatch(/mocap-uplink analysis watch \S+/)
  })
})

describe.skipIf(!existsSync('/usr/bin/script'))('Ctrl-Z', () => {
  const [HIDDEN, SHOWN] = ['\x1b[?25l', '\x1b[?25h']

  it('gives the terminal back as it was, and fg draws below what the shell has printed', async () => {
    // With job control, as in an interactive shell.
    const { terminal, seen } = await uploadInTerminal(`set -m; "$@"; echo 'the shell'; fg`)
    await expect.poll(() => service.requestsOf('put').length).toBe(1)
    await expect.poll(seen).toContain(HIDDEN)

    terminal.stdin.write('\x1a')

    await expect.poll(() => seen().split('the shell')[1] ?? '').toContain('% stored')
    const [before = '', after = ''] = seen().split('the shell')
    expect(before.lastIndexOf(SHOWN)).toBeGreaterThan(before.lastIndexOf(HIDDEN))
    // Nothing goes up and clears what the shell has printed.
    expect(after.split('% stored')[0]).not.toContain('\x1b[J')
    terminal.stdin.write('\x03')
    await expect.poll(seen).toContain('interrupted: ')
  })

  it('draws as wide as the terminal is now, where it was resized while the shell had it', async () => {
    const { terminal, seen } = await uploadInTerminal(
      `set -m; stty rows 24 cols 100; "$@"; stty cols 50; echo 'the shell'; fg`,
    )
    // The first picture may have no row of a file yet, only the line of the whole.
    await expect.poll(() => rowWidths(seen())).not.toHaveLength(0)

    terminal.stdin.write('\x1a')

    await expect.poll(() => rowWidths(seen().split('the shell')[1] ?? '')).not.toHaveLength(0)
    terminal.stdin.write('\x03')
    await expect.poll(seen).toContain('interrupted: ')
    const [before = '', after = ''] = seen().split('the shell')
    // There is room for a bar in a hundred columns, and none in fifty.
    expect(before).toMatch(/small\.mp4 +[█░]{20} /)
    expect(after).not.toMatch(/[█░]/)
    expect(Math.max(...rowWidths(after))).toBeLessThanOrEqual(50)
  })

  /** How many columns each row of a file has; what moves the cursor takes none. */
  function rowWidths(screen: string): number[] {
    return screen
      .replace(/\x1b\[[\d;?]*[A-Za-z]/g, '')
      .split(/[\r\n]+/)
      .filter((line) => /small\.mp4 .*\d %/.test(line))
      .map((line) => line.trimEnd().length)
  }
})

describe('a job', () => {
  it.each([
    ['that has the terminal', '12 (node) S 1 12 12 34816 12 4194304', false],
    ['in the background', '12 (a (b) 7 c) S 1 12 5 34816 5 4194304', true],
    ['without a terminal', '12 (node) S 1 12 5 0 -1 4194304', false],
  ])('%s is found out', (_, state, expected) => {
    expect(isInBackground(() => state)).toBe(expected)
  })
})

describe.skipIf(!existsSync('/usr/bin/script'))('a terminal that is closed', () => {
  it('ends as by its signal, although there is no terminal to be set back any more', async () => {
    const end = join(cli.folder, 'end')
    const { terminal } = await uploadInTerminal(
      // The first wait ends with the signal, the second with the program.
      `trap 'kill -HUP $program' HUP; "$@" & program=$!; wait $program; wait $program; echo $? > '${end}'`,
    )
    await expect.poll(() => service.requestsOf('put').length).toBe(1)

    terminal.kill('SIGKILL')

    await expect.poll(() => readFile(end, 'utf8').catch(() => '')).toBe('129\n')
  })
})

/** The first process of a container: no signal ends it, but for those that it listens to. */
const FIRST = ['unshare', '--fork', '--pid', '--kill-child']

describe.skipIf(!existsSync('/usr/bin/script') || spawnSync(FIRST[0]!, [...FIRST.slice(1), 'true']).status !== 0)(
  'the first process of a container whose terminal is closed',
  () => {
    it('ends with the code of the signal, too', async () => {
      const end = join(cli.folder, 'end-of-first')
      const { seen } = await uploadInTerminal(`${FIRST.join(' ')} "$@"; echo $? > '${end}'`, HANG_UP)
      await expect.poll(seen).toContain('interrupted: ')

      await expect.poll(() => readFile(end, 'utf8').catch(() => '')).toBe('129\n')
    })
  },
)

describe('a reader that goes away', () => {
  it.each([['--json'], ['--verify=md5']])('does not end the upload (%s)', async (option) => {
    service = await startIndependentService({
      faults: [{ operation: 'create', nth: 1, action: { delayMs: 300 } }],
    })
    const upload = cli.start(['video', 'small.mp4', 'big.mp4', ...VIDEO, option], environment())
    upload.process.stdout!.destroy()

    const { code } = await upload.ended

    expect(code).toBe(0)
    const digest = createHash('sha256').update(big).digest('hex')
    expect(service.storedFiles()).toMatchObject([
      { fileName: 'small.mp4', isConfirmed: true },
      { fileName: 'big.mp4', isConfirmed: true, sha256: digest },
    ])
  })
})

/** Begins an upload without an end on a terminal, by a script of a shell in which `"$@"` is the command. */
async function uploadInTerminal(script: string, preload = '') {
  service = await startIndependentService({ faults: [{ operation: 'put', nth: 'every', action: FOREVER }] })
  await writeFile(join(cli.folder, 'in-terminal.sh'), script)
  const args = ['sh', 'in-terminal.sh', process.execPath, cli.entry, 'video', 'small.mp4', ...VIDEO]
  const terminal = spawn('script', ['--quiet', '--command', args.join(' '), '/dev/null'], {
    cwd: cli.folder,
    env: {
      PATH: process.env['PATH'],
      SHELL: '/bin/sh',
      MOCAP_STATE_DIR: cli.stateDir,
      NODE_OPTIONS: preload,
      ...environment(),
    },
  })
  onTestFinished(() => void terminal.kill('SIGKILL'))
  let text = ''
  terminal.stdout.setEncoding('utf8').on('data', (piece: string) => (text += piece))
  return { terminal, seen: () => text }
}

it('is cleaned up after, the newest first, however the process ends', () => {
  const done: unknown[] = []
  vi.spyOn(process, 'on').mockReturnThis()
  vi.spyOn(process, 'kill').mockReturnValue(true)
  vi.spyOn(process, 'exit').mockImplementation((code) => done.push(code) as never)
  const { atOnce, end } = listenForSignals()
  for (const what of ['folder', 'cursor']) atOnce(() => void done.push(what))
  atOnce(() => void done.push('taken back'))()

  end(130, () => undefined)

  expect(done.slice(0, 3)).toEqual(['cursor', 'folder', 130])
})
