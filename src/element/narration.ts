// What is said aloud and told to the host while uploads run: few enough words for a screen reader, all events for the host.

import type { UploadFileStatus, UploadReport } from '../flows/upload.ts'
import type { Announcer } from './announcer.ts'
import type { Formats } from './formats.ts'
import type { Job } from './items.ts'
import type { Totals } from './list-state.ts'
import { outageWords } from './outage-words.ts'
import { problemOf } from './problems.ts'
import type { UploaderTexts } from './texts.ts'
import type { Tell } from './uploader-events.ts'

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
  readonly words: () => { readonly texts: UploaderTexts; readonly formats: Formats }
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
    const { texts, formats } = words()
    announcer.say(texts.saidPercent(formats.percent(quarter)))
  }
  const tellState = ({ upload: { key, state } }: Job): void => {
    const { texts, formats } = words()
    const { filesConfirmed, filesTotal } = totals()
    if (state === 'paused') announcer.say(texts.pausedAt(formats.count(filesConfirmed), formats.count(filesTotal)))
    if (state !== 'waiting' && cutOff.delete(key) && state === 'uploading')
      announcer.say(texts.saidStarted(formats.count(filesTotal - filesConfirmed)))
    if (state === 'cancelling') announcer.say(texts.cancelling)
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
        const { texts, formats } = words()
        announcer.say(outageWords(texts, formats, job.outage))
      }
    },
    sayEnd({ items }, report) {
      const { texts, formats } = words()
      const failed = items.find((item) => item.state === 'failed')
      if (failed?.error !== undefined && report?.status === 'partial')
        announcer.say(texts.saidFileFailed(failed.name, texts.problems[problemOf(failed.error)]))
      const { filesConfirmed, filesTotal } = totals()
      const [done, all] = [formats.count(filesConfirmed), formats.count(filesTotal)]
      if (report?.status === 'cancelled') announcer.say(texts.wasCancelled)
      else announcer.say(done.value === all.value ? texts.allDone(all) : texts.progress(done, all))
    },
  }
}
