// What is said aloud and told to the host while uploads run: few enough words for a screen reader, all events for the host.

import type { UploadFileStatus, UploadReport } from '../flows/upload.ts'
import type { Announcer } from './announcer.ts'
import type { Job } from './items.ts'
import type { Totals } from './list-state.ts'
import { outageWords } from './outage-words.ts'
import { problemOf } from './problems.ts'
import type { Tell } from './uploader-events.ts'
import type { Words } from './words.ts'

export interface Narration {
  /** Counts the quarters of the way anew. */
  restart(): void
  told(job: Job, event: 'start' | 'state' | 'waiting' | 'progress' | 'file', file?: UploadFileStatus): void
  /** Says how an upload has ended. */
  sayEnd(job: Job, report: UploadReport | undefined): void
}

export function createNarration(options: {
  readonly announcer: Announcer
  readonly tell: Tell
  readonly words: () => Words
  readonly totals: () => Totals
}): Narration {
  const { announcer, tell, words, totals } = options
  /** Said last. */
  let quarter = 0
  const cutOff = new Set<string>()

  const tellProgress = (): void => {
    const now = totals()
    tell('mocap-upload-progress', now)
    const reached = Math.floor((now.confirmedBytes / now.totalBytes) * 4) / 4
    // The end is said in words, and of nothing there is no share.
    if (!(reached > quarter && reached < 1)) return
    quarter = reached
    announcer.say(words().saidPercent(words().percent(quarter)))
  }
  const tellState = ({ upload: { key, state } }: Job): void => {
    const { filesConfirmed, filesTotal } = totals()
    if (state === 'paused') announcer.say(words().pausedAt(filesConfirmed, filesTotal))
    if (state !== 'waiting' && cutOff.delete(key) && state === 'uploading')
      announcer.say(words().saidStarted(filesTotal - filesConfirmed))
    if (state === 'cancelling') announcer.say(words().cancelling)
    tell('mocap-upload-state', { key, state })
  }
  return {
    restart() {
      quarter = 0
    },
    told(job, event, file) {
      const { key } = job.upload
      if (event === 'start') tell('mocap-upload-start', { key, names: job.items.map(({ name }) => name) })
      if (event === 'file' && file !== undefined) tell('mocap-upload-file', { key, file })
      if (event === 'progress') tellProgress()
      if (event === 'state') tellState(job)
      if (event === 'waiting' && !cutOff.has(key)) {
        // The same outage is told of again and again.
        cutOff.add(key)
        announcer.say(outageWords(words(), job.outage))
      }
    },
    sayEnd({ items }, report) {
      const { saidFileFailed, problems, wasCancelled, allDone, progress } = words()
      const failed = items.find((item) => item.state === 'failed')
      if (failed?.error !== undefined) announcer.say(saidFileFailed(failed.name, problems[problemOf(failed.error)]))
      const { filesConfirmed: done, filesTotal: all } = totals()
      if (report?.status === 'cancelled' && !report.keepsConfirmed) announcer.say(wasCancelled)
      else announcer.say(done === all ? allDone(all) : progress(done, all))
    },
  }
}
