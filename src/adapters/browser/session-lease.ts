// The lease on a session: a Web Lock, so that two tabs never drive one session, and that of a tab that dies is free.

import { UploadError } from '../../core/errors.ts'
import { platformLocks } from './host-slots.ts'

/** After a reload the page before may still be going: its lease is waited for this long, while this page is young. */
const GRACE_MS = 2_000
const YOUNG_MS = 10_000

const PREFIX = 'mocap-uplink session '

/**
 * Takes the lease at once or rejects with ERR_UPLOAD_JOURNAL; gives the function that gives it back, which settles when
 * the next one can have it.
 */
export function leaseSession(locks: LockManager | undefined, place: string, key: string): Promise<() => Promise<void>> {
  return new Promise((resolve, reject) => {
    if (!locks) throw refused(key, 'cannot be kept: this page has no https, or may keep nothing.')
    // The key as JSON: not every string is a name of a lock.
    const name = `${PREFIX}${place} ${JSON.stringify(key)}`
    const isYoung = performance.now() < YOUNG_MS
    const how = isYoung ? { signal: AbortSignal.timeout(GRACE_MS) } : { ifAvailable: true }
    const held = locks
      .request(name, how, (lock) => {
        if (!lock) throw heldElsewhere(key)
        return new Promise<void>((release) => {
          resolve(async () => {
            release()
            await held
          })
        })
      })
      // Nobody hears of a lease that was stolen: what is appended without one meets the rows of the thief.
      .catch((error: unknown) => reject(isYoung ? heldElsewhere(key) : (error as Error)))
  })
}

/**
 * For pages that offer to take sessions up: tells of a key whether this page or another tab drove its session in the browser's
 * journal just now. It asks for no lease, since one that is asked for stands in the way of those that go on.
 */
export async function drivenSessions(): Promise<(key: string) => boolean> {
  const now = await platformLocks()
    ?.query()
    .catch(() => undefined)
  return (key) =>
    now?.held?.some(({ name }) => name?.startsWith(PREFIX) && name.endsWith(` ${JSON.stringify(key)}`)) === true
}

function heldElsewhere(key: string): UploadError {
  return refused(key, 'is being uploaded already, here or in another tab. Go on there, or close that tab first.')
}

/** What cannot be done with a session of the browser's journal, and why. */
export function refused(key: string, why: string): UploadError {
  return new UploadError('ERR_UPLOAD_JOURNAL', `The session "${key}" ${why}`, { details: { key } })
}
