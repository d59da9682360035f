// What the machine's actors do for one session: create it, transfer it, drain, tell the service of a cancel, settle. Each step
// writes its intent before the call and the result after it, and may be run again after a restart.

import { summarize, UploadError } from '../core/errors.ts'
import { given } from '../core/given.ts'
import { JOURNAL_VERSION, type FinalStatus } from '../core/journal/journal.ts'
import { isSettled } from '../core/journal/ledger.ts'
import { onAbort } from '../core/on-abort.ts'
import type { PlannedFile } from '../core/ports.ts'
import { outcomeOf, type TransferResult } from '../core/transfer/transfer.ts'
import type { TransferEvent } from '../core/transfer/transfer-job.ts'
import type { EndStatus } from '../machines/session-data.ts'
import { endAllSessions, endLeftSessions } from './end-sessions.ts'
import type { DrivenSession } from './driven-session.ts'
import { openSession } from './open-session.ts'
import { prepareFiles } from './prepare.ts'
import { createSessionJob } from './session-job.ts'
import type { SessionRecord } from './session-record.ts'
import type { Telling } from './telling.ts'
import type { FlowContext, UploadDefinition } from './upload-definition.ts'
import { createSourceProof } from './prove-sources.ts'
import { giveTime } from '../core/time/unless-late.ts'

export interface SessionSteps {
  create(signal: AbortSignal): Promise<void>
  /**
   * The upload is cancelled or let go. Sources still being looked at, such as streams that have yet to end, are no longer waited
   * for. `isKept`: whether a cancel keeps confirmed files. The first choice counts, even if an earlier run made it.
   */
  giveUp(isKept?: boolean): void
  transfer(signal: AbortSignal): Promise<TransferResult>
  /** Resolves with the result of the transfer if it had come to its end all the same. */
  drain(reason: 'pause' | 'cancel'): Promise<TransferResult | undefined>
  /** Tells the service about every session that holds files of this upload, or was left. */
  cancel(): Promise<{ isServiceTold: boolean }>
  /** Settles the session. With `closed` the service is told nothing and nothing is journalled, because a later run continues it. */
  settle(status: EndStatus): Promise<void>
  /** Closes the record and frees the sources; once, however often it is called. `settle` ends with it. */
  release(): Promise<void>
  /** The last failure as it was thrown. The machine keeps plain data only. */
  failure(): unknown
}

