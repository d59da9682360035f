// What this process has open, files and connections alike, takes descriptors, of which the system gives it only so many. What is
// refused for want of one waits until something of ours is closed, so that fewer parts go at a time instead of some failing. An
// idle connection is closed for it, whichever Uplink of the process it belongs to.
//
// Whoever holds most goes first: without the journal all ends, a part that wants a connection has its file open already, and
// what wants a file has nothing yet. A connection waits only for other connections: those who hold files may all be waiting
// for one themselves. The last of them is refused, and gives up its file.

import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'

import { isPromise } from '../../core/is-promise.ts'
import { onAbort } from '../../core/on-abort.ts'
import type { Clock } from '../../core/ports.ts'
import { systemClock } from '../web/system-clock.ts'
import { errorCode } from './file-problem.ts'

const ORDER = ['journal', 'call', 'part', 'file'] as const

/** What a descriptor is wanted for: a file of the journal, the connection of a call or of a part, or a file to upload. */
export type DescriptorUse = (typeof ORDER)[number]

export interface DescriptorWait {
  /** Ends the wait, with its reason. */
  readonly signal?: AbortSignal | undefined
  /** Called at least once a second while it waits, but not while its work goes on. */
  readonly onWait?: (() => void) | undefined
  /** What it wants a connection to. An idle one to the same can be used instead. */
  readonly to?: object | undefined
}

export interface Descriptors {
  /**
   * Does work that opens something. If the system has no descriptor for it, does it again each time one may be free. Gives up,
   * with the system's error, if nothing is open that will be closed, or nothing was closed in 12 h of waiting.
   */
  patiently<T>(use: DescriptorUse, work: () => T | Promise<T>, wait?: DescriptorWait): T | Promise<T>
  /**
   * A file to upload, or a connection, is open now. Returns what must be called once it is closed. `giveUp` closes it if it is
   * idle, and returns whether it was.
   */
  opened(what: 'file' | 'connection', giveUp?: () => boolean): () => void
  /** A connection is about to be idle. Returns whether it must be closed instead, for somebody who cannot use it goes first. */
  idle(to: object): boolean
}

const REFUSED = Symbol('refused')
type Refused = typeof REFUSED

interface Waiter extends Pick<DescriptorWait, 'onWait' | 'to'> {
  readonly use: DescriptorUse
  /** Lets it try again. Undefined while it does. */
  wake: (() => void) | undefined
}

/** What nobody tells us, such as a file that the host's own program closes, is noticed this late, ms. */
const LOOK_EVERY_MS = 1_000
/** As long as the command waits for a host. A drive that hangs may never let go of a file. */
const QUIET_LOOKS = 43_200

const isConnection = (use: DescriptorUse): boolean => use === 'call' || use === 'part'

