// What a call costs with a thousand, a hundred thousand and a million of every record in the database: it should not change.

import { join } from 'node:path'

import { newDatabase, postgresPrograms, startPostgres } from '../../test/helpers/postgres-server.ts'
import type { BenchPart, BenchSetting } from '../part.ts'
import { judge } from '../report/bars.ts'
import { linePlot } from '../report/line-plot.ts'
import { machineLine } from '../report/machine.ts'
import { valuesOf, type Run } from '../report/result.ts'
import { median, readable, summarize } from '../report/statistics.ts'
import { confirmationOf, creates, NAMES } from './calls.ts'
import { fill, scannedRows, STORED_ETAG, type Filled } from './fill.ts'
import { API_KEY, openSite, type Site } from './site.ts'

const CALLS = {
  sessions: 'list of sessions, a page of 100',
  'sessions, deep': 'the same, from the middle',
  analyses: 'list of analyses, a page of 100',
  'analyses, deep': 'the same, from the middle',
  'stored, deep': 'list of what is stored, 100 from the middle',
  analysis: 'one analysis',
  create: 'create of 20 videos in 4 parts',
  register: `registration of ${NAMES} names`,
  confirm: 'confirmation',
} as const
type CallName = keyof typeof CALLS

interface Place {
  readonly rows: number
  readonly databaseUrl: string
  readonly site: Site
  readonly filled: Filled
  readonly middleOfSessions: string
  /** Each confirmation takes the next file, because a confirmed file is not confirmed again. */
  confirmed: number
  registered: number
}

export const tablesPart: BenchPart = {
  name: 'tables',
  about: 'what a call of the service costs with a thousand and with a million of everything in PostgreSQL',

  async run(setting) {
    if (postgresPrograms === undefined) {
      setting.say('!! SKIPPED tables: PostgreSQL is not installed (apt-get install postgresql).')
      return undefined
    }
    const sizes = setting.isQuick ? [100, 1_000] : [1_000, 100_000, 1_000_000]
    const rounds = setting.rounds ?? 5
    const callsEach = setting.isQuick ? 5 : 60
    const postgres = await startPostgres({ isDurable: true })
    const places: Place[] = []
    const runs: Run[] = []
    try {
      for (const rows of sizes)
        places.push(await openPlace(setting, await newDatabase(postgres.url), rows, rounds * callsEach))
      const before = await Promise.all(places.map(({ databaseUrl }) => scannedRows(databaseUrl)))
      for (let round = 1; round <= rounds; round += 1) {
        for (const call of Object.keys(CALLS) as CallName[]) {
          // All sizes take turns call by call, so that a slow moment of the machine affects them alike.
          const times = places.map((): number[] => [])
          for (let made = 0; made < callsEach; made += 1)
            for (const [index, place] of places.entries()) times[index]?.push(await answerTime(place, call))
          for (const [index, { rows }] of places.entries())
            runs.push({ contestant: call, round, setting: { rows }, measures: { ms: median(times[index] ?? []) } })
        }
        setting.say(`  round ${round} of ${rounds}`)
      }
      for (const { site } of places) await site.close()
      const after = await Promise.all(places.map(({ databaseUrl }) => scannedRows(databaseUrl)))
      for (const [index, rows] of sizes.entries()) {
        const scanned = ((after[index] ?? NaN) - (before[index] ?? NaN)) / (rounds * callsEach)
        runs.push({ contestant: 'rows scanned a round of calls', round: 1, setting: { rows }, measures: { scanned } })
      }
    } finally {
      await Promise.all(places.map(({ site }) => site.close()))
      await postgres.stop()
    }
    return resultOf(setting, sizes, runs)
  },
}

async function openPlace(
  { dist, programs, scratch, say }: BenchSetting,
  databaseUrl: string,
  rows: number,
  calls: number,
): Promise<Place> {
  const dataDir = join(scratch, `objects-of-${rows}`)
  const plan = { databaseUrl, dataDir, copies: 1, dist, program: join(programs, 'service', 'copy.js') }
  // Started once to migrate the database, and again when the tables are full, so that PostgreSQL plans its queries anew.
  await (await openSite(plan)).close()
  const beganAtMs = performance.now()
  const filled = await fill(databaseUrl, rows, Math.min(calls, rows >> 1))
  say(`  ${readable(rows)} of everything in ${readable((performance.now() - beganAtMs) / 1_000)} s`)
  const site = await openSite(plan)
  const place = { rows, databaseUrl, site, filled, middleOfSessions: '', confirmed: 0, registered: 0 }
  const middle = Buffer.from(
    JSON.stringify([
      new Date(Date.parse('2026-01-01T00:00:00Z') + (rows >> 1) * 1_000).toISOString(),
      'ffffffff-ffff-ffff-ffff-ffffffffffff',
    ]),
  )
  return { ...place, middleOfSessions: middle.toString('base64url') }
}

