// The records of analyses: list, get, update and submit. Each prints the service's own JSON.

import { performance } from 'node:perf_hooks'
import type { Command } from 'commander'
import type { RequestedAnalysis, WireObject } from '../../client/contract.ts'
import { isDraft, verdictOf } from '../../flows/polling.ts'
import { interruptible, type CommandContext } from '../command-context.ts'
import { parseId, readObjectOption } from '../options/option-values.ts'
import { addServiceOptions, type SharedOptions } from '../options/options.ts'
import type { Output } from '../views/output.ts'
import { analysisLine } from '../views/command-line.ts'
import { printResultLine, type AnalysisResult, type AnalysisWord } from '../run-analysis.ts'
import { answerTo, type SingleCall } from '../single-call.ts'

interface UpdateOptions extends SharedOptions {
  readonly data: string
}

/** Adds list, get, update and submit to `analysis`. */
export function addAnalysisRecordCommands(analysis: Command, context: CommandContext): void {
  const list = analysis.command('list').description("list the analyses; prints the service's JSON")
  addServiceOptions(list).action(async (options: SharedOptions) => {
    const output = context.begin('analysis', options)
    const beganMs = performance.now()
    const all = await answerTo(context, output, options, {
      flow: 'analysis',
      shown: 'GET /requested_analyses',
      make: (client, calling) => client.requestedAnalyses.list({}, calling),
    })
    if (all === undefined) return
    output.document(all.raw)
    for (const record of all.items) output.event('analysis', { record: wireRecord(record) })
    const result = { status: 'completed', serviceStatus: null, analysisId: null } as const
    printEnd(output, beganMs, { ...result, count: all.items.length })
  })
  const get = analysis.command('get').description("read one analysis; prints the service's JSON").argument('<id>')
  addServiceOptions(get).action((id: string, options: SharedOptions) =>
    readRecord(context, options, {
      id,
      shown: `GET /requested_analyses/${id}`,
      make: (client, calling) => client.requestedAnalyses.get(id, calling),
    }),
  )
  const update = analysis
    .command('update')
    .description("change an analysis; prints the service's JSON")
    .argument('<id>')
    .requiredOption('--data <json>', 'the fields to change, as JSON or @FILE')
  addServiceOptions(update).action(async (id: string, options: UpdateOptions) => {
    const data = await interruptible(readObjectOption(options.data, '--data'), context.interruption)
    return readRecord(context, options, {
      id,
      shown: `PATCH /requested_analyses/${id}`,
      doubt: { words: 'The change may have been made', field: 'hasPossibleChange' },
      make: (client, calling) => client.requestedAnalyses.update({ id, data }, calling),
    })
  })
  const submit = analysis.command('submit').description('ask the service to begin a draft').argument('<id>')
  addServiceOptions(submit).action((id: string, options: SharedOptions) =>
    readRecord(context, options, {
      id,
      shown: `PATCH /requested_analyses/${id}/submit`,
      doubt: { words: 'The submit may have arrived', field: 'hasPossibleSubmit' },
      make: (client, calling) => client.requestedAnalyses.submit(id, calling),
    }),
  )
}

/** Refuses an argument that is no id of an analysis. */
export function checkAnalysisId(id: string): void {
  parseId(id, 'the analysis id', 'mocap-uplink analysis list prints')
}

/** The words of its doubt go before how to look. */
interface RecordCall extends Omit<SingleCall<RequestedAnalysis>, 'flow'> {
  readonly id: string
}

async function readRecord(
  context: CommandContext,
  options: SharedOptions,
  { id, doubt, ...call }: RecordCall,
): Promise<void> {
  const output = context.begin('analysis', options)
  const beganMs = performance.now()
  checkAnalysisId(id)
  const told = doubt && {
    ...doubt,
    words: `${doubt.words}. To look: ${analysisLine(['get', id], options, context.env)}`,
  }
  const record = await answerTo(context, output, options, { ...call, flow: 'analysis', doubt: told })
  if (record === undefined) return
  const wire = wireRecord(record)
  output.document(wire)
  output.event('analysis', { record: wire })
  const { status: serviceStatus = null } = record
  const status = serviceStatus === null ? 'requested' : stateOf(serviceStatus)
  printEnd(output, beganMs, { status, serviceStatus, analysisId: record.id ?? id })
}

interface RecordResult extends Pick<AnalysisResult, 'status' | 'serviceStatus' | 'analysisId'> {
  /** Of a list: how many there are. */
  readonly count?: number
}

function printEnd(output: Output, beganMs: number, result: RecordResult): void {
  printResultLine(output, { ...result, durationMs: Math.round(performance.now() - beganMs) })
}

/** The contract's word for a status of the service. Any status that is neither final nor a draft means that the analysis goes on. */
function stateOf(serviceStatus: string): AnalysisWord {
  return verdictOf(serviceStatus, {}) ?? (isDraft(serviceStatus) ? 'draft' : 'requested')
}

/** The record under the wire's names. */
function wireRecord(record: RequestedAnalysis): WireObject {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => [
      name.endsWith('AnalysisSegmentId') ? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : name,
      value,
    ]),
  )
}
