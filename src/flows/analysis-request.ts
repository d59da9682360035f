// One requested analysis from start to end: its segments, its draft, its submission, and the wait for its end. The machine keeps
// the order of the steps.

import { createActor, fromPromise, type NonReducibleUnknown } from 'xstate'
import { checkBoolean, checkFunction, checkId, checkText } from '../client/checks.ts'
import type { RequestedAnalysis } from '../client/contract.ts'
import { isId } from '../client/contract/fields.ts'
import type { CallOptions, ServiceClient } from '../client/operations.ts'
import { isUploadError, summarize } from '../core/errors.ts'
import { given } from '../core/given.ts'
import type { Clock, HostWait } from '../core/ports.ts'
import type { AnalysisContext, AnalysisMachineInput, AnalysisStatus } from '../machines/analysis-data.ts'
import { analysisMachine } from '../machines/analysis.ts'
import { AnalysisFailedError, type AnalysisReport } from './analysis-report.ts'
import { checkSegments, type AnalysisSegments } from './analysis-segments.ts'
import { createDraft, createSegments, submitDraft } from './analysis-steps.ts'
import type { Analysis, AnalysisEvents, AnalysisOptions, AnalysisRequestInput, AnalysisState } from './analysis.ts'
import { createEmitter } from './emitter.ts'
import { checkPolling, pollAnalysis } from './polling.ts'
import { checkSignal, letGoError, type LetGoBy, type Running } from './running.ts'
import { asOutage } from './waits.ts'

export interface AnalysisPorts {
  readonly client: ServiceClient
  readonly clock: Clock
  readonly running: Running
}

export function requestAnalysis(ports: AnalysisPorts, input: AnalysisRequestInput): Analysis {
  checkText(input.name, 'name')
  const segments = { primary: input.primary, comparison: input.comparison, population: input.population }
  checkSegments(segments)
  return startAnalysis(
    ports,
    input,
    { analysisId: null, shouldSubmit: checkBoolean(input.submit ?? true, 'submit') },
    input.name,
    segments,
  )
}

/** Waits for an analysis that was submitted earlier. */
export function watchAnalysis(
  ports: AnalysisPorts,
  analysisId: string | number,
  options: AnalysisOptions = {},
): Analysis {
  return startAnalysis(ports, options, { analysisId: checkId(analysisId, 'analysisId') }, '', undefined)
}

function startAnalysis(
  { client, clock, running }: AnalysisPorts,
  options: AnalysisOptions,
  machineInput: AnalysisMachineInput,
  name: string,
  segments: AnalysisSegments | undefined,
): Analysis {
  checkSignal(options.signal)
  checkPolling(options)
  const said = options.idOf ?? ((record: RequestedAnalysis) => record.id)
  checkFunction(said, 'idOf')
  const beganAtMs = clock.monotonicNow()
  // A reply keeps invalid ids as they came, so they are filtered out here.
  const idOf = (record: RequestedAnalysis) => [said(record)].find(isId)
  let failure: unknown
  // A caller may have typed the id. The report gives the service's own form of it.
  let idOfService: string | number | undefined
  const emitter = createEmitter<AnalysisEvents>()
  /** One step of the machine: its calls end when the step does, and its error is kept as it was thrown. */
  const step = <T, I extends NonReducibleUnknown = NonReducibleUnknown>(
    task: (calling: CallOptions & { readonly signal: AbortSignal }, input: I) => Promise<T>,
  ) =>
    fromPromise<T, I>(async ({ input, signal }) => {
      try {
        return await task(callingUntil(signal), input)
      } catch (error) {
        failure = error
        throw error
      }
    })
  const callingUntil = (signal: AbortSignal) => ({
    signal,
    onWaiting(wait?: HostWait | null) {
      if (wait) emitter.emit('waiting', asOutage(wait))
    },
  })
  const tellStatus = (serviceStatus: string): void => {
    // It was stopped just as the answer came.
    if (actor.getSnapshot().status !== 'active') return
    // First, so that the report has the word that a host is told of, even if that word makes it stop.
    actor.send({ type: 'analysis.status', serviceStatus })
    emitter.emit('status', { serviceStatus })
  }

  const actor = createActor(
    analysisMachine.provide({
      actors: {
        creatingSegments: step((calling) => createSegments(client, segments, calling)),
        creatingDraft: step((calling, input) => createDraft(client, name, idOf, input, calling)),
        submitting: step((calling, { analysisId }) => submitDraft(client, analysisId, calling)),
        polling: step(({ signal }, { analysisId }) => {
          const get = async (until: AbortSignal) => {
            const record = await client.requestedAnalyses.get(analysisId, callingUntil(until))
            const id = idOf(record)
            if (String(id) === String(analysisId)) idOfService = id
            return record
          }
          return pollAnalysis(clock, get, options, signal, tellStatus, segments !== undefined)
        }),
      },
    }),
    { input: machineInput },
  )
  let state: AnalysisState = 'creatingSegments'
  let letGoBy: LetGoBy | undefined
  const outcome = new Promise<AnalysisReport>((resolve, reject) => {
    actor.subscribe({
      next(snapshot) {
        if (snapshot.value === state) return
        // `starting` and `draft` are only passed through.
        state = snapshot.value as AnalysisState
        emitter.emit('state', { state })
      },
      complete() {
        const { context } = actor.getSnapshot()
        const report = reportOf(state as AnalysisStatus, context, idOfService, clock.monotonicNow() - beganAtMs)
        if (letGoBy) reject(letGo(report, name, letGoBy))
        else if (report.status === 'failed')
          reject(new AnalysisFailedError(report, report.error && isUploadError(failure) ? failure : undefined))
        else resolve(report)
      },
    })
  })
  const stop = (by?: LetGoBy): void => {
    if (actor.getSnapshot().status !== 'active') return
    letGoBy = by
    actor.send({ type: 'analysis.stop' })
  }
  actor.start()
  void running.add(outcome, stop, options.signal)

  return {
    get state() {
      return state
    },
    get analysisId() {
      return actor.getSnapshot().context.analysisId ?? undefined
    },
    on: emitter.on,
    off: emitter.off,
    done: () => outcome,
    stop: () => stop(),
  }
}

function letGo(report: AnalysisReport, name: string, by: LetGoBy): AnalysisFailedError {
  const { analysisId, hasPossibleDraft } = report
  const advice =
    analysisId !== undefined
      ? `watchAnalysis('${analysisId}')${by.where} goes on.`
      : hasPossibleDraft
        ? `look for ${name} before it is asked for again.`
        : 'no analysis was begun.'
  const error = letGoError(by, advice)
  return new AnalysisFailedError(Object.assign(report, { error: summarize(error) }))
}

function reportOf(
  status: AnalysisStatus,
  { analysisId, serviceStatus, segmentIds, hasPossibleDraft, error }: AnalysisContext,
  idOfService: string | number | undefined,
  durationMs: number,
): AnalysisReport {
  return {
    flow: 'analysis',
    status,
    analysisId: idOfService ?? analysisId ?? undefined,
    serviceStatus: serviceStatus ?? undefined,
    segmentIds: segmentIds ?? undefined,
    hasPossibleDraft,
    durationMs,
    ...given({ error: error ?? undefined }),
  }
}
