// Everything around the client in a night: the clock, the disk, the service and storage, their troubles, and the watch.

import type { Journal, Source, Transport } from '../../../src/core/ports.ts'
import { createSimulatedClock, type SimulatedClock } from '../../helpers/simulated-clock.ts'
import { createDice, type Dice } from './dice.ts'
import { createDisk, type Disk } from './disk.ts'
import { createFarEnd, type FarEnd } from './far-end.ts'
import type { Life } from './life.ts'
import { drawNight, type Night } from './night.ts'
import type { FileState } from './source.ts'
import { createTrouble, type Trouble } from './trouble.ts'
import { createWatch, type Watch } from './watch.ts'

/** A bug that is planted between the client and the world. */
export interface Mutant {
  readonly journal?: (journal: Journal) => Journal
  readonly transport?: (transport: Transport) => Transport
  readonly source?: (source: Source) => Source
  readonly allocate?: (allocate: (bytes: number) => Uint8Array) => (bytes: number) => Uint8Array
  readonly isAbortSoft?: boolean
  /** What all its nights have, because the bug hardly shows in others. The client without the bug keeps its promises in them. */
  readonly night?: Partial<Night>
}

/** The world, which outlives every life of the client. */
export interface World {
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

const WALL_START_MS = Date.UTC(2026, 10, 20, 20)

/** Keeps a log of everything that happens only with `isLogged`, because it costs more than the night. */
export function createWorld(
  seed: number,
  { mutant = {}, isLogged }: { mutant?: Mutant | undefined; isLogged: boolean },
): World {
  const dice = createDice(seed)
  const night = { ...drawNight(dice.apart()), ...mutant.night }
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
  const { change, denial, sweep, wallJump } = night
  if (change !== undefined) clock.setTimeout(() => (files[change.fileIndex]!.isChanged = true), change.atMs)
  if (denial !== undefined) {
    const file = files[denial.fileIndex]!
    clock.setTimeout(() => (file.isDenied = true), denial.fromMs)
    if (denial.toMs < Infinity) clock.setTimeout(() => (file.isDenied = false), denial.toMs)
  }
  if (sweep !== undefined) clock.setTimeout(() => farEnd.store.sweep(night.files[sweep.fileIndex]!.name), sweep.atMs)
  if (wallJump !== undefined) clock.setTimeout(() => clock.shiftWall(wallJump.byMs), wallJump.atMs)
  const disk = createDisk({
    dice: dice.apart(),
    syncMs: night.syncMs,
    isQuick: night.isJournalQuick,
    onSettled: watch.onSettled,
  })
  return { night, dice, clock, farEnd, disk, watch, trouble, files, log, lives: [], mutant, note, serverNow }
}
