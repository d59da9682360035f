// The ledger: what is known of every part, changed by records only.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyRecord } from '../../../src/core/journal/apply-record.ts'
import type { UploadErrorCode } from '../../../src/core/errors.ts'
import type { JournalRecord } from '../../../src/core/journal/journal.ts'
import { createLedger, fileAt, isReceived, type Ledger } from '../../../src/core/journal/ledger.ts'

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
    expect(ledger).toMatchObject({ confirmedCount: 1, failedCount: 0 })
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
    expect(file.mayBeConfirmed).toBe(false)
  })

  it.each(['received', 'confirming', 'confirmed', 'failed'] as const)(
    'leaves a file that became %s while a new session was being made where its receipts are',
    (state) => {
      const ledger = ledgerWith(created(), ...(state === 'failed' ? [] : allReceived()))
      if (state === 'failed') apply(ledger, failed('ERR_UPLOAD_NETWORK'))
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

  it.each([
    ['planned', []],
    ['received', [created(), ...allReceived()]],
    ['confirming', [created(), ...allReceived(), { type: 'file.confirming', fileIndex: 0 }]],
    ['confirmed', [created(), ...allReceived(), { type: 'file.confirmed', fileIndex: 0 }]],
  ] as const)(
    'leaves a file that is %s as it is when the session is taken up again, but for the age of its addresses',
    (state, records) => {
      const ledger = ledgerWith(...records)
      const before = structuredClone(fileAt(ledger, 0))

      apply(ledger, { type: 'session.resumed' })

      expect(before.state).toBe(state)
      expect(fileAt(ledger, 0)).toEqual({ ...before, addressesWere: 'usable' })
    },
  )

  it.each([
    ['received', 'ready', []],
    ['failed', 'failed', [failed('ERR_UPLOAD_NETWORK')]],
  ] as const)('makes of a file that is %s one that is %s when a part is voided', (_state, then, records) => {
    const ledger = ledgerWith(created(), ...allReceived(), ...records)

    apply(ledger, { type: 'parts.voided', fileIndex: 0, partNumbers: [1] })

    expect(fileAt(ledger, 0)).toMatchObject({ state: then, receivedCount: 2 })
  })

  it('says of a receipt when it came, and nothing once it no longer counts', () => {
    const ledger = ledgerWith(created())
    const came = () => fileAt(ledger, 0).parts[0]!.receivedAtMs
    const times: unknown[] = []
    const steps: JournalRecord[] = [
      { ...received(1, 100), at: 5 },
      { type: 'parts.voided', at: 6, fileIndex: 0, partNumbers: [1] },
      { ...received(1, 100), at: 7 },
      { ...moved('t'), at: 8 },
      // Of the session before.
      { ...received(1, 100), at: 9 },
      { ...received(1, 100), at: 10, generation: 1 },
    ]
    for (const step of steps) {
      applyRecord(ledger, step)
      times.push(came())
    }

    expect(times).toEqual([5, undefined, 7, undefined, undefined, 10])
    applyRecord(ledger, { type: 'file.confirmed', at: 11, fileIndex: 0 })
    expect(fileAt(ledger, 0).confirmedAtMs).toBe(11)
  })

  it('keeps a complete file complete when nothing of it is voided', () => {
    const ledger = ledgerWith(created(), ...allReceived())

    apply(ledger, { type: 'parts.voided', fileIndex: 0, partNumbers: [] })

    expect(fileAt(ledger, 0).state).toBe('received')
  })

  it.each([
    ['ready', [received(1, 100)]],
    ['received', allReceived()],
  ] as const)(
    'takes new addresses of a file that is %s without losing receipts, its place or its state',
    (state, parts) => {
      const ledger = ledgerWith(created(), moved('s2'), ...parts.map((part) => ({ ...part, generation: 1 })))
      const before = structuredClone(fileAt(ledger, 0))
      const files = [{ fileIndex: 0, serverFileId: 'y', addresses: ['v1', 'v2', 'v3'] }]

      applyRecord(ledger, { type: 'files.registered', files, at: 77 })

      expect(before).toMatchObject({ state, sessionId: 's2', generation: 1, receivedCount: parts.length })
      const after = { ...before, serverFileId: 'y', addresses: ['v1', 'v2', 'v3'], addressedAtMs: 77 }
      expect(fileAt(ledger, 0)).toEqual(after)
    },
  )

  it('begins a file anew in the session that it went to, and hears no more of what was said of it before', () => {
    const ledger = ledgerWith(created(), received(1, 100), { type: 'part.doubtful', fileIndex: 0, partNumber: 2 })

    apply(ledger, { ...moved('s2'), files: [{ fileIndex: 0, addresses: ['v1', 'v2', 'v3'] }] })
    apply(ledger, received(3, 250))
    apply(ledger, { type: 'part.doubtful', fileIndex: 0, partNumber: 3 })

    const file = fileAt(ledger, 0)
    expect(file).toMatchObject({ sessionId: 's2', generation: 1, state: 'ready', receivedCount: 0 })
    expect([file.addresses, file.serverFileId]).toEqual([['v1', 'v2', 'v3'], undefined])
    expect(file.parts).toEqual(file.parts.map((part) => ({ ...part, receipt: undefined, isDoubtful: false })))
  })

  it('makes a complete file wait again when a newer receipt of a part covers less', () => {
    const ledger = ledgerWith(created(), ...allReceived(), received(2, 150))

    expect(fileAt(ledger, 0)).toMatchObject({ state: 'ready', receivedCount: 2 })
  })

  it('leaves a failed file failed, whatever is received of it', () => {
    const ledger = ledgerWith(created(), failed('ERR_UPLOAD_NETWORK'), ...allReceived())

    expect(fileAt(ledger, 0)).toMatchObject({ state: 'failed', receivedCount: 3 })
  })

  it('counts a file once, however often it fails or is confirmed, and knows its digest', () => {
    const ledger = ledgerWith(created(), failed('ERR_UPLOAD_NETWORK'), failed('ERR_UPLOAD_NETWORK'))
    expect(ledger).toMatchObject({ confirmedCount: 0, failedCount: 1 })

    for (let time = 0; time < 2; time += 1) apply(ledger, { type: 'file.confirmed', fileIndex: 0, sha256: 'ab' })
    expect(ledger).toMatchObject({ confirmedCount: 1, failedCount: 0 })
    expect(fileAt(ledger, 0).sha256).toBe('ab')
  })

  it.each([
    ['planned', []],
    ['ready', [created(), received(1, 100)]],
    ['received', [created(), ...allReceived()]],
    ['confirming', [created(), ...allReceived(), { type: 'file.confirming', fileIndex: 0 }]],
  ] as const)('takes a failed file up again where it was: %s', (state, before) => {
    const ledger = ledgerWith(...before, failed('ERR_UPLOAD_NETWORK'), { type: 'session.resumed' })

    expect(fileAt(ledger, 0)).toMatchObject({ state, error: undefined })
    expect(ledger).toMatchObject({ confirmedCount: 0, failedCount: 0 })
  })

  it('knows addresses of an earlier life, and whether it found them refused, until there are new ones', () => {
    const resumed: Body = { type: 'session.resumed' }
    const renewed: Body = { type: 'files.registered', files: [ADDRESSED] }
    const voided: Body = { type: 'parts.voided', fileIndex: 0, partNumbers: [1] }
    const refused = failed('ERR_UPLOAD_ADDRESS_REFUSED')
    const were = (...later: Body[]) => fileAt(ledgerWith(created(), ...later), 0).addressesWere

    expect([were(), were(refused), were(resumed, renewed), were(refused, resumed, renewed)]).toEqual(
      Array(4).fill(undefined),
    )
    expect([were(resumed), were(failed('ERR_UPLOAD_CONFIRM_REFUSED'), resumed, voided)]).toEqual(['usable', 'usable'])
    // A life that came to nothing between says nothing of it.
    expect([were(refused, resumed), were(refused, resumed, resumed)]).toEqual(['refused', 'refused'])
  })

  it('refuses a failure of a confirmed file, a part that is not there and an address too few', () => {
    const ledger = ledgerWith(created(), ...allReceived())
    apply(ledger, { type: 'file.confirmed', fileIndex: 0 })

    expect(() => apply(ledger, failed('ERR_UPLOAD_FAILED'))).toThrow('a confirmed file cannot fail')
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

function moved(sessionId: string) {
  return { type: 'session.replaced', sessionId, files: [ADDRESSED] } as const
}

function received(partNumber: number, acceptedEnd: number) {
  return { type: 'part.received', fileIndex: 0, partNumber, receipt: { acceptedEnd, isVerified: false } } as const
}

function failed(code: UploadErrorCode): Body {
  return { type: 'file.failed', fileIndex: 0, error: { code, message: 'x' } }
}

function allReceived() {
  return [received(1, 100), received(2, 200), received(3, 250)]
}
