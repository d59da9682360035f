// A small flow around the upload-session machine: its actors append what a flow appends, intent before and result
// after, and do their work on a session of two files of one part each. Nothing is sent anywhere.
import { createActor, fromPromise } from 'xstate'

import { type FoldedJournal, foldJournal } from '../../src/core/journal/fold-journal.ts'
import type { JournalRecord } from '../../src/core/journal/journal.ts'
import type { TransferResult } from '../../src/core/transfer/transfer.ts'
import type { EndStatus, UploadSessionEvent } from '../../src/machines/session-data.ts'
import { uploadSessionMachine } from '../../src/machines/upload-session.ts'
import { settled } from './hand-actors.ts'
import { rejectionOf, type Answer } from './session-events.ts'

const at = 1_763_640_000_000
const file = (fileIndex: number) => ({
  fileIndex,
  name: `swing-0${fileIndex}.mp4`,
  sizeBytes: 10,
  partCount: 1,
  partSizeBytes: 10,
})

/** The first record of every journal here. */
export const begun: JournalRecord = {
  at,
  type: 'session.begun',
  version: 1,
  key: 'k-1',
  flow: 'video',
  params: {},
  files: [file(0), file(1)],
  locations: ['/clips/swing-00.mp4', '/clips/swing-01.mp4'],
}

/** Answers an actor by its state; `undefined`: the double does the work itself, and all goes well. */
export type Answering = (state: string) => Promise<Answer> | undefined

/** Starts the machine on what `records` fold to; it appends to them from then on. */
export function startJournalled(records: JournalRecord[], answering: Answering) {
  const append = (...added: readonly JournalRecord[]) => void records.push(...added)
  const fold = (): FoldedJournal => foldJournal(records)

  /** Waits for the answer of a test, if it gives one; throws what it says. */
  const ask = async (state: string): Promise<Answer | undefined> => {
    const answer = await answering(state)
    if (answer !== undefined && 'error' in answer) throw rejectionOf(answer.error)
    return answer
  }

  const actors = {
    creatingSession: fromPromise<unknown>(async () => {
      append({ at, type: 'session.creating' })
      await ask('creating')
      append({ at, type: 'session.created', sessionId: 's-1', files: [0, 1].map(addressed) })
    }),
    transferring: fromPromise<TransferResult>(async ({ signal }) => {
      const answer = await answering('uploading')
      if (signal.aborted) throw signal.reason as Error
      const wanted = wantedOf(answer)
      for (const { plan, state } of fold().ledger.files) {
        if (state === 'confirmed' || state === 'failed') continue
        const { confirmedCount, failedCount } = fold().ledger
        if (confirmedCount < wanted.confirmedCount) append(...confirming(plan.fileIndex))
        else if (failedCount < wanted.failedCount) append(failing(plan.fileIndex))
      }
      if (answer !== undefined && 'error' in answer) throw rejectionOf(answer.error)
      return fold().ledger
    }),
    draining: fromPromise<TransferResult | undefined, { reason: 'pause' | 'cancel' }>(async ({ input: { reason } }) => {
      if (reason === 'cancel' && fold().place !== 'cancelling') append({ at, type: 'session.cancelling' })
      const answer = await ask(reason === 'pause' ? 'pausing' : 'cancelling.draining')
      return (answer as { readonly output?: TransferResult } | undefined)?.output
    }),
    cancellingSession: fromPromise<{ isServiceTold: boolean }>(async () => {
      const answer = await ask('cancelling.telling')
      const output = (answer as { output: { isServiceTold: boolean } } | undefined)?.output ?? { isServiceTold: true }
      append({ at, type: 'session.cancelled', ...output })
      return output
    }),
    settling: fromPromise<unknown, { status: EndStatus }>(async ({ input: { status } }) => {
      await ask('settling')
      if (status !== 'closed') append({ at, type: 'session.settled', status })
    }),
  }
  // The whole fold is a machine input: what else it holds is not looked at.
  const actor = createActor(uploadSessionMachine.provide({ actors }), { input: fold() }).start()
  return {
    actor,
    send: (event: UploadSessionEvent) => actor.send(event),
    end: async () => {
      await settled()
      const { status, context } = actor.getSnapshot()
      return status === 'done' ? context.status : undefined
    },
  }
}

const wantedOf = (answer: Answer | undefined): TransferResult =>
  answer === undefined
    ? { confirmedCount: 2, failedCount: 0 }
    : (('output' in answer ? answer.output : answer.error) as TransferResult)

const addressed = (fileIndex: number) => ({
  fileIndex,
  serverFileId: 70 + fileIndex,
  addresses: [`https://storage.example/${fileIndex}`],
})

const confirming = (fileIndex: number): readonly JournalRecord[] => [
  { at, type: 'part.received', fileIndex, partNumber: 1, receipt: { acceptedEnd: 10, etag: '"e"', isVerified: false } },
  { at, type: 'file.confirming', fileIndex },
  { at, type: 'file.confirmed', fileIndex },
]

const failing = (fileIndex: number): JournalRecord => ({
  at,
  type: 'file.failed',
  fileIndex,
  error: { code: 'ERR_UPLOAD_SOURCE_CHANGED', message: 'The file was changed.' },
})
