// The disk that outlives every life, and the Journal over it: records are written in groups that share a sync, as the
// journal on a real disk does, and a power cut takes any number of the last records that were not brought to it.

import { UploadError } from '../../../src/core/errors.ts'
import type { JournalRecord } from '../../../src/core/journal/journal.ts'
import type { Journal, SessionJournal } from '../../../src/core/ports.ts'
import { isDurable } from '../../../src/adapters/node/journal/group-commit.ts'
import type { Dice } from './dice.ts'
import { never, type Life } from './life.ts'

interface Stored {
  readonly records: JournalRecord[]
  /** How many of them are known to be on the disk. */
  keptCount: number
  /** Which of them were told, by their places. */
  readonly isTold: boolean[]
  /** All before this one were. */
  untoldAt: number
}

export interface Disk {
  /** The journal as one life sees it; when that dies by a power cut, what was not kept may be lost. */
  journal(life: Life, plan: { readonly isPowerCut: boolean; readonly fullDiskAt: number | undefined }): Journal
  records(key: string): readonly JournalRecord[]
  keys(): readonly string[]
}

export interface DiskOptions {
  readonly dice: Dice
  readonly syncMs: number
  /** A record's append is about to settle, or it was found and is on the disk for good. Told once of each. */
  readonly onSettled: (key: string, record: JournalRecord) => void
}

interface Waiting {
  readonly records: readonly JournalRecord[]
  readonly needsSync: boolean
  /** Where they stand in the journal, once they are written. */
  place: number
  readonly resolve: () => void
}

export function createDisk({ dice, syncMs, onSettled }: DiskOptions): Disk {
  const sessions = new Map<string, Stored>()
  const tell = (key: string, { records, isTold }: Stored, from: number, to: number): void => {
    for (let at = from; at < to; at += 1) {
      if (isTold[at] !== true) onSettled(key, records[at]!)
      isTold[at] = true
    }
  }
  const tellKept = (key: string, stored: Stored, keptCount: number): void => {
    tell(key, stored, stored.untoldAt, keptCount)
    stored.untoldAt = keptCount
  }

  const openSession = (
    key: string,
    life: Life,
    fullDiskAt: number | undefined,
    release: () => void,
  ): SessionJournal => {
    const stored: Stored = sessions.get(key) ?? { records: [], keptCount: 0, isTold: [], untoldAt: 0 }
    // What a life had written when it died is found by the next one; a power cut may still take what was not synced.
    tellKept(key, stored, stored.keptCount)
    let queue: Waiting[] = []
    let isRunning = false
    let appended = 0

    const commit = async (group: readonly Waiting[]): Promise<void> => {
      for (const waiting of group) {
        waiting.place = stored.records.length
        stored.records.push(...waiting.records)
      }
      sessions.set(key, stored)
      const writtenCount = stored.records.length
      if (life.dies()) return never()
      const settle = ({ place, records, resolve }: Waiting): void => {
        tell(key, stored, place, place + records.length)
        resolve()
      }
      for (const waiting of group) if (!waiting.needsSync) settle(waiting)
      if (!group.some(({ needsSync }) => needsSync)) return
      await life.pass(syncMs)
      stored.keptCount = writtenCount
      if (life.dies()) return never()
      tellKept(key, stored, writtenCount)
      for (const waiting of group) if (waiting.needsSync) settle(waiting)
    }
    const run = async (): Promise<void> => {
      isRunning = true
      while (queue.length > 0) {
        const group = queue
        queue = []
        await commit(group)
      }
      isRunning = false
    }
    return {
      key,
      records: JSON.parse(JSON.stringify(stored.records)) as JournalRecord[],
      append(records) {
        if (life.dies()) return never()
        appended += records.length
        if (fullDiskAt !== undefined && appended >= fullDiskAt)
          return Promise.reject(new UploadError('ERR_UPLOAD_JOURNAL', 'The disk is full.'))
        return new Promise((resolve) => {
          queue.push({ records, needsSync: records.some(isDurable), place: 0, resolve })
          if (!isRunning) void run()
        })
      },
      close() {
        if (life.dies()) return never()
        release()
        return Promise.resolve()
      },
    }
  }

  return {
    journal(life, { isPowerCut, fullDiskAt }) {
      const leases = new Set<string>()
      life.onDeath(() => {
        if (!isPowerCut) return
        for (const stored of sessions.values()) {
          const { length } = stored.records
          stored.keptCount = dice.between(stored.keptCount, length)
          stored.records.length = stored.keptCount
          stored.isTold.length = Math.min(stored.isTold.length, stored.keptCount)
        }
      })
      return {
        open(key) {
          if (life.dies()) return never()
          if (leases.has(key)) return Promise.reject(new UploadError('ERR_UPLOAD_JOURNAL', `${key} is open already.`))
          leases.add(key)
          return Promise.resolve(openSession(key, life, fullDiskAt, () => leases.delete(key)))
        },
        read: (key) => (life.dies() ? never() : Promise.resolve(sessions.get(key)?.records ?? [])),
        list: () => (life.dies() ? never() : Promise.resolve([...sessions.keys()])),
        remove(key) {
          sessions.delete(key)
          return Promise.resolve()
        },
      }
    },
    records: (key) => sessions.get(key)?.records ?? [],
    keys: () => [...sessions.keys()].filter((key) => sessions.get(key)!.records.length > 0),
  }
}
