// `mocap-uplink cancel`: what it asks, ends and keeps.

import { spawn, spawnSync } from 'node:child_process'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { diskJournal } from '../../src/node.ts'
import { CAPTURE, jsonLines, lastLine, VIDEO } from './cli-under-test.ts'
import {
  cli,
  service,
  stateDir,
  environment,
  run,
  sessions,
  killedUpload,
  startService,
  useInterruptedUploads,
} from './resume-rig.ts'

useInterruptedUploads()

const hasScript = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0
if (!hasScript) console.warn('Skipped: the question of cancel on a terminal, which needs script of util-linux.')

describe.skipIf(!hasScript)('cancel on a terminal', () => {
  /** Types each text when the question is there. */
  async function cancelOnTerminal(key: string, typed: string, ...options: string[]) {
    const command = ['exec', process.execPath, cli.entry, 'cancel', key, ...options].join(' ')
    const child = spawn('script', ['-qec', command, '/dev/null'], { env: environment({ SHELL: '/bin/sh' }) })
    let shown = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const wasAsked = shown.includes('[y/N]')
      shown += text
      if (!wasAsked && shown.includes('[y/N]')) child.stdin.write(typed)
    })
    const code = await new Promise<number | null>((resolve) => void child.once('close', resolve))
    return { code, shown }
  }

  it('asks before a confirmed file is given up, and takes no, Ctrl-C and the end of the input for no', async () => {
    const key = await killedUpload()
    const ends = []
    for (const typed of ['\n', 'n\n', '\u0003', '\u0004']) ends.push(await cancelOnTerminal(key, typed))

    expect(ends.map(({ code }) => code)).toEqual([1, 1, 130, 1])
    for (const { shown } of ends) expect(shown).toMatch(/1 of 2 files is confirmed, and would be given up too/)
    expect(await sessions()).toMatchObject([{ key, status: 'open', filesConfirmed: 1 }])
    expect(service.requestsOf('cancel')).toEqual([])
  })

  it('asks also where a confirmation was not answered, since it may have been a yes', async () => {
    await startService()
    const key = 'video-doubtful'
    const journal = await diskJournal({ folder: stateDir }).open(key)
    const plan = { name: 'a.mp4', sizeBytes: 3, partSizeBytes: 3, partCount: 1 }
    const place = { serverFileId: 1, addresses: [`${service.storageUrl}/k`] }
    const params = { movementTypeId: 1, playerId: 'p', sessionDate: '2026-11-20', sessionTypeId: 2 }
    const begun = { version: 1, key, flow: 'video', params, locations: ['/a', '/b'] } as const
    const files = [0, 1].map((fileIndex) => ({ ...plan, fileIndex }))
    const receipt = { acceptedEnd: 3, etag: '"e"', isVerified: false }
    await journal.append([
      { at: 1, type: 'session.begun', ...begun, files },
      {
        at: 2,
        type: 'session.created',
        sessionId: 's1',
        files: files.map(({ fileIndex }) => ({ ...place, fileIndex })),
      },
      { at: 3, type: 'part.received', fileIndex: 0, partNumber: 1, generation: 0, receipt },
      { at: 4, type: 'file.confirming', fileIndex: 0 },
    ])
    await journal.close()
    const { code, shown } = await cancelOnTerminal(key, 'n\n')

    expect(code).toBe(1)
    expect(shown.replaceAll(/\s+/g, ' ')).toMatch(
      /1 of 2 files may be confirmed, since no answer came, and would be given up too; with --keep-confirmed/,
    )
    expect(service.requestsOf('cancel')).toEqual([])
  })

  it('goes on after a yes', async () => {
    const key = await killedUpload()
    const { code, shown } = await cancelOnTerminal(key, 'y\n')

    expect(code).toBe(0)
    expect(shown.replaceAll(/\s+/g, ' ')).toMatch(/the service has ended session/)
  })

  it.each([['--yes'], ['--json'], ['--keep-confirmed'], ['--dry-run']])('asks nothing with %s', async (option) => {
    const { code, shown } = await cancelOnTerminal(await killedUpload(), '', option)

    expect(code).toBe(0)
    expect(shown).not.toContain('[y/N]')
  })
})

