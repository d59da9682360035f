// Prints an upload as JSON lines: every change as it comes, and progress at most once a second and once at the end.

import { given } from '../../core/given.ts'
import type { Outage, Upload, UploadProgress } from '../../flows/upload.ts'
import { troubleNews, troubleOf } from './drive-troubles.ts'
import { inWords } from './operation-words.ts'
import type { Output } from './output.ts'

const PROGRESS_EVERY_MS = 1000

export interface Watching {
  /** Prints what is left to say before the result. */
  end(): void
  /** Leaves the live part of the terminal to another upload. Troubles are still printed. */
  hide?(): void
  /** Takes the live part of the terminal again. */
  show?(): void
}

/** The fields of an outage. `who` is `service` or `storage`. If a storage gives no answer, there is no `reason`. */
export function outageFields({ who, host, reason, status, sinceMs, untilMs, giveUpAtMs }: Outage) {
  const at = (wallMs: number | undefined) => (wallMs === undefined ? undefined : new Date(wallMs).toISOString())
  return { who, host, since: at(sinceMs), ...given({ until: at(untilMs), giveUpAt: at(giveUpAtMs), reason, status }) }
}

/** Prints the upload's events as JSON. Each has the upload's key, because several may run at a time. `nowMs` is monotonic. */
export function tellAsJson(upload: Upload, output: Output, nowMs: () => number): Watching {
  let toldAtMs = -Infinity
  let untold: UploadProgress | undefined
  let isOver = false
  const event = (name: string, fields: Readonly<Record<string, unknown>>) => {
    // One that did not stop in time may end after its result, which is the last line.
    if (!isOver) output.event(name, { key: upload.key, ...withoutFractions(fields) })
  }
  const tell = (progress: UploadProgress) => {
    toldAtMs = nowMs()
    untold = undefined
    event('progress', { ...progress, remainingMs: progress.remainingMs ?? null })
  }
  event('state', { state: upload.state })
  upload.on('state', ({ state }) => event('state', { state }))
  upload.on('progress', (progress) => {
    if (nowMs() - toldAtMs >= PROGRESS_EVERY_MS) tell(progress)
    else untold = progress
  })
  upload.on('file', (file) => event('file', { ...file }))
  // A file of a drive that is away is tried some sixty times, and thousands may lie on it.
  const isNews = troubleNews(nowMs)
  upload.on('retry', (retry) => {
    const { fileIndex, error } = retry
    const isOfSource = error.code === 'ERR_UPLOAD_SOURCE_READ'
    if (!isOfSource || isNews(`${fileIndex}${troubleOf(error.message)}`)) event('retry', { ...retry })
  })
  upload.on('waiting', (outage) => event('waiting', outageFields(outage)))
  upload.on('session.replaced', (replaced) => event('session.replaced', { ...replaced }))
  upload.on('shortfall', ({ deadlineMs, ...times }) =>
    event('shortfall', { deadline: new Date(deadlineMs).toISOString(), ...times }),
  )
  upload.on('warning', (warning) => event('warning', { ...warning, message: inWords(warning.message) }))
  return {
    end() {
      // The last progress may come less than a second after the one before.
      if (untold !== undefined) tell(untold)
      isOver = true
    },
  }
}

/** Counts, milliseconds and bytes a second as whole numbers: nobody has a use for the rest of a clock's or a rate's digits. */
function withoutFractions(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const whole = (value: unknown) => (typeof value === 'number' ? Math.round(value) : value)
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, whole(value)]))
}
