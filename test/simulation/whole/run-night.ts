// Lives one night through from its seed: an Uplink and its host, life after life, until everything is settled. What the
// checkers found is the outcome; the same seed gives the same night, to the last byte.

import { wholeBodies } from '../../../src/core/attempt/whole-body.ts'
import { foldJournal, type FoldedJournal } from '../../../src/core/journal/fold-journal.ts'
import type { Journal, Transport } from '../../../src/core/ports.ts'
import type { FileReport, Upload, UploadReport } from '../../../src/flows/upload.ts'
import { UploadFailedError } from '../../../src/flows/upload.ts'
import { createUplink, type Uplink, type UplinkPorts } from '../../../src/index.ts'
import { createSimulatedClock, type SimulatedClock } from '../../helpers/simulated-clock.ts'
import { createDice, type Dice } from './dice.ts'
import { digestHasher } from './digest.ts'
import { createDisk, type Disk } from './disk.ts'
import { API_KEY, createFarEnd, SERVICE_URL, type FarEnd } from './far-end.ts'
import { createLife, type Life } from './life.ts'
import { createMemory } from './memory.ts'
import { createNetwork } from './network.ts'
import { drawNight, LONG_LIFE_MS, QUIET_LIFE, type LifePlan, type Night } from './night.ts'
import { SimulatedAbortController } from './signals.ts'
import { lifeSource, type FileState, type Handles } from './source.ts'
import { createTrouble, type Trouble } from './trouble.ts'
import { createWatch, type Watch } from './watch.ts'

/** A bug that is planted between the client and the world. */
export interface Mutant {
  readonly journal?: (journal: Journal) => Journal
  readonly transport?: (transport: Transport) => Transport
  readonly allocate?: (allocate: (bytes: number) => Uint8Array) => (bytes: number) => Uint8Array
  readonly isAbortSoft?: boolean
}

export interface NightOptions {
  readonly mutant?: (() => Mutant) | undefined
  /** Keeps a log of all that happens. Default false. */
  readonly isLogged?: boolean
  /** Signals are the platform's own, at its price; nothing else differs. Default false. */
  readonly hasPlatformSignals?: boolean
}

export interface NightOutcome {
  readonly violations: readonly string[]
  readonly log: readonly string[]
  readonly flow: Night['flow']
  readonly fileCount: number
  readonly partCount: number
  readonly lifeCount: number
  readonly deathCount: number
  /** Lives that ended by a close of the Uplink before the upload was over. */
  readonly closeCount: number
  readonly faultCount: number
  /** How often a timer fired. */
  readonly stepCount: number
  readonly simulatedMs: number
  readonly status: UploadReport['status'] | undefined
  readonly sessionCount: number
}

const WALL_START_MS = Date.UTC(2026, 10, 20, 20)
/** No life takes longer, whatever happens in it. */
const LIFE_LIMIT_MS = 6 * 3_600_000
const MOST_LIVES = 12

export async function runNight(seed: number, options: NightOptions = {}): Promise<NightOutcome> {
  // A stack for each of the hundreds of refusals would be a tenth of the work; a replay has them.
  const { stackTraceLimit } = Error
  const { AbortController: platformController } = globalThis
  if (options.isLogged !== true) Error.stackTraceLimit = 0
  if (options.hasPlatformSignals !== true) globalThis.AbortController = SimulatedAbortController
  try {
    return await liveThrough(createWorld(seed, options))
  } finally {
    Error.stackTraceLimit = stackTraceLimit
    globalThis.AbortController = platformController
  }
}