export function createSessionSteps(
  context: FlowContext,
  definition: UploadDefinition,
  record: SessionRecord,
  telling: Telling,
  onTransferEvent: (event: TransferEvent) => void,
): SessionSteps {
  const { clock, engine } = context
  const { files } = definition
  const proof = createSourceProof(context, definition, record)
  let failure: unknown
  let keepsConfirmed: boolean | undefined = record.folded()?.keepsConfirmed
  let running: Promise<unknown> = Promise.resolve()
  let looking = new AbortController()
  const stopLooking = (): void => looking.abort(new UploadError('ERR_UPLOAD_CANCELLED', 'The upload was cancelled.'))

  /** Runs a step, so that a drain can wait for its end. Rejects with the plain data that a machine takes. */
  const step = async <T>(task: Promise<T>, signal: AbortSignal): Promise<T> => {
    running = task.catch(() => undefined)
    try {
      return await task
    } catch (error) {
      // How a stopped step ended says nothing about the cause of a failure.
      if (!signal.aborted) failure = error
      // eslint-disable-next-line @typescript-eslint/only-throw-error -- A machine takes plain data.
      throw { error: summarize(error), confirmedCount: record.ledger().confirmedCount }
    }
  }
  const session = { ...context, record, report: onTransferEvent, ...definition }
  const transfer = async (signal: AbortSignal) => {
    // The storage may be reachable again since the last transfer, so its wait is over.
    onTransferEvent({ type: 'reachable' })
    const job = createSessionJob({
      source: proof.source,
      readAgain: proof.readAgain,
      bytesPerSecond: telling.bytesPerSecond,
      onReplaced(event, hasPossibleOrphan) {
        telling.tellReplaced(event)
        if (hasPossibleOrphan) telling.warnOfOrphan()
      },
      ...session,
    })
    // Files may still be proven that it has no more use for, or that a pause has left. Nothing stays open after its end.
    return engine.run(job, signal).finally(proof.end)
  }
  const keepEnd = async (status: FinalStatus): Promise<void> => {
    // A cancel has told the service about all of them.
    if (status !== 'cancelled') {
      for (const sessionId of await endLeftSessions(session)) telling.warnOfOrphan(sessionId)
    }
    // Files that were not given up stay open in the journal, so that they can be resumed once the cause is gone.
    if (isOver(record, status)) await record.write({ type: 'session.settled', status })
  }
  const disposable = files.filter(({ source }) => source.dispose)
  const release = async (): Promise<void> => {
    try {
      await record.close()
    } finally {
      const last = disposable.splice(0)
      await giveTime(clock, Promise.allSettled(last.map(async ({ source }) => source.dispose?.())))
    }
  }

  return {
    failure: () => failure,
    create(signal) {
      looking = new AbortController()
      onAbort(signal, stopLooking)
      return step(createSession(session, telling, signal, looking.signal), signal)
    },
    giveUp(isKept) {
      keepsConfirmed ??= isKept
      stopLooking()
    },
    transfer: (signal) => step(transfer(signal), signal),
    async drain(reason) {
      await running
      const folded = record.folded()
      // An upload that never began leaves no trace.
      if (folded && reason === 'cancel') await record.write({ type: 'session.cancelling', keepsConfirmed })
      return folded && outcomeOf(folded.ledger)
    },
    async cancel() {
      const { isServiceTold, failure: reason } = await endAllSessions(session, keepsConfirmed)
      // Without its intent on record, a later run would not know what the cancel keeps: it may begin anew.
      if (record.folded()?.place === 'cancelling') await record.write({ type: 'session.cancelled', isServiceTold })
      // The session is cancelled all the same. The machine keeps the reason why the service was not told.
      if (reason) throw reason
      return { isServiceTold }
    },
    async settle(status) {
      try {
        if (status !== 'closed') await keepEnd(status)
      } finally {
        await release()
      }
    },
    release,
  }
}

async function createSession(
  session: UploadDefinition & DrivenSession & Pick<FlowContext, 'memory'>,
  telling: Telling,
  signal: AbortSignal,
  looking: AbortSignal,
): Promise<void> {
  const { flow, params, memory, files, protocol, partSizeBytes, record } = session
  const host = flow === 'custom' ? undefined : memory.host
  // Given up for taking too long, an earlier create of this run may have come to its end after all.
  if (record.folded()?.place === 'created') return
  if (!record.folded()) {
    const plans = await prepareFiles(files, { limits: protocol.traits.units, partSizeBytes, signal: looking })
    const locations = files.map((file) => file.source.location ?? file.source.name)
    const { key } = record
    // Both at once, so that the journal commits once, and has no session without a beginning.
    await record.write(
      { type: 'session.begun', version: JOURNAL_VERSION, key, flow, params, host, files: plans, locations },
      { type: 'session.creating' },
    )
    telling.begin()
  } else await record.write({ type: 'session.creating' })
  const plans: readonly PlannedFile[] = record.ledger().files.map((file) => file.plan)
  // Only what is known of: a host's protocol may return all that its service has answered, such as a `type`.
  const { sessionId, files: addressed, hasPossibleOrphan } = await openSession(session, plans, signal, looking)
  await record.write({ type: 'session.created', sessionId, host, ...given({ files: addressed, hasPossibleOrphan }) })
  if (record.folded()?.hasPossibleOrphan) telling.warnOfOrphan()
}

function isOver(record: SessionRecord, status: FinalStatus): boolean | undefined {
  const folded = record.folded()
  return status === 'cancelled' ? folded?.place === status : folded?.ledger.files.every(isSettled)
}
