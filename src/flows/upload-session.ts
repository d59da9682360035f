// One upload from start to end: joins the machine, which holds its life, the journal and ledger, which hold its bytes,
// the protocol, and the engine. The flows call it with what differs between them.

import { createActor, fromPromise } from 'xstate'
import type { Engine } from '../core/engine.ts'
import { isUploadError, summarize, UploadError } from '../core/errors.ts'
import { JOURNAL_VERSION, type FinalStatus, type FlowName } from '../core/journal.ts'
import { countSettled } from '../core/ledger.ts'
import type { Clock, Journal, PlannedFile, Protocol, Random } from '../core/ports.ts'
import type { UploadSessionEvent } from '../machines/session-data.ts'
import { uploadSessionMachine } from '../machines/upload-session.ts'
import { createEmitter, type Emitter } from './emitter.ts'
import { prepareFiles } from './prepare.ts'
import { createSessionJob } from './session-job.ts'
import { createSessionRecord, type SessionRecord } from './session-record.ts'
import { createTelling } from './telling.ts'
import {
  UploadFailedError,
  type Upload,
  type UploadEvents,
  type UploadFile,
  type UploadReport,
  type UploadState,
} from './upload.ts'
import { buildReport } from './upload-report.ts'

/** What every flow of an Uplink shares. */
export interface FlowPorts {
  readonly engine: Engine
  readonly journal: Journal
  readonly clock: Clock
  readonly random: Random
}

export interface UploadDefinition {
  readonly flow: FlowName
  /** Plain data from which the protocol can be made again; journalled, so never a credential. */
  readonly params: Readonly<Record<string, unknown>>
  readonly files: readonly UploadFile[]
  readonly protocol: Protocol
  readonly partSizeBytes?: number | undefined
}

/** How long a cancel waits for the service to be told, ms. */
const CANCEL_WITHIN_MS = 60_000

export function startUpload(ports: FlowPorts, definition: UploadDefinition): Upload {
  const { clock } = ports
  const { flow, files, protocol } = definition
  const key = makeKey(flow, ports)
  const beganAtMs = clock.monotonicNow()
  const record = createSessionRecord(ports.journal, clock, key)
  const emitter: Emitter<UploadEvents> = createEmitter((error) => {
    emitter.emit('warning', {
      code: 'ERR_UPLOAD_INTERNAL',
      message: `A listener of this upload threw: ${summarize(error).message}`,
    })
  })
  let plans: readonly PlannedFile[] = []
  let failure: unknown
  let transferring: Promise<unknown> = Promise.resolve()
  let lastState: UploadState = 'creating'
  const telling = createTelling({ emitter, clock, record })

  const machine = uploadSessionMachine.provide({
    actors: {
      creatingSession: fromPromise(({ signal }) => keepFailure(() => create(signal))),
      transferring: fromPromise(({ signal }) => {
        const running = keepFailure(() => transfer(signal))
        transferring = running.catch(() => undefined)
        return running
      }),
      draining: fromPromise(async ({ input }) => {
        await transferring
        if (input.reason === 'cancel') await record.write({ type: 'session.cancelling' })
      }),
      cancellingSession: fromPromise(({ input }) => cancelSession(record, protocol, input.sessionId, clock)),
      settling: fromPromise(async ({ input }) => {
        try {
          await settle(record, input.status)
        } finally {
          await Promise.allSettled(files.map(async ({ source }) => source.dispose?.()))
        }
      }),
    },
  })
  const create = async (signal: AbortSignal): Promise<{ sessionId: string | number }> => {
    if (record.folded() === undefined) {
      const { limits, partSizeBytes } = { limits: protocol.traits.units, partSizeBytes: definition.partSizeBytes }
      plans = await prepareFiles(files, { limits, partSizeBytes, signal })
      const locations = files.map((file) => file.source.location ?? file.source.name)
      const { params } = definition
      await record.write({
        type: 'session.begun',
        version: JOURNAL_VERSION,
        key,
        flow,
        params,
        files: plans,
        locations,
      })
      telling.begin()
    }
    await record.write({ type: 'session.creating' })
    const created = await protocol.create(plans, signal)
    await record.write({ type: 'session.created', ...created })
    if (created.hasPossibleOrphan === true) telling.warnOfOrphan()
    return { sessionId: created.sessionId }
  }
  const transfer = async (signal: AbortSignal) => {
    // A copy: what is asked for in this transfer is no repetition of it.
    const registeredBefore = new Set(record.folded()?.registeringIndexes)
    const job = createSessionJob({
      ...{ record, protocol, registeredBefore },
      source: (fileIndex) => sourceAt(files, fileIndex),
      report(event) {
        if (event.type === 'unreachable')
          send({ type: 'host.unreachable', sinceMs: event.sinceMs, untilMs: event.untilMs })
        if (event.type === 'reachable') send({ type: 'host.reachable' })
        telling.take(event)
      },
    })
    try {
      return await ports.engine.run(job, signal)
    } catch (error) {
      if (signal.aborted) throw error
      // eslint-disable-next-line @typescript-eslint/only-throw-error -- A machine takes plain data.
      throw { ...countSettled(record.ledger()), error: summarize(error) }
    }
  }
  /** Machines keep plain data; the error itself is kept here for the host. */
  const keepFailure = async <T>(task: () => Promise<T>): Promise<T> => {
    try {
      return await task()
    } catch (error) {
      failure = error
      throw error
    }
  }

  const actor = createActor(machine, { input: { key, flow, place: 'new' } })
  const send = (event: UploadSessionEvent): void => {
    if (actor.getSnapshot().status === 'active') actor.send(event)
  }
  const finished = new Promise<UploadReport>((resolve) => {
    actor.subscribe({
      next(snapshot) {
        const state = stateName(snapshot.value)
        if (state === lastState || state === 'starting' || state === 'settled') return
        lastState = state
        if (snapshot.status === 'done') telling.finish()
        emitter.emit('state', { state })
      },
      complete() {
        const { output } = actor.getSnapshot()
        if (output === undefined) return
        resolve(buildReport({ flow, key, output, record, durationMs: clock.monotonicNow() - beganAtMs }))
      },
    })
  })
  const outcome = finished.then((report) => {
    void record.close()
    if (report.status === 'confirmed' || report.status === 'partial') return report
    throw failureOf(report, failure)
  })
  outcome.catch(() => undefined)
  actor.start()

  return {
    flow,
    key,
    get state() {
      return lastState
    },
    on: emitter.on,
    off: emitter.off,
    progress: telling.progress,
    files: telling.files,
    done: () => outcome,
    pause: () => send({ type: 'upload.pause' }),
    resume: () => send({ type: 'upload.resume' }),
    cancel() {
      send({ type: 'upload.cancel' })
      return finished
    },
  }
}