export function createDescriptors(clock: Clock): Descriptors {
  /** In the order in which they go. */
  const waiting: Waiter[] = []
  const open = { file: 0, connection: 0 }
  /** Of all connections that are not being closed for somebody. */
  const giveUps = new Set<() => boolean>()
  let connecting = 0
  let quietLooks = 0
  let timer: unknown

  const wake = (): void => waiting.find((waiter) => waiter.wake)?.wake?.()
  const wakeConnection = (): void => waiting.find((waiter) => waiter.wake && isConnection(waiter.use))?.wake?.()
  const look = (): void => {
    timer = clock.setTimeout(look, LOOK_EVERY_MS)
    quietLooks += 1
    // Whoever is at it waits for the host, not for us.
    for (const waiter of waiting) if (waiter.wake) waiter.onWait?.()
    // Behind a file that waits for the files of those who want connections, one of these must be refused.
    if (!isConnection(waiting[0]?.use ?? 'file')) wakeConnection()
    wake()
  }
  const mayWait = (use: DescriptorUse, error: unknown): boolean => {
    if (!isOutOfDescriptors(error) || quietLooks >= QUIET_LOOKS) return false
    return open.connection > 0 || (isConnection(use) ? connecting : open.file) > 0
  }
  /** Decides at the moment of a refusal who waits: of those that are refused together, all but the last. */
  const attempt = <T>(use: DescriptorUse, work: () => T | Promise<T>): T | Refused | Promise<T | Refused> => {
    const count = Number(isConnection(use))
    connecting += count
    const done = (made: T): T => {
      connecting -= count
      return made
    }
    const failed = (error: unknown): Refused => {
      connecting -= count
      if (!mayWait(use, error)) throw error
      for (const giveUp of giveUps) {
        // The last one is not for a file: without any, a part that has its file would be refused.
        if ((use === 'file' && giveUps.size === 1) || !giveUp()) continue
        // Whoever stands first in line is woken when it is closed. Until then it is open, but counts no more.
        giveUps.delete(giveUp)
        break
      }
      return REFUSED
    }
    try {
      const made = work()
      return isPromise(made) ? made.then(done, failed) : done(made)
    } catch (error) {
      return failed(error)
    }
  }
  const standInLine = async <T>(
    use: DescriptorUse,
    work: () => T | Promise<T>,
    { signal, onWait, to }: DescriptorWait,
  ): Promise<T> => {
    const waiter: Waiter = { use, onWait, to, wake: undefined }
    const behind = waiting.findIndex((other) => ORDER.indexOf(other.use) > ORDER.indexOf(use))
    waiting.splice(behind < 0 ? waiting.length : behind, 0, waiter)
    if (waiting.length === 1) timer = clock.setTimeout(look, LOOK_EVERY_MS)
    // What a connection gives up when it is refused is closed only later, and wakes the next one then.
    let isNextWoken = !isConnection(use)
    try {
      for (;;) {
        onWait?.()
        await turnOf(waiter, signal)
        const made = await attempt(use, work)
        if (made === REFUSED) continue
        isNextWoken = true
        return made
      }
    } finally {
      waiting.splice(waiting.indexOf(waiter), 1)
      if (waiting.length === 0) clock.clearTimeout(timer)
      if (isNextWoken) wake()
    }
  }

  return {
    patiently<T>(use: DescriptorUse, work: () => T | Promise<T>, wait: DescriptorWait = {}) {
      if (waiting.some((other) => ORDER.indexOf(other.use) <= ORDER.indexOf(use))) return standInLine(use, work, wait)
      const orInLine = (made: T | Refused): T | Promise<T> => (made === REFUSED ? standInLine(use, work, wait) : made)
      const made = attempt(use, work)
      return isPromise(made) ? made.then(orInLine) : orInLine(made)
    },
    opened(what, giveUp) {
      open[what] += 1
      if (giveUp) giveUps.add(giveUp)
      return () => {
        open[what] -= 1
        if (giveUp) giveUps.delete(giveUp)
        quietLooks = 0
        wake()
      }
    },
    idle(to) {
      // Not for a file: the one of the part that had this connection is about to be closed.
      const next = waiting.find((waiter) => waiter.wake && waiter.use !== 'file')
      next?.wake?.()
      return next !== undefined && next.to !== to
    },
  }
}

/** Those of this process. */
export const descriptors = createDescriptors(systemClock())

function turnOf(waiter: Waiter, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    waiter.wake = () => {
      waiter.wake = undefined
      leave?.()
      resolve()
    }
    const leave = signal && onAbort(signal, () => reject(signal.reason as Error))
  })
}

/** Whether the system had no descriptor left, for this process or at all. Of several addresses, each has its own error. */
export function isOutOfDescriptors(error: unknown): boolean {
  if (error === undefined || error === null) return false
  const { cause, errors = [] } = error as { readonly cause?: unknown; readonly errors?: readonly unknown[] }
  return /^E[MN]FILE$/.test(errorCode(error) ?? '') || [cause, ...errors].some(isOutOfDescriptors)
}

/** How many descriptors the system takes to look a name up. */
const LOOKUP_DESCRIPTORS = 2

/**
 * What the system should have said of a name that it could not look up: without descriptors it may say that there is no such name.
 * Undefined if it has some.
 */
export function wantOfDescriptors(error: unknown, openOne = () => openSync(devNull, 'r')): unknown {
  if (!/^(?:ENOTFOUND|EAI_AGAIN)$/.test(errorCode(error) ?? '')) return undefined
  const found: number[] = []
  try {
    while (found.length < LOOKUP_DESCRIPTORS) found.push(openOne())
    return undefined
  } catch (why) {
    return isOutOfDescriptors(why) ? why : undefined
  } finally {
    for (const descriptor of found) closeSync(descriptor)
  }
}
