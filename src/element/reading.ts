// Copies what an upload knows of its files into their rows. A row's own rate is measured here, in the same way as that of the whole.

import { createRateMeter, timeLeft, type RateMeter } from '../core/rate-meter.ts'
import { changeItem, type Item, type Job } from './items.ts'

/** Creates the function that reads an upload. `nowMs`: the time of this reading. A rate is measured only while it is uploading. */
export function createReading(): (job: Pick<Job, 'upload' | 'items'>, nowMs: number) => void {
  const meters = new WeakMap<Item, RateMeter>()
  return (job, nowMs) => {
    const isRunning = job.upload.state === 'uploading'
    const isPaused = /paus/.test(job.upload.state)
    for (const status of job.upload.files()) {
      const item = job.items[status.fileIndex]
      if (!item) continue
      const { sentBytes, confirmedBytes, error } = status
      const state = status.state === 'pending' ? 'waiting' : status.state
      let bytesPerSecond = 0
      if (isRunning && state === 'uploading') {
        const meter = meters.get(item) ?? createRateMeter()
        meters.set(item, meter)
        meter.add(Math.max(0, sentBytes - item.sentBytes), nowMs)
        // Rounded, so that a rate that fades comes to its end.
        bytesPerSecond = Math.round(meter.bytesPerSecond(nowMs))
      } else meters.delete(item)
      changeItem(item, { state, sentBytes, confirmedBytes, bytesPerSecond, isPaused, error, isOver: false })
    }
  }
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
