// A storage that refuses, and as many parts sent to it as the controller and the window of the host let go: samples come as the engine
// takes them. A refused part waits and another takes its place, so what is refused at once comes again at once, where it may.

import type { Concurrency } from '../../../src/core/line/concurrency-sample.ts'
import { createCongestionWindow } from '../../../src/core/transfer/congestion-window.ts'

export interface StorageSetting {
  /** How long an accepted part takes; a fifth more or less by chance. */
  readonly serviceMs: number
  /** How long a refusal takes: less, where it comes before the body. */
  readonly refusalMs: number
  readonly partBytes: number
  /** Whether a part that begins now is refused, where so many are being taken. */
  refuses(nowMs: number, taking: number): boolean
}

export interface StorageRun {
  /** For each second: parts taken and refused, and how many may be in flight at its end. */
  readonly seconds: readonly { readonly done: number; readonly refused: number; readonly limit: number }[]
}

const STEP_MS = 10

export function sendTo(
  { serviceMs, refusalMs, partBytes, refuses }: StorageSetting,
  controller: Concurrency,
  untilMs: number,
  random: () => number,
): StorageRun {
  const slots: { readonly beganMs: number; readonly endsMs: number; readonly isRefused: boolean }[] = []
  const seconds: StorageRun['seconds'][number][] = []
  const second = { done: 0, refused: 0 }
  const since = { bytesSince: 0, partsDone: 0 }
  const window = createCongestionWindow()
  const limit = (nowMs: number): number => Math.min(controller.limit(), slots.length + window.room(slots.length, nowMs))
  let sampleAtMs = 0
  for (let nowMs = 0; nowMs < untilMs; nowMs += STEP_MS) {
    for (const slot of slots.filter(({ endsMs }) => endsMs <= nowMs)) {
      slots.splice(slots.indexOf(slot), 1)
      second[slot.isRefused ? 'refused' : 'done'] += 1
      if (slot.isRefused) {
        window.refused(slot.beganMs, slots.length, nowMs, 1)
      } else {
        window.taken(slot.beganMs, slots.length, nowMs)
        since.partsDone += 1
      }
    }
    while (slots.length < limit(nowMs)) {
      const isRefused = refuses(nowMs, slots.filter((slot) => !slot.isRefused).length)
      const lengthMs = (isRefused ? refusalMs : serviceMs) * (0.8 + 0.4 * random())
      slots.push({ beganMs: nowMs, endsMs: nowMs + lengthMs, isRefused })
      since.bytesSince += partBytes
    }
    if (nowMs >= sampleAtMs) {
      controller.onSample({ atMs: nowMs, inFlight: slots.length, ...since })
      Object.assign(since, { bytesSince: 0, partsDone: 0 })
      sampleAtMs = nowMs + (controller.isCurious() ? 100 : 500)
    }
    if ((nowMs + STEP_MS) % 1_000 === 0) {
      seconds.push({ ...second, limit: limit(nowMs) })
      Object.assign(second, { done: 0, refused: 0 })
    }
  }
  return { seconds }
}

/** Takes so many requests a second, as many at once as gather in `burstMs`, and refuses the others. */
export function tokenBucket(requestsPerSecond: number, burstMs = 100): (nowMs: number) => boolean {
  const most = Math.max(1, (requestsPerSecond * burstMs) / 1_000)
  let tokens = most
  let lastMs = 0
  return (nowMs) => {
    tokens = Math.min(most, tokens + ((nowMs - lastMs) * requestsPerSecond) / 1_000)
    lastMs = nowMs
    if (tokens < 1) return true
    tokens -= 1
    return false
  }
}