async function liveThrough(world: World): Promise<NightOutcome> {
  const { night, watch, farEnd, trouble, clock } = world
  let key: string | undefined
  let status: UploadReport['status'] | undefined
  let isOver = false
  let closeCount = 0
  try {
    for (let index = 0; index < MOST_LIVES && !isOver && watch.violations.length === 0; index += 1) {
      const plan = night.troubledLives[index] ?? QUIET_LIFE
      if (index >= night.troubledLives.length) {
        trouble.calm()
        farEnd.calm()
      }
      const lived = await oneLife(world, plan, key)
      key = lived.key ?? key
      status = lived.report?.status
      if (status === 'closed') closeCount += 1
      isOver = lived.isOver
    }
    if (!isOver && watch.violations.length === 0) watch.violate('the last life was not the last')
  } catch (error) {
    watch.violate(error instanceof Error ? (error.stack ?? error.message) : String(error))
  }
  return {
    violations: watch.violations,
    ...{ log: world.log, flow: night.flow, fileCount: night.files.length, status },
    partCount: night.files.reduce((sum, { bytes }) => sum + partsOf(night, bytes.byteLength), 0),
    lifeCount: world.lives.length,
    closeCount,
    deathCount: world.lives.filter((life) => life.isDead()).length,
    faultCount: trouble.count(),
    stepCount: world.lives.reduce((sum, life) => sum + life.stepCount(), 0),
    simulatedMs: clock.monotonicNow(),
    sessionCount: farEnd.sessionCount(),
  }
}

interface World {
  readonly night: Night
  readonly dice: Dice
  readonly clock: SimulatedClock
  readonly farEnd: FarEnd
  readonly disk: Disk
  readonly watch: Watch
  readonly trouble: Trouble
  readonly files: readonly FileState[]
  readonly log: string[]
  readonly lives: Life[]
  readonly mutant: Mutant
  readonly note: (line: () => string) => void
  readonly serverNow: () => number
}

function createWorld(seed: number, { mutant, isLogged = false }: NightOptions): World {
  const dice = createDice(seed)
  const night = drawNight(dice.apart())
  const clock = createSimulatedClock({ wallStartMs: WALL_START_MS })
  const log: string[] = []
  const note = (line: () => string): void => {
    if (isLogged) log.push(`${String(clock.monotonicNow()).padStart(8)} ms  ${line()}`)
  }
  const serverNow = (): number => WALL_START_MS + clock.monotonicNow() + night.skewMs
  const watch: Watch = createWatch(night, () => farEnd, clock.monotonicNow, note)
  const farEnd: FarEnd = createFarEnd(night, serverNow, watch.violate)
  const trouble = createTrouble(night, dice.apart(), clock.monotonicNow)
  const files = night.files.map((file): FileState => ({ file, isChanged: false }))
  const { change, wallJump } = night
  if (change !== undefined) clock.setTimeout(() => (files[change.fileIndex]!.isChanged = true), change.atMs)
  if (wallJump !== undefined) clock.setTimeout(() => clock.shiftWall(wallJump.byMs), wallJump.atMs)
  const disk = createDisk({ dice: dice.apart(), syncMs: night.syncMs, onSettled: watch.onSettled })
  const own = mutant?.() ?? {}
  return { night, dice, clock, farEnd, disk, watch, trouble, files, log, lives: [], mutant: own, note, serverNow }
}

interface Lived {
  readonly key: string | undefined
  readonly report: UploadReport | undefined
  readonly isOver: boolean
}

async function oneLife(world: World, plan: LifePlan, key: string | undefined): Promise<Lived> {
  const { clock, watch, disk, night, note } = world
  const life = createLife(world.lives.length + 1, clock, plan.diesAtCall)
  world.lives.push(life)
  watch.beginLife()
  note(() => `life ${String(life.number)} begins${key === undefined ? '' : ` with ${key}`}`)
  const handles: Handles = { openCount: 0 }
  const memory = createMemory()
  const memoryBytes = (night.concurrency === 'auto' ? 64 : night.concurrency) * 2 * 64 * 1024
  const uplink = createUplink(
    {
      baseUrl: SERVICE_URL,
      credentials: { apiKey: API_KEY },
      concurrency: night.concurrency,
      verify: night.verify,
      memoryBytes,
      giveUpAfterMs: 600_000,
    },
    portsOf(world, life, plan, memory.allocate),
  )
  const known = key === undefined || disk.records(key).length === 0 ? undefined : key
  const report = await settle(world, life, begin(world, uplink, life, plan, known, handles))
  if (memory.takenBytes() > memoryBytes) watch.violate('more memory is taken for bodies than was allowed')
  memory.free()
  const newKey = known ?? disk.keys().at(-1)
  if (life.isDead()) {
    note(() => `life ${String(life.number)} has died`)
    return { key: newKey, report: undefined, isOver: false }
  }
  if (report === undefined) return { key: newKey, report, isOver: false }
  await uplink.close()
  // Nobody is left to be told anything: what goes out from here on is seen by the watch.
  Object.assign(watch.host, { isCloseSettled: true })
  checkEnd(world, life, handles, uplink, report)
  checkReport(world, report)
  return { key: newKey, report, isOver: isOver(world, report) }
}

