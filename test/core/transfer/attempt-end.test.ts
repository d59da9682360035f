// The end of an attempt: what is on record before its part may go again, and how it goes then.

import { describe, expect, it } from 'vitest'
import { readAddress } from '../../../src/core/address/address.ts'
import type { AttemptResult } from '../../../src/core/attempt/attempt.ts'
import { TransportError, UploadError } from '../../../src/core/errors.ts'
import { createLedger, fileAt, type LedgerFile } from '../../../src/core/journal/ledger.ts'
import { createAttemptEnd } from '../../../src/core/transfer/attempt-end.ts'
import { createHostWatch } from '../../../src/core/transfer/host-watch.ts'
import { createSchedule, type Turn } from '../../../src/core/transfer/schedule.ts'
import type { RenewalReason, TransferEvent, TransferJob } from '../../../src/core/transfer/transfer-job.ts'
import { createSimulatedClock } from '../../helpers/simulated-clock.ts'

it('is believed only while the file is where the part was sent to', async () => {
  for (const [isMoved, told] of [
    [false, ['received']],
    [true, ['attemptEnded']],
  ] as const) {
    const { end, file, written, events } = setUp()

    const ending = end()
    if (isMoved) file.generation += 1
    written()
    await ending

    expect(events.map(({ type }) => type)).toEqual(told)
  }
})

it('of a file that has failed meanwhile changes nothing: nothing of it is believed, asked for or tried again', async () => {
  const error = new UploadError('ERR_UPLOAD_ADDRESS_REFUSED', 'No.')
  for (const result of [
    { kind: 'received', receipt: { acceptedEnd: 10, isVerified: false } },
    { kind: 'refused', verdict: { kind: 'renew', error } },
    { kind: 'refused', verdict: { kind: 'retry', error, isThrottle: false } },
    { kind: 'expired' },
    { kind: 'missing', ending: 'doubtful', error: lost('doubtful') },
  ] as const) {
    const { end, file, recorded, reasons, failures, events, waitsOrIsReady } = setUp()
    file.state = 'failed'

    await end(result)

    expect([recorded, reasons, failures, waitsOrIsReady()]).toEqual([[], [], [], false])
    expect(events.map(({ type }) => type)).toEqual(['attemptEnded'])
  }
})

const lost = (ending: 'doubtful' | 'neverWhole') =>
  new TransportError('ERR_UPLOAD_NETWORK', 'Lost', { phase: 'answer', ending })

it('that is doubtful lets its part go again only when that is on record', async () => {
  for (const result of [
    { kind: 'missing', ending: 'doubtful', error: lost('doubtful') },
    { kind: 'aborted', ending: 'doubtful' },
  ] as const) {
    const { end, written, recorded, waitsOrIsReady } = setUp()

    const ending = end(result)
    expect([recorded, waitsOrIsReady()]).toEqual([['part.doubtful'], false])
    written()
    await ending

    expect(waitsOrIsReady()).toBe(true)
  }
})

it.each([
  [
    'of which nothing failed goes at once, on a fresh connection, and uses nothing up',
    { kind: 'aborted', ending: 'neverWhole' },
    { attempt: 2, usedTries: 0, isFreshConnection: true },
    ['attemptEnded'],
  ],
  [
    'without an answer waits for its turn, on a fresh connection, and says so',
    { kind: 'missing', ending: 'neverWhole', error: lost('neverWhole') },
    { attempt: 2, usedTries: 1, isFreshConnection: true },
    ['attemptEnded', 'retry'],
  ],
  [
    'of a storage that lost what it had taken of the part is none that is recorded, and is counted',
    { kind: 'received', receipt: { acceptedEnd: -1, isVerified: false } },
    { attempt: 2, usedTries: 1, isFreshConnection: false },
    ['attemptEnded', 'retry'],
  ],
] as const)('one %s', async (_, result, turn, told) => {
  const { end, events, recorded, again } = setUp()

  await end(result)

  expect(again()).toEqual(turn === undefined ? undefined : expect.objectContaining(turn))
  expect(events.map(({ type }) => type)).toEqual(told)
  for (const event of events)
    if (event.type === 'retry') expect(event.error.code).toMatch(/^ERR_UPLOAD_(?:NETWORK|SERVICE_REPLY)$/)
  expect(recorded).toEqual([])
})

