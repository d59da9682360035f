// The ledger: what is known of every part, changed by records only.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyRecord } from '../../../src/core/journal/apply-record.ts'
import type { JournalRecord } from '../../../src/core/journal/journal.ts'
import { countSettled, createLedger, fileAt, isReceived, type Ledger } from '../../../src/core/journal/ledger.ts'

const PLAN = { fileIndex: 0, name: 'a.bin', sizeBytes: 250, partCount: 3, partSizeBytes: 100 }
const ADDRESSED = { fileIndex: 0, serverFileId: 'x', addresses: ['u1', 'u2', 'u3'] }

describe('a ledger', () => {
  it('knows the range of every part, the last one shorter', () => {
    const [file] = createLedger([PLAN]).files

    expect(file!.parts.map(({ start, end }) => [start, end])).toEqual([
      [0, 100],
      [100, 200],
      [200, 250],
    ])
  })

  it('makes a file ready by addresses, received by its last receipt, and counts it when it is confirmed', () => {
    const ledger = ledgerWith(created())
    const states = [fileAt(ledger, 0).state]

    for (const partNumber of [2, 1, 3]) {
      apply(ledger, received(partNumber, [100, 200, 250][partNumber - 1]!))
      states.push(fileAt(ledger, 0).state)
    }
    apply(ledger, { type: 'file.confirming', fileIndex: 0 })
    apply(ledger, { type: 'file.confirmed', fileIndex: 0 })

    expect(states).toEqual(['ready', 'ready', 'ready', 'received'])
    expect(countSettled(ledger)).toEqual({ confirmedCount: 1, failedCount: 0 })
  })

  it('takes a receipt of fewer bytes as progress, not as the part', () => {
    const ledger = ledgerWith(created(), received(1, 60))

    expect(isReceived(fileAt(ledger, 0).parts[0]!)).toBe(false)
    expect(fileAt(ledger, 0).receivedCount).toBe(0)
    apply(ledger, received(1, 100))
    expect(fileAt(ledger, 0).receivedCount).toBe(1)
  })

  it('sends a file back when parts are voided, and keeps their doubt', () => {
    const ledger = ledgerWith(created(), ...allReceived())
    apply(ledger, { type: 'part.doubtful', fileIndex: 0, partNumber: 2 })
    apply(ledger, { type: 'file.confirming', fileIndex: 0 })

    apply(ledger, { type: 'parts.voided', fileIndex: 0, partNumbers: [2] })

    const file = fileAt(ledger, 0)
    expect([file.state, file.receivedCount, file.parts[1]!.receipt, file.parts[1]!.isDoubtful]).toEqual([
      'ready',
      2,
      undefined,
      true,
    ])
  })

  it.each(['received', 'confirming', 'confirmed', 'failed'] as const)(
    'leaves a file that became %s while a new session was being made where its receipts are',
    (state) => {
      const ledger = ledgerWith(created(), ...(state === 'failed' ? [] : allReceived()))
      const error = { code: 'ERR_UPLOAD_NETWORK', message: 'gone' } as const
      if (state === 'failed') apply(ledger, { type: 'file.failed', fileIndex: 0, error })
      if (state === 'confirming' || state === 'confirmed') apply(ledger, { type: 'file.confirming', fileIndex: 0 })
      if (state === 'confirmed') apply(ledger, { type: 'file.confirmed', fileIndex: 0 })
      const before = structuredClone(fileAt(ledger, 0))

      apply(ledger, { type: 'session.replaced', sessionId: 's2', files: [ADDRESSED] })

      expect(fileAt(ledger, 0)).toEqual(before)
      expect(before.state).toBe(state)
    },
  )

  it('doubts the parts that an earlier life may have had on their way, until the file is confirmed', () => {
    const ledger = ledgerWith(created(), received(2, 200))
    const doubts = () => fileAt(ledger, 0).parts.map((part) => part.isDoubtful)

    apply(ledger, { type: 'session.resumed' })
    expect(doubts()).toEqual([true, false, true])

    for (const record of allReceived()) apply(ledger, record)
    expect(doubts()).toEqual([true, false, true])
    apply(ledger, { type: 'file.confirmed', fileIndex: 0 })
    expect(doubts()).toEqual([false, false, false])
  })

  it('keeps a complete file complete when nothing of it is voided', () => {
    const ledger = ledgerWith(created(), ...allReceived())

    apply(ledger, { type: 'parts.voided', fileIndex: 0, partNumbers: [] })

    expect(fileAt(ledger, 0).state).toBe('received')
  })

  it('takes new addresses without losing receipts', () => {
    const ledger = ledgerWith(created(), received(1, 100))

    apply(ledger, { type: 'files.registered', files: [{ ...ADDRESSED, addresses: ['v1', 'v2', 'v3'] }] })

    expect(fileAt(ledger, 0).addresses).toEqual(['v1', 'v2', 'v3'])
    expect(fileAt(ledger, 0).receivedCount).toBe(1)
  })

  it('refuses a failure of a confirmed file, a part that is not there and an address too few', () => {
    const ledger = ledgerWith(created(), ...allReceived())
    apply(ledger, { type: 'file.confirmed', fileIndex: 0 })

    const failed = { type: 'file.failed', fileIndex: 0, error: { code: 'ERR_UPLOAD_FAILED', message: 'x' } } as const
    expect(() => apply(ledger, failed)).toThrow('a confirmed file cannot fail')
    expect(() => apply(ledger, received(4, 300))).toThrow('no part 4')
    expect(() => apply(ledger, { type: 'files.registered', files: [{ fileIndex: 0, addresses: ['u1'] }] })).toThrow(
      'one address for each part',
    )
  })

  it('counts received parts right after any receipts and voids, in any order', () => {
    const step = fc.oneof(
      fc.record({ part: fc.integer({ min: 1, max: 3 }), end: fc.constantFrom(40, 100, 150, 200, 230, 250) }),
      fc.record({ voided: fc.uniqueArray(fc.integer({ min: 1, max: 3 })) }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const ledger = ledgerWith(created())
        for (const each of steps) {
          if ('voided' in each) apply(ledger, { type: 'parts.voided', fileIndex: 0, partNumbers: each.voided })
          else apply(ledger, received(each.part, each.end))
        }
        const file = fileAt(ledger, 0)
        const complete = file.parts.filter(isReceived).length
        expect(file.receivedCount).toBe(complete)
        expect(file.state).toBe(complete === 3 ? 'received' : 'ready')
      }),
    )
  })
})

type Body = JournalRecord extends infer R ? (R extends JournalRecord ? Omit<R, 'at'> : never) : never

function apply(ledger: Ledger, body: Body): void {
  applyRecord(ledger, { ...body, at: 0 })
}

function ledgerWith(...bodies: Body[]): Ledger {
  const ledger = createLedger([PLAN])
  for (const body of bodies) apply(ledger, body)
  return ledger
}

function created(): Body {
  return { type: 'session.created', sessionId: 1, files: [ADDRESSED] }
}

function received(partNumber: number, acceptedEnd: number): Body {
  return { type: 'part.received', fileIndex: 0, partNumber, receipt: { acceptedEnd, isVerified: false } }
}

function allReceived(): Body[] {
  return [received(1, 100), received(2, 200), received(3, 250)]
}
