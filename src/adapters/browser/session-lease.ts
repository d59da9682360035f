// The lease on a session. It is a Web Lock, so two tabs never drive one session, and the lease of a tab that dies is
// free.

import { UploadError } from '../../core/errors.ts'
import { platformLocks } from './host-slots.ts'

/** After a reload, the previous page may still be running. A young page waits this long for its lease, ms. */
const GRACE_MS = 2_000
const YOUNG_MS = 10_000

const HELD = 'is being uploaded already, here or in another tab. Go on there, or close that tab first.'
const PREFIX = 'mocap-uplink session '

/**
 * Takes the lease at once (a young page waits for it, up to 2 s), or rejects with ERR_UPLOAD_JOURNAL. Resolves with the function
 * that gives it back, which settles when the next one can have it.
 */
export function leaseSession(place: string, key: string): Promise<() => Promise<void>> {
  return new Promise((resolve, reject) => {
    const locks = platformLocks()
    if (!locks) throw refused(key, 'cannot be kept: this page has no https, or may keep nothing.')
    // The key as JSON, because not every string can be the name of a lock.
    const name = `${PREFIX}${place} ${JSON.stringify(key)}`
    const ask = (isPatient: boolean): Promise<void> => {
      const how = isPatient ? { signal: AbortSignal.timeout(GRACE_MS) } : { ifAvailable: true }
      return (
        locks
          .request(name, how, (lock) => {
            if (!lock) throw refused(key, HELD)
            return new Promise<void>((release) => {
              resolve(() => {
                release()
                return held
              })
            })
          })
          // A busy browser may not even have looked. Only its answer to the second question says that the lease is taken.
          // Nobody is told of a stolen lease. What is appended without one collides with the rows of the thief.
          .catch((error: unknown) => ((error as Error).name === 'TimeoutError' ? ask(false) : reject(error as Error)))
      )
    }
    const held = ask(performance.now() < YOUNG_MS)
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

/** The error for what cannot be done with a session of the browser's journal, and why. */
export function refused(key: string, why: string): UploadError {
  return new UploadError('ERR_UPLOAD_JOURNAL', `The session "${key}" ${why}`, { details: { key } })
}
