// One upload from start to end. Joins the machine, which holds its life, the journal and ledger, which hold its bytes, the
// protocol, and the engine. The flows call it with what differs between them.

import { createActor, fromPromise, type SnapshotFrom } from 'xstate'
import { isUploadError, known } from '../core/errors.ts'
import type { FlowName } from '../core/journal/journal.ts'
import type { Outage } from '../core/ports.ts'
import type { TransferResult } from '../core/transfer/transfer.ts'
import type { DrainReason, EndStatus, UploadSessionEvent } from '../machines/session-data.ts'
import { uploadSessionMachine } from '../machines/upload-session.ts'
import { createEmitter } from './emitter.ts'
import { checkSignal, letGoError, type LetGoBy } from './running.ts'
import { createSessionRecord, type SessionRecord } from './session-record.ts'
import { createSessionSteps, type SessionSteps } from './session-steps.ts'
import { createTelling } from './telling.ts'
import { createWaits } from './waits.ts'
import { UploadFailedError, type Upload, type UploadEvents, type UploadReport, type UploadState } from './upload.ts'
import type { FlowContext, UploadDefinition } from './upload-definition.ts'
import { buildReport, buildSnapshot } from './upload-report.ts'

/** How long a create under way may delay a pause or a cancel, so that its session becomes known, ms. */
const CREATE_WITHIN_MS = 60_000

/** Starts a new session under a new key. */
export function startUpload(context: FlowContext, definition: UploadDefinition): Upload {
  const key = makeKey(definition.flow, context)
  return driveSession(context, definition, createSessionRecord(context.journal, context.clock, key))
}

/** Drives a session from where its record ends to its end. */
export function driveSession(context: FlowContext, definition: UploadDefinition, record: SessionRecord): Upload {
  const { clock, running } = context
  const { flow, signal } = definition
  checkSignal(signal)
  const { key } = record
  const folded = record.folded()
  const beganAtMs = clock.monotonicNow()
  const emitter = createEmitter<UploadEvents>()
  const telling = createTelling(emitter, clock, record)
  if (folded) telling.begin()
  const takeWait = createWaits(clock, telling.movesForMs, (outage) =>
    send(outage ? { type: 'host.unreachable', outage } : { type: 'host.reachable' }),
  )
  const steps = createSessionSteps(context, definition, record, telling, (event) => {
    telling.take(event)
    takeWait(event)
  })
  const actor = createActor(drivenMachine, {
    input: { place: folded?.place ?? 'new' },
  })
  stepsBySystem.set(actor.system, steps)
  const send = (event: UploadSessionEvent): void => {
    if (actor.getSnapshot().status === 'active') actor.send(event)
  }
  /** `isKept`: confirmed files stay. */
  const giveUp = (event: UploadSessionEvent, isKept?: boolean): Promise<UploadReport> => {
    steps.giveUp(isKept)
    send(event)
    return finished
  }
  let late: unknown
  let letGoBy: LetGoBy | undefined
  const elapsedMs = (): number => clock.monotonicNow() - beganAtMs
  const last: { state: UploadState } = { state: 'creating' }
  let toldOutage: Outage | null = null
  const finished = new Promise<UploadReport>((resolve) => {
    actor.subscribe({
      next(snapshot) {
        if (snapshot.value === 'creating' && snapshot.context.intent !== 'run')
          late ??= clock.setTimeout(() => send({ type: 'create.late' }), CREATE_WITHIN_MS)
        else {
          clock.clearTimeout(late)
          late = undefined
        }
        const state = stateName(snapshot)
        if (state !== last.state) {
          last.state = state
          if (snapshot.status === 'done' || state === 'paused') telling.finish()
          emitter.emit('state', { state })
        }
        const outage = state === 'waiting' ? snapshot.context.waiting : null
        if (outage && outage !== toldOutage) emitter.emit('waiting', outage)
        toldOutage = outage
      },
      complete() {
        resolve(buildReport(flow, record, elapsedMs(), actor.getSnapshot().context))
      },
    })
  }).finally(() => {
    stepsBySystem.delete(actor.system)
    // A session that was over already has not been settled. If this fails otherwise, the report says why.
    return steps.release().catch(() => undefined)
  })
  const outcome = finished.then((report) => {
    if (report.status === 'confirmed' || report.status === 'partial') return report
    throw failureOf(report, steps.failure(), letGoBy)
  })
  actor.start()
  const letGo = (by: LetGoBy): void => {
    letGoBy ??= by
    void giveUp({ type: 'upload.close' })
  }
  void running.add(outcome, letGo, signal)

  return Object.assign(withState(last), {
    flow,
    key,
    on: emitter.on,
    off: emitter.off,
    snapshot: () => buildSnapshot(flow, record, elapsedMs()),
    progress: telling.progress,
    files: telling.files,
    done: () => outcome,
    pause: () => send({ type: 'upload.pause' }),
    resume: () => send({ type: 'upload.resume' }),
    cancel: () => giveUp({ type: 'upload.cancel' }, false),
    discard: () => giveUp({ type: 'upload.cancel' }, true),
  })
}

