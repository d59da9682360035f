// What a file is told that one more session would not finish, and when the first of the addresses dies.

import { describe, expect, it } from 'vitest'

import type { LedgerFile } from '../../src/core/journal/ledger.ts'
import { checkLife, earliestDeadline } from '../../src/flows/address-life.ts'
import { createSimulatedClock } from '../helpers/simulated-clock.ts'

const MIB = 1_048_576
const HOUR_MS = 3_600_000
const WALL_MS = Date.UTC(2026, 10, 22, 6)

/** What is said of a file of 60 MiB that was moved before; undefined if it may move once more. */
function saidOf(own: {
  readonly rate?: number
  readonly ageMs?: number
  readonly receivedCount?: number
  readonly isDead?: boolean
  readonly isExpired?: boolean
  readonly lifeMs?: number | undefined
  readonly moves?: number
  readonly tries?: number
}): string | undefined {
  const { rate = 0, ageMs = 0, receivedCount = 0, ...reason } = own
  const clock = createSimulatedClock({ wallStartMs: WALL_MS })
  const plan = { sizeBytes: 60 * MIB }
  const file = { plan, receivedCount, addressedAtMs: WALL_MS - ageMs } as unknown as LedgerFile
  try {
    const why = { isDead: false, isExpired: false, lifeMs: HOUR_MS, moves: 1, tries: 0, ...reason }
    checkLife({ bytesPerSecond: () => rate, clock }, file, why)
    return undefined
  } catch (error) {
    expect(error).toMatchObject({ code: 'ERR_UPLOAD_ADDRESS_EXPIRED' })
    return (error as Error).message
  }
}

describe('addresses that are dead when they come', () => {
  const DEAD = /^The addresses of a new session were dead when they came/

  it.each([
    ['by the clock of the storage', { isDead: true }],
    ['until they are half their life old', { isDead: true, ageMs: HOUR_MS / 2 - 1 }],
    ['by the word of the storage, of five sessions', { isExpired: true, moves: 5 }],
    ['and whose life was over before it began', { isDead: true, lifeMs: 0, ageMs: HOUR_MS }],
  ])('are told of %s', (_, own) => {
    expect(saidOf(own)).toMatch(DEAD)
  })

  it.each([
    ['of the first session', { isDead: true, moves: 0 }],
    ['that took a part', { isDead: true, receivedCount: 1 }],
    ['that lived half their life', { isDead: true, ageMs: HOUR_MS / 2 }],
    ['by the word of the storage, of four sessions', { isExpired: true, moves: 4 }],
    ['by the word of the storage, where they say of no end', { isExpired: true, moves: 5, lifeMs: undefined }],
    ['by no word at all', { moves: 5 }],
  ])('are no end of a file: %s', (_, own) => {
    expect(saidOf(own)).toBeUndefined()
  })

  it.each([
    [-1, '0 s'],
    [89_999, '90 s'],
    [90_000, '2 min'],
  ])('are said to live, after %i ms', (lifeMs, words) => {
    expect(saidOf({ isDead: true, lifeMs })).toContain(`by more than the ${words} that they live`)
  })
})

describe('a file that does not fit into the life of its addresses', () => {
  it('is told its rate, and what it needs', () => {
    // 60 MiB at 10 KiB/s take 6,144 s.
    expect(saidOf({ rate: 10_240 })).toBe(
      "At 10 KiB/s the file needs 102 min, and the service's addresses live 60 min. " +
        'Ask for addresses that live longer, or send it over a faster line.',
    )
  })

  it.each([
    ['that just fits', { rate: 60 * MIB, lifeMs: 3_000 }],
    ['that takes as long as they live', { rate: 20 * MIB, lifeMs: 3_000 }],
    ['whose rate is not known', { lifeMs: 3_000 }],
    ['whose addresses say of no end', { rate: 1, lifeMs: undefined }],
  ])('is not one %s', (_, own) => {
    expect(saidOf(own)).toBeUndefined()
  })

  it.each([
    ['twenty times', { tries: 20, moves: 23 }, 'After 23 new sessions, whose addresses live 60 min, the file is'],
    [
      'where they say of no end',
      { tries: 20, moves: 20, lifeMs: undefined },
      'After 20 new sessions, the file is still',
    ],
    ['where no part can begin', { lifeMs: 2_000 }, 'After 1 new sessions, whose addresses live 2 s, the file is still'],
  ])('is moved no more %s', (_, own, words) => {
    expect(saidOf(own)).toContain(words)
  })

  it('is moved nineteen times, and where there is time for a part', () => {
    expect(saidOf({ tries: 19, moves: 30 })).toBeUndefined()
    expect(saidOf({ lifeMs: 2_001 })).toBeUndefined()
  })
})

describe('the first deadline', () => {
  const file = (own: Partial<LedgerFile>, lifeS?: number): LedgerFile => {
    const dated = `https://s.test/1?X-Amz-Date=20261122T060000Z&X-Amz-Expires=${String(lifeS)}`
    const addresses = [lifeS === undefined ? 'https://s.test/1' : dated]
    return { state: 'ready', sessionId: 's', addressedAtMs: WALL_MS, addresses, ...own } as LedgerFile
  }

  it.each([
    ['is the earliest of those that say', [file({}, 7_200), file({}, 3_600), file({})], WALL_MS + HOUR_MS],
    ['counts from when they came', [file({ addressedAtMs: WALL_MS + 5 }, 3_600)], WALL_MS + HOUR_MS + 5],
    [
      'is none of files that are not being sent',
      [file({ state: 'confirmed' }, 60), file({ state: 'planned' }, 60)],
      Infinity,
    ],
    ['is none of what comes in batches', [file({ sessionId: undefined }, 60)], Infinity],
    ['is none where they seem dead', [file({}, 0)], Infinity],
    ['is none of no address', [file({ addresses: [] })], Infinity],
  ])('%s', (_, files, deadlineMs) => {
    expect(earliestDeadline(files)).toBe(deadlineMs)
  })
})