describe('cancel', () => {
  it('tells the service after a kill, once, and leaves nothing to resume', async () => {
    const key = await killedUpload()

    const cancel = await run('cancel', key, '--json')
    const again = await run('cancel', key)
    const resume = await run('resume', key)

    expect(cancel).toMatchObject({ code: 0, stderr: '' })
    expect(lastLine(cancel.stdout)).toMatchObject({ flow: 'video', status: 'cancelled', key, isServiceTold: true })
    expect(service.records.cancelledSessionIds).toHaveLength(1)
    expect(again).toMatchObject({ code: 0, stdout: `cancelled: ${key} was cancelled before\n` })
    expect(service.requestsOf('cancel')).toHaveLength(1)
    expect(resume.code).toBe(1)
    expect(resume.stderr).toMatch(/was cancelled and cannot be resumed\. Upload what it lacks anew\./)
    expect(resume.stderr).not.toContain('To finish')
    // Whoever erases the card of a file that counts would lose it: the service has removed it.
    expect(await sessions()).toMatchObject([{ key, status: 'cancelled', filesConfirmed: 0 }])
  })

  it('of what is confirmed as a whole is wrong use, also in a dry run, and keeps nothing from those who keep it', async () => {
    await startService()
    const upload = await run('video', 'small.mp4', ...VIDEO, '--json')
    const key = String(lastLine(upload.stdout)['key'])

    const cancels = [await run('cancel', key, '--yes'), await run('cancel', key, '--dry-run')]
    const asJson = await run('cancel', key, '--json')
    const kept = await run('cancel', key, '--keep-confirmed')

    const message = `${key} is confirmed as a whole, so there is nothing to give up. Its files stay with the service.`
    for (const cancel of cancels)
      expect(cancel).toEqual({ code: 2, stdout: '', stderr: `error: ${message} (ERR_UPLOAD_INVALID_ARGUMENT)\n` })
    expect(asJson.code).toBe(2)
    expect(lastLine(asJson.stdout)).toMatchObject({ flow: 'cancel', status: 'failed', error: { message } })
    expect(kept.code).toBe(0)
    expect(service.requestsOf('cancel')).toEqual([])
  })

  it('that the service did not hear of ends with 1 and the command that repeats it', async () => {
    const key = await killedUpload()

    const refused = await cli.run(['cancel', key], environment({ MOCAP_API_KEY: 'wrong-key-82' }))
    const listed = await run('sessions')
    const pruned = await run('sessions', '--prune')
    const again = /To tell it: mocap-uplink (.*)\n/.exec(refused.stderr)?.[1] ?? ''
    const told = await run(...again.split(' '))

    expect(refused.code).toBe(1)
    expect(refused.stderr).toMatch(/^error: .* \(ERR_UPLOAD_CREDENTIALS_REFUSED\)\nThe service could not be told\. /)
    expect(listed.stdout).toMatch(new RegExp(`${key} +video +cancelled, service not told +0 of 2 +10 MiB of 12 MiB`))
    expect(pruned.stdout).toBe('removed 0 finished sessions, 1 other kept\n')
    expect(told.code).toBe(0)
    expect(service.records.cancelledSessionIds).toHaveLength(1)
  })

  it('that the service refuses is not called untold, says nothing of resuming, and can be forgotten', async () => {
    const key = await killedUpload({ operation: 'cancel', nth: 1, action: { status: 409 } })

    const { code, stderr } = await run('cancel', key)
    const forget = /\. To forget \w+(?: session)? on this machine: mocap-uplink (.*)\n/.exec(stderr)?.[1] ?? ''
    const forgotten = await run(...forget.split(' '))
    const listed = await run('sessions')

    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^error: .*\(409\).* \(ERR_UPLOAD_SERVICE_REFUSED\)\nThe service was told and refused\. To tell it once more: mocap-uplink cancel .*\n/,
    )
    expect(stderr).not.toMatch(/resume/)
    expect(forgotten).toMatchObject({ code: 0, stdout: `removed ${key}; no service was told\n` })
    expect(listed.stdout).toMatch(/^There is no session in /)
  })

  it('lets what is confirmed stay when asked to, and only then is it forgotten: what is not over is not', async () => {
    const key = await killedUpload()
    const begun = { version: 1, key: 'video-new', flow: 'video', params: {}, locations: [], files: [] } as const
    const session = await diskJournal({ folder: stateDir }).open('video-new')
    await session.append([{ at: 1, type: 'session.begun', ...begun }])
    await session.close()

    const refused = await run('sessions', '--forget', key, 'video-new')
    const dry = await run('cancel', key, '--keep-confirmed', '--dry-run')
    const cancelled = await run('cancel', key, '--keep-confirmed')
    const again = await run('cancel', key, '--keep-confirmed', '--json')
    const dryWhole = await run('cancel', key, '--dry-run')
    const forgotten = await run('sessions', '--forget', key)

    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toMatch(
      new RegExp(
        `${key} is not over: cancel it first, so that the service is told; cancel --keep-confirmed lets 1 file stay`,
      ),
    )
    expect(dry.stdout).not.toContain('cancel of')
    expect(dryWhole.stdout).toContain('cancel of session')
    expect(cancelled).toMatchObject({ code: 0, stdout: `cancelled: ${key}; 1 file stays confirmed\n` })
    expect(lastLine(again.stdout)).toMatchObject({ status: 'cancelled', key, keepsConfirmed: true })
    expect(forgotten).toMatchObject({
      code: 0,
      stdout: `removed ${key}; 1 file stays confirmed; no service was told\n`,
    })
    expect(service.requestsOf('cancel')).toEqual([])
    expect(service.storedFiles().filter(({ isConfirmed }) => isConfirmed)).toHaveLength(1)
  })

  it('of a journal without a beginning says how to forget it, and a dry run of all says so too', async () => {
    await startService()
    const folder = join(stateDir, 'session-video-torn')
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await writeFile(join(folder, 'journal'), '')

    const listed = await run('sessions')
    const cancel = await run('cancel', 'video-torn')
    const receipt = await run('receipt', 'show', 'video-torn')
    const resumed = await run('resume', 'video-torn')
    const dry = await run('resume', '--dry-run')
    const forget = /\. To forget \w+(?: session)? on this machine: mocap-uplink (.*)\n/.exec(cancel.stderr)?.[1] ?? ''
    const forgotten = await run(...forget.split(' '), '--json')

    expect(listed.stderr).toMatch(/^warning: video-torn: The journal of this session has no beginning/)
    for (const { code, stderr } of [cancel, receipt, resumed]) {
      expect(code).toBe(1)
      expect(stderr).toContain('has no beginning; it cannot be resumed.')
      expect(stderr).not.toContain(folder)
    }
    expect(receipt.stderr).not.toMatch(/forget/)
    expect(resumed.stderr).toContain(`. To forget it on this machine: mocap-uplink ${forget}\n`)
    expect(dry.stdout).toMatch(/^dry run: video-torn: cannot be read\. The journal of this session has no beginning/)
    expect(forgotten.code).toBe(0)
    expect(lastLine(forgotten.stdout)).toMatchObject({ event: 'result', status: 'completed', sessions: 0, removed: 1 })
    expect((await readdir(stateDir)).filter((name) => name.startsWith('session-'))).toEqual([])
  })

  it('of a journal of a later version does not say that nothing is known of it: the program that began it can finish it', async () => {
    await startService()
    const folder = join(stateDir, 'session-video-later')
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await writeFile(join(folder, 'journal'), 'mocap-uplink-journal 99 what only that program reads\n')

    for (const { code, stderr } of [await run('cancel', 'video-later'), await run('resume', 'video-later')]) {
      expect(code).toBe(1)
      expect(stderr).toContain('Finish this session with the program that began it.')
      expect(stderr).toContain('video-later cannot be read here. To forget it on this machine: mocap-uplink ')
      expect(stderr).not.toMatch(/nothing is known/i)
    }
  })

  it('of what a program began with a protocol of its own is for that program: a resume leaves it out, and it can be forgotten', async () => {
    await startService()
    const key = 'custom-theirs'
    const session = await diskJournal({ folder: stateDir }).open(key)
    await session.append([
      { at: 1, type: 'session.begun', version: 1, key, flow: 'custom', params: {}, locations: [], files: [] },
    ])
    await session.close()
    const ofProgram = `${key} was begun by a program with a protocol of its own, and only that program can resume or cancel it`

    const all = await run('resume', '--json')
    const named = await Promise.all([run('resume', key), run('cancel', key)])
    const forgotten = await run('sessions', '--forget', key)

    expect(all).toMatchObject({ code: 0, stderr: `${key} is left out: it ${ofProgram.slice(key.length + 1)}.\n` })
    expect(jsonLines(all.stdout)).toMatchObject([
      { event: 'leftOut', key, flow: 'custom' },
      { event: 'result', status: 'confirmed', sessions: [] },
    ])
    expect(named.map(({ code }) => code)).toEqual([2, 2])
    for (const { stderr } of named) expect(stderr).toContain(ofProgram)
    expect(named[1].stderr).toContain(`To forget it on this machine: mocap-uplink sessions --forget ${key}`)
    expect(forgotten).toMatchObject({ code: 0, stdout: `removed ${key}; no service was told\n` })
  })

  it('of a session that another process drives: it is not forgotten', async () => {
    await startService()
    const session = await diskJournal({ folder: stateDir }).open('video-busy')
    const begun = { version: 1, key: 'video-busy', flow: 'video', params: {}, locations: [], files: [] } as const
    await session.append([
      { at: 1, type: 'session.begun', ...begun },
      { at: 2, type: 'session.cancelled', isServiceTold: false },
    ])

    const { code, stdout, stderr } = await run('sessions', '--forget', 'video-busy')
    const unknown = await run('sessions', '--forget', 'video-never')
    await session.close()

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^error: .*"video-busy" cannot be opened/)
    expect(unknown.code).toBe(2)
  })

  it('names every session of the service that it ends or could not end, also before it is told', async () => {
    await startService()
    const journal = await diskJournal({ folder: stateDir }).open('video-moved')
    const plan = { name: 'a.mp4', sizeBytes: 3, partSizeBytes: 3, partCount: 1 }
    const place = (fileIndex: number) => ({
      fileIndex,
      serverFileId: fileIndex,
      addresses: [`${service.storageUrl}/k`],
    })
    const params = { movementTypeId: 1, playerId: 'p', sessionDate: '2026-11-20', sessionTypeId: 2 }
    const begun = { version: 1, key: 'video-moved', flow: 'video', params, locations: ['/a', '/b'] } as const
    const files = [0, 1].map((fileIndex) => ({ ...plan, fileIndex }))
    await journal.append([
      { at: 1, type: 'session.begun', ...begun, files },
      { at: 2, type: 'session.created', sessionId: 's1', files: [place(0), place(1)] },
      { at: 3, type: 'session.replaced', sessionId: 's2', files: [place(0)] },
      { at: 4, type: 'session.replaced', sessionId: 's3', files: [place(0)] },
    ])
    await journal.close()

    const dry = await run('cancel', 'video-moved', '--dry-run')
    const untold = await run('cancel', 'video-moved')
    const told = await run('cancel', 'video-moved', '--json')

    expect(dry.stdout).toContain('cancel of session s3')
    expect(dry.stdout).toContain('cancel of session s1')
    expect(dry.stdout).toContain('cancel of session s2')
    // This service knows none of them: of the newest that is believed only where an earlier try may have ended it.
    expect(untold.stdout).toBe('cancelled: video-moved; the service may still hold sessions s3, s1, s2\n')
    expect(untold.stderr).toMatch(
      /\(404\).*\nIt may have ended sessions s3, s1, s2 before; if not, the key or token may be of another organisation than that which began it, or the service may have been restored from a backup, or be another one\.\nIf it says the same again, the session counts as ended: mocap-uplink cancel video-moved /,
    )
    expect(lastLine(told.stdout)).toMatchObject({ isServiceTold: true, sessionIds: ['s3', 's1', 's2'] })
  })

  it('of a capture says that the service has no call for it', async () => {
    await startService({
      faults: [{ operation: 'put', nth: 'every', fileName: 'take-2.action', action: { status: 400 } }],
    })
    const upload = await run('capture', 'take-1.action', 'take-2.action', ...CAPTURE, '--json')
    const key = String(lastLine(upload.stdout)['key'])

    const dry = await run('cancel', key, '--dry-run')
    const { code, stdout } = await run('cancel', key)

    expect(dry).toMatchObject({ code: 0, stdout: 'dry run: no call\n' })
    expect({ upload: upload.code, code }).toEqual({ upload: 3, code: 0 })
    expect(stdout).toBe(
      `cancelled: ${key}; the service has no call that ends a capture session, and keeps the 1 file stored in it\n`,
    )
  })
})
