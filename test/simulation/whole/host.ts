// The host of an upload: listens to it, and pauses, resumes, limits, gives up or closes it at planned moments, some of them in the
// middle of what it is told.

import { UploadFailedError, type Upload, type UploadReport } from '../../../src/flows/upload.ts'
import type { LimitRate, Uplink } from '../../../src/index.ts'
import type { Life } from './life.ts'
import { HOST_EVENTS, type HostAction, type LifePlan } from './night.ts'
import type { World } from './night-world.ts'

/** `letGo` fires the signal with which the upload was begun. */
export function attend(
  { watch, note, disk }: World,
  life: Life,
  plan: LifePlan,
  uplink: Uplink,
  upload: Upload,
  letGo: () => void,
): void {
  upload.on('progress', (shown) => {
    if (!life.isDead()) watch.progress(shown)
  })
  upload.on('session.replaced', (event) => {
    note(() => `replaced ${JSON.stringify(event)}`)
    watch.replaced()
  })
  // A resume that is asked for while the pause is under way, or before its end is told, goes on then, whatever the last answers
  // before that say.
  let isToGoOn = false
  upload.on('state', ({ state }) => {
    note(() => `state ${state}`)
    if (life.isDead()) return
    watch.host.isPaused = state === 'paused' && !isToGoOn
    if (isToGoOn) watch.goesOn()
    isToGoOn = false
    if (state === 'paused' && watch.inFlight() > 0) watch.violate('paused, and attempts are in flight')
  })
  let hasEnded = false
  for (const event of HOST_EVENTS)
    upload.on(event, (payload) => {
      if (life.isDead()) return
      watch.shown(payload)
      if (hasEnded) watch.violate(`${event} is told after the end`)
    })
  const ended = ({ status }: Pick<UploadReport, 'status'>): void => {
    hasEnded = true
    const { confirmedBytes, totalBytes } = upload.progress()
    if (!life.isDead() && status === 'confirmed' && confirmedBytes !== totalBytes)
      watch.violate('everything is confirmed, and the progress says less')
  }
  upload
    .done()
    .then(ended, (error: unknown) => ended(error instanceof UploadFailedError ? error.report : { status: 'failed' }))
  const limits: LimitRate[] = [500, '00:00,100KB 12:00,300', 50, 'off', 20_000]
  const act = (action: HostAction['action']): void => {
    note(() => `host: ${action} in ${upload.state}`)
    if (action === 'probe') {
      // A hint that the network may be back: whatever was refused before may be asked again.
      watch.goesOn()
      uplink.probeNow()
      return
    }
    if (action === 'limit') {
      uplink.limitRate(limits.shift() ?? 'off')
      return
    }
    // Set here, because the next state is reported too late: a resume sends at once.
    watch.host.isPaused = false
    if (action === 'letGo') {
      watch.host.isCloseAsked = true
      letGo()
      return
    }
    if (action === 'close') {
      watch.host.isCloseAsked = true
      void uplink.close().then(() => {
        note(() => 'close settled')
        if (life.isDead()) return
        watch.host.isCloseSettled = true
        if (life.timerCount() > 0) watch.violate(`${String(life.timerCount())} timers are set after the close`)
        if (disk.isLeased(upload.key)) watch.violate('the journal is still held after the close')
      })
      return
    }
    if (action === 'resume') {
      watch.goesOn()
      isToGoOn = upload.state === 'pausing' || upload.state === 'paused'
    }
    if (action === 'pause' || action === 'resume') {
      upload[action]()
      return
    }
    const { isCancelAsked, isDiscardAsked } = watch.host
    if (action === 'cancel') watch.host.isCancelAsked = !isDiscardAsked
    else watch.host.isDiscardAsked = !isCancelAsked
    void upload[action]().then((report) => {
      note(() => `${action} settled: ${report.status}`)
      if (!life.isDead()) watch.host.isCancelSettled = true
    })
  }
  const actLater = (afterMs: number, action: HostAction['action']): void =>
    void life.pass(afterMs).then(() => {
      if (!isFinal(upload.state)) act(action)
    })
  for (const { event, turn, action, goesOnAfterMs } of plan.reactions) {
    let heard = 0
    upload.on(event, () => {
      heard += 1
      if (life.isDead() || heard !== turn) return
      act(action)
      if (action === 'pause') actLater(goesOnAfterMs, 'resume')
    })
  }
  for (const { atMs, action } of plan.actions) actLater(atMs, action)
}

function isFinal(state: Upload['state']): boolean {
  return (
    state === 'confirmed' || state === 'partial' || state === 'failed' || state === 'cancelled' || state === 'closed'
  )
}
