// The lease on a session. It is a Web Lock, so two tabs never drive one session, and the lease of a tab that dies is
// free.

import { UploadError } from '../../core/errors.ts'
import { platformLocks } from './host-slots.ts'

/** After a reload, the previous page may still be running. A young page waits this long for its lease, ms. */
const GRACE_MS = 2_000
const YOUNG_MS = 10_000

const PREFIX = 'mocap-uplink session '

/**
 * Takes the lease at once (a young page: within 2 s), or rejects with ERR_UPLOAD_JOURNAL. Resolves with the function
 * that gives it back, which settles when the next one can have it.
 */
export function leaseSession(locks: LockManager | undefined, place: string, key: string): Promise<() => Promise<void>> {
  return new Promise((resolve, reject) => {
    if (!locks) throw refused(key, 'cannot be kept: this page has no https, or may keep nothing.')
    // The key as JSON, because not every string can be the name of a lock.
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
      // Nobody is told of a stolen lease. What is appended without one collides with the rows of the thief.
      .catch((error: unknown) => reject(isYoung ? heldElsewhere(key) : (error as Error)))
  })
}

/**
 * For pages that offer to resume sessions: resolves with a function that says of a key whether this page or another tab
 * was driving its session in the browser's journal just now. It asks for no lease, because that would stand in the way
 * of tabs that go on.
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

/** The error for what cannot be done with a session of the browser's journal, and why. */
export function refused(key: string, why: string): UploadError {
  return new UploadError('ERR_UPLOAD_JOURNAL', `The session "${key}" ${why}`, { details: { key } })
}
