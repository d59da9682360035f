// Uploads by the command line, which is killed with SIGKILL at random moments and started again, until so many kills are
// done and everything is confirmed. Then what was sent and what is stored is judged.

import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { diskJournal } from '../../src/adapters/node/journal/disk-journal.ts'
import { foldJournal, type FoldedJournal } from '../../src/core/journal/fold-journal.ts'
import type { Clock } from '../../src/core/ports.ts'
import { fastClock } from '../helpers/fast-clock.ts'
import { seededRandom } from '../helpers/seeded-random.ts'
import { compareStored, createJudge, type Judge } from './judge.ts'
import { startLife, startServiceChild } from './processes.ts'
import { makeSampleFiles, type SampleFile } from './sample-files.ts'
import { startWitness, type Witness } from './witness.ts'

export interface TortureOptions {
  /** The built command line. */
  readonly entry: string
  readonly kills: number
  /** Fixes the files and the moments of the kills; what a kill hits depends on the machine. */
  readonly seed: number
  readonly megabytes: number
  readonly say: (line: string) => void
}

export interface TortureReport {
  readonly kills: number
  /** How many of them hit a life that had begun to send. */
  readonly killsMidway: number
  readonly lives: number
  /** How often all files were uploaded in new sessions. */
  readonly rounds: number
  /** Files of a round. */
  readonly files: number
  /** Objects that the service holds at the end. */
  readonly objects: number
  readonly sourceBytes: number
  readonly sentBytes: number
  readonly twiceBytes: number
  readonly inFlightBytes: number
  /** Empty when every promise was kept. */
  readonly breaches: readonly string[]
}

const MIB = 1024 ** 2
/**
 * Lives are killed within this time, ms: one in four counted from its start, some of them before they have read their options, and the
 * others from when they begin to send, however long a busy machine takes to get there.
 */
const KILL_WITHIN_MS = 2_400
const EARLY_SHARE = 4
/** A life that nobody kills and that does not end, ms. */
const LIFE_AT_MOST_MS = 300_000
const COMMANDS: Readonly<Record<'video' | 'capture', readonly string[]>> = {
  video: ['--movement-type', '1', '--player', 'p-17', '--date', '2026-11-20', '--session-type', '2'],
  capture: ['--org', 'org-1', '--mocap-type', '2', '--session-type', '1', '--date', '2026-11-20'],
}

/** Runs it in a temporary folder. Rejects only when something of its own fails. */
export async function runTorture(options: TortureOptions): Promise<TortureReport> {
  const folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-torture-'))
  const apiKey = randomBytes(18).toString('base64url')
  const files = await mkdir(join(folder, 'files')).then(() =>
    makeSampleFiles(join(folder, 'files'), options.megabytes, options.seed),
  )
  const service = await startServiceChild(options.entry, join(folder, 'service'), apiKey)
  // A busy machine holds up the command line as it does us: it is not to have lost what it had no time to write.
  const clock = fastClock(1)
  const witness = await startWitness(service.port, () => clock.monotonicNow())
  const judge = createJudge(witness)
  const serviceUrl = `http://127.0.0.1:${service.port}`
  const env = { MOCAP_BASE_URL: serviceUrl, MOCAP_API_KEY: apiKey, HTTP_PROXY: witness.url }
  try {
    const stateDir = join(folder, 'state')
    const driven = await drive(options, { files, stateDir, env, witness, judge, clock })
    const sourceBytes = driven.rounds * files.reduce((sum, file) => sum + file.sizeBytes, 0)
    const sent = judge.sent(sourceBytes)
    const stored = await compareStored(serviceUrl, apiKey, files, driven.rounds)
    const breaches = [...judge.breaches, ...stored.breaches]
    return {
      ...{ ...driven, sourceBytes, ...sent, files: files.length, objects: stored.objects, breaches },
      inFlightBytes: judge.inFlightBytes(),
    }
  } finally {
    await witness.close()
    await service.stop()
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

interface Scene {
  readonly files: readonly SampleFile[]
  readonly stateDir: string
  readonly env: Readonly<Record<string, string>>
  readonly witness: Witness
  readonly judge: Judge
  readonly clock: Clock
}

/** One life after another until all is done. */
async function drive(
  { entry, kills, seed, megabytes, say }: TortureOptions,
  { files, stateDir, env, witness, judge, clock }: Scene,
): Promise<Pick<TortureReport, 'kills' | 'killsMidway' | 'lives' | 'rounds'>> {
  const chance = seededRandom(seed)
  // So fast that the kills are spread over the bytes, and fast enough for a part to get through between two of them.
  const rate = Math.round(Math.min(64, Math.max(10, (2 * megabytes) / Math.max(1, kills))) * MIB)
  const choices = ['--state-dir', stateDir, '--limit-rate', String(rate), '--concurrency', '2', '--json']
  let [killed, midway, life, rounds] = [0, 0, 0, 1]
  for (; ; life += 1) {
    const journals = await journalsIn(stateDir)
    const command = nextCommand(journals, files, rounds)
    if (command === undefined && killed >= kills) break
    if (command === undefined) {
      rounds += 1
      continue
    }
    let hasSent = false
    const sending = witness.begin(life).then(() => (hasSent = true))
    const process = startLife(entry, [...command, ...choices], env)
    const isLast = killed >= kills
    let killedAtMs: number | undefined
    const kill = (): void => {
      // Not when its end is heard of, which may be long after it.
      if (process.kill()) killedAtMs = clock.monotonicNow()
    }
    const isEarly = killed % EARLY_SHARE === EARLY_SHARE - 1
    const delayMs = chance() * KILL_WITHIN_MS
    const timers = [setTimeout(kill, isEarly && !isLast ? delayMs : LIFE_AT_MOST_MS)]
    if (!isEarly && !isLast) void sending.then(() => timers.push(setTimeout(kill, delayMs)))
    const { code, stderr } = await process.ended
    for (const timer of timers) clearTimeout(timer)
    const isKilled = code === null
    const isMeant = !isLast && (isEarly || hasSent)
    judge.lifeOver(life, isKilled ? killedAtMs : undefined, await journalsIn(stateDir))
    if (isKilled && !isMeant) judge.breaches.push(`life ${life} did not end by itself`)
    else if (isKilled) [killed, midway] = [killed + 1, midway + Number(hasSent)]
    else if (code !== 0) judge.breaches.push(`life ${life} (${command[0] ?? ''}) ended with ${code}: ${stderr.trim()}`)
    if (judge.breaches.length > 0) break
    if (isKilled && killed % 10 === 0) say(`${killed} of ${kills} kills, round ${rounds}`)
  }
  return { kills: killed, killsMidway: midway, lives: life, rounds }
}

/** What is to be done next; nothing when every session of this round is confirmed. */
function nextCommand(
  journals: readonly FoldedJournal[],
  files: readonly SampleFile[],
  rounds: number,
): readonly string[] | undefined {
  for (const kind of ['video', 'capture'] as const) {
    if (journals.filter(({ flow }) => flow === kind).length >= rounds) continue
    const paths = files.filter((file) => file.kind === kind).map((file) => file.path)
    return [kind, ...paths, ...COMMANDS[kind]]
  }
  return journals.some(({ place }) => place !== 'confirmed') ? ['resume'] : undefined
}

async function journalsIn(folder: string): Promise<FoldedJournal[]> {
  const journal = diskJournal({ folder })
  const keys = await journal.list()
  return Promise.all(keys.map(async (key) => foldJournal(await journal.read(key))))
}
