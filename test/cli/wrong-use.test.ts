// What is wrong with a command line or its files is found before any call: exit 2, one clear line, no stack trace.

import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { startIndependentService } from '../helpers/independent-service.ts'
import type { IndependentService } from '../helpers/independent-service.ts'
import { installCli, CAPTURE, jsonLines, lastLine, VIDEO } from './cli-under-test.ts'
import type { CliUnderTest } from './cli-under-test.ts'

const RIGHT = '{"movement_type_id":1,"dom_hand":"RHA"}'

let cli: CliUnderTest
let service: IndependentService
let env: Record<string, string>

beforeAll(async () => {
  cli = await installCli()
  service = await startIndependentService()
  env = { MOCAP_BASE_URL: service.url, MOCAP_API_KEY: service.apiKey }
  const { folder } = cli
  await Promise.all(['empty', 'a', 'b', 'papers'].map((name) => mkdir(join(folder, name))))
  for (const name of ['swing.mp4', 'take.action', 'a/same.action', 'b/same.action', 'empty/Thumbs.db'])
    await writeFile(join(folder, name), 'content')
  await writeFile(join(folder, 'key.txt'), 'the-file-key\n')
  await writeFile(join(folder, 'torn.pem'), '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n')
  for (const name of ['nothing.mp4', 'nothing.action', 'papers/nothing.mov']) await writeFile(join(folder, name), '')
  await writeFile(join(folder, 'papers', 'notes.pdf'), 'content')
  await writeFile(join(folder, 'locked.mp4'), 'content')
  await chmod(join(folder, 'locked.mp4'), 0)
  await writeFile(join(folder, '-V1.mp4'), 'clip')
})
afterAll(async () => {
  await cli.remove()
  await service.close()
})

/** Runs with --json, expects 2, and gives the one line on stderr. */
async function refused(args: readonly string[], more: Record<string, string> = {}): Promise<string> {
  const { code, stdout, stderr } = await cli.run([...args, '--json'], { ...env, ...more })
  const lines = jsonLines(stdout)
  expect({ code, calls: service.records.requests }).toEqual({ code: 2, calls: [] })
  expect(lines.filter(({ event }) => event !== 'skipped')).toMatchObject([
    { event: 'result', status: 'failed', files: [], error: { code: expect.stringMatching(/^ERR_UPLOAD_/) as string } },
  ])
  expect(stderr).toMatch(/^error: [^\n]+ \(ERR_UPLOAD_\w+\)\n$/)
  // Whoever reads only the JSON has the same options before them.
  const { message } = lines.at(-1)?.['error'] as { message: string }
  expect(stderr.startsWith(`error: ${message}`), `stderr says ${stderr}, and JSON ${message}`).toBe(true)
  return stderr
}

