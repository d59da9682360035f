// `mocap-uplink analysis`: makes, submits and waits for requested analyses. The plain records are in analysis-records.ts.

import type { Command } from 'commander'
import { checkSegmentId, checkText } from '../../client/checks.ts'
import type { CallOptions } from '../../client/operations.ts'
import { given } from '../../core/given.ts'
import type { AnalysisRequestInput, AnalysisOptions } from '../../flows/analysis.ts'
import { interruptible, type CommandContext } from '../command-context.ts'
import { addBelow } from '../views/help-texts.ts'
import { parseDuration } from '../options/option-values.ts'
import { addServiceOptions, type SharedOptions } from '../options/options.ts'
import { analysisLine, requestLine } from '../views/command-line.ts'
import { printCalls } from '../views/plan-view.ts'
import {
  analysisExitCode,
  followAnalysis,
  printAnalysisResult,
  submitted,
  type AnalysisLines,
  type AnalysisResult,
} from '../run-analysis.ts'
import { requestWithSegments } from '../request-with-segments.ts'
import { checkAgreement, segmentFromOption } from '../options/segment-from-json.ts'
import type { Output } from '../views/output.ts'
import { uplinkFromOptions } from '../options/uplink-from-options.ts'
import { addAnalysisRecordCommands, checkAnalysisId } from './analysis-records.ts'

interface SegmentNames extends SharedOptions {
  readonly name: string
  readonly primary: string
  readonly comparison?: string
  readonly population?: string
}
interface CreateOptions extends SegmentNames {
  readonly submit?: boolean
}
interface WaitOptions {
  readonly deadline: string
  readonly pollEvery?: string
}

export function addAnalysisCommand(program: Command, context: CommandContext): void {
  const analysis = program.command('analysis').description('make, submit, watch and read requested analyses')
  addBelow(
    analysis,
    'Exit code 0: drafted, requested, completed, read, or still going on at the deadline; 1: failed.',
    "With --json, list prints an event 'analysis' for each record; its result has their count, and its status says only " +
      'that the list was read. The result of get and update is the state of the analysis, and their exit code that of the call.',
  )
  addCreate(analysis, context)
  addAnalysisRecordCommands(analysis, context)
  const watch = analysis.command('watch').description('wait until an analysis is over').argument('<id>')
  addServiceOptions(addWaitOptions(watch)).action((id: string, options: SharedOptions & WaitOptions) =>
    watchOne(context, id, options),
  )
  const request = addNameOptions(
    analysis.command('request').description('from criteria to report: make segments and analysis, submit it, wait'),
    'the segment as JSON or @FILE: {"movement_type_id":1,"dom_hand":"RHA","org_movement_ids":["…"]}',
  )
  addServiceOptions(addWaitOptions(request)).action((options: SegmentNames & WaitOptions) =>
    requestOne(context, options),
  )
}

function addCreate(analysis: Command, context: CommandContext): void {
  const create = addNameOptions(
    analysis.command('create').description('make an analysis of segments that exist'),
    'id of the segment',
  ).option('--submit', 'ask the service to begin')
  addServiceOptions(create).action(async (options: CreateOptions) => {
    const output = context.begin('analysis', options)
    checkText(options.name, '--name')
    const segment = (text: string | undefined, label: string) =>
      text === undefined ? undefined : { segmentId: checkSegmentId(text, label) }
    const input: AnalysisRequestInput = {
      name: options.name,
      primary: { segmentId: checkSegmentId(options.primary, '--primary') },
      ...given({
        comparison: segment(options.comparison, '--comparison'),
        population: segment(options.population, '--population'),
      }),
      submit: false,
    }
    const uplink = await uplinkFromOptions(options, context)
    if (options.dryRun === true) {
      const submit = options.submit === true ? ['PATCH /requested_analyses/{id}/submit'] : []
      printCalls(output, 'analysis', ['POST /requested_analyses', ...submit])
      return
    }
    // Always a draft first, so that a create repeated after a lost answer costs no second report.
    const running = { output, interruption: context.interruption }
    let result = await followAnalysis(uplink.requestAnalysis(input), running)
    const { analysisId } = result
    if (options.submit === true && result.status === 'draft' && analysisId !== null) {
      output.say('analysis: submitting')
      const submit = (calling: CallOptions) => uplink.client.requestedAnalyses.submit(analysisId, calling)
      result = await submitted(result, submit, running)
    }
    end(context, output, options, result)
  })
}

