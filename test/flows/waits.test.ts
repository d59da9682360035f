// Which wait a host is shown while bytes move, while others wait too, and where this machine has no network.

import { expect, it } from 'vitest'

import { createWaits } from '../../src/flows/waits.ts'
import { createSimulatedClock } from '../helpers/simulated-clock.ts'

/** `movesForMs`: for how long bytes still count as moving. */
function waiting(movesForMs: number) {
  const clock = createSimulatedClock()
  const shown: (string | undefined)[] = []
  const take = createWaits(
    clock,
    () => movesForMs - clock.monotonicNow(),
    (outage) => shown.push(outage?.host),
  )
  const call = {}
  const wait = (host: string, isOffline = false): void => {
    const times = { sinceMs: 0, untilMs: 10_000, giveUpAtMs: undefined }
    take({ type: 'unreachable', call, host, isOffline, ...times })
  }
  const unit = { fileIndex: 0, partNumber: 1, start: 0, end: 1 }
  return {
    clock,
    shown,
    wait,
    arrive: () => take({ type: 'received', unit }),
    end: () => take({ type: 'reachable', call }),
  }
}

it('a call that waits is not shown before bytes stand still, and leaves no timer when it ends', async () => {
  const { clock, shown, wait, end } = waiting(5_000)
  wait('h:443')
  wait('h:443')
  await clock.advance(4_999)
  expect([shown, clock.pending]).toEqual([[], 1])

  await clock.advance(1)
  expect([shown, clock.pending]).toEqual([['h:443'], 0])

  end()
  expect(shown).toEqual(['h:443', undefined])
})

it('a call that no longer waits is not looked at again', () => {
  const { clock, shown, wait, end } = waiting(5_000)
  wait('h:443')
  end()

  expect([shown, clock.pending]).toEqual([[], 0])
})

it('is shown at once where there is no network, unless a part has arrived since: no bytes follow the last ones', () => {
  const { shown, wait, arrive, end } = waiting(5_000)
  wait('h:443', true)
  expect(shown).toEqual(['h:443'])

  arrive()
  expect(shown).toEqual(['h:443', undefined])

  end()
  wait('h:443', true)
  expect(shown).toEqual(['h:443', undefined, 'h:443'])
})