function portsOf(
  { clock, night, farEnd, disk, watch, trouble, mutant, note, serverNow, dice }: World,
  life: Life,
  plan: LifePlan,
  allocate: (bytes: number) => Uint8Array,
): UplinkPorts {
  const transport = createNetwork({
    night,
    ...{ life, farEnd, watch, trouble, serverNow, log: note },
    later: (act, delayMs) => void clock.setTimeout(act, delayMs),
    isAbortSoft: mutant.isAbortSoft ?? false,
  })
  const journal = disk.journal(life, plan)
  return {
    transport: mutant.transport?.(transport) ?? transport,
    journal: mutant.journal?.(journal) ?? journal,
    clock: life.clock,
    random: dice.random,
    hasher: digestHasher(),
    allocate: mutant.allocate?.(allocate) ?? allocate,
    // Parts of a night have 64 bytes at most: in one piece in half of the nights, through windows in the others.
    ...(night.partSizeBytes % 2 === 0 ? { wholeBodies: wholeBodies() } : {}),
  }
}

/** Starts what this life is for; undefined when there is nothing left to do. */
async function begin(
  world: World,
  uplink: Uplink,
  life: Life,
  plan: LifePlan,
  key: string | undefined,
  handles: Handles,
): Promise<UploadReport | undefined> {
  const { night, files, watch, disk } = world
  const sources = files.map((state) => lifeSource(state, life, night.readMs, handles))
  const place = key === undefined ? undefined : foldJournal(disk.records(key)).place
  // On a full disk the host's word alone says that the session was given up.
  const isOver = place === 'confirmed' || place === undefined
  if (key !== undefined && !isOver && (place === 'cancelling' || place === 'cancelled' || watch.host.isCancelAsked)) {
    watch.host.isCancelAsked = true
    return uplink.cancelSession(key)
  }
  const upload =
    key === undefined
      ? startUpload(uplink, night, sources)
      : await uplink.resume(key, { source: ({ fileIndex }) => sources[fileIndex]! })
  host(world, life, plan, uplink, upload)
  return upload.done().catch((error: unknown) => {
    if (error instanceof UploadFailedError) return error.report
    throw error
  })
}

function startUpload(uplink: Uplink, night: Night, sources: ReturnType<typeof lifeSource>[]): Upload {
  const files = sources.map((source) => ({ source }))
  const session = { sessionDate: '2026-11-20', sessionTypeId: 2 }
  if (night.flow === 'capture')
    return uplink.uploadCaptures({ orgId: 'org-1', mocapTypeId: 2, files, batchSize: night.batchSize, ...session })
  const unitLimits = { minBytes: 1, maxBytes: 1_000_000, maxCount: 10_000, multipleOfBytes: 1 }
  const { partSizeBytes } = night
  return uplink.uploadVideos({ movementTypeId: 1, playerId: 'p-1', files, partSizeBytes, unitLimits, ...session })
}

