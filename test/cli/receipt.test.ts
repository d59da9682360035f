// What was delivered, and the proof of it against files: shown and checked by processes of their own.

import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { constants, existsSync } from 'node:fs'
import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  open,
  readFile,
  readdir,
  rename,
  stat,
  symlink,
  truncate,
  writeFile,
  type FileHandle,
} from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'

import { filesToProve, proveFile } from '../../src/cli/receipt-check.ts'
import { canMount } from '../helpers/can-mount.ts'
import { startIndependentService, type IndependentService } from '../helpers/independent-service.ts'
import { installCli, CAPTURE, jsonLines, lastLine, type CliEnd, type CliUnderTest, VIDEO } from './cli-under-test.ts'

let cli: CliUnderTest
let service: IndependentService
let key: string
const bytes = randomBytes(12 * 1024 * 1024)

const environment = () => ({
  ...{ MOCAP_BASE_URL: service.url, MOCAP_API_KEY: service.apiKey, MOCAP_STATE_DIR: join(cli.folder, 'state') },
})
const run = (...args: string[]): Promise<CliEnd> => cli.run(args, environment())

beforeAll(async () => {
  cli = await installCli()
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

it('proves nothing by parts that are not the whole file', async () => {
  const receipt = JSON.parse(await readFile(join(cli.folder, 'receipt.json'), 'utf8')) as {
    files: { parts: unknown[]; sha256?: string }[]
  }
  const others = [
    (parts: unknown[]) => parts.slice(0, 0),
    (parts: unknown[]) => parts.slice(0, 2),
    (parts: unknown[]) => parts.slice(1),
  ]
  for (const choose of others) {
    const files = receipt.files.map((file) => ({ ...file, sha256: undefined, parts: choose(file.parts) }))
    await writeFile(join(cli.folder, 'short.json'), JSON.stringify({ ...receipt, files }))

    const { code, stdout } = await run('receipt', 'check', 'short.json', 'swing.mp4')

    expect([code, stdout]).toEqual([1, 'not proven swing.mp4: its parts are not the whole file\n0 of 1 file proven\n'])
  }
})

describe('files that share a name', () => {
  const clips = async (folder: string, name: string): Promise<void> => {
    for (const camera of ['cam1', 'cam2']) {
      await mkdir(join(cli.folder, folder, camera), { recursive: true })
      await writeFile(join(cli.folder, folder, camera, name), randomBytes(1000))
    }
  }

  it('are each proven, whichever is found first, and one that differs is told from its namesake', async () => {
    await clips('twins', 'clip.mp4')
    await run('video', 'twins', ...VIDEO, '--receipt', 'twins.json')

    const forwards = await run('receipt', 'check', 'twins.json', 'twins')
    const backwards = await run('receipt', 'check', 'twins.json', 'twins/cam2', 'twins/cam1')
    const alone = await run('receipt', 'check', 'twins.json', 'twins/cam2')
    await writeFile(join(cli.folder, 'twins', 'cam1', 'clip.mp4'), randomBytes(1000))
    const changed = await run('receipt', 'check', 'twins.json', 'twins')

    const both = 'proven clip.mp4\nproven clip.mp4\n2 of 2 files proven\n'
    expect([forwards, backwards].map(({ code, stdout }) => [code, stdout])).toEqual([
      [0, both],
      [0, both],
    ])
    expect(alone.code).toBe(1)
    const differs = 'differs clip.mp4: part 1 is not what was sent\nproven clip.mp4\n1 of 2 files proven\n'
    expect([changed.code, changed.stdout]).toEqual([1, differs])
  })

  it('are found again where the service knows them by their folders, also under another folder', async () => {
    await clips('takes', 'take.action')
    await run('capture', 'takes', ...CAPTURE, '--rename', '--receipt', 'takes.json')
    const both = 'proven cam1_take.action\nproven cam2_take.action\n2 of 2 files proven\n'

    const { code, stdout } = await run('receipt', 'check', 'takes.json', 'takes')
    await rename(join(cli.folder, 'takes', 'cam1'), join(cli.folder, 'takes', 'zero'))
    const moved = await run('receipt', 'check', 'takes.json', 'takes')

    expect([code, stdout]).toEqual([0, both])
    expect([moved.code, moved.stdout]).toEqual([0, both])
  })
})

it('names with --quiet what differs or is missing, and nothing else but the count', async () => {
  await mkdir(join(cli.folder, 'other'))
  await writeFile(join(cli.folder, 'other', 'swing.mp4'), 'other content')

  const differs = await run('receipt', 'check', 'receipt.json', 'other', '--quiet')
  const missing = await run('receipt', 'check', 'receipt.json', 'receipt.json', '--quiet')
  const proven = await run('receipt', 'check', 'receipt.json', 'swing.mp4', '--quiet')

  expect(differs.stdout).toMatch(/^differs swing\.mp4: 13 bytes instead of 12582912\n0 of 1 file proven\n$/)
  expect(missing.stdout).toMatch(/^missing swing\.mp4: .*\n0 of 1 file proven\n$/)
  expect(proven.stdout).toBe('1 of 1 file proven\n')
})

it('says in JSON that it failed where nothing was delivered, as its exit code does', async () => {
  const receipt = JSON.parse(await readFile(join(cli.folder, 'receipt.json'), 'utf8')) as { files: object[] }
  const files = receipt.files.map((file) => ({ ...file, status: 'unfinished' }))
  await writeFile(join(cli.folder, 'nothing.json'), JSON.stringify({ ...receipt, files }))

  const { code, stdout } = await run('receipt', 'check', 'nothing.json', 'swing.mp4', '--json')

  expect([code, lastLine(stdout)['status']]).toEqual([1, 'failed'])
})

it('ends with 3 where a file was not delivered, and names it with --quiet too, since whoever checks may then delete', async () => {
  const receipt = JSON.parse(await readFile(join(cli.folder, 'receipt.json'), 'utf8')) as { files: object[] }
  const late = { ...receipt.files[0], name: 'late.mp4', status: 'failed' }
  await writeFile(join(cli.folder, 'some.json'), JSON.stringify({ ...receipt, files: [...receipt.files, late] }))
  await writeFile(join(cli.folder, 'late.mp4'), 'content')

  const quiet = await run('receipt', 'check', 'some.json', 'swing.mp4', 'late.mp4', '--quiet')
  const json = await run('receipt', 'check', 'some.json', 'swing.mp4', 'late.mp4', '--json')

  const told = 'was not delivered late.mp4: the receipt says failed\n1 of 2 files proven\n'
  expect([quiet.code, quiet.stdout]).toEqual([3, told])
  expect([json.code, lastLine(json.stdout)['status']]).toEqual([3, 'partial'])
})

it('names the files given that the receipt knows nothing of, beside the receipt itself', async () => {
  const folder = join(cli.folder, 'card')
  await mkdir(join(folder, 'cam2'), { recursive: true })
  await copyFile(join(cli.folder, 'receipt.json'), join(folder, 'receipt.json'))
  await writeFile(join(folder, 'swing.mp4'), bytes)
  const others = ['late.mp4', ...[1, 2, 3, 4, 5].map((take) => join('cam2', `take-${take}.mp4`))]
  // A Mac leaves such files on every card, and the others would not be seen among them.
  await mkdir(join(folder, '.Spotlight-V100'))
  const junk = ['.DS_Store', '._swing.mp4', join('.Spotlight-V100', 'store.db')]
  for (const name of [...others, ...junk]) await writeFile(join(folder, name), 'content')

  const { code, stdout } = await run('receipt', 'check', 'card/receipt.json', 'card', './card/late.mp4', '--quiet')
  const json = await run('receipt', 'check', 'card/receipt.json', 'card', '--json')

  const named = [1, 2, 3, 4, 5].map((take) => join('card', 'cam2', `take-${take}.mp4`)).join(', ')
  expect([code, stdout]).toEqual([0, `1 of 1 file proven. Not in the receipt: ${named} and 1 more file\n`])
  expect(jsonLines(json.stdout).flatMap(({ event, path }) => (event === 'skipped' ? [path] : []))).toHaveLength(6)
})

it('finds a file below a folder also where it is hidden, since it was delivered', async () => {
  await mkdir(join(cli.folder, 'hidden'))
  await writeFile(join(cli.folder, 'hidden', '.take.mp4'), 'content')
  await run('video', 'hidden/.take.mp4', ...VIDEO, '--receipt', 'hidden.json')

  const { code, stdout } = await run('receipt', 'check', 'hidden.json', 'hidden')

  expect([code, stdout]).toEqual([0, 'proven .take.mp4\n1 of 1 file proven\n'])
})

it('leaves a file that cannot be read unproven, and says why', async () => {
  const path = join(cli.folder, 'gone.mp4')

  const proof = await proveFile({ name: 'gone.mp4', bytes: 1, status: 'confirmed', isVerified: true, parts: [] }, path)

  const reason = `"${path}" cannot be read: there is nothing at this path. Check the path.`
  expect(proof).toEqual({ name: 'gone.mp4', path, outcome: 'unproven', reason })
})

it('calls a path that is not there wrong use, because the advice on a file that cannot be read is to upload it again', async () => {
  const path = join(cli.folder, 'gone')

  await expect(filesToProve([path])).rejects.toMatchObject({
    code: 'ERR_UPLOAD_INVALID_ARGUMENT',
    message: `"${path}" cannot be read: there is nothing at this path. Check the path.`,
  })
})

it('stops at Ctrl-C in the middle of a large file', async () => {
  const bytes = 2 ** 40
  const receipt = JSON.parse(await readFile(join(cli.folder, 'receipt.json'), 'utf8')) as { files: object[] }
  const large = { ...receipt.files[0], name: 'large.mp4', bytes, parts: [{ partNumber: 1, start: 0, end: bytes }] }
  await writeFile(join(cli.folder, 'large.json'), JSON.stringify({ ...receipt, files: [...receipt.files, large] }))
  await writeFile(join(cli.folder, 'large.mp4'), '')
  await truncate(join(cli.folder, 'large.mp4'), bytes)

  const check = cli.start(['receipt', 'check', 'large.json', 'swing.mp4', 'large.mp4'])
  onTestFinished(() => void check.process.kill('SIGKILL'))
  await check.seen(/^proven swing/m)
  check.process.kill('SIGINT')

  expect(await check.ended).toMatchObject({ code: 130, stderr: 'Interrupted by SIGINT.\n' })
})

it('is read from a pipe, whose wait for a writer ends at Ctrl-C', async () => {
  const pipe = join(cli.folder, 'receipt.pipe')
  execFileSync('mkfifo', [pipe])
  const check = () => {
    const started = cli.start(['receipt', 'check', pipe, 'swing.mp4'])
    onTestFinished(() => void started.process.kill('SIGKILL'))
    return started
  }
  // It can be opened for writing without a wait as soon as there is a reader.
  const opened = () => open(pipe, constants.O_WRONLY | constants.O_NONBLOCK)
  const writerOnceRead = async (): Promise<FileHandle> => {
    let writer: FileHandle | undefined
    await expect.poll(async () => (writer = await opened().catch(() => undefined))).toBeDefined()
    return writer!
  }

  const unread = check()
  const silent = await writerOnceRead()
  unread.process.kill('SIGINT')

  expect(await unread.ended).toMatchObject({ code: 130, stderr: 'Interrupted by SIGINT.\n' })
  await silent.close()

  const read = check()
  const writer = await writerOnceRead()
  await writer.writeFile(await readFile(join(cli.folder, 'receipt.json')))
  await writer.close()

  expect(await read.ended).toMatchObject({ code: 0, stdout: 'proven swing.mp4\n1 of 1 file proven\n' })
})

describe('a receipt is never written over a recording', () => {
  it.each([
    ['by an upload', () => ['video', 'swing.mp4', ...VIDEO, '--receipt', 'swing.mp4']],
    ['where its name was forgotten', () => ['video', ...VIDEO, '--receipt', 'swing.mp4', 'hidden/.take.mp4']],
    ['by a resume', () => ['resume', key, '--receipt', 'swing.mp4']],
    ['where it is shown', () => ['receipt', 'show', key, '--output', 'swing.mp4']],
  ])('%s', async (_, args) => {
    const { code, stderr } = await run(...args())

    expect(code).toBe(2)
    expect(stderr).toContain(
      '"swing.mp4" already exists and is not a receipt, so it is not overwritten. Name another file.',
    )
    expect(bytes.equals(await readFile(join(cli.folder, 'swing.mp4')))).toBe(true)
  })

  it('but over an older receipt', async () => {
    await writeFile(join(cli.folder, 'older.json'), (await run('receipt', 'show', key)).stdout)

    const { code } = await run('receipt', 'show', key, '--output', 'older.json')

    expect(code).toBe(0)
    expect(await readFile(join(cli.folder, 'older.json'), 'utf8')).toBe(
      await readFile(join(cli.folder, 'receipt.json'), 'utf8'),
    )
  })
})

describe('an older receipt', () => {
  it.skipIf(!canMount())('is still there and whole where the disk is full', async () => {
    const disk = join(cli.folder, 'full-disk')
    await mkdir(disk)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', disk], { stdio: 'pipe' })
    onTestFinished(() => void execFileSync('umount', [disk]))
    const older = await readFile(join(cli.folder, 'receipt.json'))
    await writeFile(join(disk, 'receipt.json'), older)
    await writeFile(join(disk, 'filler'), randomBytes(16_384)).catch(() => undefined)

    const { code, stdout, stderr } = await run('receipt', 'show', key, '--output', join(disk, 'receipt.json'), '--json')

    expect([code, stderr]).toEqual([2, expect.stringContaining('cannot be written: the disk is full.')])
    // And not to upload anything again.
    const advice = 'Correct what the message names, then start again.'
    expect(lastLine(stdout)).toMatchObject({ status: 'failed', error: { advice } })
    expect(older.equals(await readFile(join(disk, 'receipt.json')))).toBe(true)
    expect(await readdir(disk)).toEqual(['filler', 'receipt.json'])
  })

  it('keeps its mode, and the link that leads to it', async () => {
    const [link, path] = [join(cli.folder, 'latest.json'), join(cli.folder, 'archive', 'private.json')]
    await mkdir(join(cli.folder, 'archive'))
    await writeFile(path, '')
    await chmod(path, 0o660)
    await symlink(join('archive', 'private.json'), link)

    const { code } = await run('receipt', 'show', key, '--output', 'latest.json')

    expect(code).toBe(0)
    expect(await readFile(path, 'utf8')).toBe(await readFile(join(cli.folder, 'receipt.json'), 'utf8'))
    expect((await lstat(link)).isSymbolicLink()).toBe(true)
    expect((await stat(path)).mode & 0o777).toBe(0o660)
    expect(await readdir(join(cli.folder, 'archive'))).toEqual(['private.json'])
  })
})

it.skipIf(!existsSync('/dev/full'))(
  'that a full disk refuses can be written later, without another upload',
  async () => {
    const upload = await run('video', 'swing.mp4', ...VIDEO, '--receipt', '/dev/full')
    const [warning, later] = upload.stderr.split('\n')
    const [, again = ''] = /^To write it later: mocap-uplink (.*)$/.exec(later ?? '') ?? []
    const shown = await run(...again.replace('FILE', 'later.json').split(' '))
    const { code } = await run('receipt', 'check', 'later.json', 'swing.mp4')

    expect(warning).toBe(
      'warning: no receipt was written: "/dev/full" cannot be written: the disk is full. Free some space or name another folder.',
    )
    expect([upload.code, shown.code, code]).toEqual([0, 0, 0])
  },
)

it('is written through a link that leads to nothing yet, and into a pipe', async () => {
  const pipe = join(cli.folder, 'written.pipe')
  execFileSync('mkfifo', [pipe])
  await symlink('new.json', join(cli.folder, 'link.json'))

  await run('receipt', 'show', key, '--output', 'link.json')
  const [{ code }, piped] = await Promise.all([run('receipt', 'show', key, '--output', pipe), readFile(pipe, 'utf8')])

  const receipt = await readFile(join(cli.folder, 'receipt.json'), 'utf8')
  expect(await readFile(join(cli.folder, 'new.json'), 'utf8')).toBe(receipt)
  expect([code, piped]).toEqual([0, receipt])
})

it('that a pipe does not take is waited for until Ctrl-C, which says so and leaves the upload its exit code', async () => {
  const pipe = join(cli.folder, 'unread.pipe')
  execFileSync('mkfifo', [pipe])
  const upload = cli.start(['video', 'swing.mp4', ...VIDEO, '--receipt', pipe], environment())
  const shown = cli.start(['receipt', 'show', key, '--output', pipe], environment())
  onTestFinished(() => [upload, shown].forEach(({ process }) => process.kill('SIGKILL')))
  let told = ''
  upload.process.stderr!.on('data', (text: string) => (told += text))

  await upload.seen(/^confirmed: 1 of 1 file/m)
  upload.process.kill('SIGINT')
  await expect.poll(() => told).toMatch(/receipt to be written: .*\nTo write it later: mocap-uplink receipt show /)
  shown.process.kill('SIGINT')
  expect(await shown.ended).toMatchObject({ code: 130, stderr: 'Interrupted by SIGINT.\n' })
  await readFile(pipe)

  expect(await upload.ended).toMatchObject({ code: 0 })
})

it('refuses what is no receipt, and a session that is unknown', async () => {
  expect((await run('receipt', 'check', 'swing.mp4', 'swing.mp4')).code).toBe(2)
  expect((await run('receipt', 'show', 'video-nobody')).code).toBe(2)
})
