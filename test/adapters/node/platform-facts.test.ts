// What is read of what each platform says. macOS and Windows speak here through texts of the form that their programs print: the
// programs themselves are run only where this test runs on such a machine.

import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'

import { describe, expect, it, onTestFinished, vi } from 'vitest'

import { descriptors } from '../../../src/adapters/node/descriptors.ts'
import { ENDED, platformFacts, systemReads, type PlatformReads } from '../../../src/adapters/node/platform-facts.ts'

interface Said {
  readonly texts?: Readonly<Record<string, string>>
  readonly links?: Readonly<Record<string, string>>
  /** What is there but cannot be read. */
  readonly unreadable?: readonly string[]
  /** By the whole command line. */
  readonly answers?: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
}

/** A platform that says this and nothing else. */
function says(platform: NodeJS.Platform, said: Said): PlatformReads {
  const { texts = {}, links = {}, unreadable = [], answers = {}, env = {} } = said
  return {
    ...{ platform, env },
    textOf: (path) => Promise.resolve(texts[path]),
    isMissing: (path) => Promise.resolve(!(path in texts) && !unreadable.includes(path)),
    linkOf: (path) => links[path],
    answerOf: (program, args) => Promise.resolve(answers[[program, ...args].join(' ')]),
  }
}

async function everythingOf(reads: PlatformReads, pid = 4711): Promise<unknown> {
  const facts = platformFacts(reads)
  const [start, boot, machineId, pidSpace] = await Promise.all([
    facts.startOf(pid),
    facts.boot(),
    facts.machineId(),
    facts.pidSpace(),
  ])
  return { start, boot, machineId, pidSpace }
}

const NOTHING = { start: undefined, boot: undefined, machineId: undefined, pidSpace: undefined }

