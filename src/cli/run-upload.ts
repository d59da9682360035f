// Runs one upload for a person or a script: shows it, closes its Uplink on a signal, and says how it ended.

import { performance } from 'node:perf_hooks'
import { UploadFailedError, type Upload, type UploadFileStatus, type UploadReport } from '../flows/upload.ts'
import { tellAsLines, voiceOf } from './views/change-lines.ts'
import { errorLine } from './views/error-line.ts'
import { tellAsJson, type Watching } from './views/json-lines.ts'
import type { Output } from './views/output.ts'
import { tellOnTerminal } from './views/progress-view.ts'
import type { Uplink } from '../uplink.ts'
import type { Interruption } from './signals.ts'
import { endedResult, type UploadResult } from './upload-result.ts'

export interface RunningUpload {
  readonly uplink: Pick<Uplink, 'close'>
  readonly output: Output
  readonly interruption: Interruption
  /** Put in front of each of its lines, if several uploads print by turns. */
  readonly name?: string
  /** Said when a signal stops it. Default: that what has arrived is kept. */
  readonly stopWords?: string
}

const KEPT = 'Stopping: what has arrived is kept, parts on their way are ended.'

/** How long an interrupted upload may take to end its attempts, ms. */
const STOP_WITHIN_MS = 5_000

/** An upload on its way to its end, or to a clean stop after a signal. */
export interface FollowedUpload {
  /** Rejects only if the program itself is at fault. A failed upload is a result. */
  readonly result: Promise<UploadResult>
  /** Settles when the upload first waits for a host that is out of reach, which may never happen. */
  readonly waits: Promise<void>
  /** Of the files that are confirmed, the bytes that had arrived before it was followed, less those that a new session sent again. */
  bytesBefore(): number
  /** Puts it behind another upload, which then has the terminal and reports a stop. */
  hide(): void
  /** Gives it the terminal again. */
  show(): void
}

/** Follows the upload. */
export function followUpload(upload: Upload, running: RunningUpload): FollowedUpload {
  const { output, interruption, uplink, stopWords = KEPT } = running
  const watching = watch(upload, running)
  let [isHidden, isOver] = [false, false]
  const before = upload.files().map(({ confirmedBytes }) => confirmedBytes)
  const bytesBefore = ({ fileIndex }: UploadFileStatus) => before[fileIndex] ?? 0
  upload.on('session.replaced', () => {
    for (const file of upload.files()) before[file.fileIndex] = Math.min(bytesBefore(file), file.confirmedBytes)
  })
  const follow = async (): Promise<UploadResult> => {
    const ended = reportOf(upload)
    try {
      const first = await Promise.race([ended, interruption.happened])
      if (typeof first === 'object') return endedResult(first, upload)
      if (!isHidden) output.say(`${stopWords} Ctrl-C once more stops at once.`)
      void uplink.close()
      const late = await inTime(ended)
      const isStopped = late === undefined || late.status === 'closed'
      return endedResult(isStopped ? { ...upload.snapshot(), status: 'closed' } : late, upload)
    } finally {
      isOver = true
      watching.end()
    }
  }
  return {
    result: follow(),
    waits: new Promise((resolve) => {
      upload.on('waiting', () => resolve())
    }),
    bytesBefore: () =>
      upload.files().reduce((sum, file) => sum + (file.state === 'confirmed' ? bytesBefore(file) : 0), 0),
    hide() {
      isHidden = true
      watching.hide?.()
    },
    show() {
      isHidden = false
      if (!isOver) watching.show?.()
    },
  }
}

function watch(upload: Upload, { output, interruption, name }: RunningUpload): Watching {
  if (output.mode === 'json') return tellAsJson(upload, output, () => performance.now())
  const voice = voiceOf(output, name)
  if (output.mode !== 'terminal') return tellAsLines(upload, voice)
  const view = tellOnTerminal(upload, output, voice)
  const takeBack = interruption.atOnce(() => view.hide())
  return {
    ...view,
    end() {
      // A resume of many sessions would keep each of them in memory to its end.
      takeBack()
      view.end()
    },
  }
}

async function reportOf(upload: Upload): Promise<UploadReport> {
  try {
    return await upload.done()
  } catch (error) {
    if (!(error instanceof UploadFailedError)) throw error
    const { report } = error
    return report.error === undefined ? report : { ...report, error: errorLine(error) }
  }
}

/** Resolves with the report, or with undefined if that takes too long. */
async function inTime(ended: Promise<UploadReport>): Promise<UploadReport | undefined> {
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), STOP_WITHIN_MS)
  })
  const report = await Promise.race([ended, tooLate])
  clearTimeout(timer)
  return report
}
