// What a session learns of its addresses from how attempts end.

import { describe, expect, it } from 'vitest'
import type { AttemptResult } from '../../../src/core/attempt/attempt.ts'
import { HttpStatusError, type UploadErrorCode } from '../../../src/core/errors.ts'
import type { Verdict } from '../../../src/core/ports.ts'
import { addressOf, type AttemptStart } from '../../../src/core/transfer/attempts.ts'
import { createSessionAddresses } from '../../../src/core/transfer/session-addresses.ts'
import { createWorld } from '../../simulation/world.ts'

const MINUTE_MS = 60_000
const LIFE_MS = 15 * MINUTE_MS
const UNIT = { fileIndex: 0, partNumber: 1, start: 0, end: 1_000 }
const RECEIVED: AttemptResult = { kind: 'received', receipt: { acceptedEnd: 1_000, isVerified: false } }

const refused = (
  kind: 'renew' | 'final',
  code: UploadErrorCode,
  serviceCode?: string,
): AttemptResult & { readonly kind: 'refused' } => {
  const error = new HttpStatusError(code, 'no', { status: 403, serviceCode })
  return { kind: 'refused', verdict: { kind, error } satisfies Verdict }
}

/** A file whose addresses were signed when they came, for a quarter of an hour. */
function begin(query = '') {
  const { clock, ...world } = createWorld()
  const job = world.job({ sources: world.sources([1_000]), partSizeBytes: 1_000 })
  const file = job.ledger.files[0]!
  const signedAt = new Date(clock.wallNow()).toISOString().replace(/[-:]|\.\d+/g, '')
  const lives = `X-Amz-Date=${signedAt}&X-Amz-Expires=${LIFE_MS / 1_000}&X-Amz-Signature=x`
  file.addresses = [`https://store.test/0/1?${query === '' ? lives : query}`]
  file.addressedAtMs = clock.wallNow()
  const host = { isInReach: true }
  const addresses = createSessionAddresses(clock, job.ledger, job.protocol, () => host.isInReach)
  const start = (addressesWere?: AttemptStart['addressesWere']): AttemptStart => ({
    turn: { unit: UNIT, attempt: 1, usedTries: 0, isFreshConnection: false, isFirstComer: false, epoch: 0 },
    ...{ file, address: addressOf(file, UNIT), generation: 0, addressedAtMs: file.addressedAtMs, addressesWere },
    beganAtMs: clock.monotonicNow(),
  })
  const isExpired = (): boolean => addresses.isExpired({ unit: UNIT, address: addressOf(file, UNIT) })
  return { clock, file, addresses, start, isExpired, host }
}

it('says when the addresses of a file die and how long they live, as far as they say it', async () => {
  const { clock, addresses, file } = begin()
  const beganAtMs = clock.monotonicNow()
  await clock.advance(MINUTE_MS)

  expect([addresses.deadlineOf(file), addresses.lifeOf(file)]).toEqual([beganAtMs + LIFE_MS, LIFE_MS])
  const silent = begin('X-Amz-Signature=x')
  expect([silent.addresses.deadlineOf(silent.file), silent.addresses.lifeOf(silent.file)]).toEqual([
    undefined,
    undefined,
  ])
})

describe('once the storage has tested an address at the end of its attempt', () => {
  it.each([
    ['the longest attempt that was answered well', RECEIVED, true],
    ['none that was refused', refused('final', 'ERR_UPLOAD_HTTP_STATUS'), false],
  ])('it must outlive %s', async (_, result, isTooOld) => {
    const { clock, addresses, start, isExpired } = begin()
    await clock.advance(MINUTE_MS)
    const longest = start()
    await clock.advance(5 * MINUTE_MS)
    addresses.ended(longest, result)
    addresses.ended(start(), refused('renew', 'ERR_UPLOAD_ADDRESS_EXPIRED'))

    await clock.advance(3 * MINUTE_MS)
    expect(isExpired()).toBe(false)
    await clock.advance(MINUTE_MS)
    expect(isExpired()).toBe(isTooOld)
  })
})

