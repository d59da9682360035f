import { fork, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { build } from 'tsup'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'

import { isLocked, lockSession } from '../../../../src/adapters/node/journal/journal-lock.ts'
import {
  isThisMachine,
  ownIdentity,
  whereIs,
  type ProcessIdentity,
} from '../../../../src/adapters/node/journal/process-identity.ts'
import { folderOfKey } from '../../../../src/adapters/node/journal/session-folder.ts'

/**
 * Another process or thread with the journal. It is told `open`, `append`, `close` with a key, or `compete` with a key and a file
 * that only one may have made at a time until it has had the session 15 times, and answers each.
 */
const PROGRAM = `
import { open as openFile, rm } from 'node:fs/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { diskJournal } from ${JSON.stringify(join(import.meta.dirname, '../../../../src/adapters/node/journal/disk-journal.ts'))}

const port = parentPort ?? process
const send = (answer) => (parentPort ? parentPort.postMessage(answer) : process.send(answer))
const journal = diskJournal({ folder: workerData ?? process.argv[2] })
const sessions = new Map()
const verbs = {
  async open(key) { const session = await journal.open(key); sessions.set(key, session); return session.records },
  append: (key) => sessions.get(key).append([{ type: 'session.creating', at: process.pid }]),
  close: (key) => sessions.get(key).close(),
  async compete(key, marker) {
    let wins = 0
    while (wins < 15) {
      const session = await journal.open(key).catch((error) => { if (error.code !== 'ERR_UPLOAD_JOURNAL') throw error })
      if (session === undefined) continue
      await (await openFile(marker, 'wx')).close()
      wins += 1
      // While this goes to the disk, whoever came in beside it finds the marker.
      await session.append([{ type: 'session.creating', at: process.pid }])
      await rm(marker)
      await session.close()
    }
    return wins
  },
}
port.on('message', async ([verb, ...args]) => {
  try { send({ value: await verbs[verb](...args) }) }
  catch (error) { send({ code: error.code, message: error.message }) }
})
send('ready')
`

let program: string
let folder: string
const children: ChildProcess[] = []

beforeAll(async () => {
  const place = await mkdtemp(join(tmpdir(), 'journal-lock-'))
  await writeFile(join(place, 'program.ts'), PROGRAM)
  await build({
    ...{ entry: [join(place, 'program.ts')], outDir: place, format: 'esm', platform: 'node', target: 'es2023' },
    ...{ config: false, silent: true, dts: false, clean: false, outExtension: () => ({ js: '.mjs' }) },
  })
  program = join(place, 'program.mjs')
})
afterAll(() => rm(dirname(program), { recursive: true, force: true }))

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'journal-lock-'))
})
afterEach(async () => {
  await Promise.all(children.splice(0).map(kill))
  await rm(folder, { recursive: true, force: true })
})

interface Answer {
  readonly value?: unknown
  readonly code?: string
  readonly message?: string
}

async function start(): Promise<ChildProcess> {
  const child = fork(program, [folder])
  children.push(child)
  await once(child, 'message')
  return child
}

