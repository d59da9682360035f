// An upload as a line per change, for logs and pipes; `--quiet` leaves only what went wrong.

import { formatBytes } from '../core/plan.ts'
import type { Upload } from '../flows/upload.ts'
import type { Watching } from './json-lines.ts'
import type { Output } from './output.ts'
import { countOf, formatDuration, formatTime } from './wording.ts'

/** Tells the upload's changes line by line. */
export function tellAsLines(upload: Upload, output: Output): Watching {
  // A resumed session has confirmed files already.
  let confirmed = upload.files().filter((file) => file.state === 'confirmed').length
  let failed = 0
  let total: number | undefined
  const place = () => `${confirmed + failed} of ${(total ??= upload.files().length)}`
  upload.on('state', ({ state }) => {
    if (state !== 'settling') output.say(state)
  })
  upload.on('file', (file) => {
    if (file.state === 'confirmed') {
      confirmed += 1
      output.say(`confirmed ${file.name} (${formatBytes(file.bytes)}, ${place()})`)
    }
    if (file.state === 'failed') {
      failed += 1
      output.say(`failed ${file.name} (${place()}): ${file.error?.message ?? 'no reason given'}`)
    }
  })
  tellTroubles(upload, (text) => output.say(text), output)
  return { end: () => undefined }
}

/** Retries, waiting, dying addresses and warnings, in words. */
export function tellTroubles(upload: Upload, say: (text: string) => void, output: Output): void {
  upload.on('retry', ({ name, partNumber, attempt, delayMs, error }) =>
    say(`retry ${name}, part ${partNumber}, after attempt ${attempt}, in ${formatDuration(delayMs)}: ${error.message}`),
  )
  upload.on('waiting', ({ sinceMs, untilMs }) =>
    say(`waiting: the storage is out of reach since ${localTime(sinceMs)}; giving up at ${localTime(untilMs)}`),
  )
  upload.on('session.replaced', ({ newSessionId, filesMoved, filesKept, bytesVoided }) =>
    say(
      `session replaced, because its addresses died: session ${newSessionId} takes ${countOf(filesMoved, 'file')}, ` +
        `of which ${formatBytes(bytesVoided)} are sent again; ${countOf(filesKept, 'file')} kept`,
    ),
  )
  upload.on('shortfall', ({ deadlineMs, neededMs }) =>
    say(
      `shortfall: the addresses die at ${localTime(deadlineMs)}, and at this rate ${formatTime(neededMs)} are needed; ` +
        'files that are then not confirmed start again in a new session',
    ),
  )
  upload.on('warning', ({ message }) => output.complain(`warning: ${message}`))
}

function localTime(wallMs: number): string {
  return new Date(wallMs).toLocaleString('sv')
}