// At the same time, because a process takes a while to start and no test here may make a call.
describe.concurrent('wrong use', () => {
  it.each<[string, string[], RegExp]>([
    ['an unknown command', ['upload', 'x'], /unknown command 'upload'/],
    ['a misspelt command', ['vidoe', 'x'], /unknown command 'vidoe', did you mean video\? See mocap-uplink --help\./],
    ...['--bogus', '-b'].map((option): [string, string[], RegExp] => [
      `an unknown option ${option}, whose value is not repeated`,
      ['video', 'swing.mp4', ...VIDEO, `${option}=hush's\nhush`],
      new RegExp(`^error: unknown option '${option}=…'\\. See mocap-uplink help video\\. \\(`),
    ]),
    [
      'options before the command',
      ['--base-url=hush-hush', 'video', 'swing.mp4', ...VIDEO],
      /^error: unknown option '--base-url=…': give options after the command\. See mocap-uplink --help\. \(/,
    ],
    [
      'the same of a command below another',
      ['analysis', '--json', 'list'],
      /^error: unknown option '--json': give options after the command\. See mocap-uplink help analysis\. \(/,
    ],
    [
      'an option before the command that is like one of the program',
      ['--verify', 'off', 'video', 'swing.mp4', ...VIDEO],
      /^error: unknown option '--verify': give options after the command\. See mocap-uplink --help\. \(/,
    ],
    [
      'a misspelt option of the program before a command',
      ['--vesion', 'video'],
      /^error: unknown option '--vesion', did you mean --version\? See mocap-uplink --help\. \(/,
    ],
    [
      'a misspelt option that is required',
      ['video', 'swing.mp4', '--movment-type', '1'],
      /unknown option '--movment-type', did you mean --movement-type\? See mocap-uplink help video\./,
    ],
    [
      'a command under a command without what it needs',
      ['analysis', 'request', '--name', 'Night game'],
      /required option '--primary <segment>' not specified\. See mocap-uplink help analysis request\./,
    ],
    [
      'several required options that are missing, of which all are named at once',
      ['video', 'swing.mp4', '--player', 'p-17'],
      /required options '--movement-type <n>', '--date <day>', '--session-type <n>' not specified\. See mocap-uplink help video\./,
    ],
    [
      'a misspelt command under one that acts',
      ['serve', 'key'],
      /unknown command 'key', did you mean keys\? See mocap-uplink help serve\./,
    ],
    [
      "a file whose name begins with a dash and the letter of the program's own option",
      ['video', '-V1.mp4', ...VIDEO],
      /unknown option '-V1\.mp4'\. If the file is meant, give it as \.\/-V1\.mp4\. See mocap-uplink help video\./,
    ],
    ['a missing argument', ['video', ...VIDEO], /missing required argument 'file'/],
    [
      'a missing player',
      ['video', 'swing.mp4', '--movement-type', '1', '--date', '2026-11-20', '--session-type', '2'],
      /--player.* See mocap-uplink help video\./,
    ],
    ['an empty player', ['video', 'swing.mp4', ...VIDEO, '--player', ' '], /--player is empty/],
    ['a date that is none', ['video', 'swing.mp4', ...VIDEO, '--date', '2026-02-30'], /--date is "2026-02-30"/],
    ['a date of another form', ['capture', 'take.action', ...CAPTURE, '--date', '11\u002f20\u002f2026'], /--date is/],
    [
      'a type that is no number',
      ['video', 'swing.mp4', ...VIDEO, '--movement-type', 'one'],
      /--movement-type is "one"/,
    ],
    ['a missing organisation', ['capture', 'take.action', ...CAPTURE.slice(2)], /: --org is missing: give it, or /],
    [
      'a missing session type, with what else is missing',
      ['capture', 'take.action', '--mocap-type', '2', '--org', 'o'],
      /: --session-type, --date are missing: give them, or a known session with --session\. /,
    ],
    [
      'nothing but a folder, where all that is missing is named at once',
      ['capture', 'a'],
      /: --mocap-type, --org, --session-type, --date are missing: give them, or --mocap-type and a known session with --session\. See mocap-uplink help capture\. /,
    ],
    [
      'a known session without the mocap type',
      ['capture', 'a', '--session', '7'],
      /: --mocap-type is missing: give it\. See mocap-uplink help capture\. /,
    ],
    ['a file that is not there', ['video', 'gone.mp4', ...VIDEO], /"gone\.mp4" cannot be read: there is nothing/],
    ['a folder without files', ['capture', 'empty', ...CAPTURE], /no file to upload in "empty"/],
    ['files of the wrong kind', ['capture', 'take.action', ...CAPTURE, '--kind', 'video'], /kind is video/],
    [
      'a kind that is none',
      ['capture', 'take.action', ...CAPTURE, '--kind', 'audio'],
      /Allowed choices are video, tracking/,
    ],
    [
      'a video that is none',
      ['video', 'swing.mp4', 'papers/notes.pdf', ...VIDEO],
      /cannot be uploaded: papers\/notes\.pdf \(not a \.mov or \.mp4 file\)\. Leave it out/,
    ],
    ['an empty video', ['video', 'swing.mp4', 'nothing.mp4', ...VIDEO], /cannot be uploaded: nothing\.mp4 \(empty\)/],
    ['an empty capture', ['capture', 'nothing.action', ...CAPTURE], /cannot be uploaded: nothing\.action \(empty\)/],
    [
      'an empty video in a folder that is given as well, under another spelling',
      ['video', 'swing.mp4', 'papers', './papers/nothing.mov', ...VIDEO],
      /cannot be uploaded: papers\/nothing\.mov \(empty\)\. Leave it out/,
    ],
    [
      'a folder without a video',
      ['video', 'papers', ...VIDEO],
      /no file to upload in "papers"\. Skipped: papers\/notes\.pdf \(not a \.mov or \.mp4 file\), papers\/nothing\.mov \(empty\)\./,
    ],
    ['mixed kinds', ['capture', 'take.action', 'swing.mp4', ...CAPTURE], /two kinds.* or give --kind\. \(/],
    ['video captures without a frame rate', ['capture', 'swing.mp4', ...CAPTURE], /--frame-rate is missing/],
    ['one name twice', ['capture', 'a', 'b', ...CAPTURE], /Two files are named same\.action/],
    [
      'a part size below the limit',
      ['video', 'swing.mp4', ...VIDEO, '--part-size', '1'],
      /^error: --part-size must be a whole number of bytes from 5242880 \(5 MiB\) to 5368709120 \(5 GiB\), not 1\. \(/,
    ],
    ['a part size above the limit', ['video', 'swing.mp4', ...VIDEO, '--part-size', '6GiB'], /--part-size must be/],
    [
      'a part size for files that are not cut into parts',
      ['capture', 'take.action', ...CAPTURE, '--part-size', '8MiB'],
      /unknown option '--part-size'\. See mocap-uplink help capture\./,
    ],
    ['a part size of nothing', ['video', 'swing.mp4', ...VIDEO, '--part-size', '0'], /--part-size must be .*, not 0\./],
    [
      'a type that is too large a number',
      ['video', 'swing.mp4', ...VIDEO, '--movement-type', '99999999999999999999'],
      /--movement-type is "9{20}": give a whole number of at most 9007199254740991\./,
    ],
    ['a part size in bits', ['video', 'swing.mp4', ...VIDEO, '--part-size', '16Mb'], /--part-size: .*bits/],
    [
      'too much concurrency',
      ['video', 'swing.mp4', ...VIDEO, '--concurrency', '65'],
      /--concurrency is "65": give a whole number from 1 to 64, or auto\./,
    ],
    [
      'a rate of nothing',
      ['video', 'swing.mp4', ...VIDEO, '--limit-rate', '0'],
      /^error: --limit-rate must be at least 1 byte a second, not 0\. Write off for no limit\. \(/,
    ],
    [
      'a rate that is none',
      ['video', 'swing.mp4', ...VIDEO, '--limit-rate', 'fast'],
      /^error: --limit-rate: "fast" is not a size/,
    ],
    ['a time without a unit', ['video', 'swing.mp4', ...VIDEO, '--give-up-after', '12'], /--give-up-after is "12"/],
    ['no attempt at all', ['video', 'swing.mp4', ...VIDEO, '--retries', '0'], /--retries is "0"/],
    ['a verification that is none', ['video', 'swing.mp4', ...VIDEO, '--verify', 'sha1'], /choices are md5, full, off/],
    ['a state folder without a name', ['video', 'swing.mp4', ...VIDEO, '--state-dir', ''], /--state-dir is empty/],
    [
      'a receipt where there is no folder',
      ['video', 'swing.mp4', ...VIDEO, '--receipt', 'gone/receipt.json'],
      /^error: --receipt: "gone" cannot be written: there is nothing at this path/,
    ],
    ['a receipt that is a folder', ['video', 'swing.mp4', ...VIDEO, '--receipt', '.'], /--receipt: "\." is a folder/],
    ['a receipt without a name', ['video', 'swing.mp4', ...VIDEO, '--receipt', ''], /--receipt is empty: name a file/],
    ['the same of a resume', ['resume', '--receipt', 'gone/receipt.json'], /--receipt: "gone" cannot be written/],
    ['a part size for parts that are fixed', ['resume', '--part-size', '8MiB'], /unknown option '--part-size'/],
    ['a key that the journal does not have', ['resume', 'video-gone'], /No session "video-gone" is in .*state/],
    ['a cancel of a key that the journal does not have', ['cancel', 'video-gone'], /No session "video-gone" is in/],
    ['a cancel of everything', ['cancel'], /missing required argument 'key'/],
    [
      'plain HTTP off this machine',
      ['video', 'swing.mp4', ...VIDEO, '--base-url', 'http://example.com'],
      /plain HTTP to example\.com, .* or give --allow-http\. \(/,
    ],
    [
      'an address that is none',
      ['video', 'swing.mp4', ...VIDEO, '--base-url', 'service'],
      /^error: --base-url is not a URL: give https:\/\/host\/path\. \(/,
    ],
    [
      'an address with a password',
      ['video', 'swing.mp4', ...VIDEO, '--base-url', 'https://u:hush@service.example'],
      /^error: --base-url has a password or a user: give it without\. \(/,
    ],
    [
      'asking a service all the time',
      ['analysis', 'watch', '7', '--poll-every', '0.001s'],
      /^error: --poll-every is "0\.001s": give a time of at least 1 s with its unit, such as 90s/,
    ],
    ...[
      ['watch', '..'],
      ['get', '..'],
      ['submit', ''],
    ].map((call): [string, string[], RegExp] => [
      `an id that no path can hold: ${call.join(' ')}`,
      ['analysis', ...call],
      /^error: the analysis id is no id of the service: give it as issued, such as mocap-uplink analysis list prints\. \(/,
    ]),
    [
      'a segment by an id that no path can hold',
      ['segment', 'update', '..', '--data', '{}'],
      /^error: the segment id is no id of the service: give it as issued, such as mocap-uplink segment create prints\. \(/,
    ],
    [
      'certificates that are none',
      ['video', 'swing.mp4', ...VIDEO, '--ca-file', 'swing.mp4'],
      /--ca-file: .*no certificate/,
    ],
    [
      'a certificate that is torn',
      ['video', 'swing.mp4', ...VIDEO, '--ca-file', 'torn.pem'],
      /^error: --ca-file: "torn\.pem" holds no certificate in PEM form/,
    ],
    [
      'a hand that is none',
      ['segment', 'create', '--movement-type', '1', '--dom-hand', 'left'],
      /--dom-hand is "left"/,
    ],
    ['data that is no JSON', ['segment', 'update', '7', '--data', '{name:1}'], /--data is not JSON/],
    ['a segment id that is none', ['analysis', 'create', '--name', 'n', '--primary', 'x'], /--primary is "x"/],
    [
      'segments that disagree',
      ['analysis', 'request', '--name', 'n', '--primary', RIGHT, '--population', RIGHT.replace('RHA', 'LHA')],
      /population has domHand "LHA", primary "RHA"/,
    ],
    [
      'a misspelt field of a segment',
      ['analysis', 'request', '--name', 'n', '--primary', '{"movement_type":1}'],
      /unknown field "movement_type"/,
    ],
    ['a path that is empty', ['video', '', ...VIDEO], /^error: A path is empty: name a file or a folder\. \(/],
    [
      'a file for a folder',
      ['resume', '--files-in', 'swing.mp4'],
      /--files-in: "swing\.mp4" is a file: name the folder/,
    ],
    ['a folder without a name', ['resume', '--files-in', ''], /^error: A path is empty: name a file or a folder\. \(/],
    ['a method that is none', ['api', 'FETCH', '/players'], /The method is unknown/],
    ['a path that leaves the service', ['api', 'GET', '/../secret'], /leave the base URL/],
    ['a service on an address that is empty', ['serve', '--port', '0', '--host', ''], /--host is empty: give a value/],
    ['a service in a folder without a name', ['serve', '--port', '0', '--data', ''], /--data is empty: give a value/],
    ['keys in a folder without a name', ['serve', 'keys', 'list', '--data', ''], /--data is empty: give a value/],
    ['a demo in a folder without a name', ['demo', '--keep', ''], /--keep is empty: give a value/],
    [
      'a demo in a file',
      ['demo', '--keep', 'swing.mp4'],
      /^error: --keep: "swing\.mp4" is there and is not a folder\. Name another place\. \(/,
    ],
    [
      'a demo in a folder of a file',
      ['demo', '--keep', 'swing.mp4/demo'],
      /^error: --keep: "swing\.mp4\/demo" cannot be written: a part of this path is not a folder\. Check the path\. \(/,
    ],
    ...[
      ['serve', '--port', '0'],
      ['serve', 'keys', 'create', '--org', 'o', '--name', 'n'],
    ].map((args): [string, string[], RegExp] => [
      `a file for the folder of ${args.slice(0, 3).join(' ')}`,
      [...args, '--data', 'swing.mp4'],
      /^error: --data: "swing\.mp4" is there and is not a folder\. Name another place\. \(/,
    ]),
    ['a port that is none', ['serve', '--port', '70000'], /--port must be at most 65535/],
  ])('is %s', async (_what, args, words) => {
    expect(await refused(args)).toMatch(words)
  })

  it.runIf(process.platform === 'linux').each([
    ['demo', '--keep'],
    ['serve', '--data'],
  ])('is a %s where no folder can be made: it does not try for ever', async (command, option) => {
    expect(await refused([command, option, '/proc/demo'])).toMatch(
      new RegExp(`^error: ${option}: no folder can be made at "/proc/demo"\\. Name another place\\. \\(`),
    )
  })

  // Windows takes it for a path.
  it.skipIf(process.platform === 'win32')('is a file below a folder with a name that is a path elsewhere', async () => {
    await mkdir(join(cli.folder, 'odd', 'deep'), { recursive: true })
    await writeFile(join(cli.folder, 'odd', 'deep', 'swing\\1.action'), 'content')

    expect(await refused(['capture', 'odd', ...CAPTURE])).toBe(
      'error: "odd/deep/swing\\1.action" cannot be uploaded: its name has a \\ in it, which is a path on other systems. Rename it. (ERR_UPLOAD_INVALID_ARGUMENT)\n',
    )
  })

  // Whoever runs the tests as root can read and write every file.
  it.skipIf(process.getuid?.() === 0)('is a service in a folder that this user may not make', async () => {
    const refusal = await refused(['serve', '--port', '0', '--data', '/forbidden/data'])
    expect(refusal).toMatch(/^error: --data: "\/forbidden\/data" cannot be written: this user may not write it\. /)
  })

  it.skipIf(process.getuid?.() === 0)('is a file that this user may not read', async () => {
    expect(await refused(['video', 'swing.mp4', 'locked.mp4', ...VIDEO])).toMatch(/this user may not read it/)
  })

  it('is a credential that no header can carry: where it was given is named, and the value is not', async () => {
    await writeFile(join(cli.folder, 'two-keys.txt'), 'hush-one\nhush-two\n')
    const video = ['video', 'swing.mp4', ...VIDEO]
    const file = await refused([...video, '--api-key-file', 'two-keys.txt'], { MOCAP_API_KEY: '' })
    const variable = await refused(video, { MOCAP_API_KEY: '', MOCAP_ACCESS_TOKEN: 'Bearer hush' })

    expect(file).toMatch(/^error: --api-key-file has a control or non-ASCII character in it/)
    expect(variable).toMatch(/^error: MOCAP_ACCESS_TOKEN begins with the word Bearer/)
    expect(file + variable).not.toContain('hush')
  })

  it('takes no time that is less than none, though the clock is set back', async () => {
    const setBack = 'const { now } = Date; let hours = 0; Date.now = () => now() - 3_600_000 * (hours += 1)'
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(setBack)}`

    const { stdout } = await cli.run(['video', 'gone.mp4', ...VIDEO, '--json'], { ...env, NODE_OPTIONS })

    expect(lastLine(stdout)['durationMs']).toBeGreaterThanOrEqual(0)
  })

  it('is no command at all: the help goes to stderr', async () => {
    const { code, stdout, stderr } = await cli.run([])

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^Usage: mocap-uplink/)
  })

  it('is help for a misspelt command', async () => {
    const { code, stderr } = await cli.run(['help', 'analysis', 'requst'])

    expect(code).toBe(2)
    expect(stderr).toMatch(/^error: unknown command 'requst', did you mean request\? See mocap-uplink help analysis\. /)
  })

  it('does not end in 2 when help or the version was asked for', async () => {
    const [help, version] = [await cli.run(['capture', '--help']), await cli.run(['--version'])]

    expect(help).toMatchObject({ code: 0, stderr: '' })
    expect(await cli.run(['--help', 'capture'])).toEqual(help)
    expect((await cli.run(['-h', 'analysis', 'request'])).stdout).toMatch(/^Usage: mocap-uplink analysis request /)
    expect((await cli.run(['--help', 'nonsense'])).stdout).toMatch(/^Usage: mocap-uplink \[options\] \[command\]/)
    expect(help.stdout).toContain('--reprocess')
    expect(help.stdout).toMatch(/--mocap-type <n> .*\n? *.*\(required\)/)
    const below = await cli.run(['help', 'serve', 'keys', 'create'])
    expect(below).toMatchObject({ code: 0, stderr: '' })
    expect(below.stdout).toMatch(
      /^Usage: mocap-uplink serve keys create [^]*\n\nSay where the keys are kept: --data DIR/,
    )
    expect(version).toEqual({ code: 0, stdout: '0.1.0\n', stderr: '' })
  })
})

it.each([['help'], ['resume'], ['cancel'], ['receipt', 'check'], ['analysis'], ['serve'], ['serve', 'keys']])(
  'the help of %s has no line that a terminal of 80 columns would break',
  async (...command) => {
    const { stdout } = await cli.run(command[0] === 'help' ? command : [...command, '--help'])

    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
  },
)

describe.concurrent('credentials', () => {
  it.each([
    [['--api-key', 'hush-hush']],
    [['--api-key=hush-hush']],
    [['--access-token', 'hush-hush']],
    [['--token=hush-hush']],
  ])('are refused on the command line and not repeated: %j', async (secret) => {
    const line = await refused(['video', 'swing.mp4', ...VIDEO, ...secret])

    expect(line).toMatch(/is refused: on the command line .* MOCAP_API_KEY/)
    expect(line).not.toContain('hush-hush')
  })

  it('must be of one kind', async () => {
    const line = await refused(['api', 'GET', '/players', '--api-key-file', 'key.txt'], {
      MOCAP_ACCESS_TOKEN: 'tok-99',
    })

    expect(line).toMatch(/API key \(--api-key-file\) and an access token \(MOCAP_ACCESS_TOKEN\)/)
    expect(line).not.toMatch(/tok-99|the-file-key/)
  })

  it('must be there, and so must the address', async () => {
    expect(await refused(['api', 'GET', '/players'], { MOCAP_API_KEY: '' })).toMatch(/There is no credential/)
    expect(await refused(['api', 'GET', '/players'], { MOCAP_BASE_URL: '' })).toMatch(/give --base-url/)
  })

  it('may choose the header of a token, and of no key, which has a header of its own', async () => {
    const line = await refused(['api', 'GET', '/players', '--bearer-header', 'Authorization'])
    expect(line).toMatch(/^error: --bearer-header names the header of an access token, and an API key is given: leave /)
  })

  it.each(['resume', 'cancel'])('are not asked for by %s of a session that nobody knows', async (command) => {
    const unasked = { MOCAP_API_KEY: '', MOCAP_BASE_URL: '' }

    expect(await refused([command, 'video-1'], unasked)).toMatch(/^error: No session "video-1" is in /)
  })

  it('are not asked for where there is nothing to resume, but options are checked', async () => {
    const stateDir = join(cli.folder, 'no-sessions')
    const idle = await cli.run(['resume'], { MOCAP_STATE_DIR: stateDir })

    expect(idle).toEqual({ code: 0, stdout: `There is nothing to resume in ${stateDir}\n`, stderr: '' })
    expect(await refused(['resume', '--concurrency', '99'], { MOCAP_STATE_DIR: stateDir })).toMatch(/--concurrency is/)
  })

  it.each([
    ['--api-key-file', 'key-4fQ9xZ'],
    ['--api-key-file', 'Zm9v/key-4fQ9xZ=='],
    ['--access-token-file', `eyJhbGciOiJSUzI1NiJ9.${'key-4fQ9xZ'.repeat(40)}.c2ln`],
  ])('must be in the file that %s names, and are not shown where they are given in its place', async (flag, secret) => {
    const missing = await refused(['api', 'GET', '/players', flag, secret], { MOCAP_API_KEY: '' })

    expect(missing).toContain(`${flag}: there is nothing at this path. Name the file that holds the secret`)
    expect(missing).not.toContain('key-4fQ9xZ')
  })
})

it.skipIf(process.platform !== 'linux').each([
  [
    'a file',
    'key.txt',
    /The journal "[^"]+key\.txt" cannot be made: there is a file where the folder should be\. Move /,
  ],
  [
    'no folder',
    '/proc/none',
    /cannot be made: no folder can be made there\. Choose another state folder with --state-dir\./,
  ],
])('a state folder that is %s is told in words', async (_what, folder, words) => {
  const { code, stdout, stderr } = await cli.run(
    ['video', 'swing.mp4', ...VIDEO, '--state-dir', folder, '--quiet'],
    env,
  )

  expect({ code, stdout }).toEqual({ code: 1, stdout: 'failed: nothing was sent\n' })
  expect(stderr).toMatch(words)
})

it.each(['--port', '--metrics-port'])(
  'serve at a %s that another program has says so, and what to give',
  async (flag) => {
    const port = new URL(service.url).port
    const ports = flag === '--port' ? [flag, port] : ['--port', '0', flag, port]

    const { code, stderr } = await cli.run(['serve', ...ports, '--quiet'], { MOCAP_API_KEY: 'key-of-the-test' })

    expect(code).toBe(2)
    expect(stderr).toBe(
      `error: Port ${port} of 127.0.0.1 is taken: end the program that has it, or give another ${flag}. (ERR_UPLOAD_INVALID_ARGUMENT)\n`,
    )
  },
)
