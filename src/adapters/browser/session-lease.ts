// The lease on a session: a Web Lock, so that two tabs never drive one session, and that of a tab that dies is free.

import { UploadError } from '../../core/errors.ts'

/** After a reload the page before may still be going: its lease is waited for this long, while this page is young. */
const GRACE_MS = 2_000
const YOUNG_MS = 10_000

/**
 * Takes the lease at once or rejects with ERR_UPLOAD_JOURNAL; gives the function that gives it back, which settles when
 * the next one can have it.
 */
export function leaseSession(locks: LockManager | undefined, place: string, key: string): Promise<() => Promise<void>> {
  return new Promise((resolve, reject) => {
    if (locks === undefined) {
      const message = 'Sessions cannot be kept in this page, because it is not secure: serve it by https.'
      reject(new UploadError('ERR_UPLOAD_JOURNAL', message, { details: { key } }))
      return
    }
    // The key as JSON: not every string is a name of a lock.
    const name = `mocap-uplink session ${place} ${JSON.stringify(key)}`
    const isYoung = performance.now() < YOUNG_MS
    const how = isYoung ? { signal: AbortSignal.timeout(GRACE_MS) } : { ifAvailable: true }
    const held = locks.request(name, how, (lock) => {
      if (lock === null) throw heldElsewhere(key)
      return new Promise<void>((release) => {
        resolve(async () => {
          release()
          await held
        })
      })
    })
    held.catch((error: unknown) => reject(isYoung ? heldElsewhere(key) : (error as Error)))
  })
}

function heldElsewhere(key: string): UploadError {
  return new UploadError(
    'ERR_UPLOAD_JOURNAL',
    `The session "${key}" is being uploaded already, here or in another tab. Go on there, or close that tab first.`,
    { details: { key } },
  )
}
