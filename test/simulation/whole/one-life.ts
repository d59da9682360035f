// One life of the client: an Uplink over the world's ports that begins or resumes the upload, until it has settled or the life has ended.

import { wholeBodies } from '../../../src/core/attempt/whole-body.ts'
import { foldJournal } from '../../../src/core/journal/fold-journal.ts'
import type { JournalRecord } from '../../../src/core/journal/journal.ts'
import type { Ledger } from '../../../src/core/journal/ledger.ts'
import { UploadFailedError, type Upload, type UploadReport } from '../../../src/flows/upload.ts'
import type { Hasher, Protocol } from '../../../src/core/ports.ts'
import {
  createUplink,
  s3Multipart,
  type ResumeOptions,
  type S3Sign,
  type Uplink,
  type UplinkPorts,
} from '../../../src/index.ts'
import { digestHasher } from './digest.ts'
import { API_KEY, GIVEN_SESSION, SERVICE_URL } from './far-end.ts'
import { attend } from './host.ts'
import { createLife, type Life } from './life.ts'
import { createMemory, type Memory } from './memory.ts'
import { createNetwork } from './network.ts'
import type { LifePlan, Night } from './night.ts'
import type { World } from './night-world.ts'
import { lifeSource, type Handles } from './source.ts'
import { checkEnd, checkReport, isOver } from './verdict.ts'

/** No life takes longer than this, whatever happens in it. */
const LIFE_LIMIT_MS = 6 * 3_600_000
const GIVE_UP_MS = 600_000
/** What the storage takes as a part. */
const UNIT_LIMITS = { minBytes: 1, maxBytes: 1_000_000, maxCount: 10_000, multipleOfBytes: 1 }

/** The outcome of a life. */
export interface Lived {
  /** The key with which a later life resumes the upload. */
  readonly key: string | undefined
  readonly report: UploadReport | undefined
  readonly isOver: boolean
}

export async function oneLife(world: World, plan: LifePlan, key: string | undefined): Promise<Lived> {
  const { clock, watch, disk, night, note } = world
  const life = createLife(world.lives.length + 1, clock, plan.diesAtCall)
  world.lives.push(life)
  watch.beginLife(key === undefined ? undefined : foundOf(disk.records(key)))
  note(() => `life ${String(life.number)} begins${key === undefined ? '' : ` with ${key}`}`)
  const handles: Handles = { openCount: 0 }
  const memory = createMemory(watch.violate)
  const memoryBytes = (night.concurrency === 'auto' ? 64 : night.concurrency) * 2 * 64 * 1024
  const ports = portsOf(world, life, plan, memory)
  const protocol = night.flow === 'store' ? storeProtocol(world, life, ports) : undefined
  const uplink = createUplink(
    {
      baseUrl: SERVICE_URL,
      credentials: { apiKey: night.keys === undefined ? API_KEY : () => askForKey(world, life) },
      concurrency: night.concurrency,
      verify: night.verify,
      isBackground: night.isBackground,
      memoryBytes,
      giveUpAfterMs: GIVE_UP_MS,
    },
    ports,
  )
  const known = key === undefined || disk.records(key).length === 0 ? undefined : key
  const report = await settle(world, life, begin(world, uplink, life, plan, known, { handles, memory }, protocol))
  if (memory.takenBytes() > memoryBytes) watch.violate('more memory is taken for bodies than was allowed')
  memory.free()
  const newKey = known ?? disk.keys().at(-1)
  if (life.isDead()) {
    note(() => `life ${String(life.number)} has died`)
    return { key: newKey, report: undefined, isOver: false }
  }
  if (report === undefined) return { key: newKey, report, isOver: false }
  await uplink.close()
  // Nobody is left to be told anything. The watch reports whatever is sent from now on.
  Object.assign(watch.host, { isCloseSettled: true })
  checkEnd(world, life, handles, uplink, report)
  checkReport(world, report)
  return { key: newKey, report, isOver: isOver(world, report) }
}

function foundOf(records: readonly JournalRecord[]): Ledger | undefined {
  return records.length === 0 ? undefined : foldJournal(records).ledger
}

function portsOf(
  { clock, night, farEnd, disk, watch, trouble, mutant, note, serverNow, dice }: World,
  life: Life,
  plan: LifePlan,
  memory: Memory,
): UplinkPorts {
  const transport = createNetwork({
    night,
    ...{ life, farEnd, watch, memory, trouble, serverNow, log: note },
    later: (act, delayMs) => void clock.setTimeout(act, delayMs),
    isAbortSoft: mutant.isAbortSoft ?? false,
  })
  const journal = disk.journal(life, plan)
  return {
    transport: mutant.transport?.(transport) ?? transport,
    journal: mutant.journal?.(journal) ?? journal,
    clock: life.clock,
    random: dice.random,
    hasher: slowly(digestHasher(), life, night.hashMs),
    contentHasher: slowly(digestHasher(), life, night.hashMs),
    allocate: mutant.allocate?.(memory.allocate) ?? memory.allocate,
    // Parts have at most 64 bytes: they go in one piece in half of the nights, and through windows in the others.
    ...(night.partSizeBytes % 2 === 0 ? { wholeBodies: wholeBodies() } : {}),
  }
}