/** The person in front of the upload: listens, pauses, resumes, cancels, closes. */
function host({ watch, note, disk }: World, life: Life, plan: LifePlan, uplink: Uplink, upload: Upload): void {
  upload.on('progress', (shown) => {
    if (!life.isDead()) watch.progress(shown)
  })
  upload.on('session.replaced', (event) => {
    note(() => `replaced ${JSON.stringify(event)}`)
    watch.replaced()
  })
  upload.on('state', ({ state }) => {
    note(() => `state ${state}`)
    if (life.isDead()) return
    watch.host.isPaused = state === 'paused'
    if (state === 'paused' && watch.inFlight() > 0) watch.violate('paused, and attempts are in flight')
  })
  for (const event of ['file', 'retry', 'warning'] as const)
    upload.on(event, (payload) => {
      if (!life.isDead()) watch.shown(payload)
    })
  const act = (action: LifePlan['actions'][number]['action']): void => {
    note(() => `host: ${action} in ${upload.state}`)
    // The state that follows is told too late: a resume sends at once.
    watch.host.isPaused = false
    if (action === 'close') {
      watch.host.isCloseAsked = true
      void uplink.close().then(() => {
        note(() => 'close settled')
        if (life.isDead()) return
        watch.host.isCloseSettled = true
        if (life.timerCount() > 0) watch.violate(`${String(life.timerCount())} timers are set after the close`)
        if (disk.isLeased(upload.key)) watch.violate('the journal is still held after the close')
      })
      return
    }
    if (action !== 'cancel') {
      upload[action]()
      return
    }
    watch.host.isCancelAsked = true
    void upload.cancel().then((report) => {
      note(() => `cancel settled: ${report.status}`)
      if (!life.isDead()) watch.host.isCancelSettled = true
    })
  }
  for (const { atMs, action } of plan.actions)
    void life.pass(atMs).then(() => {
      if (!isFinal(upload.state)) act(action)
    })
}

function isFinal(state: Upload['state']): boolean {
  return (
    state === 'confirmed' || state === 'partial' || state === 'failed' || state === 'cancelled' || state === 'closed'
  )
}

/** Lets time pass until the life has settled or died; a machine that sleeps does so in between. */
async function settle<T>({ clock, night, watch, lives }: World, life: Life, work: Promise<T>): Promise<T | undefined> {
  const state: { isOver: boolean } = { isOver: false }
  const end = Promise.race([work, life.death.then(() => undefined)]).finally(() => (state.isOver = true))
  end.catch(() => undefined)
  const limitMs = clock.monotonicNow() + LIFE_LIMIT_MS
  const suspends = lives.length === 1 ? [...night.suspends] : []
  await clock.advance(0)
  while (!state.isOver) {
    const nextMs = clock.nextDueInMs
    if (nextMs === undefined) {
      watch.violate('deadlock: nothing is under way, and the upload has not settled')
      return undefined
    }
    if (clock.monotonicNow() + nextMs > limitMs) {
      watch.violate('the upload has not settled within its time')
      return undefined
    }
    const [sleep] = suspends
    if (sleep !== undefined && clock.monotonicNow() >= sleep.atMs) {
      suspends.shift()
      clock.suspend(sleep.forMs)
    }
    await clock.step()
  }
  return end
}

function checkEnd({ watch, disk }: World, life: Life, handles: Handles, uplink: Uplink, { key }: UploadReport): void {
  if (watch.inFlight() > 0) watch.violate('attempts are in flight after the end')
  if (disk.isLeased(key)) watch.violate('the journal is held after the end')
  if (uplink.stats().inFlight > 0) watch.violate('slots are taken after the end')
  if (life.timerCount() > 0) watch.violate(`${String(life.timerCount())} timers are set after the end`)
  if (handles.openCount > 0) watch.violate(`${String(handles.openCount)} files are open after the end`)
}

