// A confirmation that is under way at a pause may still be answered; none begins after one.

import { expect, it } from 'vitest'
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
