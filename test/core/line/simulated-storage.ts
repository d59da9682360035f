// A storage that refuses, and as many parts sent to it as the controller says: samples come as the engine takes them. A refused part
// waits and another takes its place, so slots never stand empty, and what is refused at once comes again at once.

import type { Concurrency } from '../../../src/core/line/concurrency-sample.ts'

export interface StorageSetting {
  /** How long an accepted part takes; a fifth more or less by chance. */
  readonly serviceMs: number
  /** How long a refusal takes: less, where it comes before the body. */
  readonly refusalMs: number
  readonly partBytes: number
  /** Whether a part that begins now is refused. */
  refuses(nowMs: number): boolean
}

export interface StorageRun {
  /** For each second: parts taken and refused, and the limit at its end. */
  readonly seconds: readonly { readonly done: number; readonly refused: number; readonly limit: number }[]
}

const STEP_MS = 10

export function sendTo(
  { serviceMs, refusalMs, partBytes, refuses }: StorageSetting,
  controller: Concurrency,
  untilMs: number,
  random: () => number,
): StorageRun {
  const slots: { readonly endsMs: number; readonly isRefused: boolean }[] = []
  const seconds: StorageRun['seconds'][number][] = []
  const second = { done: 0, refused: 0 }
  const since = { bytesSince: 0, partsDone: 0, throttles: 0 }
  let sampleAtMs = 0
  for (let nowMs = 0; nowMs < untilMs; nowMs += STEP_MS) {
    for (const slot of slots.filter(({ endsMs }) => endsMs <= nowMs)) {
      slots.splice(slots.indexOf(slot), 1)
      since[slot.isRefused ? 'throttles' : 'partsDone'] += 1
      second[slot.isRefused ? 'refused' : 'done'] += 1
    }
    while (slots.length < controller.limit()) {
      const isRefused = refuses(nowMs)
      const lengthMs = (isRefused ? refusalMs : serviceMs) * (0.8 + 0.4 * random())
      slots.push({ endsMs: nowMs + lengthMs, isRefused })
      since.bytesSince += partBytes
    }
    if (nowMs >= sampleAtMs) {
      controller.onSample({ atMs: nowMs, inFlight: slots.length, failures: 0, ...since })
      Object.assign(since, { bytesSince: 0, partsDone: 0, throttles: 0 })
      sampleAtMs = nowMs + (controller.isCurious() ? 100 : 500)
    }
    if ((nowMs + STEP_MS) % 1_000 === 0) {
      seconds.push({ ...second, limit: controller.limit() })
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
