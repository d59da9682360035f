// Appends that share their writes and fsyncs, and the policy that says which records wait for an fsync.
//
// What is appended is written at once, in call order, so a process that is killed loses nothing that was settled. One
// fsync runs at a time, and whatever is appended meanwhile shares the next one.
//
// Only `part.received` does not wait for the disk. If a power cut takes the last of these records, the parts are sent
// again, from the same bytes, before anything relies on them. These records are brought to the disk by the next record
// that waits, by `close`, and once a second while they keep coming.
//
// Every other record waits, because what follows it could not be taken back:
//   session.begun        an upload that was announced is found again
//   session.creating     if a create is lost, it is known to have been asked for, so the possible orphan is reported
//   session.created      the addresses cannot be asked for again
//   session.left         a session that nobody will use is ended by a later process if this one dies before that
//   files.registering    names that the service already knows must be known as ours, or they count as somebody else's
//   files.registered     as session.created
//   part.doubtful        a part that may arrive late would be believed, with an ETag that is no longer the stored one
//   parts.voided         receipts that are no longer valid would be confirmed
//   file.confirming      brings every receipt of the file to the disk before the call: after a confirm no part of the
//                        file may be sent again, since stores break an object when a part arrives after completion
//   file.confirmed       a confirm is never repeated once its answer was journalled
//   file.failed          rare, and what the host was told stays true
//   session.cancelling   a cancel is not forgotten, and the session not continued
//   session.cancelled, session.settled    a session that is over is not begun again

import { setImmediate as turnEnds } from 'node:timers/promises'
import type { UploadError } from '../../../core/errors.ts'
import type { JournalRecord } from '../../../core/journal/journal.ts'
import type { Clock } from '../../../core/ports.ts'

/** Whether an append of this record settles only once the record would survive a power cut. */
export function isDurable(record: JournalRecord): boolean {
  return record.type !== 'part.received'
}

/** Received parts that keep coming are brought to the disk this often, so that a power cut costs little. */
const SYNC_EVERY_MS = 1000

/** Where lines go, one call at a time. */
export interface LineStore {
  /** Writes all of the texts or, if it rejects, none. */
  write(texts: readonly string[]): Promise<void>
  /** Brings everything that was written to the disk. If it rejects, the store is broken. */
  sync(): Promise<void>
  /** True if something was written that is not known to be on the disk. */
  isDirty(): boolean
  /** Why nothing can be written any more; undefined if it can. */
  broken(): UploadError | undefined
  /** Does housekeeping between writes. Never rejects. */
  tidy(): Promise<void>
}

export interface GroupCommit {
  /** Settles when the texts are written and, if `isDurable`, on the disk. */
  append(texts: readonly string[], isDurable: boolean): Promise<void>
  /** Settles when everything before it has. Never rejects. */
  idle(): Promise<void>
}

interface Waiting {
  readonly texts: readonly string[]
  readonly isDurable: boolean
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export function createGroupCommit(store: LineStore, clock: Pick<Clock, 'monotonicNow'>): GroupCommit {
  let queue: Waiting[] = []
  let running: Promise<void> | undefined
  let syncedAt = clock.monotonicNow()

  async function run(): Promise<void> {
    while (queue.length > 0) {
      // Whatever else this turn of the event loop brings, such as the answers of other parts, shares the write and the fsync.
      await turnEnds()
      const group = queue
      queue = []
      try {
        await commit(group)
        await store.tidy()
      } catch (error) {
        // What came meanwhile was appended in the belief that these records would be there, so they fail together.
        for (const waiting of [...group, ...queue]) waiting.reject(error)
        queue = []
      }
    }
    // Here and not in a callback, which would run later: what is appended in between would wait for ever.
    running = undefined
  }

  async function commit(group: readonly Waiting[]): Promise<void> {
    const broken = store.broken()
    if (broken !== undefined) throw broken
    await store.write(group.flatMap((waiting) => waiting.texts))
    for (const waiting of group) if (!waiting.isDurable) waiting.resolve()
    const isDue = group.some((waiting) => waiting.isDurable) || clock.monotonicNow() - syncedAt >= SYNC_EVERY_MS
    if (!isDue) return
    if (store.isDirty()) await store.sync()
    syncedAt = clock.monotonicNow()
    for (const waiting of group) waiting.resolve()
  }

  return {
    append(texts, durable) {
      return new Promise((resolve, reject) => {
        queue.push({ texts, isDurable: durable, resolve, reject })
        running ??= run()
      })
    },
    async idle() {
      while (running !== undefined) await running
    },
  }
}
