// A session whose five actors a test answers by hand, and the words in which such tests are written.
import { createActor } from 'xstate'

import type { TransferResult } from '../../src/core/transfer/transfer.ts'
import type { UploadSessionInput, UploadSessionEvent } from '../../src/machines/session-data.ts'
import { uploadSessionMachine } from '../../src/machines/upload-session.ts'
import { handActors, settled } from './hand-actors.ts'
import type { Answer } from './session-events.ts'
import { stateName } from './state-name.ts'

export const pause: UploadSessionEvent = { type: 'upload.pause' }
export const resume: UploadSessionEvent = { type: 'upload.resume' }
export const close: UploadSessionEvent = { type: 'upload.close' }
export const cancel: UploadSessionEvent = { type: 'upload.cancel' }
export const refused = {
  code: 'ERR_UPLOAD_CREDENTIALS_REFUSED',
  message: 'The service refused the key (401).',
} as const

/** A started session whose five actors are answered by hand. */
export function startSession(input: UploadSessionInput = { place: 'new' }) {
  const hand = handActors()
  const machine = uploadSessionMachine.provide({
    actors: {
      creatingSession: hand.actor('creatingSession'),
      transferring: hand.actor('transferring'),
      draining: hand.actor('draining'),
      cancellingSession: hand.actor('cancellingSession'),
      settling: hand.actor('settling'),
    },
  })
  const actor = createActor(machine, { input: { ...input } }).start()
  return {
    ...hand,
    send: (...events: readonly UploadSessionEvent[]) => events.forEach((event) => actor.send(event)),
    answer: async (name: string, answer: Answer) => {
      hand.last(name).answer(answer)
      await settled()
    },
    state: () => stateName(actor.getSnapshot().value),
    context: () => actor.getSnapshot().context,
  }
}

export const created: Answer = { output: undefined }
export const nothing: Answer = { output: undefined }
export const transferred = (result: TransferResult): Answer => ({ output: result })