/** A separate function, so that the getter closes over nothing else: V8 keeps accessors, and all they close over, for long. */
function withState(last: { readonly state: UploadState }): Pick<Upload, 'state'> {
  return {
    get state() {
      return last.state
    },
  }
}

/** The steps of every running session, by its actor system. */
const stepsBySystem = new WeakMap<object, SessionSteps>()

function stepsOf(system: object): SessionSteps {
  return known(stepsBySystem.get(system))
}

/** The actors are provided once for all sessions. To provide them for each would make xstate build the whole machine again. */
const drivenMachine = /* @__PURE__ */ withSteps()

function withSteps() {
  return uploadSessionMachine.provide({
    actors: {
      creatingSession: fromPromise<unknown>(({ system, signal }) => stepsOf(system).create(signal)),
      transferring: fromPromise<TransferResult>(({ system, signal }) => stepsOf(system).transfer(signal)),
      draining: fromPromise<TransferResult | undefined, { reason: DrainReason }>(({ system, input }) =>
        stepsOf(system).drain(input.reason),
      ),
      cancellingSession: fromPromise<{ isServiceTold: boolean }>(({ system }) => stepsOf(system).cancel()),
      settling: fromPromise<unknown, { status: EndStatus }>(({ system, input }) =>
        stepsOf(system).settle(input.status),
      ),
    },
  })
}

/** The state that a host sees. */
function stateName({ value, context }: SnapshotFrom<typeof uploadSessionMachine>): UploadState {
  // Once the host no longer wants to wait, its wish shows at once, even if a try of the create has yet to end.
  if (context.waiting !== null && context.intent === 'run') return 'waiting'
  // `deciding` and `settled` are only passed through.
  return (typeof value === 'string' ? value : Object.keys(value)[0]) as UploadState
}

function failureOf(report: UploadReport, cause: unknown, letGoBy: LetGoBy | undefined): UploadFailedError {
  if (report.status === 'cancelled') {
    return new UploadFailedError('ERR_UPLOAD_CANCELLED', 'The upload was cancelled.', report)
  }
  if (letGoBy && report.status === 'closed') {
    const goingOn = `resume('${report.key}')${letGoBy.where} goes on.`
    const { code, message } = letGoError(letGoBy, report.files.length === 0 ? 'nothing was begun.' : goingOn)
    return new UploadFailedError(code, message, report)
  }
  const error = report.error ?? report.files.find((file) => file.error)?.error
  const { code = 'ERR_UPLOAD_FAILED', message = 'No file was confirmed.', ...where } = error ?? {}
  return new UploadFailedError(code, message, report, isUploadError(cause) ? cause : undefined, where)
}

/** A key such as `video-mhq3x0c4-7k2f9m1xqz`: sorts by time and is easy to copy from a terminal. */
function makeKey(flow: FlowName, { clock, random }: Pick<FlowContext, 'clock' | 'random'>): string {
  const tail = Array.from({ length: 10 }, () => Math.floor(random() * 36).toString(36)).join('')
  return `${flow}-${Math.floor(clock.wallNow()).toString(36)}-${tail}`
}
