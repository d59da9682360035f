// Copies what an upload knows of its files into their rows. A row's own rate is measured here, in the same way as that of the whole.

import { createRateMeter, timeLeft } from '../core/rate-meter.ts'
import type { UploadFileStatus } from '../flows/upload.ts'
import type { Item, ItemState, Job } from './items.ts'

/** Reads an upload. `nowMs`: the time of this reading. A rate is measured only while it is uploading. */
export function readJob({ upload, items }: Pick<Job, 'upload' | 'items'>, nowMs: number): void {
  const isRunning = upload.state === 'uploading'
  const isPaused = /paus/.test(upload.state)
  for (const status of upload.files()) {
    const item = items[status.fileIndex]
    if (!item) continue
    const { sentBytes, confirmedBytes, error } = status
    const state = shownState(status.state, isPaused)
    item.meter = isRunning && state === 'uploading' ? (item.meter ?? createRateMeter()) : undefined
    item.meter?.add(Math.max(0, sentBytes - item.sentBytes), nowMs)
    // Rounded, so that a rate that fades comes to its end.
    const bytesPerSecond = Math.round(item.meter?.bytesPerSecond(nowMs) ?? 0)
    Object.assign(item, { state, sentBytes, confirmedBytes, bytesPerSecond, error } satisfies Partial<Item>)
  }
}

function shownState(state: UploadFileStatus['state'], isPaused: boolean): ItemState {
  if (state !== 'pending' && state !== 'uploading') return state
  return isPaused ? 'paused' : state === 'pending' ? 'waiting' : state
}

/**
 * How long a file still takes, ms. `wholeMs` is the same for all files together. A file that shares the line is slow only as long
 * as the others run, so it ends with the whole at the latest.
 */
export function remainingOf(
  { bytes, sentBytes, bytesPerSecond }: Item,
  wholeMs: number | undefined,
): number | undefined {
  const ownMs = timeLeft(bytes - sentBytes, bytesPerSecond)
  return ownMs === undefined || wholeMs === undefined ? undefined : Math.min(ownMs, wholeMs)
}
