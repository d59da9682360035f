// Simulates one night from its seed: an Uplink and its host, life after life, until everything is settled. The outcome
// has what the checkers found. The same seed gives the same night, to the last byte.

import type { UploadReport } from '../../../src/flows/upload.ts'
import { QUIET_LIFE, type Night } from './night.ts'
import { createWorld, type Mutant, type World } from './night-world.ts'
import { oneLife } from './one-life.ts'
import { SimulatedAbortController } from './signals.ts'

const MOST_LIVES = 12

export interface NightOptions {
  readonly mutant?: (() => Mutant) | undefined
  /** Keeps a log of everything that happens. Default false. */
  readonly isLogged?: boolean
  /** Uses the platform's own signals, which cost more; nothing else differs. Default false. */
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
  /** Lives that ended by closing the Uplink before the upload was over. */
  readonly closeCount: number
  readonly faultCount: number
  /** How often a timer fired. */
  readonly stepCount: number
  readonly simulatedMs: number
  readonly status: UploadReport['status'] | undefined
  readonly sessionCount: number
}

export async function runNight(seed: number, options: NightOptions = {}): Promise<NightOutcome> {
  // Collecting a stack for each of the hundreds of rejections would be a tenth of the work. A logged replay has them.
  const { stackTraceLimit } = Error
  const { AbortController: platformController } = globalThis
  if (options.isLogged !== true) Error.stackTraceLimit = 0
  if (options.hasPlatformSignals !== true) globalThis.AbortController = SimulatedAbortController
  try {
    return await liveThrough(createWorld(seed, { mutant: options.mutant?.(), isLogged: options.isLogged === true }))
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
    log: world.log,
    flow: night.flow,
    fileCount: night.files.length,
    partCount: night.files.reduce((sum, { bytes }) => sum + partsOf(night, bytes.byteLength), 0),
    lifeCount: world.lives.length,
    closeCount,
    deathCount: world.lives.filter((life) => life.isDead()).length,
    faultCount: trouble.count(),
    stepCount: world.lives.reduce((sum, life) => sum + life.stepCount(), 0),
    simulatedMs: clock.monotonicNow(),
    status,
    sessionCount: farEnd.sessionCount(),
  }
}

function partsOf(night: Night, sizeBytes: number): number {
  return night.flow === 'capture' ? 1 : Math.max(1, Math.ceil(sizeBytes / night.partSizeBytes))
}
