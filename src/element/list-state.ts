// The state of all files of an element together: the one phase that its controls follow, and the totals.

import type { UploadProgress, UploadState } from '../flows/upload.ts'
import { isReady, type Item, type ItemState, type Job } from './items.ts'

/** What the element is doing. `settled`: every file is over. */
export type Phase = 'empty' | 'ready' | 'uploading' | 'waiting' | 'paused' | 'cancelling' | 'settled'

/** How far all uploads of the element are together. Sizes in bytes. */
export interface Totals {
  readonly filesTotal: number
  readonly filesConfirmed: number
  readonly filesFailed: number
  readonly sentBytes: number
  readonly confirmedBytes: number
  readonly totalBytes: number
  readonly bytesPerSecond: number
  /** Time until everything is sent at this rate, ms. Undefined until a rate is known. */
  readonly remainingMs: number | undefined
}

/** The phase of these items. `active`: the uploads that are not over. */
export function phaseOf(items: readonly Item[], active: readonly Job[]): Phase {
  const states = active.map(stateOf)
  // Also when it is cancelled and only its report is still to come.
  if (states.some((state) => state.startsWith('cancel'))) return 'cancelling'
  const going = states.filter((state) => state !== 'paused' && state !== 'pausing')
  if (going.some((state) => state !== 'waiting')) return 'uploading'
  if (going.length > 0) return 'waiting'
  if (states.length > 0) return 'paused'
  if (items.some(isReady)) return 'ready'
  return items.length === 0 ? 'empty' : 'settled'
}

/**
 * A waiting upload counts as uploading once bytes are sent after its last outage report: the host takes bytes in a new try, or the
 * network is back and only the service is still to be tried. A part may take minutes, so its end is not awaited.
 */
function stateOf({ upload, outage }: Job): UploadState {
  const { state } = upload
  return state === 'waiting' && outage && upload.progress().sentBytes > outage.sentBytes ? 'uploading' : state
}

/** The totals of the files of these uploads. A file that was chosen again counts once. `active`: the uploads that are not over. */
export function totalsOf(jobs: readonly Job[], active: readonly Job[]): Totals {
  const running = active.map((job) => job.upload.progress())
  const counted = jobs.flatMap((job) => job.items.filter(({ replacedBy }) => !replacedBy))
  const countOf = (wanted: ItemState): number => counted.filter(({ state }) => state === wanted).length
  return {
    filesTotal: counted.length,
    filesConfirmed: countOf('confirmed'),
    filesFailed: countOf('failed'),
    sentBytes: sum(counted, 'sentBytes'),
    confirmedBytes: sum(counted, 'confirmedBytes'),
    totalBytes: sum(counted, 'bytes'),
    bytesPerSecond: sum(running, 'bytesPerSecond'),
    remainingMs: longest(running),
  }
}

function sum<Field extends string>(of: readonly Readonly<Record<Field, number>>[], field: Field): number {
  return of.reduce((total, each) => total + each[field], 0)
}

function longest(running: readonly UploadProgress[]): number | undefined {
  const known = running.flatMap(({ remainingMs }) => remainingMs ?? [])
  return known.length > 0 ? Math.max(...known) : undefined
}
