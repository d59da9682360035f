// The host of an upload: listens to it, and pauses, resumes, cancels or closes it at planned moments.

import { UploadFailedError, type Upload, type UploadReport } from '../../../src/flows/upload.ts'
import type { Uplink } from '../../../src/index.ts'
import type { Life } from './life.ts'
import type { LifePlan } from './night.ts'
import type { World } from './night-world.ts'

/** All that a host can be told. */
const EVENTS = ['state', 'progress', 'file', 'retry', 'waiting', 'session.replaced', 'shortfall', 'warning'] as const

export function attend({ watch, note, disk }: World, life: Life, plan: LifePlan, uplink: Uplink, upload: Upload): void {
  upload.on('progress', (shown) => {
    if (!life.isDead()) watch.progress(shown)
  })
  upload.on('session.replaced', (event) => {
    note(() => `replaced ${JSON.stringify(event)}`)
    watch.replaced()
  })
  // A resume that is asked for while the pause is under way goes on at its end, whatever the last answers before that say.
  let isToGoOn = false
  upload.on('state', ({ state }) => {
    note(() => `state ${state}`)
    if (life.isDead()) return
    if (isToGoOn) watch.goesOn()
    isToGoOn = false
    watch.host.isPaused = state === 'paused'
    if (state === 'paused' && watch.inFlight() > 0) watch.violate('paused, and attempts are in flight')
  })
  let hasEnded = false
  for (const event of EVENTS)
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
  const act = (action: LifePlan['actions'][number]['action']): void => {
    note(() => `host: ${action} in ${upload.state}`)
    // Set here, because the next state is reported too late: a resume sends at once.
    watch.host.isPaused = false
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
      isToGoOn = upload.state === 'pausing'
    }
    if (action !== 'cancel') {
      upload[action]()
      return
    }
    watch.host.isCancelAsked = true
    void upload.cancel().then((report) => {
      note(() => `cancel settled: ${report.status}`)
      if (!life.isDead()) watch.host.isCancelSettled = true
    })
  }
  for (const { atMs, action } of plan.actions)
    void life.pass(atMs).then(() => {
      if (!isFinal(upload.state)) act(action)
    })
}

function isFinal(state: Upload['state']): boolean {
  return (
    state === 'confirmed' || state === 'partial' || state === 'failed' || state === 'cancelled' || state === 'closed'
  )
}
