// How a call of a host's protocol ends. A confirmation that is under way at a pause may still be answered; none begins after one.

import { expect, it } from 'vitest'
import type { HostWait, OnWaiting } from '../../src/core/ports.ts'
import type { TransferEvent } from '../../src/core/transfer/transfer-job.ts'
import { callProtocol } from '../../src/flows/protocol-call.ts'
import { createSimulatedClock } from '../helpers/simulated-clock.ts'

/** Whether a try that is told of may still go out, if the pause comes at this moment. */
async function mayBegin(moment: 'before it is told of' | 'as it is told of' | 'never'): Promise<boolean> {
  const pause = new AbortController()
  const report = (): void => {
    if (moment === 'as it is told of') pause.abort()
  }
  return callProtocol({ clock: createSimulatedClock(), report }, pause.signal, (onWaiting, lasting) => {
    if (moment === 'before it is told of') pause.abort()
    onWaiting()
    return Promise.resolve(!lasting.aborted)
  })
}

it('lets no try begin after a pause, not even if the pause comes from who is told of the try', async () => {
  await expect(mayBegin('never')).resolves.toBe(true)
  await expect(mayBegin('before it is told of')).resolves.toBe(false)
  await expect(mayBegin('as it is told of')).resolves.toBe(false)
})

it.each([
  ['whose protocol reports nothing', () => undefined],
  ['that was told of', (onWaiting: OnWaiting) => onWaiting()],
])('leaves a try %s its few seconds to be answered in after a pause', async (_, begin) => {
  const clock = createSimulatedClock()
  const pause = new AbortController()
  const endedAtMs: number[] = []
  const call = (onWaiting: OnWaiting, lasting: AbortSignal) => {
    void begin(onWaiting)
    return new Promise<never>((_resolve, reject) => {
      lasting.addEventListener('abort', () => {
        endedAtMs.push(clock.monotonicNow())
        reject(lasting.reason as Error)
      })
    })
  }
  const ended = callProtocol({ clock, report: () => undefined }, pause.signal, call).catch((error: unknown) => error)
  pause.abort('paused')
  await clock.advance(10_000)

  // Somebody may have heard of it.
  expect(await ended).toMatchObject({ message: 'paused', details: { isDoubtful: true } })
  expect(endedAtMs).toEqual([4_000])
})

const WAIT: HostWait = {
  ...{ host: 'h:443', operation: 'confirm', reason: 'it answers 503', isDoubtful: false },
  ...{ sinceMs: 0, untilMs: 10_000, giveUpAtMs: undefined },
}

it('has half a minute to end in, whatever waits it goes on to report', async () => {
  const clock = createSimulatedClock()
  const pause = new AbortController()
  const endings: unknown[] = []
  const call = (onWaiting: OnWaiting): Promise<never> => {
    const reportAgain = (): void => {
      void onWaiting(WAIT)
      clock.setTimeout(reportAgain, 2_000)
    }
    // The first of them comes while an answer may still follow.
    clock.setTimeout(reportAgain, 2_000)
    return new Promise(() => undefined)
  }
  const ended = callProtocol({ clock, report: () => undefined }, pause.signal, call)
  ended.catch((error: unknown) => endings.push(error))
  await clock.advance(1_000)
  pause.abort(new Error('paused'))

  await clock.advance(29_999)
  expect(endings).toEqual([])
  await clock.advance(1)

  expect(endings).toMatchObject([{ code: 'ERR_UPLOAD_TIMEOUT' }])
})

it('is heard of no more once it has ended: what it waits for would seem to last for ever', async () => {
  const events: TransferEvent[] = []
  let tell: OnWaiting = () => undefined
  const report = (event: TransferEvent): void => void events.push(event)
  await callProtocol({ clock: createSimulatedClock(), report }, new AbortController().signal, (onWaiting) => {
    tell = onWaiting
    return Promise.resolve()
  })
  expect(events.map(({ type }) => type)).toEqual(['reachable'])

  void tell(WAIT)

  expect(events).toHaveLength(1)
})
