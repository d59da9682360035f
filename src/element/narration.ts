// What is said aloud and what the host is told while uploads run: few words for a screen reader, all events for the host.

import type { Announcer } from './announcer.ts'
import { endOf } from './end-words.ts'
import type { Job } from './items.ts'
import { outageWords } from './outage-words.ts'
import { problemOf } from './problems.ts'
import type { ListListener, UploadList } from './upload-list.ts'
import type { Tell } from './uploader-events.ts'
import type { Words } from './words.ts'

export interface Narration extends Pick<ListListener, 'told'> {
  /** Says how an upload has ended. */
  sayEnd(job: Job): void
}

export function createNarration(
  announcer: Announcer,
  tell: Tell,
  words: () => Words,
  list: Pick<UploadList, 'phase' | 'totals'>,
): Narration {
  /** The confirmed share at the last look, rounded down to a quarter. It falls when files are added. */
  let quarter = 0
  const cutOff = new Set<string>()
  /** What was said of each upload that is paused. */
  const paused = new Map<string, string>()
  /** Says where things stand. If several such messages come together, only the last is said. */
  const sayStanding = (message: string): void => announcer.say(message, 'standing')

  const tellProgress = (): void => {
    const now = list.totals()
    tell('mocap-upload-progress', now)
    const reached = Math.floor((now.confirmedBytes / now.totalBytes) * 4) / 4
    // Any other turn, such as an outage, and the end are said in words of their own, whose place this would take. Of no bytes
    // there is no share.
    if (reached > quarter && reached < 1 && list.phase() === 'uploading')
      sayStanding(words().saidPercent(words().percent(reached)))
    quarter = reached || 0
  }
  const tellState = ({ upload: { key, state } }: Job): void => {
    const { filesConfirmed, filesTotal } = list.totals()
    // The person who resumes it need not be told, but what was said can still be read.
    const saidPaused = paused.get(key)
    if (saidPaused !== undefined) announcer.takeBack(saidPaused)
    paused.delete(key)
    if (state === 'paused') {
      const message = words().pausedAt(filesConfirmed, filesTotal)
      paused.set(key, message)
      sayStanding(message)
    }
    // A session that could not be created is created first.
    if (!/waiting|creat/.test(state) && cutOff.delete(key) && state === 'uploading')
      announcer.say(words().saidStarted(filesTotal - filesConfirmed))
    if (state === 'cancelling') sayStanding(words().cancelling)
    tell('mocap-upload-state', { key, state })
  }
  return {
    told(job, event, file) {
      const { key } = job.upload
      if (event === 'start') {
        // Of an upload that has just begun, no file is known to the flow yet.
        const files = job.upload.files()
        tell('mocap-upload-start', {
          key,
          names: job.items.map(({ fileName }, index) => files[index]?.name ?? fileName),
        })
        announcer.say(words().saidStarted(job.items.filter(({ state }) => state === 'waiting').length))
      }
      if (file) tell('mocap-upload-file', { key, file })
      if (event === 'progress') tellProgress()
      if (event === 'state') tellState(job)
      if (event === 'waiting' && !cutOff.has(key)) {
        // An upload reports the same outage at every try, but it is said once.
        cutOff.add(key)
        sayStanding(outageWords(words(), job.outage))
      }
    },
    sayEnd({ items }) {
      const { saidFileFailed, problems, progress } = words()
      const failed = items.find((item) => item.state === 'failed' && !item.replacedBy)
      if (failed?.error) announcer.say(saidFileFailed(failed.location, problems[problemOf(failed.error)]))
      const totals = list.totals()
      const { filesConfirmed: done, filesTotal: all } = totals
      // All files were chosen again since, so there is no total to say.
      if (!all) return
      const phase = list.phase()
      const isOver = phase === 'settled' || phase === 'ready'
      // While another upload runs, what is not done is not lost.
      if (isOver) sayStanding(endOf(words(), totals)[1])
      if (!isOver || (done > 0 && done < all)) announcer.say(progress(done, all))
    },
  }
}
