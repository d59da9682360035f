// An upload as JSON lines: every change as it comes, progress at most once a second and once at its end.

import { given } from '../../core/given.ts'
import type { Outage, Upload, UploadProgress } from '../../flows/upload.ts'
import type { Output } from './output.ts'

const PROGRESS_EVERY_MS = 1000

export interface Watching {
  /** What is left to tell before the result. */
  end(): void
}

/** `host` and `reason` are those of a service; of a storage there are none. */
export function outageFields({ sinceMs, untilMs, giveUpAtMs, host, reason }: Outage) {
  const at = (wallMs: number | undefined) => (wallMs === undefined ? undefined : new Date(wallMs).toISOString())
  return { since: at(sinceMs), ...given({ until: at(untilMs), giveUpAt: at(giveUpAtMs), host, reason }) }
}

/** Tells the upload's events in JSON. `nowMs` is monotonic. */
export function tellAsJson(upload: Upload, output: Output, nowMs: () => number): Watching {
  let toldAtMs = -Infinity
  let untold: UploadProgress | undefined
  const tell = (progress: UploadProgress) => {
    toldAtMs = nowMs()
    untold = undefined
    output.event('progress', { ...progress, remainingMs: progress.remainingMs ?? null })
  }
  output.event('state', { state: upload.state })
  upload.on('state', ({ state }) => output.event('state', { state }))
  upload.on('progress', (progress) => {
    if (nowMs() - toldAtMs >= PROGRESS_EVERY_MS) tell(progress)
    else untold = progress
  })
  upload.on('file', (file) => output.event('file', { ...file }))
  upload.on('retry', (retry) => output.event('retry', { ...retry }))
  upload.on('waiting', (outage) => output.event('waiting', outageFields(outage)))
  upload.on('session.replaced', (replaced) => output.event('session.replaced', { ...replaced }))
  upload.on('shortfall', ({ deadlineMs, ...times }) =>
    output.event('shortfall', { deadline: new Date(deadlineMs).toISOString(), ...times }),
  )
  upload.on('warning', (warning) => output.event('warning', { ...warning }))
  return {
    end() {
      // The last word about progress comes less than a second after the one before.
      if (untold !== undefined) tell(untold)
    },
  }
}