/** Starts what this life is for, and resolves with its report. */
async function begin(
  world: World,
  uplink: Uplink,
  life: Life,
  plan: LifePlan,
  key: string | undefined,
  held: { readonly handles: Handles; readonly memory: Memory },
  protocol: Protocol | undefined,
): Promise<UploadReport | undefined> {
  const { night, files, watch, disk, mutant } = world
  const { readMs, isSourceQuick: isQuick } = night
  const sources = files.map((state) => {
    const source = lifeSource(state, { life, readMs, isQuick, ...held })
    return mutant.source?.(source) ?? source
  })
  const place = key === undefined ? undefined : foldJournal(disk.records(key)).place
  // If the disk was full, only the host knows that the session was cancelled.
  const isOver = place === 'confirmed' || place === undefined
  if (key !== undefined && !isOver && watch.host.isDiscardAsked) return uplink.discardSession(key, { protocol })
  if (key !== undefined && !isOver && (place === 'cancelling' || place === 'cancelled' || watch.host.isCancelAsked)) {
    watch.host.isCancelAsked = true
    return uplink.cancelSession(key, { protocol })
  }
  const controller = new AbortController()
  const own = { signal: controller.signal, ...renewalOf(world, life) }
  const upload =
    key === undefined
      ? startUpload(uplink, night, sources, own, protocol)
      : await uplink.resume(key, { source: ({ fileIndex }) => sources[fileIndex]!, protocol, ...own })
  attend(world, life, plan, uplink, upload, () => controller.abort())
  return upload.done().catch((error: unknown) => {
    if (error instanceof UploadFailedError) return error.report
    throw error
  })
}

function slowly(hasher: Hasher, life: Life, ms: number): Hasher {
  if (ms === 0) return hasher
  return {
    start() {
      const hash = hasher.start()
      return {
        async update(bytes) {
          await life.pass(ms)
          await hash.update(bytes)
        },
        async digest() {
          await life.pass(ms)
          return hash.digest()
        },
      }
    },
  }
}

function renewalOf(world: World, life: Life): Pick<ResumeOptions, 'renewAddresses'> {
  const { night, farEnd, note } = world
  if (night.renewal === undefined || night.flow === 'store') return {}
  return {
    async renewAddresses({ sessionId, fileName, partNumbers }) {
      note(() => `the host signs ${partNumbers.join(', ')} of ${fileName} again`)
      await signerOf(world, life)
      return partNumbers.map((partNumber) => farEnd.sign(String(sessionId), fileName, partNumber))
    },
  }
}

/** Waits for whoever signs for the host, who may fail. */
async function signerOf({ night: { renewal }, trouble, dice }: World, life: Life): Promise<void> {
  if (renewal === undefined || trouble.isCalm()) return
  await life.pass(renewal.takesMs)
  if (dice.chance(renewal.failShare)) throw new Error('The host cannot sign.')
}

/** The host's own server hands out keys, and may be out of reach. */
async function askForKey({ night: { keys }, farEnd, trouble, dice }: World, life: Life): Promise<string> {
  if (keys !== undefined && !trouble.isCalm()) {
    await life.pass(keys.takesMs)
    if (dice.chance(keys.failShare)) throw new TypeError('fetch failed')
  }
  return farEnd.key()
}

/** What stands in for a service. */
function storeProtocol(world: World, life: Life, { transport, clock, random, hasher }: UplinkPorts): Protocol {
  const sign: S3Sign = async (request) => {
    await signerOf(world, life)
    return { url: world.farEnd.store.sign(request) }
  }
  return s3Multipart({ sign, transport, clock, random, hasher, unitLimits: UNIT_LIMITS, giveUpAfterMs: GIVE_UP_MS })
}

function startUpload(
  uplink: Uplink,
  night: Night,
  sources: ReturnType<typeof lifeSource>[],
  own: Pick<ResumeOptions, 'signal' | 'renewAddresses'>,
  protocol: Protocol | undefined,
): Upload {
  const files = sources.map((source) => ({ source }))
  const session = { sessionDate: '2026-11-20', sessionTypeId: 2, ...own }
  const { given } = night
  const captures = { mocapTypeId: 2, files, batchSize: night.batchSize, reprocess: given?.isReprocess, ...own }
  if (given !== undefined) return uplink.uploadCaptures({ sessionId: GIVEN_SESSION, ...captures })
  if (night.flow === 'capture') return uplink.uploadCaptures({ orgId: 'org-1', ...captures, ...session })
  const { partSizeBytes } = night
  if (protocol !== undefined) return uplink.upload({ protocol, files, partSizeBytes, signal: own.signal })
  const input = { movementTypeId: 1, playerId: 'p-1', files, partSizeBytes, unitLimits: UNIT_LIMITS }
  return uplink.uploadVideos({ ...input, ...session })
}

/** Lets time pass until the life has settled or died, or a promise is broken. A machine that suspends does so in between. */
async function settle<T>({ clock, night, watch, lives }: World, life: Life, work: Promise<T>): Promise<T | undefined> {
  const state: { isOver: boolean } = { isOver: false }
  const end = Promise.race([work, life.death.then(() => undefined)]).finally(() => (state.isOver = true))
  end.catch(() => undefined)
  const limitMs = clock.monotonicNow() + LIFE_LIMIT_MS
  const suspends = lives.length === 1 ? [...night.suspends] : []
  await clock.advance(0)
  while (!state.isOver) {
    // A client that breaks a promise may break it for ever.
    if (watch.violations.length > 0) return undefined
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
