// How many calls a second the service answers, with the embedded database and with PostgreSQL, one copy and two.

import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'

import {
  newDatabase,
  postgresPrograms,
  startPostgres,
  type PostgresServer,
} from '../../test/helpers/postgres-server.ts'
import { inOrderOf } from '../measure/interleaved.ts'
import type { BenchPart, BenchSetting } from '../part.ts'
import { barPlot, barRows } from '../report/bar-plot.ts'
import { machineLine } from '../report/machine.ts'
import type { Run } from '../report/result.ts'
import { readable } from '../report/statistics.ts'
import { creates, FILES, listsAndReads, NAMES, PARTS, putsAndConfirmations, registrations } from './calls.ts'
import { generateLoad, type Amount, type Call } from './load.ts'
import { openSite, treeCpuMs, type Site } from './site.ts'

interface Arrangement {
  readonly name: string
  readonly isServer: boolean
  readonly copies: number
}

const ARRANGEMENTS: readonly Arrangement[] = [
  { name: 'PostgreSQL, two copies', isServer: true, copies: 2 },
  { name: 'PostgreSQL, one copy', isServer: true, copies: 1 },
  { name: 'PGlite, one copy', isServer: false, copies: 1 },
]

const CALLS = {
  create: `Creates a second, ${FILES} videos in ${PARTS} parts each`,
  register: `Registrations a second, ${NAMES} names each`,
  put: 'PUTs of 1 kB to the disk a second',
  confirm: 'Confirmations of a file a second',
  list: 'Lists a second, a page of 100 analyses',
  read: 'Reads of one analysis a second',
}
type CallName = keyof typeof CALLS

export const servicePart: BenchPart = {
  name: 'service',
  about: 'calls a second of the service: PGlite and PostgreSQL, one copy and two',

  async run(setting) {
    const { isQuick, say } = setting
    const postgres = postgresPrograms === undefined ? undefined : await startPostgres({ isDurable: true })
    const shortfalls = postgres === undefined ? ['PostgreSQL is not installed (apt-get install postgresql).'] : []
    const arrangements = ARRANGEMENTS.filter(({ isServer }) => !isServer || postgres !== undefined)
    const runs: Run[] = []
    try {
      const rounds = setting.rounds ?? 3
      for (let round = 1; round <= rounds; round += 1) {
        for (const arrangement of inOrderOf(round, arrangements)) {
          const { name } = arrangement
          try {
            for (const [call, measures] of await measure(setting, arrangement, postgres, isQuick)) {
              runs.push({ contestant: name, round, setting: { call }, measures })
              const { perSecond = 0, p50Ms = 0, p99Ms = 0 } = measures
              say(
                `  ${round}/${rounds} ${name.padEnd(24)} ${call.padEnd(9)} ${readable(perSecond)}/s  ${p50Ms}, ${p99Ms} ms`,
              )
            }
          } catch (error) {
            shortfalls.push(`${name} failed in round ${round}: ${String(error)}`)
          }
        }
      }
    } finally {
      await postgres?.stop()
    }
    const title = 'Calls that the service answers'
    const ordered = arrangements.flatMap(({ name }) =>
      Object.keys(CALLS).flatMap((call) =>
        runs.filter((run) => run.contestant === name && run.setting?.['call'] === call),
      ),
    )
    const contestants = arrangements.map(({ name, isServer }) => ({ name, isOurs: isServer }))
    const panels = Object.entries(CALLS).map(([call, about]) => ({
      title: `${about} (more is better)`,
      rows: barRows(runs, contestants, 'perSecond', { call }),
    }))
    return {
      part: 'service',
      title,
      about: [
        'The service as it is built, each copy a process of its own, objects on the disk, is called over 16 connections by autocannon, which shares the machine’s cores with it, as PostgreSQL does (its defaults, every commit on the disk). Each run begins with an empty database; a call that is not answered 2xx ends the measurement.',
        `A create is a session of ${FILES} videos in ${PARTS} parts each, with ${FILES * PARTS} signed addresses; a registration has ${NAMES} new names; a confirmation is of a file of one part, 20 files to a session; a list is a page of 100 analyses. Processor time is of all copies, and of the server with all its processes, for one call.`,
      ],
      columns: [
        { measure: 'perSecond', label: 'a second' },
        { measure: 'p50Ms', label: 'median ms' },
        { measure: 'p99Ms', label: 'p99 ms' },
        { measure: 'copiesCpuMs', label: 'CPU ms a call, copies' },
        { measure: 'databaseCpuMs', label: 'CPU ms a call, PostgreSQL' },
      ],
      runs: ordered,
      bars: [],
      plots:
        runs.length === 0 ? [] : [{ name: '', svg: barPlot({ title, panels, foot: machineLine(setting.machine) }) }],
      shortfalls,
    }
  },
}

type Measured = readonly (readonly [CallName, Record<string, number>])[]

async function measure(
  { root, dist, programs, scratch }: BenchSetting,
  { isServer, copies }: Arrangement,
  postgres: PostgresServer | undefined,
  isQuick: boolean,
): Promise<Measured> {
  const databaseUrl = isServer && postgres !== undefined ? await newDatabase(postgres.url) : undefined
  const dataDir = await mkdtemp(join(scratch, 'service-'))
  const program = join(programs, 'service', 'copy.js')
  const site = await openSite({ databaseUrl, dataDir, copies, dist, program })
  try {
    const [url = ''] = site.urls
    const files = isQuick ? FILES : 1_000
    const { puts, confirmations } = await putsAndConfirmations(url, files)
    const { lists, reads } = await listsAndReads(url)
    const enough: Amount = isQuick ? { calls: FILES } : { seconds: 3 }
    const plan: readonly (readonly [CallName, Call, Amount])[] = [
      ['create', creates(), enough],
      ['register', await registrations(url), enough],
      ['put', puts, { calls: files }],
      ['confirm', confirmations, { calls: files }],
      ['list', lists, enough],
      ['read', reads, enough],
    ]
    const measured: (readonly [CallName, Record<string, number>])[] = []
    for (const [name, call, amount] of plan) {
      const before = await usage(site, isServer ? postgres : undefined)
      const { calls, ...result } = await generateLoad(root, site.urls, call, amount)
      const after = await usage(site, isServer ? postgres : undefined)
      const used = Object.entries(after).map(([side, ms]) => [side, (ms - (before[side] ?? 0)) / calls] as const)
      measured.push([name, { ...result, ...Object.fromEntries(used) }])
    }
    return measured
  } finally {
    await site.close()
  }
}

/** Processor time used so far on each side; that of PostgreSQL only where it can be read. */
async function usage(site: Site, postgres: PostgresServer | undefined): Promise<Record<string, number>> {
  const databaseCpuMs = postgres === undefined ? undefined : await treeCpuMs(postgres.pid)
  return { copiesCpuMs: await site.copiesCpuMs(), ...(databaseCpuMs === undefined ? {} : { databaseCpuMs }) }
}
