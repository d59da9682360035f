// The records of analyses: list, get, update and submit. Each prints the service's own JSON.

import { performance } from 'node:perf_hooks'
import type { Command } from 'commander'
import type { RequestedAnalysis, WireObject } from '../../client/contract.ts'
import type { CallOptions } from '../../client/operations.ts'
import { isDraft, verdictOf } from '../../flows/polling.ts'
import { interruptible, type CommandContext } from '../command-context.ts'
import { parseId, readObjectOption } from '../options/option-values.ts'
import { addServiceOptions, type SharedOptions } from '../options/options.ts'
import type { Output } from '../views/output.ts'
import { called, type Doubt } from '../unclear-end.ts'
import { analysisLine } from '../views/command-line.ts'
import { printCalls } from '../views/plan-view.ts'
import { waitingCall } from '../views/waiting-call.ts'
import { printResultLine, type AnalysisResult, type AnalysisWord } from '../run-analysis.ts'
import { uplinkFromOptions } from '../options/uplink-from-options.ts'

interface UpdateOptions extends SharedOptions {
  readonly data: string
}

/** Adds list, get, update and submit to `analysis`. */
export function addAnalysisRecordCommands(analysis: Command, context: CommandContext): void {
  const list = analysis.command('list').description("list the analyses; prints the service's JSON")
  addServiceOptions(list).action(async (options: SharedOptions) => {
    const output = context.begin('analysis', options)
    const beganMs = performance.now()
    const uplink = await uplinkFromOptions(options, context)
    if (options.dryRun === true) printCalls(output, 'analysis', ['GET /requested_analyses'])
    else {
      const calling = waitingCall(output, context.interruption)
      const { items, raw } = await uplink.client.requestedAnalyses.list({}, calling)
      output.document(raw)
      for (const record of items) output.event('analysis', { record: wireRecord(record) })
      const result = { status: 'completed', serviceStatus: null, analysisId: null } as const
      printEnd(output, beganMs, { ...result, count: items.length })
    }
  })
  const get = analysis.command('get').description("read one analysis; prints the service's JSON").argument('<id>')
  addServiceOptions(get).action((id: string, options: SharedOptions) =>
    readRecord(context, options, {
      id,
      call: `GET /requested_analyses/${id}`,
      read: (client, calling) => client.requestedAnalyses.get(id, calling),
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
      call: `PATCH /requested_analyses/${id}`,
      doubt: { words: 'The change may have been made', field: 'hasPossibleChange' },
      read: (client, calling) => client.requestedAnalyses.update({ id, data }, calling),
    })
  })
  const submit = analysis.command('submit').description('ask the service to begin a draft').argument('<id>')
  addServiceOptions(submit).action((id: string, options: SharedOptions) =>
    readRecord(context, options, {
      id,
      call: `PATCH /requested_analyses/${id}/submit`,
      assumed: 'requested' as const,
      doubt: { words: 'The submit may have arrived', field: 'hasPossibleSubmit' },
      read: (client, calling) => client.requestedAnalyses.submit(id, calling),
    }),
  )
}

/** Refuses an argument that is no id of an analysis. */
export function checkAnalysisId(id: string): void {
  parseId(id, 'the analysis id', 'mocap-uplink analysis list prints')
}

type Client = Awaited<ReturnType<typeof uplinkFromOptions>>['client']

interface RecordCall {
  readonly id: string
  readonly call: string
  /** The state of the analysis after this call, if the reply does not say. */
  readonly assumed?: AnalysisWord
  /** What to say if it may have been done without an answer, before how to look. Absent for a call that only reads. */
  readonly doubt?: Doubt
  read(client: Client, calling: CallOptions): Promise<RequestedAnalysis>
}

async function readRecord(context: CommandContext, options: SharedOptions, what: RecordCall): Promise<void> {
  const output = context.begin('analysis', options)
  const beganMs = performance.now()
  checkAnalysisId(what.id)
  const uplink = await uplinkFromOptions(options, context)
  if (options.dryRun === true) printCalls(output, 'analysis', [what.call])
  else printRecord(output, await recordOf(context, output, options, what, uplink.client), what, beganMs)
}

function recordOf(
  context: CommandContext,
  output: Output,
  options: SharedOptions,
  { id, doubt, read }: RecordCall,
  client: Client,
): Promise<RequestedAnalysis> {
  const look = () => analysisLine(['get', id], options, context.env)
  const told = doubt && { ...doubt, words: `${doubt.words}. To look: ${look()}` }
  return called(context, output, (calling) => read(client, calling), told)
}

function printRecord(
  output: Output,
  record: RequestedAnalysis,
  { id, assumed = 'requested' }: RecordCall,
  beganMs: number,
): void {
  const wire = wireRecord(record)
  output.document(wire)
  output.event('analysis', { record: wire })
  const { status: serviceStatus = null } = record
  const status = serviceStatus === null ? assumed : stateOf(serviceStatus)
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
