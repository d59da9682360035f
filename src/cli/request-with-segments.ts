// Requests an analysis whose segments are given by criteria. The segments are made first, one after another, so that those which
// exist are known wherever the command ends, and need not be made again.

import { performance } from 'node:perf_hooks'
import { isUploadError } from '../core/errors.ts'
import type { AnalysisRequestInput } from '../flows/analysis.ts'
import { createSegments } from '../flows/analysis-steps.ts'
import type { Uplink } from '../uplink.ts'
import { followAnalysis, type AnalysisResult, type KnownSegments } from './run-analysis.ts'
import type { Interruption } from './signals.ts'
import { mayBeDone } from './unclear-end.ts'
import { errorLine } from './views/error-line.ts'
import type { Output } from './views/output.ts'
import { waitingCall } from './views/waiting-call.ts'

const ROLES = ['primary', 'comparison', 'population'] as const

/** Reports the request as it proceeds. A failure is a result: rejects only if the program itself is at fault. */
export async function requestWithSegments(
  uplink: Pick<Uplink, 'client' | 'requestAnalysis'>,
  input: AnalysisRequestInput,
  running: { readonly output: Output; readonly interruption: Interruption },
): Promise<AnalysisResult> {
  const { output, interruption } = running
  const beganMs = performance.now()
  const made: { -readonly [Role in keyof KnownSegments]: KnownSegments[Role] } = {}
  const calling = waitingCall(output, interruption, (text) => output.say(text))
  const durationMs = () => Math.round(performance.now() - beganMs)
  let asked = input
  try {
    for (const role of ROLES) {
      const segment = input[role]
      if (segment === undefined || 'segmentId' in segment) continue
      const only = { primary: segment, comparison: undefined, population: undefined }
      const { primary: segmentId } = await createSegments(uplink.client, only, calling)
      made[role] = segmentId
      asked = { ...asked, [role]: { segmentId } }
      output.event('segment', { role, segmentId })
      output.say(`analysis: segment ${String(segmentId)} made (${role})`)
    }
  } catch (error) {
    const isInterrupted = interruption.signal.aborted
    if (!isInterrupted && !isUploadError(error)) throw error
    return {
      status: isInterrupted ? 'interrupted' : 'failed',
      serviceStatus: null,
      analysisId: null,
      segmentIds: made,
      durationMs: durationMs(),
      ...(mayBeDone(error, calling, interruption) ? { hasPossibleSegment: true } : {}),
      ...(isInterrupted ? {} : { error: errorLine(error) }),
    }
  }
  const result = await followAnalysis(uplink.requestAnalysis(asked), running)
  return { ...result, durationMs: durationMs() }
}
