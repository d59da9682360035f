// The real upload behind the commands: an Uplink over the simulated journal, service and storage. The test may kill and
// restart it, and compares its state with the model.

import { expect } from 'vitest'

import { isReceived } from '../../src/core/journal/ledger.ts'
import { foldJournal } from '../../src/core/journal/fold-journal.ts'
import { UploadFailedError, type Upload, type UploadReport } from '../../src/flows/upload.ts'
import { createUplink } from '../../src/index.ts'
import { createSimulatedClock } from '../helpers/simulated-clock.ts'
import { createDice } from '../simulation/whole/dice.ts'
import { digestHasher } from '../simulation/whole/digest.ts'
import { createDisk } from '../simulation/whole/disk.ts'
import { API_KEY, createFarEnd, SERVICE_URL, type FarEnd } from '../simulation/whole/far-end.ts'
import { createLife, type Life } from '../simulation/whole/life.ts'
import { createNetwork } from '../simulation/whole/network.ts'
import { drawNight, LONG_LIFE_MS, QUIET_LIFE, type Night, type StorageFault } from '../simulation/whole/night.ts'
import { lifeSource, type Handles } from '../simulation/whole/source.ts'
import { createTrouble } from '../simulation/whole/trouble.ts'
import { createWatch, type Watch } from '../simulation/whole/watch.ts'
import { fill } from '../simulation/world.ts'
import type { Model } from './model.ts'

export interface RealUpload {
  start(fileParts: readonly number[]): Promise<void>
  readonly upload: Upload
  pause(): Promise<void>
  resume(): Promise<void>
  /** Cancels it, and resolves with what it settled as. */
  cancel(): Promise<UploadReport>
  killAndRestore(): Promise<void>
  failNextPut(fault: StorageFault): void
  expireAddresses(): void
  /** Lets `ms` pass, or less if the upload ends before. */
  advance(ms: number): Promise<void>
  /** How it ended; undefined while it runs. */
  report(): UploadReport | undefined
  /** The parts that have a receipt in the journal. */
  confirmed(): ReadonlySet<string>
  /** The upload must be as the model expects, and no promise may be broken. */
  agree(model: Model): void
}

const PART_BYTES = 10
const WALL_START_MS = Date.UTC(2026, 10, 20, 20)