async function tell(child: ChildProcess, ...order: readonly string[]): Promise<Answer> {
  const answer = once(child, 'message')
  child.send(order)
  return ((await answer) as [Answer])[0]
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

/** A process that was here and is not any more. */
async function killedPid(): Promise<number> {
  const child = await start()
  await kill(child)
  return child.pid!
}

async function plant(owner: unknown, name = 'd0c5f7c4-owner'): Promise<string> {
  const lock = join(folder, 'session', 'lock')
  await mkdir(lock, { recursive: true })
  await writeFile(join(lock, name), typeof owner === 'string' ? owner : JSON.stringify(owner))
  return lock
}

const lockHere = () => lockSession(join(folder, 'session'), 'night-1')
const refused = (message: string) => ({
  code: 'ERR_UPLOAD_JOURNAL',
  message: expect.stringContaining(message) as string,
})

describe('between processes', () => {
  it('one drives a session, the other is told by whom and what to do, until it is closed', async () => {
    const [one, other] = [await start(), await start()]
    expect(await tell(one, 'open', 'night-1')).toEqual({ value: [] })
    await tell(one, 'append', 'night-1')

    const answer = await tell(other, 'open', 'night-1')
    expect(answer).toEqual({
      code: 'ERR_UPLOAD_JOURNAL',
      message: `The session "night-1" cannot be opened: process ${String(one.pid)} is working on it (lock "${join(folder, folderOfKey('night-1'), 'lock')}"). Wait until that process has ended, or end it.`,
    })
    await tell(one, 'close', 'night-1')

    expect(await tell(other, 'open', 'night-1')).toEqual({ value: [{ type: 'session.creating', at: one.pid }] })
  })

  it('what a killed one held is taken over with all that it had appended', async () => {
    const [one, other] = [await start(), await start()]
    await tell(one, 'open', 'night-1')
    await tell(one, 'append', 'night-1')
    await kill(one)
    expect(await readdir(join(folder, folderOfKey('night-1')))).toEqual(['journal', 'lock'])

    expect(await tell(other, 'open', 'night-1')).toEqual({ value: [{ type: 'session.creating', at: one.pid }] })
  })

  it('exactly one of many that meet at a stale lock wins, and the others are told of the winner', async () => {
    const many = await Promise.all(Array.from({ length: 5 }, start))
    const keys = ['night-1', 'night-2', 'night-3', 'night-4', 'night-5', 'night-6']
    const dead = await start()
    for (const key of keys) {
      await tell(dead, 'open', key)
      await tell(dead, 'append', key)
    }
    await kill(dead)
    for (const key of keys) {
      const answers = await Promise.all(many.map((child) => tell(child, 'open', key)))

      const winners = many.filter((_, index) => answers[index]!.value !== undefined)
      expect(winners).toHaveLength(1)
      for (const { message } of answers.filter(({ value }) => value === undefined)) {
        expect(message).toContain(`process ${String(winners[0]!.pid)} is working on it`)
      }
    }
  })

  it('never two have it at once, however often it changes hands', async () => {
    const many = await Promise.all(Array.from({ length: 4 }, start))

    const answers = await Promise.all(many.map((child) => tell(child, 'compete', 'night-1', join(folder, 'marker'))))

    // Another answer is of a marker that was there already: two at once.
    expect(answers).toEqual(Array(4).fill({ value: 15 }))
    expect(await readdir(join(folder, folderOfKey('night-1')))).toEqual(['journal'])
    expect((await tell(many[0]!, 'open', 'night-1')).value).toHaveLength(4 * 15)
  })
})

describe('a lock', () => {
  it('says in one file who holds it, and is gone when it is given back', async () => {
    const lock = await lockHere()

    const [name] = await readdir(join(folder, 'session', 'lock'))
    const owner = JSON.parse(await readFile(join(folder, 'session', 'lock', name!), 'utf8')) as ProcessIdentity
    expect(owner).toEqual(await ownIdentity())
    expect(owner).toMatchObject({ host: hostname(), pid: process.pid })
    if (process.platform === 'linux') {
      const boot = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim()
      expect(owner).toMatchObject({ boot, start: expect.stringMatching(/^\d+$/) as string })
    }

    await lock.release()
    expect(await readdir(folder)).toEqual([])
    await lock.release()
  })

  it('of this process is refused to this process', async () => {
    const lock = await lockHere()

    await expect(lockHere()).rejects.toMatchObject(refused('it is open in this process already. Close it there first.'))
    expect(await readdir(join(folder, 'session'))).toEqual(['lock'])
    await lock.release()
  })

  it('is not stale by age', async () => {
    const lock = await lockHere()
    const held = join(folder, 'session', 'lock')
    for (const path of [held, join(held, (await readdir(held))[0]!)]) await utimes(path, 0, 0)

    await expect(lockHere()).rejects.toMatchObject(refused('it is open in this process already'))
    await lock.release()
  })

  it('is stale when its process is gone', async () => {
    await plant({ ...(await ownIdentity()), pid: await killedPid() })

    await (await lockHere()).release()
  })

  it.runIf(process.platform === 'linux')('is so too on a laptop that has got another name since', async () => {
    const own = await ownIdentity()
    await plant({ ...own, host: 'laptop.hotel.example', pid: await killedPid() })

    // A container without a machine's id has no other name than its own.
    if (own.machine === undefined) await expect(lockHere()).rejects.toMatchObject(refused('cannot be seen from here'))
    else await (await lockHere()).release()
  })

  it.runIf(process.platform === 'linux')('is stale when its number was given to another process since', async () => {
    await plant({ ...(await ownIdentity()), start: '1' })

    await (await lockHere()).release()
  })

  const OTHER_BOOT = '11111111-2222-3333-4444-555555555555'

  it.runIf(process.platform === 'linux')('is stale when the computer has been started anew since', async () => {
    const own = await ownIdentity()
    await plant({ ...own, boot: OTHER_BOOT })

    // In a container that has no machine's id nothing tells a new start from another machine.
    if (own.machine === undefined) await expect(lockHere()).rejects.toMatchObject(refused('cannot be seen from here'))
    else await (await lockHere()).release()
  })

  it.runIf(process.platform === 'linux').each([
    ['one with an id of its own', { machine: '0'.repeat(32) }],
    ['one that does not say which it is', { machine: undefined }],
  ])('of another machine of the same name is refused on a shared folder: %s', async (_, machine) => {
    const here = await ownIdentity()
    // Its process has the number of one that is gone here, and of this one: neither says anything of it.
    for (const pid of [await killedPid(), process.pid]) {
      const lock = await plant({ ...here, ...machine, boot: OTHER_BOOT, pid })

      await expect(lockHere()).rejects.toMatchObject(
        refused(
          `process ${String(pid)} on the host "${hostname()}" holds its lock "${lock}", which cannot be seen from here`,
        ),
      )
      expect(await readdir(lock)).toHaveLength(1)
      await rm(lock, { recursive: true })
    }
  })

  it('of a process whose start is not known holds while there is one of its number', async () => {
    await plant({ ...(await ownIdentity()), start: undefined })

    await expect(lockHere()).rejects.toMatchObject(refused('cannot be opened'))
  })

  it('of another host is refused, with host and file and what to do, also when no such process is here', async () => {
    const lock = await plant({ host: 'studio-7', pid: await killedPid(), boot: 'other', start: '1' })

    await expect(lockHere()).rejects.toMatchObject({
      ...refused(
        `on the host "studio-7" holds its lock "${lock}", which cannot be seen from here. If that process has ended, delete the folder "${lock}" and try again.`,
      ),
      details: { key: 'night-1', host: 'studio-7', lock },
    })
  })

  it.runIf(process.platform === 'linux')('of another container on this host is refused as well', async () => {
    await plant({ ...(await ownIdentity()), pid: await killedPid(), pidSpace: 'pid:[1]' })

    await expect(lockHere()).rejects.toMatchObject(refused('which cannot be seen from here'))
  })

  it.each([
    '',
    '{"host":"a"}',
    '{"host":"a","pid":0}',
    '{"host":"a","pid":-1}',
    '{"host":"a","pid":1.5}',
    '{"host":1,"pid":7}',
    ...['machine', 'start', 'boot', 'pidSpace'].map((name) => `{"host":"a","pid":7,"${name}":1}`),
    'null',
    '\u0000',
  ])('that says %j is refused, with its place and what to do', async (content) => {
    const lock = await plant(content)

    await expect(lockHere()).rejects.toMatchObject({
      ...refused(
        `its lock "${lock}" cannot be read. If no other process is working on it, delete the folder "${lock}"`,
      ),
      details: { key: 'night-1', lock },
    })
    expect(await readdir(lock)).toHaveLength(1)
  })

  it('that is never there when it is looked at is not waited for without an end', async () => {
    const lock = join(folder, 'session', 'lock')
    await mkdir(lock, { recursive: true })
    await symlink(join(folder, 'nowhere'), join(lock, 'owner'))

    await expect(lockHere()).rejects.toMatchObject(refused(`its lock "${lock}" changes all the time`))
  })

  it('cannot be taken where a file is in its place: that is told at once, and nothing is left aside', async () => {
    await mkdir(join(folder, 'session'))
    await writeFile(join(folder, 'session', 'lock'), '')

    await expect(lockHere()).rejects.toMatchObject({
      ...refused('cannot be locked: a part of this path is not a folder'),
      details: { systemCode: 'ENOTDIR' },
    })
    expect(await readdir(join(folder, 'session'))).toEqual(['lock'])
  })

  it('is given back without a word, whatever became of its folder', async () => {
    for (const isReplaced of [false, true]) {
      const lock = await lockHere()
      await rm(join(folder, 'session'), { recursive: true })
      if (isReplaced) await writeFile(join(folder, 'session'), '')

      await lock.release()
    }
  })

  it('leaves alone what a living process is about to lock with, and what cannot be read', async () => {
    const session = join(folder, 'session')
    for (const [name, content] of [
      ['lock-alive', JSON.stringify(await ownIdentity())],
      ['lock-unreadable', '{'],
      ['other-gone', JSON.stringify({ ...(await ownIdentity()), pid: await killedPid() })],
    ] as const) {
      await mkdir(join(session, name), { recursive: true })
      await writeFile(join(session, name, name.slice('lock-'.length)), content)
    }
    await mkdir(join(session, 'lock-empty'))

    const lock = await lockHere()

    expect(await readdir(session)).toEqual(['lock', 'lock-alive', 'lock-empty', 'lock-unreadable', 'other-gone'])
    await lock.release()
  })

  it('that was left half made or half given back is no obstacle and is swept away', async () => {
    await mkdir(join(folder, 'session', 'lock'), { recursive: true })
    const aside = join(folder, 'session', 'lock-1234')
    await mkdir(aside)
    await writeFile(join(aside, '1234'), JSON.stringify({ ...(await ownIdentity()), pid: await killedPid() }))

    const lock = await lockHere()

    expect(await readdir(join(folder, 'session'))).toEqual(['lock'])
    await lock.release()
  })
})

describe('isLocked', () => {
  it('is so while somebody has the session or may have it, and changes nothing', async () => {
    const session = join(folder, 'session')
    expect(await isLocked(session)).toBe(false)
    const held = await lockHere()
    expect(await isLocked(session)).toBe(true)
    await held.release()
    expect(await isLocked(session)).toBe(false)

    const own = await ownIdentity()
    for (const [owner, is] of [
      [{ ...own, pid: await killedPid() }, false],
      [{ ...own, host: 'studio-7', boot: 'another' }, true],
      ['nonsense', true],
    ] as const) {
      const lock = await plant(owner)
      expect(await isLocked(session)).toBe(is)
      expect(await readdir(lock)).toHaveLength(1)
      await rm(lock, { recursive: true })
    }
  })

  it('is not so where the lock is no folder, or its file is gone when it is looked at: a list of sessions goes on', async () => {
    const lock = join(folder, 'session', 'lock')
    await mkdir(lock, { recursive: true })
    await symlink(join(folder, 'nowhere'), join(lock, 'owner'))
    expect(await isLocked(join(folder, 'session'))).toBe(false)

    await rm(lock, { recursive: true })
    await writeFile(lock, '')
    expect(await isLocked(join(folder, 'session'))).toBe(false)
  })
})

describe('whereIs', () => {
  it.runIf(process.platform === 'linux')(
    'calls a process gone that has ended though nobody asked after it',
    async () => {
      // The child of the shell ends with its input, by when the shell has become a program that asks after no child.
      // Nothing tells when either has happened, so the kernel's word is read until it says so.
      const shell = spawn('/bin/sh', ['-c', 'exec 3<&0; (read line <&3) & echo $!; exec sleep 600'])
      children.push(shell)
      const [said] = (await once(shell.stdout, 'data')) as [Buffer]
      const pid = Number(said.toString().trim())
      const says = (path: string, word: string) =>
        vi.waitFor(async () => expect(await readFile(`/proc/${path}`, 'utf8')).toContain(word), 30_000)
      await says(`${String(shell.pid)}/comm`, 'sleep')
      shell.stdin.end()
      await says(`${String(pid)}/stat`, ') Z ')

      expect(await whereIs({ ...(await ownIdentity()), pid })).toBe('gone')
      const unknownStart = JSON.stringify({ ...(await ownIdentity()), pid, start: undefined })
      expect(await whereIs(JSON.parse(unknownStart) as ProcessIdentity)).toBe('gone')
    },
  )

  it('calls this process alive', async () => {
    expect(await whereIs(await ownIdentity())).toBe('alive')
  })
})

describe.runIf(process.platform === 'linux')('between threads of one process', () => {
  const threads: Worker[] = []
  afterEach(() => Promise.all(threads.splice(0).map((thread) => thread.terminate())))

  const startThread = async (): Promise<Worker> => {
    const thread = new Worker(program, { workerData: folder })
    threads.push(thread)
    await once(thread, 'message')
    return thread
  }
  const tellThread = async (thread: Worker, ...order: readonly string[]): Promise<Answer> => {
    const answer = once(thread, 'message')
    thread.postMessage(order)
    return ((await answer) as [Answer])[0]
  }

  it('what one held is taken over with all that it had appended once it has ended, however that came, and not before', async () => {
    const [one, other] = [await startThread(), await startThread()]
    await tellThread(one, 'open', 'night-1')
    await tellThread(one, 'append', 'night-1')
    const place = join(folder, folderOfKey('night-1'))
    expect(await isLocked(place)).toBe(true)
    expect(await tellThread(other, 'open', 'night-1')).toMatchObject(refused('it is open in this process already'))

    await one.terminate()

    expect(await isLocked(place)).toBe(false)
    expect(await tellThread(other, 'open', 'night-1')).toEqual({
      value: [{ type: 'session.creating', at: process.pid }],
    })
  })
})

describe('isThisMachine', () => {
  const NAMED = { host: 'studio', pid: 1 }
  const UNNUMBERED = { ...NAMED, boot: 'b1' }
  const UNBOOTED = { ...NAMED, machine: 'm1' }
  const HERE = { ...NAMED, machine: 'm1', boot: 'b1' }

  it.each<[string, ProcessIdentity, ProcessIdentity, boolean]>([
    ['the same boot', HERE, HERE, true],
    ['an earlier boot of the same machine', { ...HERE, boot: 'b0' }, HERE, true],
    ['the same boot, seen from a container with an id of its own', { ...HERE, machine: 'm2' }, HERE, true],
    ['the same boot where no id is known', UNNUMBERED, UNNUMBERED, true],
    ['another boot of a machine that is not known', { ...UNNUMBERED, boot: 'b0' }, HERE, false],
    ['another boot where no id is known', { ...UNNUMBERED, boot: 'b0' }, UNNUMBERED, false],
    ['another machine of the same name', { ...HERE, machine: 'm2', boot: 'b2' }, HERE, false],
    ['the same boot under the name that another network gave it', { ...HERE, host: 'stage' }, HERE, true],
    ['another name', { ...HERE, host: 'stage', boot: 'b0' }, HERE, false],
    // Virtual machines that go on from one memory image share the boot as well.
    ['a clone of the running machine with an id of its own', { ...HERE, host: 'stage', machine: 'm2' }, HERE, false],
    ['a clone of the running machine where no id is known', { ...UNNUMBERED, host: 'stage' }, UNNUMBERED, false],
    ['another name where no boot is known', { ...UNBOOTED, host: 'stage' }, UNBOOTED, false],
    ['the same machine where no boot is known', UNBOOTED, UNBOOTED, true],
    ['another machine where no boot is known', { ...UNBOOTED, machine: 'm2' }, UNBOOTED, false],
    ['a name alone, found where more is known', NAMED, HERE, false],
    ['a name alone, where nothing more is ever known', NAMED, NAMED, true],
  ])('%s', (_, found, here, is) => {
    expect(isThisMachine(found, here)).toBe(is)
  })
})
