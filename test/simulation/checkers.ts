// Checks the engine's promises during a simulation and after it.

import type { Unit } from '../../src/core/ports.ts'
import type { MemoryJob } from './memory-job.ts'
import type { WatchedSource } from './watched-source.ts'
import type { World } from './world.ts'

/** Checks that no more than `cap` parts were in flight, and that nothing is under way, open or armed once a life has ended. */
export function watchSending(
  world: World,
  cap: number,
  violations: string[],
): { expectQuiet(sources: readonly WatchedSource[]): void } {
  return {
    expectQuiet(sources) {
      const { store, clock, engine } = world
      if (store.maxInFlight > cap)
        violations.push(`${String(store.maxInFlight)} in flight with a cap of ${String(cap)}`)
      if (store.inFlight() > 0) violations.push(`${String(store.inFlight())} sends after the end`)
      if ((world.hasher?.openCount ?? 0) > 0) violations.push('a hash is open after the end')
      if (engine.stats().inFlight > 0) violations.push('slots are taken after the end')
      if (clock.pending > 0) violations.push(`${String(clock.pending)} timers after the end`)
      for (const source of sources) if (source.openCount > 0) violations.push(`${source.name} is open after the end`)
    },
  }
}

/** Checks that everything is confirmed and stored byte for byte, with receipts that cover every part. */
export function watchCompletion(
  world: World,
  job: MemoryJob,
  sources: readonly WatchedSource[],
  violations: string[],
): void {
  for (const [index, file] of job.ledger.files.entries()) {
    const { bytes, name } = sources[index]!
    if (file.state !== 'confirmed') violations.push(`${name} is ${file.state}: ${file.error?.message ?? ''}`)
    if (Buffer.compare(world.store.content(index, bytes.byteLength), bytes) !== 0) violations.push(`${name} differs`)
    for (const part of file.parts) {
      if (part.receipt?.acceptedEnd !== part.end)
        violations.push(`${name} has no receipt for ${String(part.partNumber)}`)
    }
  }
}

/** Checks that the progress of a unit never falls within an attempt and never exceeds the unit's length. */
export function watchProgress(job: MemoryJob, violations: string[]): void {
  const sent = new Map<string, number>()
  const keyOf = ({ fileIndex, partNumber }: Unit): string => `${String(fileIndex)}/${String(partNumber)}`
  for (const event of job.events) {
    if (event.type === 'attemptEnded' || event.type === 'received') sent.delete(keyOf(event.unit))
    if (event.type !== 'sent') continue
    const { unit, sentBytes } = event
    const before = sent.get(keyOf(unit)) ?? 0
    if (sentBytes < before) violations.push(`progress fell from ${String(before)} to ${String(sentBytes)}`)
    if (sentBytes > unit.end - unit.start) violations.push('more was sent than there is')
    sent.set(keyOf(unit), sentBytes)
  }
}
