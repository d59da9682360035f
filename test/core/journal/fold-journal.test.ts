// The fold of a journal: where a session goes on, and with what.

import { describe, expect, it } from 'vitest'
import { compactRecords } from '../../../src/core/journal/compact-journal.ts'
import { finalStatusOf, foldJournal, sessionsOf } from '../../../src/core/journal/fold-journal.ts'
import type { JournalPlace, JournalRecord } from '../../../src/core/journal/journal.ts'

const FILES = [0, 1].map((fileIndex) => ({
  fileIndex,
  name: `${String(fileIndex)}.bin`,
  sizeBytes: 10,
  partCount: 1,
  partSizeBytes: 10,
}))
const BEGUN = {
  at: 5,
  type: 'session.begun',
  version: 1,
  key: 'k',
  flow: 'video',
  params: {},
  files: FILES,
  locations: ['/a', '/b'],
} as const
const address = (fileIndex: number) => ({ fileIndex, addresses: [`https://s.test/${String(fileIndex)}`] })
/** A beginning whose first file has these fields. */
const withPlan = (fields: object) => ({ files: [{ ...FILES[0], ...fields }, FILES[1]] })
const CREATED = { at: 7, type: 'session.created', sessionId: 's', files: [address(0), address(1)] } as const

describe('the fold of a journal', () => {
  it.each<[string, JournalRecord[], string]>([
    ['nothing was asked', [], 'new'],
    ['a create has no result', [{ at: 6, type: 'session.creating' }], 'creating'],
    ['it was created', [{ at: 6, type: 'session.creating' }, CREATED], 'created'],
    ['it is being cancelled', [CREATED, { at: 8, type: 'session.cancelling' }], 'cancelling'],
    ['it was cancelled', [CREATED, { at: 8, type: 'session.cancelled', isServiceTold: true }], 'cancelled'],
    ['it is over', [CREATED, { at: 8, type: 'session.settled', status: 'partial' }], 'partial'],
  ])('goes on from where it ended: %s', (_, records, place) => {
    expect(foldJournal([BEGUN, ...records]).place).toBe(place)
  })

  it('gives the ledger that the records make', () => {
    const { ledger, sessionId, beganAt } = foldJournal([
      BEGUN,
      CREATED,
      { at: 8, type: 'part.received', fileIndex: 1, partNumber: 1, receipt: { acceptedEnd: 10, isVerified: true } },
      { at: 9, type: 'part.doubtful', fileIndex: 0, partNumber: 1 },
    ])

    expect(ledger.files.map((file) => file.state)).toEqual(['ready', 'received'])
    expect(ledger.files[0]!.parts[0]!.isDoubtful).toBe(true)
    expect([sessionId, beganAt]).toEqual(['s', 5])
  })

  it('suspects an orphan after a create without a result, a second create, or what the create said', () => {
    const creating = { at: 6, type: 'session.creating' } as const

    expect(foldJournal([BEGUN, creating, CREATED]).hasPossibleOrphan).toBe(false)
    expect(foldJournal([BEGUN, creating]).hasPossibleOrphan).toBe(true)
    expect(
      foldJournal([BEGUN, creating, { type: 'session.refused', at: 3 }, creating, CREATED]).hasPossibleOrphan,
    ).toBe(false)
    expect(foldJournal([BEGUN, creating, creating, CREATED]).hasPossibleOrphan).toBe(true)
    expect(foldJournal([BEGUN, { ...CREATED, hasPossibleOrphan: true }]).hasPossibleOrphan).toBe(true)
  })

  it('takes for the host of a session the one that made it, which need not be the one that was asked first', () => {
    const asked = { ...BEGUN, host: 'misspelt.example:443' }
    const made = { ...CREATED, host: 'service.example:443' }

    expect(foldJournal([asked]).host).toBe('misspelt.example:443')
    expect(foldJournal([asked, made]).host).toBe('service.example:443')
    expect(foldJournal([asked, CREATED]).host).toBe('misspelt.example:443')
    expect(foldJournal([BEGUN, CREATED]).host).toBeUndefined()
  })

  it('takes it from the beginning where a build that shortened the history kept it there', () => {
    const [begun, kept] = compactRecords([
      { ...BEGUN, host: 'service.example:443' },
      CREATED,
      { at: 8, type: 'session.resumed' },
    ])
    const { standing } = kept as unknown as { readonly standing: { host?: string } }
    expect(standing.host).toBe('service.example:443')
    delete standing.host

    expect(foldJournal([begun!, kept!]).host).toBe('service.example:443')
  })

  it('remembers a session that every file has left until the service was told, and never one that holds a file', () => {
    const failed = {
      at: 8,
      type: 'file.failed',
      fileIndex: 1,
      error: { code: 'ERR_UPLOAD_NETWORK', message: '' },
    } as const
    const replaced = (sessionId: string, ...indexes: number[]) =>
      ({ at: 9, type: 'session.replaced', sessionId, files: indexes.map(address) }) as const
    const left = (...records: JournalRecord[]) => foldJournal([BEGUN, CREATED, ...records]).leftSessionIds

    expect(left(replaced('t', 0, 1))).toEqual(['s'])
    expect(left(replaced('t', 0))).toEqual([])
    expect(left(replaced('t'))).toEqual(['t'])
    expect(foldJournal([BEGUN, CREATED, replaced('t')]).sessionId).toBe('s')
    // A resume takes the failed file up again, where it is.
    expect(left(failed, replaced('t', 0, 1))).toEqual([])
    expect(left(replaced('t', 0), replaced('u', 0, 1)).toSorted()).toEqual(['s', 't'])
    expect(left(replaced('t', 0, 1), replaced('u', 0, 1), { at: 10, type: 'session.ended', sessionId: 's' })).toEqual([
      't',
    ])
  })

  it('leaves files without a session of their own in the one that was created, which is then not left', () => {
    const created = { at: 7, type: 'session.created', sessionId: 's' } as const
    const registered = { at: 8, type: 'files.registered', files: [address(0), address(1)] } as const
    const replaced = { at: 9, type: 'session.replaced', sessionId: 't', files: [address(0)] } as const

    const folded = foldJournal([BEGUN, created, registered, replaced])

    expect(folded).toMatchObject({ sessionId: 's', leftSessionIds: [] })
    expect(sessionsOf(folded)).toEqual(['s', 't'])
  })

  it('remembers a session that could not be used until the service was told, and never one that is in use', () => {
    const unused = (sessionId: string) => ({ at: 4, type: 'session.left', sessionId }) as const
    const left = (...records: JournalRecord[]) => foldJournal([BEGUN, ...records]).leftSessionIds

    expect(left(unused('q'), unused('q'), CREATED)).toEqual(['q'])
    expect(left(unused('q'), CREATED, { at: 9, type: 'session.ended', sessionId: 'q' })).toEqual([])
    expect(left(unused('q'), { at: 9, type: 'session.cancelled', isServiceTold: true })).toEqual([])
    expect(left(unused('q'), { at: 9, type: 'session.cancelled', isServiceTold: false })).toEqual(['q'])
    // The service may give the same one once more, before or after.
    expect(left(unused('s'), CREATED)).toEqual([])
    expect(left(CREATED, unused('s'))).toEqual([])
  })

  it('remembers only the registrations that have no result', () => {
    const { ledger } = foldJournal([
      BEGUN,
      { at: 6, type: 'files.registering', fileIndexes: [0, 1] },
      { at: 7, type: 'files.registered', files: [address(0)] },
    ])

    expect(ledger.files.map((file) => file.isRegistering)).toEqual([false, true])
  })

  it('forgets a registration that was refused', () => {
    const { ledger } = foldJournal([
      BEGUN,
      { at: 6, type: 'files.registering', fileIndexes: [0, 1] },
      { at: 7, type: 'files.registering', fileIndexes: [0], isRefused: true },
    ])

    expect(ledger.files.map((file) => file.isRegistering)).toEqual([false, true])
  })

  it('refuses a journal without a beginning, of another version, or with records that do not fit its files', () => {
    const stray = { at: 8, type: 'part.doubtful', fileIndex: 7, partNumber: 1 } as const

    expect(codeOf(() => foldJournal([]))).toBe('ERR_UPLOAD_JOURNAL')
    expect(codeOf(() => foldJournal([CREATED]))).toBe('ERR_UPLOAD_JOURNAL')
    expect(codeOf(() => foldJournal([{ ...BEGUN, version: 2 as 1 }]))).toBe('ERR_UPLOAD_JOURNAL')
    expect(codeOf(() => foldJournal([BEGUN, CREATED, stray]))).toBe('ERR_UPLOAD_JOURNAL')
  })

  it('says of another version that it is one, and of records that nobody wrote that they are damage', () => {
    const other = { ...BEGUN, version: 2 as 1, files: 'elsewhere' as never }
    const cut = { ...BEGUN, files: [{ ...FILES[0]!, sizeBytes: 11 }] }
    const nameless = { ...CREATED, sessionId: '' }

    expect(() => foldJournal([other])).toThrow('has format version 2; this program reads version 1')
    expect(() => foldJournal([cut])).toThrow('is damaged: a record of type session.begun does not fit')
    expect(() => foldJournal([BEGUN, nameless])).toThrow('is damaged: a record of type session.created does not fit')
  })

  it.each<[string, Fields]>([
    ['a key that is none', { key: 7 }],
    ['a flow that there is none of', { flow: 'toString' }],
    ['no fields', { params: null }],
    ['a list of fields', { params: [] }],
    ['files that are no list', { files: {} }],
    ['places that are no list', { locations: {} }],
    ['a place that is none', { locations: ['/a', 7] }],
    ['a file that is none', { files: [null] }],
    ['files in another order', { files: FILES.toReversed() }],
    ['a name that is none', withPlan({ name: 7 })],
    ['half a byte', withPlan({ sizeBytes: 9.5 })],
    ['fewer bytes than none', withPlan({ sizeBytes: -1 })],
    ['half a part', withPlan({ partCount: 1.5 })],
    ['no part', withPlan({ sizeBytes: 0, partCount: 0 })],
    ['parts that fill the memory', withPlan({ sizeBytes: 2e6, partCount: 2e6, partSizeBytes: 1 })],
    ['parts of half a byte more', withPlan({ partSizeBytes: 10.5 })],
    ['parts without bytes', withPlan({ sizeBytes: 0, partSizeBytes: 0 })],
    ['parts that leave a byte out', withPlan({ partCount: 3, partSizeBytes: 3 })],
    ['an empty last part', withPlan({ partCount: 3, partSizeBytes: 5 })],
  ])('says of a beginning with %s that it is damaged', (_what, edit) => {
    const begun = { ...BEGUN, ...edit } as unknown as JournalRecord

    expect(() => foldJournal([begun])).toThrow('is damaged: a record of type session.begun does not fit')
  })

  it('takes an empty file, and parts of one byte', () => {
    const begun = { ...BEGUN, ...withPlan({ sizeBytes: 0, partSizeBytes: 1 }) } as unknown as JournalRecord

    expect(foldJournal([begun]).ledger.files[0]!.parts).toHaveLength(1)
  })

  it.each<[string, Fields]>([
    ['session.created', { files: [{ fileIndex: 0, addresses: [7] }] }],
    ['session.created', { files: [{ fileIndex: -1, addresses: [] }] }],
    ['session.replaced', { sessionId: '', files: [] }],
    ['session.replaced', { sessionId: 't', files: [null] }],
    ['files.registered', { files: [{ fileIndex: 0, addresses: null }] }],
    ['files.registered', { files: [{ ...address(0), serverFileId: '' }] }],
    ['session.moved', {}],
    ['toString', {}],
  ])('says of a record %s with %j that it is damaged', (type, fields) => {
    const spoilt = { ...CREATED, at: 8, type, ...fields } as unknown as JournalRecord

    expect(() => foldJournal([BEGUN, CREATED, spoilt])).toThrow(`is damaged: a record of type ${type} does not fit`)
  })

  it.each<[string, (kept: Fields) => unknown]>([
    ['a place that there is none of', (kept) => ((kept['standing'] as Fields)['place'] = 'done')],
    ['no standing', (kept) => delete kept['standing']],
    ['an id that is none', (kept) => ((kept['standing'] as Fields)['sessionId'] = '')],
    ['an open session without one', (kept) => delete (kept['standing'] as Fields)['sessionId']],
    ['sessions that are no list', (kept) => ((kept['standing'] as Fields)['leftSessionIds'] = 's')],
    ['a session left that is none', (kept) => ((kept['standing'] as Fields)['leftSessionIds'] = [{}])],
    ['files that are no list', (kept) => (kept['files'] = {})],
    ['a file that is none', (kept) => (kept['files'] = [null])],
    ['a file that is not in the plan', (kept) => (firstFile(kept)['fileIndex'] = 2)],
    ['a state that there is none of', (kept) => (firstFile(kept)['state'] = 'done')],
    ['the session of a file that is none', (kept) => (firstFile(kept)['sessionId'] = {})],
    ['half a generation', (kept) => (firstFile(kept)['generation'] = 0.5)],
    ['an address that is none', (kept) => (firstFile(kept)['addresses'] = [7])],
    ['an address too many', (kept) => (firstFile(kept)['addresses'] = ['https://s.test/0', 'https://s.test/1'])],
    ['a part too many', (kept) => (firstFile(kept)['parts'] as Fields[]).push(firstPart(kept))],
    ['a part that is none', (kept) => (firstFile(kept)['parts'] = [null])],
    ['parts that are no list', (kept) => (firstFile(kept)['parts'] = {})],
    ['a part too few', (kept) => (firstFile(kept)['parts'] = [])],
    ['a file too few', (kept) => (kept['files'] as Fields[]).pop()],
    ['a file twice', (kept) => ((kept['files'] as Fields[])[1]!['fileIndex'] = 0)],
    ['a doubt that is none', (kept) => delete firstPart(kept)['isDoubtful']],
    ['a receipt that is none', (kept) => (firstPart(kept)['receipt'] = 7)],
    ['a receipt that came at no time', (kept) => (firstPart(kept)['receivedAtMs'] = 'noon')],
    ['a file that was confirmed at no time', (kept) => (firstFile(kept)['confirmedAtMs'] = '')],
    ['a failure that is none', (kept) => (firstFile(kept)['error'] = null)],
    ['addresses that came at no time', (kept) => delete firstFile(kept)['addressedAtMs']],
    ['a file that says not whether it may be confirmed', (kept) => delete firstFile(kept)['mayBeConfirmed']],
    ['an orphan of which nothing is said', (kept) => delete (kept['standing'] as Fields)['hasPossibleOrphan']],
  ])('says of a shortened history with %s that it is damaged', (_what, spoil) => {
    const [begun, kept] = structuredClone(compactRecords([BEGUN, CREATED, { at: 8, type: 'session.resumed' }]))
    spoil(kept as unknown as Fields)

    expect(() => foldJournal([begun!, kept!])).toThrow('is damaged: a record of type session.kept does not fit')
  })

  it('takes from a shortened history what a session keeps there, and nothing else', () => {
    const [begun, kept] = structuredClone(compactRecords([BEGUN, CREATED, { at: 8, type: 'session.resumed' }]))
    const records = [begun!, kept!]
    const before = foldJournal(records)

    Object.assign((kept as unknown as { standing: Fields }).standing, { key: 'x', beganAt: 0, ledger: {} })
    Object.assign(firstFile(kept), JSON.parse('{"plan":{"name":"/etc"},"receivedCount":1,"__proto__":{"sha256":"y"}}'))

    const { key, ledger } = foldJournal(records)
    expect([key, ledger]).toEqual(['k', before.ledger])
  })

  const creating = { at: 8, type: 'session.creating' } as const
  const replaced = { at: 9, type: 'session.replaced', sessionId: 't', files: [address(0), address(1)] } as const
  const refused = { at: 9, type: 'session.refused' } as const
  const settled = (status: 'confirmed' | 'partial' | 'failed') => ({ at: 9, type: 'session.settled', status }) as const
  const cancelling = { at: 9, type: 'session.cancelling' } as const
  const ended = (sessionId: string) => ({ at: 9, type: 'session.ended', sessionId }) as const
  const resumed = { at: 10, type: 'session.resumed' } as const
  const asked = { place: 'created', isReplacing: true, hasPossibleOrphan: true, sessionId: 's' } as const
  const calm = { place: 'created', isReplacing: false, hasPossibleOrphan: false } as const

  it.each<[string, JournalRecord[], Partial<ReturnType<typeof foldJournal>>]>([
    [
      'its addresses were renewed',
      [CREATED, { at: 8, type: 'files.registered', files: [address(0)] }],
      { sessionId: 's' },
    ],
    ['a replacement was asked for', [CREATED, creating], asked],
    ['a replacement was refused', [CREATED, creating, refused], { ...calm, sessionId: 's' }],
    ['a replacement came', [CREATED, creating, replaced], { ...calm, sessionId: 't' }],
    [
      'it came after one of which nothing was heard',
      [CREATED, creating, creating, replaced],
      { hasPossibleOrphan: true },
    ],
    [
      'it came with a warning',
      [CREATED, creating, { ...replaced, hasPossibleOrphan: true }],
      { hasPossibleOrphan: true },
    ],
    [
      'a doubt of before is kept through another replacement',
      [{ ...CREATED, hasPossibleOrphan: true }, creating, refused, creating, replaced],
      { hasPossibleOrphan: true },
    ],
    [
      'it ended while one was asked for',
      [CREATED, creating, settled('partial')],
      { isReplacing: false, hasPossibleOrphan: true },
    ],
    [
      'it was given up while one was asked for',
      [CREATED, creating, cancelling],
      { isReplacing: false, hasPossibleOrphan: true },
    ],
    [
      'it was given up with an older doubt',
      [{ ...CREATED, hasPossibleOrphan: true }, cancelling],
      { hasPossibleOrphan: true },
    ],
    ['it was given up before its create had an answer', [creating, cancelling], { hasPossibleOrphan: true }],
    ['it failed before its create had an answer', [creating, settled('failed')], { hasPossibleOrphan: true }],
    [
      'one that was left is ended when all is over',
      [{ at: 4, type: 'session.left', sessionId: 'q' }, CREATED, settled('partial'), ended('q')],
      { place: 'partial', leftSessionIds: [] },
    ],
    ['it was given up without any', [CREATED, cancelling], { isReplacing: false, hasPossibleOrphan: false }],
    ['a partial one is taken up', [CREATED, settled('partial'), resumed], { place: 'created' }],
    ['a failed one is taken up', [CREATED, settled('failed'), resumed], { place: 'created' }],
    [
      'one that failed before it was created is taken up',
      [creating, refused, settled('failed'), resumed],
      { place: 'new' },
    ],
    ['one that is over stays so', [CREATED, settled('confirmed'), resumed], { place: 'confirmed' }],
    ['one that is being given up stays so', [CREATED, cancelling, resumed], { place: 'cancelling' }],
    [
      'the service was told of the end',
      [CREATED, { at: 9, type: 'session.cancelled', isServiceTold: true }],
      { isServiceTold: true },
    ],
    [
      'two could not be used',
      [{ at: 4, type: 'session.left', sessionId: 'p' }, { at: 4, type: 'session.left', sessionId: 'q' }, CREATED],
      { leftSessionIds: ['p', 'q'] },
    ],
  ])('knows where a session stands: %s', (_what, records, expected) => {
    expect(foldJournal([BEGUN, ...records])).toMatchObject(expected)
  })

  it('answers for no session before there is one', () => {
    expect([sessionsOf(undefined), sessionsOf(foldJournal([BEGUN]))]).toEqual([[], []])
    expect(sessionsOf(foldJournal([BEGUN, CREATED, replaced]))).toEqual(['t', 's'])
  })

  describe('given up but for what is confirmed', () => {
    const moved = { at: 8, type: 'session.replaced', sessionId: 't', files: [address(0)] } as const
    const all = { at: 9, type: 'part.received', partNumber: 1, receipt: { acceptedEnd: 10, isVerified: true } } as const
    const asked = { at: 9, type: 'file.confirming', fileIndex: 1 } as const
    const keeping = { ...cancelling, keepsConfirmed: true } as const
    const refusedConfirm = (code: 'ERR_UPLOAD_CONFIRM_REFUSED' | 'ERR_UPLOAD_NETWORK') =>
      ({ at: 9, type: 'file.failed', fileIndex: 1, error: { code, message: '' } }) as const
    // File 1 is in session s, file 0 went to t.
    const before: JournalRecord[] = [CREATED, { ...all, fileIndex: 1 }, moved]

    it.each<[string, JournalRecord[], string[], boolean | undefined]>([
      ['it was confirmed', [{ at: 9, type: 'file.confirmed', fileIndex: 1 }, keeping], ['t'], true],
      ['its confirmation had no answer', [asked, keeping], ['t'], true],
      [
        'it failed, and its confirmation had no answer',
        [asked, refusedConfirm('ERR_UPLOAD_NETWORK'), keeping],
        ['t'],
        true,
      ],
      [
        'its confirmation was refused',
        [asked, refusedConfirm('ERR_UPLOAD_CONFIRM_REFUSED'), keeping],
        ['t', 's'],
        undefined,
      ],
      ['nothing was', [keeping], ['t', 's'], undefined],
      ['but that, too, was given up', [asked, cancelling], ['t', 's'], undefined],
    ])('answers for each session that holds none of it: %s', (_what, records, sessions, keepsConfirmed) => {
      const folded = foldJournal([BEGUN, ...before, ...records])

      expect(sessionsOf(folded)).toEqual(sessions)
      expect(folded.keepsConfirmed).toBe(keepsConfirmed)
    })

    it('answers for no session where the one of all holds some', () => {
      const registered = { at: 8, type: 'files.registered', files: [address(0), address(1)] } as const
      const whole = { at: 7, type: 'session.created', sessionId: 's' } as const

      expect(sessionsOf(foldJournal([BEGUN, whole, registered, asked, keeping]))).toEqual([])
    })
  })

  it('tells an end from what goes on', () => {
    const places: JournalPlace[] = [
      'new',
      'creating',
      'created',
      'cancelling',
      'confirmed',
      'partial',
      'cancelled',
      'failed',
    ]

    expect(places.map(finalStatusOf).filter((status) => status !== undefined)).toEqual(places.slice(4))
  })
})

type Fields = Record<string, unknown>

function firstFile(kept: unknown): Fields {
  return (kept as { files: Fields[] }).files[0]!
}

function firstPart(kept: unknown): Fields {
  return (firstFile(kept) as { parts: Fields[] }).parts[0]!
}

function codeOf(action: () => unknown): unknown {
  try {
    action()
  } catch (error) {
    return (error as { code?: unknown }).code
  }
  return undefined
}