/** Time of a single call, ms. Rejects unless it is answered with 200. */
async function answerTime(place: Place, call: CallName): Promise<number> {
  const { method = 'GET', path, body } = requestOf(place, call)
  const headers = { 'x-api-key': API_KEY, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
  const beganAtMs = performance.now()
  const reply = await fetch((place.site.urls[0] ?? '') + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
  })
  const text = await reply.text()
  const ms = performance.now() - beganAtMs
  // Where a page is asked for, it must be whole: an empty list is quick at every size.
  const items = (text.match(/"(?:session_id|primary_analysis_segment_id)":/g) ?? []).length
  const isWhole = !path.includes('limit=') || items >= Math.min(100, place.rows >> 2)
  if (reply.status !== 200 || !isWhole) throw new Error(`${call} was answered ${reply.status} with ${items} items`)
  return ms
}

function requestOf(place: Place, call: CallName): { method?: string; path: string; body?: string } {
  const { filled, middleOfSessions } = place
  switch (call) {
    case 'sessions':
      return { path: '/sessions?limit=100' }
    case 'sessions, deep':
      return { path: `/sessions?limit=100&after=${middleOfSessions}` }
    case 'analyses':
      return { path: '/requested_analyses?limit=100' }
    case 'analyses, deep':
      return {
        path: `/requested_analyses?limit=100&after=${Buffer.from(`[${filled.analysisId}]`).toString('base64url')}`,
      }
    case 'stored, deep':
      return { path: `/stored?limit=100&after=video-${filled.middleVideoId - Math.min(200, place.rows >> 2)}` }
    case 'analysis':
      return { path: `/requested_analyses/${filled.analysisId}` }
    case 'create': {
      const { path, body = '' } = creates().next()
      return { method: 'POST', path, body }
    }
    case 'register': {
      place.registered += 1
      const filenames = Array.from({ length: NAMES }, (_, index) => `${place.registered}-${index}.action`)
      return {
        method: 'POST',
        path: '/mocap_session_file',
        body: JSON.stringify({ session_id: filled.captureSessionId, filenames }),
      }
    }
    case 'confirm': {
      const { sessionId, fileId } = filled.pending[place.confirmed++ % filled.pending.length] ?? {
        sessionId: '',
        fileId: 0,
      }
      return { method: 'PATCH', path: '/upload_videos', body: confirmationOf(sessionId, fileId, STORED_ETAG) }
    }
  }
}

function resultOf({ machine }: BenchSetting, sizes: readonly number[], runs: readonly Run[]) {
  const title = 'Calls of the service, by how much is in the database'
  const [least = 0, most = 0] = [sizes[0], sizes.at(-1)]
  const calls = Object.keys(CALLS) as CallName[]
  const at = (call: string, rows: number) => valuesOf(runs, call, 'ms', { rows })
  const ratios = (call: string) => at(call, most).map((ms, round) => ms / (at(call, least)[round] ?? NaN))
  const drawn = ['sessions, deep', 'analyses, deep', 'stored, deep', 'create', 'register', 'confirm'] as const
  return {
    part: 'tables',
    title,
    about: [
      `Three databases of one PostgreSQL server, with ${sizes.map(readable).join(', ')} each of video sessions, their files, capture sessions, their files and analyses, and two objects for each; a copy of the service for each, called in turns, one call after the other. A round’s value is the median of 60 calls; bars are the ratio of the largest to the smallest, round by round.`,
      'Rows scanned are those that PostgreSQL read by going through a table instead of an index, for one call of each kind.',
    ],
    columns: [
      { measure: 'ms', label: 'ms' },
      { measure: 'scanned', label: 'rows scanned' },
    ],
    runs: runs.toSorted(
      (one, other) => calls.indexOf(one.contestant as CallName) - calls.indexOf(other.contestant as CallName),
    ),
    bars: [
      ...calls.map((call) =>
        judge(
          { name: `${CALLS[call]}, ${readable(most)} ÷ ${readable(least)}`, rule: 'atMost', limit: 1.5 },
          ratios(call),
        ),
      ),
      judge(
        { name: `rows scanned without an index, ${readable(most)}`, rule: 'atMost', limit: 0, unit: 'rows' },
        valuesOf(runs, 'rows scanned a round of calls', 'scanned', { rows: most }),
      ),
    ],
    plots: [
      {
        name: '',
        svg: linePlot({
          title,
          ...{ xTitle: 'of everything in the database', yTitle: 'ms a call, median' },
          series: drawn.map((call) => ({
            name: call,
            points: sizes.map((rows) => {
              const { median: y, min, max } = summarize(at(call, rows))
              return { x: rows, y, min, max }
            }),
          })),
          foot: machineLine(machine),
        }),
      },
    ],
    shortfalls: [],
  }
}
