// What an upload knows of its files, taken over into their rows; a row's own rate is made of two readings.

import type { Item, Job } from './items.ts'

/** How fast a row's rate follows, per reading. */
const RATE_WEIGHT = 0.3

/**
 * Makes the function that reads an upload: only what differs goes to `touch`. `nowMs`: the time of this reading; NaN where no
 * rate is to be made of it.
 */
export function createReading(touch: (item: Item, change: Partial<Item>) => void): (job: Job, nowMs: number) => void {
  const readAtMs = new WeakMap<Job, number>()
  return (job, nowMs) => {
    const passedMs = nowMs - (readAtMs.get(job) ?? nowMs)
    readAtMs.set(job, nowMs)
    const isRunning = job.upload.state === 'uploading'
    for (const status of job.upload.files()) {
      const item = job.items[status.fileIndex]
      if (item === undefined) continue
      const { sentBytes, confirmedBytes, error } = status
      const state = status.state === 'pending' ? 'waiting' : status.state
      const moved = Math.max(0, sentBytes - item.sentBytes)
      const measured = passedMs > 0 ? (moved * 1_000) / passedMs : item.bytesPerSecond
      const rate =
        item.bytesPerSecond === 0 ? measured : item.bytesPerSecond + (measured - item.bytesPerSecond) * RATE_WEIGHT
      const bytesPerSecond = isRunning && state === 'uploading' ? rate : 0
      const isSame =
        item.state === state &&
        item.sentBytes === sentBytes &&
        item.confirmedBytes === confirmedBytes &&
        item.error?.message === error?.message &&
        Math.abs(item.bytesPerSecond - bytesPerSecond) < 1
      if (!isSame) touch(item, { state, sentBytes, confirmedBytes, bytesPerSecond, error, isOver: false })
    }
  }
}
