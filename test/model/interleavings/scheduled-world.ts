// One Uplink over scheduled ports, its host, and pure models of the service and the storage: what the commands act on.

import { AsyncLocalStorage } from 'node:async_hooks'
import type fc from 'fast-check'
import { expect } from 'vitest'

import { UploadFailedError, type UploadReport } from '../../../src/flows/upload.ts'
import { createUplink, type Uplink } from '../../../src/index.ts'
import { createSimulatedClock, type SimulatedClock } from '../../helpers/simulated-clock.ts'
import { createDice } from '../../simulation/whole/dice.ts'
import { createDisk } from '../../simulation/whole/disk.ts'
import { API_KEY, createFarEnd, SERVICE_URL, type FarEnd } from '../../simulation/whole/far-end.ts'
import { createNetwork } from '../../simulation/whole/network.ts'
import {
  drawNight,
  LONG_LIFE_MS,
  QUIET_LIFE,
  type Night,
  type ServiceFault,
  type StorageFault,
} from '../../simulation/whole/night.ts'
import { lifeSource, type Handles } from '../../simulation/whole/source.ts'
import type { Trouble } from '../../simulation/whole/trouble.ts'
import { fill } from '../../simulation/world.ts'
import { createPromiseWatch, FIRST_CONTACT_TRIES, type Driven } from './promise-watch.ts'
import { scheduledHasher, scheduledJournal, scheduledLife, scheduledReplies, turnsOf } from './scheduled-ports.ts'

export interface ScheduledWorld {
  readonly clock: SimulatedClock
  readonly uplink: Uplink
  /** By letter. */
  readonly driven: ReadonlyMap<string, Driven>
  start(letter: string, fileParts: readonly number[]): void
  pause(letter: string): void
  resume(letter: string): void
  cancel(letter: string): void
  /** Asks again for the outcome, the list of sessions and the receipt. */
  ask(letter: string): void
  failNextPut(fault: StorageFault): void
  failNextCall(fault: ServiceFault): void
  /** Suspends the machine. */
  sleep(ms: number): void
  /** Lets everything run to its end, which must be what the host asked for. */
  finish(): Promise<void>
}

const WINDOW_BYTES = 64 * 1024
/** Two windows, of which the second is not full. */
const PART_BYTES = WINDOW_BYTES + 4_000
const CAP = 3
const WALL_START_MS = Date.UTC(2026, 10, 20, 20)
const LIMIT_MS = 6 * 3_600_000

/**
 * The letter of the upload whose verb is being carried out. All worlds share one store, because Node asks every store
 * that was ever used at each promise that is created.
 */
const doing = new AsyncLocalStorage<string>()

