// An upload on the modelled line: as many parts in flight as the controller says, sampled as the engine does it.

import type { Concurrency } from '../../../src/core/line/concurrency-sample.ts'
import { STEP_MS, type Connection, type LineSetting, type SimulatedLine } from './simulated-line.ts'

export interface UploadSetting {
  readonly partBytes: number
  /** Infinity: as long as `untilMs`. */
  readonly parts: number
  readonly untilMs: number
  /** Others on the line, one connection each, from the start to the end. */
  readonly others?: number
  /** How long they were there before us; default 0. */
  readonly startMs?: number
  /** How the line changes, in order. */
  readonly changes?: readonly { readonly atMs: number; readonly line: LineSetting }[]
  /** Without it the transport cannot measure round trips. */
  readonly isProbing?: boolean
}

export interface UploadRun {
  /** When the last part was answered; `untilMs` when it never was. */
  readonly endedMs: number
  /** For each tenth of a second: what arrived of ours and of each other one, bytes; parts in flight; the round trip, ms. */
  readonly tenths: readonly {
    readonly ownBytes: number
    readonly otherBytes: number
    readonly inFlight: number
    readonly limit: number
    readonly roundTripMs: number
  }[]
}

interface Slot {
  readonly connection: Connection
  /** A part is under way, or its answer. */
  isBusy: boolean
  answerAtMs: number | undefined
}

const FIRST_OTHER_BYTES = 1e12
const PROBE_PAUSE_MS = 100

export function upload(line: SimulatedLine, controller: Concurrency, setting: UploadSetting): UploadRun {
  const others = Array.from({ length: setting.others ?? 0 }, () => line.connect())
  for (const other of others) other.send(FIRST_OTHER_BYTES)
  for (let ms = 0; ms < (setting.startMs ?? 0); ms += STEP_MS) line.step()
  const startMs = line.nowMs
  const slots: Slot[] = []
  const tenths: UploadRun['tenths'][number][] = []
  const changes = [...(setting.changes ?? [])]
  let [left, done, doneSince, handedBefore, nextSampleMs] = [setting.parts, 0, 0, 0, 0]
  let probe: { readonly endsMs: number; readonly roundTripMs: number } | undefined
  let measuredMs: number | undefined
  let nextProbeMs = 0
  let [ownBefore, otherBefore] = [0, 0]

  const start = (): void => {
    while (left > 0 && slots.filter((slot) => slot.isBusy).length < controller.limit()) {
      let slot = slots.find((one) => !one.isBusy)
      if (slot === undefined) {
        slot = { connection: line.connect(), isBusy: false, answerAtMs: undefined }
        slots.push(slot)
      }
      slot.isBusy = true
      slot.answerAtMs = undefined
      slot.connection.send(setting.partBytes)
      left -= 1
    }
  }
  const settle = (nowMs: number): void => {
    for (const slot of slots) {
      if (!slot.isBusy || !slot.connection.isIdle) continue
      slot.answerAtMs ??= nowMs + line.roundTripMs()
      if (slot.answerAtMs > nowMs) continue
      slot.isBusy = false
      done += 1
      doneSince += 1
    }
  }
  const sample = (nowMs: number): void => {
    const handed = slots.reduce((sum, { connection }) => sum + connection.handedBytes, 0)
    controller.onSample({
      ...{ atMs: nowMs, inFlight: slots.filter((slot) => slot.isBusy).length, roundTripMs: measuredMs },
      ...{ bytesSince: handed - handedBefore, partsDone: doneSince },
    })
    measuredMs = undefined
    handedBefore = handed
    doneSince = 0
    nextSampleMs = nowMs + (controller.isCurious() ? 100 : 500)
  }
  const measure = (nowMs: number): void => {
    if (probe !== undefined && probe.endsMs <= nowMs) {
      measuredMs = probe.roundTripMs
      nextProbeMs = nowMs + PROBE_PAUSE_MS
      probe = undefined
    }
    if (setting.isProbing === false || probe !== undefined || nowMs < nextProbeMs || !controller.isCurious()) return
    const roundTripMs = line.roundTripMs()
    probe = { roundTripMs, endsMs: nowMs + roundTripMs }
  }

  for (let nowMs = 0; nowMs < setting.untilMs; nowMs = line.nowMs - startMs) {
    const change = changes[0]
    if (change !== undefined && change.atMs <= nowMs) line.set((changes.shift() ?? change).line)
    start()
    line.step()
    settle(nowMs)
    measure(nowMs)
    if (nowMs >= nextSampleMs) sample(nowMs)
    if ((nowMs + STEP_MS) % 100 === 0) {
      const own = slots.reduce((sum, { connection }) => sum + connection.deliveredBytes, 0)
      const other = others.reduce((sum, { deliveredBytes }) => sum + deliveredBytes, 0)
      tenths.push({
        ...{ ownBytes: own - ownBefore, otherBytes: (other - otherBefore) / Math.max(1, others.length) },
        ...{ inFlight: slots.filter((slot) => slot.isBusy).length, limit: controller.limit() },
        roundTripMs: line.roundTripMs(),
      })
      ownBefore = own
      otherBefore = other
    }
    if (done >= setting.parts) return { endedMs: nowMs, tenths }
  }
  return { endedMs: setting.untilMs, tenths }
}