export function realUpload(seed: number): RealUpload {
  const clock = createSimulatedClock({ wallStartMs: WALL_START_MS })
  const dice = createDice(seed)
  const faults: StorageFault[] = []
  let handles: Handles = { openCount: 0 }
  const serverNow = (): number => WALL_START_MS + clock.monotonicNow()
  let night!: Night
  let watch!: Watch
  let farEnd!: FarEnd
  let disk!: ReturnType<typeof createDisk>
  let life!: Life
  let upload!: Upload
  let report: UploadReport | undefined
  let lives = 0

  const until = async <T>(promise: Promise<T>): Promise<T> => {
    const state: { isSettled: boolean } = { isSettled: false }
    const settled = promise.finally(() => (state.isSettled = true))
    settled.catch(() => undefined)
    await clock.advance(0)
    while (!state.isSettled) {
      if (clock.nextDueInMs === undefined) throw new Error('Deadlock: nothing is under way.')
      await clock.step()
    }
    return settled
  }
  const live = async (key: string | undefined): Promise<void> => {
    lives += 1
    life = createLife(lives, clock, undefined)
    // A dead process has no open files.
    handles = { openCount: 0 }
    watch.beginLife()
    const trouble = { ...createTrouble(night, dice, clock.monotonicNow), ofPut: () => faults.shift() }
    const later = (act: () => void, delayMs: number): void => void clock.setTimeout(act, delayMs)
    const log = (): void => undefined
    const uplink = createUplink(
      // The model has no limit of attempts, so this allows more faults than any command list can cause on one part.
      { baseUrl: SERVICE_URL, credentials: { apiKey: API_KEY }, concurrency: 3, retries: 200 },
      {
        transport: createNetwork({ night, life, farEnd, watch, trouble, serverNow, later, log }),
        journal: disk.journal(life, QUIET_LIFE),
        clock: life.clock,
        random: dice.random,
        hasher: digestHasher(),
      },
    )
    const sources = night.files.map((file) => lifeSource({ file, isChanged: false }, { life, readMs: 0, handles }))
    const unitLimits = { minBytes: 1, maxBytes: 1_000, maxCount: 100, multipleOfBytes: 1 }
    upload =
      key !== undefined
        ? await until(uplink.resume(key, { source: ({ fileIndex }) => sources[fileIndex]! }))
        : uplink.uploadVideos({
            ...{ movementTypeId: 1, playerId: 'p', sessionDate: '2026-11-20', sessionTypeId: 2, unitLimits },
            ...{ files: sources.map((source) => ({ source })), partSizeBytes: PART_BYTES },
          })
    const own = life
    const take = (settled: UploadReport): void => {
      if (!own.isDead()) report = settled
    }
    upload.on('progress', watch.progress)
    upload.on('session.replaced', watch.replaced)
    upload.done().then(take, (error: unknown) => {
      if (error instanceof UploadFailedError) take(error.report)
      else watch.violate(String(error))
    })
    await clock.advance(0)
  }
  const advance = async (ms: number): Promise<void> => {
    const endMs = clock.monotonicNow() + ms
    await clock.advance(0)
    while (report === undefined && clock.nextDueInMs !== undefined) {
      if (clock.monotonicNow() + clock.nextDueInMs > endMs) return clock.advance(endMs - clock.monotonicNow())
      await clock.step()
    }
  }

  return {
    async start(fileParts) {
      const files = fileParts.map((parts, index) => ({
        name: `clip-${index}.mp4`,
        bytes: fill(parts * PART_BYTES - 3, index),
      }))
      const drawn = drawNight(dice)
      night = { ...drawn, flow: 'video', files, concurrency: 3, verify: 'md5', isOpaque: false, skewMs: 0, lineMs: 20 }
      night = {
        ...night,
        settleMs: 0,
        keys: undefined,
        addressLifeMs: LONG_LIFE_MS,
        outages: [],
        storageFaults: ['saysExpired'],
        serviceFaultShare: 0,
      }
      watch = createWatch(
        night,
        () => farEnd,
        clock.monotonicNow,
        () => undefined,
      )
      farEnd = createFarEnd(night, serverNow, watch.violate)
      disk = createDisk({ dice, syncMs: night.syncMs, onSettled: watch.onSettled })
      await live(undefined)
    },
    get upload() {
      return upload
    },
    async pause() {
      upload.pause()
      // Its attempts end, and the doubtful ones are journalled. A confirmation under way is answered, or given up after 4 s.
      await advance(5_000)
    },
    async resume() {
      upload.resume()
      await clock.advance(0)
    },
    async cancel() {
      watch.host.isCancelAsked = true
      const cancelled = await until(upload.cancel())
      await clock.advance(0)
      return cancelled
    },
    async killAndRestore() {
      life.kill()
      const [key] = disk.keys()
      await live(key)
    },
    failNextPut: (fault) => void faults.push(fault),
    expireAddresses: () => farEnd.expire(),
    advance,
    report: () => report,
    confirmed() {
      const [key] = disk.keys()
      const files = key === undefined ? [] : foldJournal(disk.records(key)).ledger.files
      const parts = files.flatMap((file) =>
        file.parts.filter(isReceived).map((part) => `${file.plan.fileIndex}/${part.partNumber}`),
      )
      return new Set(parts)
    },
    agree(model) {
      expect(watch.violations).toEqual([])
      expect(report !== undefined).toBe(model.isDone)
      if (model.isPaused && !model.isDone) expect(['paused', 'creating']).toContain(upload.state)
      if (report?.status !== 'confirmed') return
      const { place, ledger } = foldJournal(disk.records(upload.key))
      expect([place, ...ledger.files.map((file) => file.state)]).toEqual([
        'confirmed',
        ...night.files.map(() => 'confirmed'),
      ])
      for (const { name, bytes } of night.files) expect(farEnd.stored(name)).toEqual(Buffer.from(bytes))
      expect([handles.openCount, life.timerCount(), watch.inFlight()]).toEqual([0, 0, 0])
    },
  }
}