export function scheduledWorld(scheduler: fc.Scheduler): ScheduledWorld {
  const clock = createSimulatedClock({ wallStartMs: WALL_START_MS })
  const turn = turnsOf(scheduler)
  const { life, of } = scheduledLife(clock, turn)
  const handles: Handles = { openCount: 0 }
  const contents = new Map<string, Uint8Array>()
  const driven = new Map<string, Driven>()
  const outcomes = new Map<string, Promise<UploadReport>[]>()
  let [isFinishing, hasSlept] = [false, false]
  const looks: Promise<void>[] = []
  const [putFaults, callFaults]: [StorageFault[], ServiceFault[]] = [[], []]
  const watch = createPromiseWatch({
    ...{ cap: CAP, farEnd: () => farEnd, driven, bytesOf: (name) => contents.get(name)! },
    letterOfDoing: () => doing.getStore(),
  })
  const serverNow = (): number => WALL_START_MS + clock.monotonicNow()
  const night: Night = {
    ...drawNight(createDice(1)),
    ...{ flow: 'video', concurrency: CAP, verify: 'md5', isOpaque: false, skewMs: 0, lateShare: 1, settleMs: 0 },
    ...{ addressLifeMs: LONG_LIFE_MS, saysAlready: false, storageFaults: [], outages: [], keys: undefined },
  }
  const farEnd: FarEnd = createFarEnd(night, serverNow, watch.violate)
  const disk = createDisk({ dice: createDice(1), syncMs: 1, onSettled: watch.onSettled })
  const trouble: Trouble = {
    ofPut: () => putFaults.shift(),
    ofCall: () => callFaults.shift(),
    ...{
      isLate: () => true,
      lateMs: () => 0,
      settleMs: () => 0,
      calm: () => undefined,
      isCalm: () => false,
      count: () => 0,
    },
  }
  const network = createNetwork({
    ...{ night, farEnd, trouble, serverNow, life: of('the line'), log: () => undefined },
    watch: {
      begin: () => undefined,
      end: () => undefined,
      confirmAsked: () => undefined,
      unsure: () => undefined,
      refused: () => undefined,
      violate: watch.violate,
    },
    later: (act) => void turn('a late arrival').then(act),
  })
  const uplink = createUplink(
    {
      baseUrl: SERVICE_URL,
      credentials: { apiKey: API_KEY },
      concurrency: CAP,
      retries: 200,
      memoryBytes: CAP * 2 * WINDOW_BYTES,
    },
    {
      transport: watch.over(scheduledReplies(network, turn)),
      journal: scheduledJournal(disk.journal(of('the disk'), QUIET_LIFE), turn),
      clock: life.clock,
      random: createDice(1).random,
      hasher: scheduledHasher(turn),
    },
  )
  const outcomeOf = (letter: string): Promise<UploadReport> =>
    driven
      .get(letter)!
      .upload.done()
      .catch((error: unknown) => {
        if (error instanceof UploadFailedError) return error.report
        throw error
      })
  const expectOutcome = async (letter: string): Promise<void> => {
    const [report, ...others] = await Promise.all(outcomes.get(letter)!)
    const { status, sessionId, isServiceTold } = report!
    for (const other of others) expect(other.status).toBe(status)
    if (status === 'cancelled') {
      expect(driven.get(letter)!.isCancelAsked).toBe(true)
      // If the machine sleeps through the time for telling the service, the report says that it was not told.
      if (!hasSlept) expect(isServiceTold).toBe(sessionId !== undefined)
      if (isServiceTold === true) expect(farEnd.isCancelled(sessionId!)).toBe(true)
      return
    }
    // A machine that sleeps through tries also misses their answers.
    if (driven.get(letter)!.missedTries >= FIRST_CONTACT_TRIES) {
      expect([status, report!.error?.code]).toEqual(['failed', 'ERR_UPLOAD_HOST_UNREACHABLE'])
      return
    }
    expect([status, report!.error]).toEqual(['confirmed', undefined])
    for (const [name, bytes] of contents)
      if (name.startsWith(letter)) expect([name, Buffer.compare(farEnd.stored(name)!, bytes)]).toEqual([name, 0])
  }
  const awaitDone = (letter: string): void => {
    const outcome = outcomeOf(letter)
    outcome.then(
      () => (driven.get(letter)!.isOver = true),
      (error: unknown) => watch.violate(String(error)),
    )
    outcomes.get(letter)!.push(outcome)
  }
  /** Takes turns first. If there is none, the next timer fires. */
  const runUntil = async (promise: Promise<unknown>): Promise<void> => {
    const state: { isSettled: boolean } = { isSettled: false }
    void promise.finally(() => (state.isSettled = true)).catch(() => undefined)
    await clock.advance(0)
    while (!state.isSettled || scheduler.count() > 0) {
      if (scheduler.count() > 0) await scheduler.waitNext(1)
      else if (clock.nextDueInMs === undefined) throw new Error('Deadlock: nothing is under way.')
      else await clock.step()
      if (clock.monotonicNow() > LIMIT_MS) throw new Error('The uploads have not settled within their time.')
      await clock.advance(0)
    }
  }

  return {
    clock,
    uplink,
    driven,
    start(letter, fileParts) {
      const files = fileParts.map((parts, index) => {
        const file = { name: `${letter}-${String(index)}.mp4`, bytes: fill(parts * PART_BYTES - 3, index) }
        contents.set(file.name, file.bytes)
        return { source: lifeSource({ file, isChanged: false }, { life: of('a read'), readMs: 1, handles }) }
      })
      const input = {
        ...{ movementTypeId: 1, playerId: 'p', sessionDate: '2026-11-20', sessionTypeId: 2, files },
        ...{ partSizeBytes: PART_BYTES, unitLimits: { minBytes: 1, maxBytes: 1e6, maxCount: 100, multipleOfBytes: 1 } },
      }
      const upload = doing.run(letter, () => uplink.uploadVideos(input))
      const own: Driven = { upload, isCancelAsked: false, missedTries: 0, isOver: false }
      driven.set(letter, own)
      watch.follow(own)
      upload.on('retry', ({ error }) => {
        if (error.code === 'ERR_UPLOAD_INTERNAL') watch.violate(error.message)
      })
      outcomes.set(letter, [])
      awaitDone(letter)
    },
    pause(letter) {
      // No resume would follow a pause that a listener asks for now.
      if (isFinishing) return
      // A resume that comes while the upload drains lets a create begin in the async context of this pause.
      doing.run(letter, () => driven.get(letter)!.upload.pause())
    },
    resume(letter) {
      doing.run(letter, () => driven.get(letter)!.upload.resume())
    },
    cancel(letter) {
      const own = driven.get(letter)!
      own.isCancelAsked = true
      const cancelled = doing.run(letter, () => own.upload.cancel())
      void cancelled.then(() => (own.isOver = true))
      outcomes.get(letter)!.push(cancelled)
    },
    ask(letter) {
      awaitDone(letter)
      const { key } = driven.get(letter)!.upload
      const look = async (): Promise<void> => {
        const sessions = await uplink.sessions()
        if (sessions.some((session) => session.key === key)) await uplink.receipt(key)
      }
      looks.push(look())
    },
    failNextPut(fault) {
      putFaults.push(fault)
    },
    failNextCall(fault) {
      callFaults.push(fault)
    },
    sleep(ms) {
      hasSlept = true
      clock.suspend(ms)
    },
    async finish() {
      isFinishing = true
      for (const [letter, { upload }] of driven) doing.run(letter, () => upload.resume())
      await runUntil(Promise.all([...looks, ...[...outcomes.values()].flat()]))
      expect(watch.violations).toEqual([])
      for (const letter of driven.keys()) await expectOutcome(letter)
      expect([handles.openCount, life.timerCount(), watch.inFlight(), uplink.stats().inFlight]).toEqual([0, 0, 0, 0])
    },
  }
}
