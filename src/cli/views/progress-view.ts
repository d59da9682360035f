// The live view on a terminal: the lines of progress-lines.ts, redrawn in place at most ten times a second.

import { performance } from 'node:perf_hooks'
import type { Upload, UploadEvents } from '../../flows/upload.ts'
import { isInBackground, onJobStop } from '../job-control.ts'
import { tellTroubles, type Voice } from './change-lines.ts'
import { reasonOf, tellingOnce } from './error-line.ts'
import type { Watching } from './json-lines.ts'
import type { LiveArea, Output } from './output.ts'
import { progressLines } from './progress-lines.ts'
import { eraseText, redrawText } from './redraw.ts'

const REDRAW_EVERY_MS = 100
/** How often to draw if nothing happens, ms, because the rate must still fall and the time left grow. */
const LOOK_AGAIN_MS = 1_000
/** How often to write the lines that have not changed as well, ms: a person who presses a key moves what is drawn. */
const WHOLE_EVERY_MS = 1_000
/** Each drawing looks at every file. With ten thousand files it is done once a second, to leave the time to the upload. */
const FILES_A_SECOND = 10_000
const HIDE_CURSOR = '\x1b[?25l'
const SHOW_CURSOR = '\x1b[?25h'
const [BOLD, PLAIN] = ['\x1b[1m', '\x1b[22m']

export type LiveView = Required<Watching>

/**
 * Draws the upload until `end`. While it is hidden, the live area is erased and the cursor shown, so the terminal is as it was.
 */
export function tellOnTerminal(upload: Upload, output: Output, voice: Voice): LiveView {
  let drawn: readonly string[] = []
  let timer: NodeJS.Timeout | undefined
  let isDirty = true
  let [restUntilMs, drawnAtMs, wholeAtMs, retries] = [0, 0, 0, 0]
  let outage: UploadEvents['waiting'] | undefined

  const area: LiveArea = {
    erase() {
      if (drawn.length > 0 && !isInBackground()) output.draw(eraseText(drawn, output.size().columns))
      drawn = []
    },
    draw() {
      if (timer === undefined) return
      if (isInBackground()) {
        drawn = []
        return
      }
      const files = upload.files()
      drawnAtMs = performance.now()
      restUntilMs = drawnAtMs + (files.length / FILES_A_SECOND) * 1000
      const { state } = upload
      const nowMs = Date.now()
      const lines = progressLines({
        state,
        progress: upload.progress(),
        files,
        retries,
        ...output.size(),
        ...(outage === undefined
          ? {}
          : { outage: { ...outage, forMs: nowMs - outage.sinceMs, nextTryInMs: (outage.untilMs ?? nowMs) - nowMs } }),
      })
      const styled = (line: string, index: number) => (index === lines.length - 1 ? strong(line, output) : line)
      const isWhole = drawnAtMs - wholeAtMs >= WHOLE_EVERY_MS
      if (isWhole) wholeAtMs = drawnAtMs
      const text = redrawText(drawn, lines, { ...output.size(), isWhole }, styled)
      output.draw(drawn.length === 0 ? HIDE_CURSOR + text : text)
      drawn = lines
    },
  }
  const mark = () => void (isDirty = true)
  upload.on('progress', mark)
  upload.on('state', mark)
  upload.on('retry', () => {
    retries += 1
    mark()
  })
  upload.on('waiting', (latest) => {
    outage = latest
    mark()
  })
  const reason = tellingOnce(reasonOf)
  upload.on('file', (file) => {
    mark()
    if (file.state === 'failed') voice.say(`failed ${file.name}: ${reason(file)}`)
  })
  tellTroubles(upload, voice)

  const look = () => {
    const nowMs = performance.now()
    if ((!isDirty && nowMs - drawnAtMs < LOOK_AGAIN_MS) || nowMs < restUntilMs) return
    isDirty = false
    area.draw()
  }
  const open = () => {
    timer = setInterval(look, REDRAW_EVERY_MS).unref()
    output.setLive(area)
    area.draw()
  }
  const close = () => {
    if (timer === undefined) return
    clearInterval(timer)
    timer = undefined
    output.setLive(undefined)
    area.erase()
    output.draw(SHOW_CURSOR)
  }
  let endJobControl = () => {}
  const show = () => {
    endJobControl = onJobStop(close, open)
    open()
  }
  const hide = () => {
    endJobControl()
    close()
  }
  show()
  return { show, hide, end: hide }
}

function strong(text: string, output: Output): string {
  return output.hasColor ? BOLD + text + PLAIN : text
}
