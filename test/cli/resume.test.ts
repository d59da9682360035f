// Uploads that were interrupted, and what the command makes of them later.

import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Fault } from '../helpers/independent-records.ts'
import { CAPTURE, jsonLines, lastLine, VIDEO } from './cli-under-test.ts'
import {
  FOUND,
  MIB,
  WRITTEN_AT,
  cli,
  service,
  stateDir,
  big,
  environment,
  run,
  sessions,
  waitingUpload,
  killedUpload,
  startService,
  useInterruptedUploads,
} from './resume-rig.ts'

useInterruptedUploads()

function putsOf(fileName: string): (number | undefined)[] {
  return service
    .requestsOf('put')
    .filter((put) => put.fileName === fileName)
    .map((put) => put.partNumber)
    .sort()
}

describe('an upload that was interrupted', () => {
  it('goes on with files that were moved meanwhile when it is told where, and says how to tell it', async () => {
    const key = await killedUpload()
    const files = ['small.mp4', 'big.mp4']
    const moved = await mkdtemp(join(cli.folder, 'moved-'))
    for (const name of files) await rename(join(cli.folder, name), join(moved, name))
    try {
      const without = await run('resume', key)
      const nowhere = await run('resume', key, '--files-in', join(moved, 'none'))
      const elsewhere = await run('resume', key, '--files-in', stateDir, '--dry-run')
      const dry = await run('resume', key, '--files-in', moved, '--dry-run', '--json')
      const { code, stderr } = await run('resume', key, '--files-in', moved)

      expect(without).toMatchObject({
        code: 3,
        stderr: expect.stringContaining(
          'To finish (with --files-in FOLDER where files were moved): mocap-uplink',
        ) as string,
      })
      expect(nowhere.code).toBe(2)
      const was = join(cli.folder, 'big.mp4')
      expect(elsewhere).toMatchObject({ code: 0, stderr: '' })
      expect(elsewhere.stdout).toContain(`${was}: not found: no file below "${stateDir}" has its name, size and time\n`)
      expect(elsewhere.stdout).toContain(`${key}: 1 of 2 files and 2 MiB are missing; of these files 1 not found\n`)
      expect(lastLine(dry.stdout)).toMatchObject({
        ...{ event: 'plan', flow: 'resume' },
        sessions: [{ key, files: [{ name: 'big.mp4', location: was, path: join(moved, 'big.mp4') }] }],
      })
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(putsOf('big.mp4')).toEqual([1, 2, 3, 3])
      expect(service.storedFiles().every(({ isConfirmed }) => isConfirmed)).toBe(true)
    } finally {
      for (const name of files) await rename(join(moved, name), join(cli.folder, name))
    }
  })

  it('is named where its command is given once more after a kill, and is finished as it says', async () => {
    const key = await killedUpload()

    const again = cli.start(['video', 'small.mp4', 'big.mp4', ...VIDEO, '--json'], environment())
    await again.seen(/"warning"/)
    again.process.kill('SIGINT')
    const { stderr } = await again.ended
    const [, told = ''] =
      /To finish that one instead, end this, then: mocap-uplink (.*?)\. To give up /.exec(stderr) ?? []
    const { code } = await run(...told.split(' '))

    expect(stderr).toContain(
      `warning: ${key} is not finished and has 1 of these files, which a later resume would deliver`,
    )
    expect(code).toBe(0)
  })

  it('confirms a file that is gone, where all of it is stored, and misses it only where it is to be read whole', async () => {
    await startService({ faults: [{ operation: 'confirm', nth: 1, action: { status: 401 } }] })
    const card = join(cli.folder, 'card.mp4')
    await writeFile(card, 'content')
    const first = await run('video', 'card.mp4', ...VIDEO)
    await rm(card)

    const dry = await run('resume', '--dry-run')
    const whole = await run('resume', '--dry-run', '--verify', 'full')
    const { code, stdout } = await run('resume')

    expect(first.code).toBe(4)
    expect(dry.stdout).toMatch(/^dry run: video-\S+: 1 of 1 file and 0 B are missing\n/)
    expect(whole.stdout).toContain(': 1 of 1 file and 0 B are missing; 1 not found, see --files-in\n')
    expect({ code, stdout }).toMatchObject({
      ...{ code: 0, stdout: expect.stringContaining('1 of 1 file confirmed, 1 verified') as string },
    })
  })

  it('counts in a dry run no receipt of a file that has changed since, and says which files are not as they were', async () => {
    const key = await killedUpload()
    const path = join(cli.folder, 'big.mp4')
    try {
      await utimes(path, WRITTEN_AT, WRITTEN_AT + 60)
      const changed = await run('resume', '--dry-run')
      const json = await run('resume', key, '--dry-run', '--json')
      await rename(path, `${path}.away`)
      const gone = await run('resume', key, '--dry-run')

      expect(changed.stdout).toMatch(
        new RegExp(`^${path}: it has changed: it was last written at .* and now says .*\n`),
      )
      expect(changed.stdout).toContain(
        `${key}: 1 of 2 files and 12 MiB are missing; 1 changed, to be uploaded as a new session\n`,
      )
      expect(lastLine(json.stdout)).toMatchObject({
        sessions: [{ confirmedBytes: 7, files: [{ name: 'big.mp4', location: path, isChanged: true }] }],
      })
      expect(gone.stdout).toMatch(new RegExp(`^${path}: not found: it cannot be read: there is nothing at this path`))
      expect(gone.stdout).toContain(`${key}: 1 of 2 files and 2 MiB are missing; 1 not found, see --files-in\n`)
    } finally {
      await rename(`${path}.away`, path).catch(() => undefined)
      await utimes(path, WRITTEN_AT, WRITTEN_AT)
    }
  })

  it.each(['SIGINT', 'SIGKILL'] as const)(
    'by %s is finished, and no part with a receipt is sent again',
    async (signal) => {
      const { upload, key } = await waitingUpload()

      upload.process.kill(signal)
      const first = await upload.ended
      const told = /To finish: mocap-uplink (.*)\n/.exec(first.stderr)?.[1]
      const { code, stdout, stderr } = await run(...(told ?? `resume ${key}`).split(' '), '--json')

      const place = `--state-dir ${stateDir} --base-url ${service.url}`
      expect(told).toBe(signal === 'SIGINT' ? `resume ${key} ${place}` : undefined)
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(jsonLines(stdout)[0]).toMatchObject({ event: 'start', flow: 'video', key, confirmedBytes: 10 * MIB + 7 })
      expect(lastLine(stdout)).toMatchObject({
        ...{ event: 'result', flow: 'video', status: 'confirmed', key, bytes: 12 * MIB + 7 },
        sessionId: service.storedFiles()[0]?.sessionId,
        files: [
          { name: 'small.mp4', status: 'confirmed', verified: true },
          { name: 'big.mp4', status: 'confirmed', verified: true },
        ],
      })
      expect(putsOf('small.mp4')).toEqual([1])
      expect(putsOf('big.mp4')).toEqual([1, 2, 3, 3])
      expect(service.requestsOf('create')).toHaveLength(1)
      expect(service.requestsOf('confirm')).toHaveLength(2)
      expect(service.storedFiles()).toMatchObject([
        { fileName: 'small.mp4', isConfirmed: true },
        { fileName: 'big.mp4', isConfirmed: true, sha256: createHash('sha256').update(big).digest('hex') },
      ])
    },
  )

  it('keeps a folder that is its owner’s alone, and no credential in it', async () => {
    await killedUpload()

    const entries = await readdir(stateDir, { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
    const folders = entries.filter((entry) => entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name))
    const modes = async (paths: string[]) =>
      new Set(await Promise.all(paths.map(async (path) => (await stat(path)).mode & 0o777)))

    expect(files.length).toBeGreaterThanOrEqual(2)
    expect(await modes([stateDir, ...folders])).toEqual(new Set([0o700]))
    expect(await modes(files)).toEqual(new Set([0o600]))
    for (const file of files) expect(await readFile(file, 'utf8')).not.toContain(service.apiKey)
  })

  it('stops the file alone whose bytes changed, although size and time did not', async () => {
    const key = await killedUpload()
    const path = join(cli.folder, 'big.mp4')
    await writeFile(path, randomBytes(12 * MIB))
    await utimes(path, WRITTEN_AT, WRITTEN_AT)

    const { code, stdout, stderr } = await run('resume', key, '--json')
    await writeFile(path, big)
    await utimes(path, WRITTEN_AT, WRITTEN_AT)

    // Told by its bytes, and not by its time.
    const changedPart = expect.stringMatching(/^big\.mp4: Part [12] is no longer what was sent/) as string
    expect(code).toBe(3)
    expect(lastLine(stdout)).toMatchObject({
      status: 'partial',
      files: [
        { name: 'small.mp4', status: 'confirmed' },
        { name: 'big.mp4', status: 'failed', error: { code: 'ERR_UPLOAD_SOURCE_CHANGED', message: changedPart } },
      ],
    })
    const [, told = ''] =
      /\nMissing: 1 of 2 files, 12 MiB\. Upload the file that changed as a new session, and end this one: mocap-uplink (.*)\n$/.exec(
        stderr,
      ) ?? []
    expect(putsOf('big.mp4')).toEqual([1, 2, 3])
    // Otherwise each later resume of everything would fail at it.
    const ended = await run(...told.split(' '))
    expect([ended.code, (await run('resume')).code]).toEqual([0, 0])
    expect(service.storedFiles().filter(({ isConfirmed }) => isConfirmed)).toHaveLength(1)
  })

  it('whose third part the storage would not take counts as missing only what is still to be sent', async () => {
    const no: Fault = {
      ...{ operation: 'put', nth: 'every', fileName: 'big.mp4', partNumber: 3, action: { status: 400 } },
    }
    await startService({ faults: [no] })

    const { code, stdout, stderr } = await run('video', 'big.mp4', 'small.mp4', ...VIDEO, '--concurrency', '1')
    const dry = await run('resume', '--dry-run')
    const again = await run('resume', '--json')

    expect(code).toBe(3)
    expect(stdout).toMatch(/\npartial: 1 of 2 files confirmed, [^\n]*, 10 MiB of 12 MiB stored, session \S+\n$/)
    expect(stderr).toMatch(/\nMissing: 1 of 2 files, 2 MiB\. To finish: mocap-uplink resume /)
    expect(dry.stdout).toContain(': 1 of 2 files and 2 MiB are missing\n')
    expect(lastLine(again.stdout)).toMatchObject({ status: 'partial', confirmedBytes: 10 * MIB + 7 })
    expect(new Set(putsOf('big.mp4'))).toEqual(new Set([1, 2, 3]))
    expect(putsOf('big.mp4').filter((part) => part !== 3)).toEqual([1, 2])
  })

  it('whose confirmation is all that is missing says that nothing is left to send', async () => {
    const no: Fault = { operation: 'confirm', nth: 'every', action: { status: 401 } }
    await startService({ faults: [no] })

    const { stderr } = await run('video', 'small.mp4', ...VIDEO)

    expect(stderr).toMatch(
      /\nMissing: 1 of 1 file, of which nothing is left to send\. To finish, with a key or token that the service accepts: mocap-uplink resume /,
    )
  })

  it('is driven by one process only, and by the next one when that is gone', async () => {
    const { upload, key } = await waitingUpload()

    const looked = await sessions()
    const second = await run('resume', key, '--json')
    const cancel = await run('cancel', key)
    upload.process.kill('SIGKILL')
    await upload.ended
    const third = await run('resume', key)

    expect(looked).toMatchObject([{ ...FOUND, key, isInUse: true }])
    expect(second.code).toBe(1)
    expect(second.stderr).toMatch(new RegExp(`cannot be opened: process ${upload.process.pid ?? 0} is working on it`))
    expect(lastLine(second.stdout)).toMatchObject({ flow: 'video', key, error: { code: 'ERR_UPLOAD_JOURNAL' } })
    expect(cancel.code).toBe(1)
    expect(third.code).toBe(0)
    expect(third.stdout).toMatch(/^10 MiB of 12 MiB are there already\n/)
    expect(service.records.cancelledSessionIds).toEqual([])
  })

  it('that failed for its credentials is finished with the right ones', async () => {
    await startService()
    const refused = await cli.run(['video', 'small.mp4', ...VIDEO], environment({ MOCAP_API_KEY: 'wrong-key-81' }))
    const [session] = await sessions()

    const { code, stdout } = await run('resume', String(session?.['key']), '--verify', 'full')

    expect({ refused: refused.code, code }).toEqual({ refused: 4, code: 0 })
    expect(stdout).toMatch(/\nconfirmed: 1 of 1 file confirmed, 1 verified/)
  })
})

describe('all sessions', () => {
  it('are finished one after another, listed, and pruned', async () => {
    const refused: Fault = { operation: 'put', nth: 1, fileName: 'take-2.action', action: { status: 400 } }
    const killed = await killedUpload(refused)
    const partial = await run('capture', 'take-1.action', 'take-2.action', ...CAPTURE)
    const before = await run('sessions')
    const plan = await run('resume', '--dry-run')

    const { code, stdout, stderr } = await run('resume', '--json')
    const nothing = await run('resume')
    const after = await sessions()
    const pruned = await run('sessions', '--prune')
    const empty = await run('sessions')

    expect(partial.code).toBe(3)
    const table = before.stdout.split('\n')
    expect(table[0]).toMatch(/^KEY +FLOW +STATUS +FILES +BYTES +AGE +FIRST FILE$/)
    expect(table[1]).toMatch(
      new RegExp(`^${killed} +video +open +1 of 2 +10 MiB of 12 MiB +[\\d:]+ +\\S+/small\\.mp4$`),
    )
    expect(table[2]).toMatch(/^capture-\S+ +capture +partial +1 of 2 +13 B of 26 B +[\d:]+ +\S+\/take-1\.action$/)
    expect(plan.stdout).toContain(`dry run: ${killed}: 1 of 2 files and 2 MiB are missing\n`)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(jsonLines(stdout).filter(({ event }) => event === 'ended')).toMatchObject([
      { flow: 'video', status: 'confirmed', key: killed },
      { flow: 'capture', status: 'confirmed' },
    ])
    expect(lastLine(stdout)).toMatchObject({
      ...{ event: 'result', flow: 'resume', status: 'confirmed', key: null, bytes: 12 * MIB + 33 },
      files: [{ name: 'small.mp4' }, { name: 'big.mp4' }, { name: 'take-1.action' }, { name: 'take-2.action' }],
    })
    expect(nothing.stderr).toBe('')
    expect(nothing).toMatchObject({ code: 0, stdout: `There is nothing to resume in ${stateDir}\n` })
    expect(after).toMatchObject([{ status: 'confirmed' }, { status: 'confirmed' }])
    expect(pruned.stdout).toBe('removed 2 finished sessions, 0 others kept\n')
    expect(empty.stdout).toBe(`There is no session in ${stateDir}\n`)
  })

  it.each([
    ['is damaged', (text: string) => text.replace('session.created', 'session.crated'), /damage|checksum/i],
    ['is of another version', (text: string) => text.replace(/\d+/, '987'), /version/i],
  ])('are finished but the one whose journal %s, which is told', async (_what, change, words) => {
    const sound = await killedUpload()
    await cli.run(['capture', 'take-1.action', ...CAPTURE], environment({ MOCAP_API_KEY: 'wrong' }))
    const captureKey = (await sessions()).find(({ flow }) => flow === 'capture')?.['key']
    const journal = join(stateDir, `session-${sound}`, 'journal')
    await writeFile(journal, change(await readFile(journal, 'utf8')))

    const listed = await run('sessions')
    const { code, stdout, stderr } = await run('resume', '--json')

    expect(listed.stdout).toMatch(new RegExp(`${sound} .*unreadable`))
    expect(listed.stderr).toMatch(words)
    expect(code).toBe(3)
    expect(stderr).toMatch(words)
    expect(stderr).toMatch(new RegExp(`^error: ${sound}: The journal `, 'm'))
    // When it began is not known any more, so its place in the list is not either.
    const ended = jsonLines(stdout).filter(({ event }) => event === 'ended')
    expect(ended.sort((one) => (one['key'] === sound ? -1 : 1))).toMatchObject([
      { key: sound, status: 'failed', error: { code: 'ERR_UPLOAD_JOURNAL' } },
      { key: captureKey, status: 'confirmed' },
    ])
  })
})