/** What the host is told must be true, and in the journal. */
function checkReport({ watch, farEnd, night, disk, trouble, note }: World, report: UploadReport): void {
  note(() => `report ${JSON.stringify(report)}`)
  watch.shown(report)
  const isAllConfirmed = report.files.length > 0 && report.files.every((file) => file.status === 'confirmed')
  if (report.status === 'confirmed' && !isAllConfirmed) watch.violate('confirmed as a whole, and not every file is')
  report.files.forEach((file, index) => checkFile(night, farEnd, watch, file, index))
  const folded = foldedOf(disk, report.key)
  if (folded === undefined) return
  folded.ledger.files.forEach((file, index) => {
    const told = report.files[index]!.status
    const kept = file.state === 'confirmed' || file.state === 'failed' ? file.state : 'unfinished'
    if (told !== kept) watch.violate(`${file.plan.name} is told as ${told} and kept as ${kept}`)
  })
  if (folded.leftSessionIds.length > 0 && report.status === 'confirmed' && trouble.isCalm())
    watch.violate('a reachable service was not told of a session that nobody uses')
  for (const { sessionId } of folded.ledger.files)
    if (!watch.host.isCancelAsked && farEnd.isCancelled(sessionId ?? ''))
      watch.violate('a session was ended that holds a file')
  const isKept = report.status === 'confirmed' || report.status === 'cancelled'
  if (isKept && folded.place !== report.status && report.error?.code !== 'ERR_UPLOAD_JOURNAL')
    watch.violate(`the session is told as ${report.status} and kept as ${folded.place}`)
}

function checkFile(night: Night, farEnd: FarEnd, watch: Watch, file: FileReport, index: number): void {
  const { name, bytes } = night.files[index]!
  if (file.verified && (night.isOpaque || night.verify === 'off')) watch.violate(`${name} is called verified`)
  if (file.status !== 'confirmed') return
  const stored = farEnd.stored(name)
  if (stored === undefined || Buffer.compare(stored, bytes) !== 0) watch.violate(`${name} is told as confirmed`)
  if (night.flow === 'video' && !night.isOpaque && night.verify === 'md5' && !file.verified)
    watch.violate(`${name} could be verified and was not`)
}

function foldedOf(disk: Disk, key: string): FoldedJournal | undefined {
  const records = disk.records(key)
  return records.length === 0 ? undefined : foldJournal(records)
}

/** Whether nothing is left to do: what a later life could finish is finished by a later life. */
function isOver({ night, watch, trouble, files, farEnd }: World, report: UploadReport): boolean {
  if (report.status === 'confirmed') return true
  if (report.status === 'cancelled') {
    if (!watch.host.isCancelAsked) watch.violate('cancelled, and nobody asked for it')
    const { sessionId } = report
    const isTold = night.flow === 'capture' || sessionId === undefined || report.isServiceTold === true
    if (isTold && night.flow === 'video' && sessionId !== undefined && !farEnd.isCancelled(sessionId))
      watch.violate('the service was not told of the cancel')
    // Where the disk was full, the journal does not know that an earlier life has told the service.
    const isForgotten = night.troubledLives.some((plan) => plan.fullDiskAt !== undefined)
    if (!isTold && trouble.isCalm() && isForgotten && farEnd.isCancelled(sessionId)) return true
    if (!isTold && trouble.isCalm()) watch.violate('a reachable service could not be told of the cancel')
    return isTold
  }
  if (report.status === 'closed') {
    if (!watch.host.isCloseAsked) watch.violate('closed, and nobody asked for it')
    return false
  }
  if (!trouble.isCalm()) return false
  const isExcused = (file: FileReport, index: number): boolean =>
    file.status === 'confirmed' || (files[index]!.isChanged && file.error?.code === 'ERR_UPLOAD_SOURCE_CHANGED')
  if (report.files.length > 0 && report.files.every(isExcused)) return true
  // The last addresses of the trouble were too short-lived for this line; those that come now are not.
  const isShortOfTime = ({ status, error }: FileReport): boolean =>
    status === 'confirmed' || error?.code === 'ERR_UPLOAD_ADDRESS_EXPIRED'
  if (night.addressLifeMs < LONG_LIFE_MS && report.files.every(isShortOfTime)) return false
  watch.violate(`nothing went wrong in the last life, and it ended as ${report.status}: ${JSON.stringify(report)}`)
  return true
}

function partsOf(night: Night, sizeBytes: number): number {
  return night.flow === 'capture' ? 1 : Math.max(1, Math.ceil(sizeBytes / night.partSizeBytes))
}