describe('an address that is no longer taken', () => {
  const refusedAs = (
    code: 'ERR_UPLOAD_ADDRESS_EXPIRED' | 'ERR_UPLOAD_ADDRESS_REFUSED',
    isDead?: boolean,
  ): AttemptResult => ({
    ...{ kind: 'refused', verdict: { kind: 'renew', error: new UploadError(code, 'No.') } },
    ...(isDead === undefined ? {} : { isDead }),
  })
  const expired = refusedAs('ERR_UPLOAD_ADDRESS_EXPIRED')
  const died: AttemptResult = { kind: 'expired' }
  const errorOf = (code: string) => expect.objectContaining({ code }) as unknown
  const [EXPIRED, REFUSED] = [errorOf('ERR_UPLOAD_ADDRESS_EXPIRED'), errorOf('ERR_UPLOAD_ADDRESS_REFUSED')]

  it.each([
    ['was refused without a word', refusedAs('ERR_UPLOAD_ADDRESS_REFUSED'), { isDead: false, error: REFUSED }],
    ['will never be taken', refusedAs('ERR_UPLOAD_ADDRESS_REFUSED', true), { isDead: true, error: REFUSED }],
    ['was refused as expired', expired, { isDead: false, error: EXPIRED }],
    ['died before it was used', died, { isDead: true, error: EXPIRED }],
  ])('and %s is renewed as such; its part goes at once, and has used up a try', async (_, result, reason) => {
    const { end, reasons, again } = setUp()

    await end(result)

    expect(reasons).toEqual([expect.objectContaining({ ...reason, lifeMs: 60_000 })])
    expect(again()).toMatchObject({ attempt: 2, usedTries: 1 })
  })

  it('is renewed once for all who found it so, and once more where it is so again', async () => {
    const { end, reasons } = setUp()

    await Promise.all([end(expired), end(expired)])
    expect(reasons).toHaveLength(1)
    await end(expired)

    expect(reasons).toHaveLength(2)
  })

  it('is not renewed where another one has its place by now', async () => {
    const { end, file, reasons, again } = setUp()
    file.addresses = ['https://store.test/a/new']

    await end(expired)

    expect([reasons, again()]).toEqual([[], expect.objectContaining({ attempt: 2, usedTries: 1 })])
  })

  it('of a file that is in another session by then leaves its part to that', async () => {
    const { end, moves, again } = setUp({
      renew(file) {
        file.generation += 1
        return true
      },
    })

    await end(expired)

    expect([moves(), again()]).toEqual([1, undefined])
  })

  it.each([
    ['renewed as long as there are tries', expired, 4, 1],
    ['believed at the last try', expired, 5, 0],
    ['renewed also at the last try where it died before that', died, 5, 1],
    ['no longer renewed when new ones died as often as it may be tried', died, 6, 0],
  ])('is %s', async (_, result, usedTries, renewals) => {
    const { end, failures, reasons } = setUp({ usedTries })

    await end(result)

    expect(reasons).toHaveLength(renewals)
    expect(failures.map(({ code }) => code)).toEqual(renewals === 1 ? [] : ['ERR_UPLOAD_ADDRESS_EXPIRED'])
  })

  it.each([
    ['by its refusal where there is no way to renew it', () => false, 'ERR_UPLOAD_ADDRESS_EXPIRED'],
    [
      'by what its renewal failed with',
      () => {
        throw new UploadError('ERR_UPLOAD_SERVICE_REPLY', 'No.')
      },
      'ERR_UPLOAD_SERVICE_REPLY',
    ],
  ])('fails its file %s', async (_, renew, code) => {
    const { end, failures, again } = setUp({ renew })

    await end(expired)

    expect([failures, again()]).toEqual([[expect.objectContaining({ code })], undefined])
  })
})

interface SetUpOptions {
  /** Of the part before. */
  readonly usedTries?: number
  readonly renew?: (file: LedgerFile) => boolean
}

function setUp({ usedTries = 0, renew = () => true }: SetUpOptions = {}) {
  const clock = createSimulatedClock()
  const random = (): number => 0.5
  const ledger = createLedger([{ fileIndex: 0, name: 'a.mp4', sizeBytes: 20, partSizeBytes: 10, partCount: 2 }])
  const file = fileAt(ledger, 0)
  const unit = { fileIndex: 0, partNumber: 1, start: 0, end: 10 }
  const schedule = createSchedule('any')
  schedule.add([unit])
  const turn: Turn = { ...schedule.take(0)!, usedTries }
  const events: TransferEvent[] = []
  const recorded: string[] = []
  const reasons: RenewalReason[] = []
  const failures: UploadError[] = []
  let moves = 0
  let written = (): void => undefined
  const job = {
    ledger,
    record({ type }) {
      recorded.push(type)
      return new Promise<void>((resolve) => (written = resolve))
    },
    report: (event) => void events.push(event),
    async renew(asked, reason) {
      reasons.push(reason)
      // Its answer comes later: meanwhile others may ask.
      await Promise.resolve()
      return renew(asked)
    },
  } as Partial<TransferJob> as TransferJob
  const never = (): never => {
    throw new Error('Nothing fails here.')
  }
  const ended = createAttemptEnd({
    ...{ job, schedule, clock, random, retries: 6, signal: new AbortController().signal },
    host: createHostWatch({
      clock,
      random,
      giveUpAfterMs: 1_000,
      running: [],
      report: () => undefined,
      onGiveUp: never,
    }),
    lifeOf: () => 60_000,
    failFile: (_, error) => Promise.resolve(void failures.push(error as UploadError)),
    onComplete: never,
    onMoved: () => Promise.resolve(void (moves += 1)),
  })
  const address = readAddress('https://store.test/a/1')
  file.addresses = [address.url, 'https://store.test/a/2']
  const receipt = { acceptedEnd: 10, isVerified: false }
  const end = (result: AttemptResult = { kind: 'received', receipt }) =>
    ended({ turn, file, address, generation: 0, addressedAtMs: 0, beganAtMs: 0, addressesWere: undefined }, result)
  const nowMs = clock.monotonicNow()
  return {
    ...{ end, file, written: () => written(), events, recorded, reasons, failures, moves: () => moves },
    waitsOrIsReady: () => schedule.readyCount(Infinity) > 0,
    again: () => schedule.take(schedule.nextDueMs(nowMs) ?? nowMs),
  }
}