function addNameOptions(command: Command, meaning: string): Command {
  return command
    .requiredOption('--name <name>', 'the name of the report; give each analysis its own')
    .requiredOption('--primary <segment>', `what is analysed: ${meaning}`)
    .option('--comparison <segment>', 'what it is compared with')
    .option('--population <segment>', 'the larger group it is seen against')
}

function addWaitOptions(command: Command): Command {
  return addBelow(
    command,
    'Exit code 0 also where the analysis is still going on at the deadline, of which --json says hasDeadlinePassed. It is ' +
      'over once its status is completed or failed.',
  )
    .option('--deadline <time>', 'how long to wait: 90s, 30m, 5h, 2d', '5h')
    .option(
      '--poll-every <time>',
      'how often to ask the service, 1s or more (default: after 1 and 2 minutes, then every 5)',
    )
}

/** The least `--poll-every`: an analysis takes minutes, and more questions would only burden the service. */
const POLL_EVERY_AT_LEAST_MS = 1000

function waitOptions({ deadline, pollEvery }: WaitOptions): AnalysisOptions {
  const every = (text: string) => [parseDuration(text, '--poll-every', POLL_EVERY_AT_LEAST_MS)]
  return {
    deadlineMs: parseDuration(deadline, '--deadline'),
    ...(pollEvery === undefined ? {} : { pollDelaysMs: every(pollEvery) }),
  }
}

async function watchOne(context: CommandContext, id: string, options: SharedOptions & WaitOptions): Promise<void> {
  const output = context.begin('analysis', options)
  checkAnalysisId(id)
  const wait = waitOptions(options)
  const uplink = await uplinkFromOptions(options, context)
  if (options.dryRun === true) {
    printCalls(output, 'analysis', [`GET /requested_analyses/${id}`])
    return
  }
  output.event('start', { flow: 'analysis', analysisId: id })
  const result = await followAnalysis(uplink.watchAnalysis(id, wait), { output, interruption: context.interruption })
  end(context, output, options, result)
}

async function requestOne(context: CommandContext, options: SegmentNames & WaitOptions): Promise<void> {
  const output = context.begin('analysis', options)
  checkText(options.name, '--name')
  const segment = (text: string | undefined, label: string) =>
    text === undefined ? undefined : interruptible(segmentFromOption(text, label), context.interruption)
  const [comparison, population] = [
    await segment(options.comparison, '--comparison'),
    await segment(options.population, '--population'),
  ]
  const input: AnalysisRequestInput = {
    name: options.name,
    primary: await interruptible(segmentFromOption(options.primary, '--primary'), context.interruption),
    ...given({ comparison, population }),
    ...waitOptions(options),
  }
  checkAgreement(input)
  const uplink = await uplinkFromOptions(options, context)
  if (options.dryRun === true) {
    const made = [input.primary, comparison, population].filter((one) => one !== undefined && 'domHand' in one)
    printCalls(output, 'analysis', [
      ...made.map(() => 'POST /player_group_segments'),
      'POST /requested_analyses',
      'PATCH /requested_analyses/{id}/submit',
      'GET /requested_analyses/{id}, until it is over',
    ])
    return
  }
  output.event('start', { flow: 'analysis', name: options.name })
  const result = await requestWithSegments(uplink, input, { output, interruption: context.interruption })
  end(context, output, options, result, (segments) => requestLine(segments, options, context.env))
}

function end(
  context: CommandContext,
  output: Output,
  options: SharedOptions,
  result: AnalysisResult,
  again?: AnalysisLines['again'],
): void {
  const line = (...words: (string | number)[]) => analysisLine(words, options, context.env)
  printAnalysisResult(output, result, { line, ...given({ again }) })
  context.exitWith(analysisExitCode(result, context.interruption))
}
