import { setImmediate as turnEnds } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'

import { createGroupCommit, isDurable, type LineStore } from '../../../../src/adapters/node/journal/group-commit.ts'
import { UploadError } from '../../../../src/core/errors.ts'
import type { JournalRecord } from '../../../../src/core/journal/journal.ts'

/** A store in memory whose syncs end when the test says so, and a clock that stands still. It takes one call at a time. */
function scripted({ isDirtyByWriting = true } = {}) {
  let isBusy = false
  const alone = async (call: () => Promise<void>): Promise<void> => {
    if (isBusy) throw new Error('called while another call was under way')
    isBusy = true
    await Promise.resolve()
    await call().finally(() => (isBusy = false))
  }
  const counts = { tidied: 0 }
  const groups: string[][] = []
  const syncs: { resolve: () => void; reject: (error: Error) => void }[] = []
  const arrivals: (() => void)[] = []
  let isDirty = false
  let broken: UploadError | undefined
  let failNext: (() => Error) | undefined
  const store: LineStore = {
    write: (texts) =>
      alone(async () => {
        const fail = failNext
        failNext = undefined
        if (fail) throw fail()
        groups.push([...texts])
        isDirty = isDirtyByWriting
      }),
    sync: () =>
      alone(async () => {
        const ending = new Promise<void>((resolve, reject) => syncs.push({ resolve, reject }))
        arrivals.shift()?.()
        try {
          await ending
          isDirty = false
        } catch (error) {
          broken = error as UploadError
          throw error
        }
      }),
    isDirty: () => isDirty,
    broken: () => broken,
    tidy: () =>
      alone(async () => {
        counts.tidied += 1
        // As long as it takes, nothing else may be asked of the store.
        for (let turn = 0; turn < 3; turn += 1) await turnEnds()
      }),
  }
  const time = { now: 0 }
  return {
    ...{ groups, syncs, time, counts },
    commit: createGroupCommit(store, { monotonicNow: () => time.now }),
    syncBegun: () => new Promise<void>((resolve) => arrivals.push(resolve)),
    failNextWrite: (error: Error, meanwhile?: () => void) => {
      failNext = () => {
        meanwhile?.()
        return error
      }
    },
  }
}

const failure = new UploadError('ERR_UPLOAD_JOURNAL', 'the disk failed')

describe('a group commit', () => {
  it('lets all that comes during one sync share the next', async () => {
    const { commit, groups, syncs, syncBegun } = scripted()
    const first = syncBegun()
    const one = commit.append(['a'], true)
    await first
    const second = syncBegun()
    const others = [commit.append(['b'], true), commit.append(['c'], false), commit.append(['d'], true)]
    syncs[0]!.resolve()
    await one
    await second

    expect(groups).toEqual([['a'], ['b', 'c', 'd']])
    syncs[1]!.resolve()
    await Promise.all(others)
    expect(syncs).toHaveLength(2)
  })

  it('lets all that one turn of the event loop brings share one write and one sync', async () => {
    const { commit, groups, syncs, syncBegun } = scripted()
    const begun = syncBegun()
    const one = commit.append(['a'], true)
    // As the answers of several parts that are read one after another.
    for (let hops = 0; hops < 20; hops += 1) await Promise.resolve()
    const another = commit.append(['b'], true)
    await begun

    expect(groups).toEqual([['a', 'b']])
    syncs[0]!.resolve()
    await Promise.all([one, another])
    expect(syncs).toHaveLength(1)
  })

  it('does not let received parts wait for the disk, but takes them there once a second while they come', async () => {
    const { commit, syncs, time, syncBegun } = scripted()

    for (time.now = 0; time.now < 1000; time.now += 100) await commit.append(['part'], false)
    expect(syncs).toHaveLength(0)
    const begun = syncBegun()
    await commit.append(['part'], false)
    await begun

    expect(syncs).toHaveLength(1)
    syncs[0]!.resolve()
    await commit.idle()
    await commit.append(['part'], false)
    // Whether there is to be a sync shows only behind the append.
    for (let turn = 0; turn < 30; turn += 1) await Promise.resolve()
    expect(syncs).toHaveLength(1)
  })

  it('asks for no sync where writing has brought the lines to the disk, and lets the store tidy up behind each group', async () => {
    const { commit, groups, syncs, counts } = scripted({ isDirtyByWriting: false })

    await commit.append(['a'], true)
    await commit.append(['b'], true)
    await commit.idle()

    expect([groups, syncs, counts.tidied]).toEqual([[['a'], ['b']], [], 2])
  })

  it('takes an append at any moment after another one, also while the last group is being ended', async () => {
    for (let turns = 0; turns < 30; turns++) {
      const { commit, groups, failNextWrite } = scripted()
      await commit.append(['a'], false)
      for (let turn = 0; turn < turns; turn++) await Promise.resolve()
      failNextWrite(failure)
      await expect(commit.append(['b'], false)).rejects.toBe(failure)
      for (let turn = 0; turn < turns; turn++) await Promise.resolve()
      await commit.append(['c'], false)
      expect(groups).toEqual([['a'], ['c']])
    }
  })

  it('fails, and never writes, what was appended with or during a write that failed, and takes the next', async () => {
    const { commit, groups, failNextWrite } = scripted()
    const appended: Promise<void>[] = []
    failNextWrite(failure, () => appended.push(commit.append(['c'], false)))
    appended.push(commit.append(['a'], false), commit.append(['b'], false))

    await expect(appended[0]).rejects.toBe(failure)
    for (const append of appended) await expect(append).rejects.toBe(failure)
    expect(appended).toHaveLength(3)
    await commit.append(['d'], false)
    expect(groups).toEqual([['d']])
  })

  it('never tries a sync that failed again: that append and all later ones fail', async () => {
    const { commit, groups, syncs, syncBegun } = scripted()
    const begun = syncBegun()
    const one = commit.append(['a'], true)
    await begun
    const meanwhile = commit.append(['b'], true)
    syncs[0]!.reject(failure)

    await expect(one).rejects.toBe(failure)
    await expect(meanwhile).rejects.toBe(failure)
    await expect(commit.append(['c'], false)).rejects.toBe(failure)
    expect(groups).toEqual([['a']])
    expect(syncs).toHaveLength(1)
  })

  it('lets received parts alone settle before they are on the disk', () => {
    const types: JournalRecord['type'][] = [
      ...(['session.begun', 'session.creating', 'session.created', 'files.registering', 'files.registered'] as const),
      ...(['part.doubtful', 'part.received', 'parts.voided', 'file.confirming', 'file.confirmed'] as const),
      ...(['file.failed', 'session.cancelling', 'session.cancelled', 'session.settled'] as const),
    ]

    expect(types.filter((type) => !isDurable({ type } as JournalRecord))).toEqual(['part.received'])
  })
})
