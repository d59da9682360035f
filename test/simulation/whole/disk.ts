// The disk, which outlives every life, and the Journal on it. Records are written in groups that share a sync, as in
// the real journal on disk, and a power cut removes any number of the last records that were not synced. About every
// second history that a life opens is compacted first.

import { UploadError } from '../../../src/core/errors.ts'
import { compactRecords } from '../../../src/core/journal/compact-journal.ts'
import type { JournalRecord } from '../../../src/core/journal/journal.ts'
import { recordText } from '../../../src/core/journal/record-text.ts'
import type { Journal, SessionJournal } from '../../../src/core/ports.ts'
import { isDurable } from '../../../src/adapters/node/journal/group-commit.ts'
import type { Dice } from './dice.ts'
import { never, type Life } from './life.ts'
import type { LifePlan } from './night.ts'

interface Stored {
  records: JournalRecord[]
  /** How many of them are certainly on the disk. */
  keptCount: number
}

export interface Disk {
  /** The journal as one life sees it. If the life dies by a power cut, records that are not kept may be lost. */
  journal(life: Life, plan: Pick<LifePlan, 'isPowerCut' | 'fullDiskAt' | 'fullDiskFor'>): Journal
  records(key: string): readonly JournalRecord[]
  keys(): readonly string[]
  /** Whether the running life holds the session. */
  isLeased(key: string): boolean
}

export interface DiskOptions {
  readonly dice: Dice
  readonly syncMs: number
  /** Records are on the disk when they are appended, and a full disk throws at once. Default false. */
  readonly isQuick?: boolean
  /** A record's append is about to settle, or the record was found and is certainly on the disk. Called once for each record. */
  readonly onSettled: (key: string, record: JournalRecord) => void
}

interface Waiting {
  readonly records: readonly JournalRecord[]
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export function createDisk({ dice, syncMs, isQuick = false, onSettled }: DiskOptions): Disk {
  const sessions = new Map<string, Stored>()
  let leases = new Set<string>()
  const told = new WeakSet<JournalRecord>()
  const tell = (key: string, records: readonly JournalRecord[]): void => {
    for (const record of records) {
      if (!told.has(record)) onSettled(key, record)
      told.add(record)
    }
  }

  /** Compacts a history. It replaces the old one only once all of it is on the disk. */
  const shorten = (key: string, stored: Stored): void => {
    tell(key, stored.records)
    stored.records = compactRecords(stored.records).map((record) => JSON.parse(recordText(record)) as JournalRecord)
    stored.keptCount = stored.records.length
    for (const record of stored.records) told.add(record)
  }

  const openSession = (
    key: string,
    life: Life,
    { fullDiskAt = Infinity, fullDiskFor }: Pick<LifePlan, 'fullDiskAt' | 'fullDiskFor'>,
    release: () => void,
  ): SessionJournal => {
    const stored = sessions.get(key) ?? { records: [], keptCount: 0 }
    // The next life finds what a life had written when it died. A power cut may still remove what was not synced.
    tell(key, stored.records.slice(0, stored.keptCount))
    // Not decided by the dice, because that would change all nights.
    if (stored.records.length % 2 === 1) shorten(key, stored)
    let queue: Waiting[] = []
    let isRunning = false
    let appended = 0

    const commit = async (group: readonly Waiting[]): Promise<void> => {
      for (const { records } of group) stored.records.push(...records)
      sessions.set(key, stored)
      const writtenCount = stored.records.length
      if (life.dies()) return never()
      const settle = ({ records, resolve }: Waiting): void => {
        tell(key, records)
        resolve()
      }
      const needsSync = ({ records }: Waiting): boolean => records.some(isDurable)
      for (const waiting of group) if (!needsSync(waiting)) settle(waiting)
      if (!group.some(needsSync)) return
      await life.pass(syncMs)
      // Another call of the same moment may have been its end, and a power cut may have removed what was to be kept now.
      if (life.isDead()) return never()
      stored.keptCount = writtenCount
      if (life.dies()) return never()
      tell(key, stored.records.slice(0, writtenCount))
      for (const waiting of group) if (needsSync(waiting)) settle(waiting)
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
        if (appended >= fullDiskAt && appended < fullDiskAt + fullDiskFor) {
          const full = new UploadError('ERR_UPLOAD_JOURNAL', 'The disk is full.')
          if (isQuick) throw full
          return Promise.reject(full)
        }
        if (isQuick) {
          stored.records.push(...records)
          stored.keptCount = stored.records.length
          sessions.set(key, stored)
          tell(key, records)
          return life.dies() ? never() : undefined
        }
        return new Promise((resolve, reject) => {
          queue.push({ records, resolve, reject })
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
    journal(life, plan) {
      // The leases of a dead life are gone with its process.
      const own = new Set<string>()
      leases = own
      life.onDeath(() => {
        if (!plan.isPowerCut) return
        for (const stored of sessions.values()) {
          stored.records.length = dice.between(stored.keptCount, stored.records.length)
          stored.keptCount = stored.records.length
        }
      })
      return {
        open(key) {
          if (life.dies()) return never()
          if (own.has(key)) return Promise.reject(new UploadError('ERR_UPLOAD_JOURNAL', `${key} is open already.`))
          own.add(key)
          return Promise.resolve(openSession(key, life, plan, () => own.delete(key)))
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
    isLeased: (key) => leases.has(key),
    keys: () => [...sessions.keys()].filter((key) => sessions.get(key)!.records.length > 0),
  }
}