describe('macOS', () => {
  const IOREG = `+-o Mac14,2  <class IOPlatformExpertDevice, id 0x100000255, registered, matched, active, busy 0 (0 ms), retain 39>
    {
      "manufacturer" = <"Apple Inc.">
      "IOPlatformSerialNumber" = "C02XXXXXXXXX"
      "IOPlatformUUID" = "8F6C3B4E-0B1D-5E2A-9C47-2D1F0A6B7C8D"
      "model" = <"Mac14,2">
    }`
  const answers = {
    '/bin/ps -o lstart= -p 4711': 'Fri Nov 20 19:02:11 2026',
    '/usr/sbin/sysctl -n kern.bootsessionuuid': 'A1C0FFEE-1234-4ABC-8DEF-001122334455',
    '/usr/sbin/ioreg -rd1 -c IOPlatformExpertDevice': IOREG,
  }

  it('says when a process started, which boot and which hardware it is', async () => {
    expect(await everythingOf(says('darwin', { answers }))).toEqual({
      start: 'Fri Nov 20 19:02:11 2026',
      boot: 'A1C0FFEE-1234-4ABC-8DEF-001122334455',
      machineId: '8F6C3B4E-0B1D-5E2A-9C47-2D1F0A6B7C8D',
      pidSpace: undefined,
    })
  })

  it('asks no program by a name that the PATH must resolve, which is short under cron', async () => {
    const programs: string[] = []
    const reads = says('darwin', {})
    const answerOf = (program: string) => {
      programs.push(program)
      return Promise.resolve(undefined)
    }

    expect(await everythingOf({ ...reads, answerOf })).toEqual(NOTHING)
    expect(programs).toHaveLength(3)
    for (const program of programs) expect(program).toMatch(/^\//)
  })
})

describe('Windows', () => {
  const REG =
    '\r\nHKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Cryptography\r\n    MachineGuid    REG_SZ    2c9f7b1e-55d0-4f0a-9a53-6f1d6c1b8e02\r\n\r\n'
  const asked = (root: string) => ({
    [`${root}\\System32\\WindowsPowerShell\\v1.0\\powershell.exe -NoProfile -NonInteractive -Command (Get-Process -Id 4711).StartTime.ToFileTimeUtc()`]:
      '134084989310142387',
    [`${root}\\System32\\reg.exe query HKLM\\SOFTWARE\\Microsoft\\Cryptography /v MachineGuid /reg:64`]: REG,
  })
  const found = {
    ...NOTHING,
    start: '134084989310142387',
    machineId: '2c9f7b1e-55d0-4f0a-9a53-6f1d6c1b8e02',
  }

  it('says when a process started and which machine it is, by programs of the system folder wherever that is', async () => {
    const elsewhere = says('win32', { answers: asked('D:\\WINNT'), env: { SystemRoot: 'D:\\WINNT' } })

    expect(await everythingOf(elsewhere)).toEqual(found)
    expect(await everythingOf(says('win32', { answers: asked('C:\\Windows') }))).toEqual(found)
  })

  it('that says nothing, because its policy forbids PowerShell or the registry, is not known', async () => {
    expect(await everythingOf(says('win32', {}))).toEqual(NOTHING)
  })
})

describe('Linux', () => {
  const stat = (name: string, state: string) =>
    `4711 (${name}) ${state} 1 4711 4711 0 -1 4194304 9 0 0 0 1 2 0 0 20 0 11 0 8675309 1234 5 18446744073709551615`
  const BOOT = '7d3a1c9e-0f52-4c11-9a7e-5b6f2d1e8c40'
  const ID = '0123456789abcdef0123456789abcdef'

  it('says all of it, whatever the program is called', async () => {
    const texts = {
      '/proc/4711/stat': stat('a) Z 1 (b', 'S'),
      '/proc/sys/kernel/random/boot_id': BOOT,
      '/etc/machine-id': ID,
    }
    const links = { '/proc/self/ns/pid': 'pid:[4026531836]' }

    expect(await everythingOf(says('linux', { texts, links }))).toEqual({
      ...{ start: '8675309', boot: BOOT, machineId: ID, pidSpace: 'pid:[4026531836]' },
    })
  })

  it.each(['Z', 'X'])('says of a process in state %s that it has ended', async (state) => {
    const reads = says('linux', { texts: { '/proc/4711/stat': stat('node', state) } })

    expect(await platformFacts(reads).startOf(4711)).toBe(ENDED)
  })

  it('says which thread asks, and when that started', async () => {
    const texts = { '/proc/4711/task/4715/stat': stat('libuv-worker', 'S') }
    const facts = platformFacts(says('linux', { texts, links: { '/proc/thread-self': '4711/task/4715' } }))

    expect(facts.ownThread()).toBe('4715')
    expect(await facts.startOfThread(4711, '4715')).toBe('8675309')
    expect(await facts.startOfThread(4711, '4716')).toBe(ENDED)
  })

  it('says nothing of a thread of which nothing can be read, as where too many files are open', async () => {
    const reads = says('linux', { unreadable: ['/proc/4711/task/4715'] })

    expect(await platformFacts(reads).startOfThread(4711, '4715')).toBeUndefined()
  })

  it.each<[string, Readonly<Record<string, string>>, string | undefined]>([
    ['the older place', { '/var/lib/dbus/machine-id': ID }, ID],
    ['a word of an image', { '/etc/machine-id': 'uninitialized' }, undefined],
    ['nothing', {}, undefined],
  ])('takes the id of the machine from %s as it is', async (_where, texts, expected) => {
    expect(await platformFacts(says('linux', { texts })).machineId()).toBe(expected)
  })
})

it('of a platform that is not known nothing is said', async () => {
  expect(await everythingOf(says('aix', { texts: { '/etc/machine-id': '0'.repeat(32) } }))).toEqual(NOTHING)
})

it('this platform says when this process started', async () => {
  const { startOf } = platformFacts(systemReads)

  expect(await startOf(process.pid)).toMatch(/\d/)
  expect(await startOf(process.pid)).toBe(await startOf(process.pid))
})

it.runIf(process.platform === 'linux')(
  'this platform says so while this process can open nothing more, once something of it is closed: a lock without it outlives its holder',
  async () => {
    const closed = descriptors.opened('file')
    const { readFile } = fs
    let refused = 0
    let isFull = true
    vi.spyOn(fs, 'readFile').mockImplementation((...values) => {
      if (!isFull) return readFile(...values)
      refused += 1
      return Promise.reject(Object.assign(new Error('none left'), { code: 'EMFILE' }))
    })
    syncBuiltinESMExports()
    onTestFinished(() => {
      vi.restoreAllMocks()
      syncBuiltinESMExports()
    })

    const asked = platformFacts(systemReads).startOf(process.pid)
    await vi.waitFor(() => expect(refused).toBe(1))
    isFull = false
    closed()

    expect(await asked).toMatch(/^\d+$/)
  },
)