it('does not take a storage for one that tests at the end where the address died while this machine slept', async () => {
  const { clock, file, addresses, start, isExpired } = begin()
  const sign = (): void => {
    const signedAt = new Date(clock.wallNow()).toISOString().replace(/[-:]|\.\d+/g, '')
    file.addresses = [`https://store.test/0/1?X-Amz-Date=${signedAt}&X-Amz-Expires=${LIFE_MS / 1_000}`]
    file.addressedAtMs = clock.wallNow()
  }
  const answer = (): void => {
    const headers = { date: new Date(clock.wallNow()).toUTCString() }
    addresses.judge({ status: 200, headers, body: new Uint8Array(), isBodyCut: false }, UNIT)
  }
  const long = start()
  await clock.advance(5 * MINUTE_MS)
  answer()
  addresses.ended(long, RECEIVED)
  sign()
  // Linux does not count the time in which the machine sleeps.
  clock.shiftWall(60 * MINUTE_MS)
  const attempt = start()
  answer()
  addresses.ended(attempt, refused('renew', 'ERR_UPLOAD_ADDRESS_EXPIRED'))
  sign()

  await clock.advance(12 * MINUTE_MS)

  expect(isExpired()).toBe(false)
})

describe('a refusal', () => {
  const DENIED = refused('final', 'ERR_UPLOAD_ADDRESS_REFUSED')
  const TOO_LARGE = refused('final', 'ERR_UPLOAD_HTTP_STATUS')

  it('says that an upload is gone: addresses of an earlier life are renewed, and those that have just come are not', () => {
    const { addresses, start } = begin()
    const gone = refused('final', 'ERR_UPLOAD_ADDRESS_REFUSED', 'NoSuchUpload')

    expect([addresses.ended(start('usable'), gone), addresses.ended(start(), gone)]).toMatchObject([
      { verdict: { kind: 'renew' }, isDead: true },
      { verdict: { kind: 'final' }, isDead: undefined },
    ])
    expect(addresses.ended(start('usable'), DENIED)).toEqual({ ...DENIED, isDead: false })
  })

  it.each([
    ['that gives no reason of its own', DENIED, LIFE_MS, false, 'renew'],
    ['that gives another reason', TOO_LARGE, LIFE_MS, false, 'final'],
    ['of an address that lives', DENIED, 0, false, 'final'],
    ['of an address that was refused in an earlier life', DENIED, 0, true, 'renew'],
    ['for another reason of an address that was refused in an earlier life', TOO_LARGE, 0, true, 'final'],
  ])('%s: an address that died on its way is renewed, and no other', async (_, result, afterMs, isLeftOver, kind) => {
    const { clock, addresses, start } = begin()
    const attempt = start(isLeftOver ? 'refused' : undefined)
    await clock.advance(afterMs)

    expect(addresses.ended(attempt, result)).toEqual({
      kind: 'refused',
      verdict: { kind, error: result.verdict.error },
      isDead: isLeftOver || undefined,
    })
  })
})

it('leaves every other end as it is', () => {
  const { addresses, start } = begin()
  const ends: readonly AttemptResult[] = [RECEIVED, { kind: 'expired' }, { kind: 'aborted', ending: 'neverWhole' }]

  expect(ends.map((result) => addresses.ended(start(), result))).toEqual(ends)
})

describe('a host that is out of reach', () => {
  it('may be probed with an expired address', async () => {
    const { clock, host, isExpired } = begin()
    await clock.advance(LIFE_MS + MINUTE_MS)
    expect(isExpired()).toBe(true)

    host.isInReach = false
    expect(isExpired()).toBe(false)
  })

  it.each([true, false])(
    'and refuses it says nothing of when addresses are tested (in reach: %s)',
    async (isInReach) => {
      const { clock, addresses, host, isExpired, start } = begin()
      const long = start()
      await clock.advance(10 * MINUTE_MS)
      addresses.ended(long, RECEIVED)

      host.isInReach = isInReach
      addresses.ended(start(), refused('renew', 'ERR_UPLOAD_ADDRESS_EXPIRED'))
      host.isInReach = true

      expect(isExpired()).toBe(isInReach)
    },
  )
})