async function cancelSession(
  record: SessionRecord,
  protocol: Protocol,
  sessionId: string | number,
  clock: Clock,
): Promise<{ isServiceTold: boolean }> {
  let isServiceTold = false
  if (protocol.cancel !== undefined) {
    const limit = new AbortController()
    const timer = clock.setTimeout(() => {
      limit.abort(
        new UploadError('ERR_UPLOAD_TIMEOUT', 'The service was not reached in time to be told of the cancel.'),
      )
    }, CANCEL_WITHIN_MS)
    isServiceTold = await protocol.cancel(sessionId, limit.signal).then(
      () => true,
      () => false,
    )
    clock.clearTimeout(timer)
  }
  await record.write({ type: 'session.cancelled', isServiceTold })
  return { isServiceTold }
}

async function settle(record: SessionRecord, status: FinalStatus): Promise<void> {
  if (record.folded() !== undefined) await record.write({ type: 'session.settled', status })
  await record.close()
}

/** The state that a host sees: the innermost word, where it says more. */
function stateName(value: string | object): UploadState | 'starting' | 'settled' {
  if (typeof value === 'string') return value as UploadState
  const [[outer, inner] = ['settling', '']] = Object.entries(value as Record<string, string>)
  return inner === 'waiting' ? 'waiting' : (outer as UploadState)
}

function failureOf(report: UploadReport, cause: unknown): UploadFailedError {
  if (report.status === 'cancelled') {
    return new UploadFailedError('ERR_UPLOAD_CANCELLED', 'The upload was cancelled.', report)
  }
  const error = report.error ?? report.files.find((file) => file.error !== undefined)?.error
  const code = error?.code ?? 'ERR_UPLOAD_FAILED'
  return new UploadFailedError(
    code,
    error?.message ?? 'No file was confirmed.',
    report,
    isUploadError(cause) ? cause : undefined,
  )
}

function sourceAt(files: readonly UploadFile[], fileIndex: number) {
  const file = files[fileIndex]
  if (file === undefined) throw new UploadError('ERR_UPLOAD_INTERNAL', 'A file outside the session was asked for.')
  return file.source
}

/** `video-mhq3x0c4-7k2f9m1xqz`: sorts by time, and is easy to copy from a terminal. */
function makeKey(flow: FlowName, { clock, random }: Pick<FlowPorts, 'clock' | 'random'>): string {
  const tail = Array.from({ length: 10 }, () => Math.floor(random() * 36).toString(36)).join('')
  return `${flow}-${Math.floor(clock.wallNow()).toString(36)}-${tail}`
}
