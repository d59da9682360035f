// Calls whose tries are answered one by one.

import type { ScriptedRequest } from '../helpers/scripted-transport.ts'
import type { ClientUnderTest } from './client-under-test.ts'

export const created = { status: 200, body: { id: 's-1' } }

/** Ends every try in this way until the call is over; how long each was waited for, ms. */
export async function endAll(
  subject: ClientUnderTest,
  failure: Promise<unknown>,
  end: (request: ScriptedRequest) => void,
): Promise<number[]> {
  const state = { isOver: false }
  void failure.then(() => (state.isOver = true))
  for (const waits: number[] = []; ;) {
    end(await subject.transport.next())
    await subject.clock.advance(0)
    if (state.isOver) return waits
    const waitMs = subject.clock.nextDueInMs
    if (waitMs === undefined || subject.transport.waitingCount > 0) continue
    waits.push(waitMs)
    await subject.clock.advance(waitMs)
  }
}

export const aConfirmation = { uploadSessionId: 'us-1', sessionFileId: 7, parts: [{ partNumber: 1, etag: 'e' }] }

export function confirm({ client }: ClientUnderTest): Promise<void> {
  return client.videoUploads.confirm(aConfirmation)
}
