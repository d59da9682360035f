// Whether an attempt may still start with an address: by the signer's time, and by what the storage was seen to do.

import { describe, expect, it } from 'vitest'
import { readAddress } from '../../../src/core/address/address.ts'
import { createAddressClock } from '../../../src/core/address/address-clock.ts'
import { UploadError } from '../../../src/core/errors.ts'
import { createSimulatedClock } from '../../helpers/simulated-clock.ts'

const START_MS = Date.UTC(2026, 10, 20, 20)
const MINUTE_MS = 60_000
const LIFE_MS = 15 * MINUTE_MS

/** The two kinds of deadline: one that says when it was signed, and one that does not. */
const FORMS: Readonly<Record<string, string>> = {
  'AWS V4': 'https://s.test/a?X-Amz-Date=20261120T200000Z&X-Amz-Expires=900&X-Amz-Signature=x',
  'AWS V2': `https://s.test/a?Expires=${(START_MS + LIFE_MS) / 1_000}&Signature=x`,
}

const saysExpired = new UploadError('ERR_UPLOAD_ADDRESS_EXPIRED', 'x')
const refuses = new UploadError('ERR_UPLOAD_ADDRESS_REFUSED', 'x')

describe.each(Object.entries(FORMS))('an address of %s', (_, address) => {
  const begin = () => {
    const clock = createSimulatedClock({ wallStartMs: START_MS })
    const addresses = createAddressClock(clock)
    return { clock, addresses, isDead: () => addresses.isDead(readAddress(address), START_MS) }
  }

  it('is taken until two seconds before it dies, however long attempts take', async () => {
    const { clock, addresses, isDead } = begin()
    addresses.noteDuration(10 * MINUTE_MS)

    await clock.advance(LIFE_MS - 2_001)
    expect(isDead()).toBe(false)
    await clock.advance(1)
    expect(isDead()).toBe(true)
  })

  it('must outlive the longest attempt as well, once the storage has tested it at the end of one', async () => {
    const { clock, addresses, isDead } = begin()
    addresses.noteDuration(5 * MINUTE_MS)
    addresses.noteDuration(MINUTE_MS)
    addresses.noteLateRefusal(refuses)
    await clock.advance(LIFE_MS - 5 * MINUTE_MS - 2_000)
    expect(isDead()).toBe(false)

    addresses.noteLateRefusal(saysExpired)
    expect(isDead()).toBe(true)
  })

  it('is not dead when it comes, although an attempt once took longer than it lives', async () => {
    const { clock, addresses, isDead } = begin()
    addresses.noteDuration(20 * MINUTE_MS)
    addresses.noteLateRefusal(saysExpired)

    expect(isDead()).toBe(false)
    await clock.advance(LIFE_MS / 2)
    expect(isDead()).toBe(true)
  })
})

it('goes by the time of the storage as soon as an answer tells it', () => {
  const address = readAddress(FORMS['AWS V4']!)
  const clock = createSimulatedClock({ wallStartMs: START_MS + 20 * MINUTE_MS })
  const addresses = createAddressClock(clock)
  expect(addresses.isDead(address, START_MS + 20 * MINUTE_MS)).toBe(false)

  addresses.noteReply({ date: 'Fri, 20 Nov 2026 20:14:59 GMT' })
  expect(addresses.isDead(address, START_MS + 20 * MINUTE_MS)).toBe(true)
  addresses.noteReply({ date: 'Fri, 20 Nov 2026 20:00:00 GMT' })
  expect(addresses.isDead(address, START_MS + 20 * MINUTE_MS)).toBe(false)
})

it.each([6, -6])('keeps the time of the storage when somebody sets our clock by %s h', async (hours) => {
  const address = readAddress(FORMS['AWS V4']!)
  const clock = createSimulatedClock({ wallStartMs: START_MS })
  const addresses = createAddressClock(clock)
  addresses.noteReply({ date: 'Fri, 20 Nov 2026 20:00:00 GMT' })

  clock.shiftWall(hours * 60 * MINUTE_MS)
  expect(addresses.isDead(address, START_MS)).toBe(false)
  expect(addresses.deadlineMs(address, START_MS)).toBe(LIFE_MS)
  await clock.advance(LIFE_MS)
  expect(addresses.isDead(address, START_MS)).toBe(true)
})

it('is tried once where our clock says that it came dead, and nothing says when it was signed: the storage tells', () => {
  const address = readAddress(FORMS['AWS V2']!)
  const cameAtMs = START_MS + 60 * MINUTE_MS
  const clock = createSimulatedClock({ wallStartMs: cameAtMs })
  const addresses = createAddressClock(clock)
  expect(addresses.isDead(address, cameAtMs)).toBe(false)
  expect(addresses.deadlineMs(address, cameAtMs)).toBe(undefined)
  expect(addresses.lifeMs(address, cameAtMs)).toBe(undefined)

  addresses.noteReply({ date: 'Fri, 20 Nov 2026 20:05:00 GMT' })
  expect(addresses.isDead(address, cameAtMs)).toBe(false)
  expect(addresses.lifeMs(address, cameAtMs)).toBe(10 * MINUTE_MS)
  addresses.noteReply({ date: 'Fri, 20 Nov 2026 20:15:00 GMT' })
  expect(addresses.isDead(address, cameAtMs)).toBe(true)
})

it('tells when an address dies and how long it lives by the clock of its signer, however far off ours is', async () => {
  const address = readAddress(FORMS['AWS V4']!)
  const cameAtMs = START_MS + 60 * MINUTE_MS
  const clock = createSimulatedClock({ wallStartMs: cameAtMs })
  const addresses = createAddressClock(clock)
  await clock.advance(MINUTE_MS)
  expect(addresses.isDead(address, cameAtMs)).toBe(false)
  expect(addresses.deadlineMs(address, cameAtMs)).toBe(LIFE_MS)
  expect(addresses.lifeMs(address, cameAtMs)).toBe(LIFE_MS)

  await clock.advance(LIFE_MS - MINUTE_MS)
  expect(addresses.isDead(address, cameAtMs)).toBe(true)
  // However late it came by the clock of the storage.
  addresses.noteReply({ date: 'Fri, 20 Nov 2026 20:05:00 GMT' })
  expect(addresses.lifeMs(address, clock.wallNow())).toBe(LIFE_MS)
})

it('knows nothing of an address that does not say how long it lives, and keeps what it knows of the time', () => {
  const clock = createSimulatedClock({ wallStartMs: START_MS })
  const addresses = createAddressClock(clock)
  const silent = readAddress('https://s.test/a?X-Amz-Date=20261120T200000Z')
  expect([addresses.deadlineMs(silent, START_MS), addresses.lifeMs(silent, START_MS)]).toEqual([undefined, undefined])
  expect(addresses.isDead(silent, START_MS)).toBe(false)

  addresses.noteReply({ date: 'Fri, 20 Nov 2026 20:15:00 GMT' })
  addresses.noteReply({})
  expect(addresses.isDead(readAddress(FORMS['AWS V4']!), START_MS)).toBe(true)
})
