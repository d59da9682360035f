// Calls that end without a clear answer: that they may have been done is said, and how to look or to go on is a command that works.

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'

import { called } from '../../src/cli/unclear-end.ts'
import { waitingCall } from '../../src/cli/views/waiting-call.ts'
import { UploadError } from '../../src/core/errors.ts'
import type { Fault, IndependentServiceOptions, Operation } from '../helpers/independent-records.ts'
import { startIndependentService } from '../helpers/independent-service.ts'
import type { IndependentService } from '../helpers/independent-service.ts'
import { installCli, jsonLines, lastLine } from './cli-under-test.ts'
import type { CliEnd, CliUnderTest } from './cli-under-test.ts'

const PRIMARY = '{"movement_type_id":1,"dom_hand":"RHA","org_movement_ids":["m-1"]}'
const POPULATION = '{"movement_type_id":1,"dom_hand":"RHA"}'
const REQUEST = ['analysis', 'request', '--name', "o'hara", '--primary', PRIMARY, '--population', POPULATION]
const SOON = ['--poll-every', '1s']

let cli: CliUnderTest
let service: IndependentService
let env: Record<string, string>

beforeAll(async () => {
  cli = await installCli()
})
afterAll(() => cli.remove())
afterEach(() => service.close())

async function serviceWith(options: IndependentServiceOptions): Promise<void> {
  service = await startIndependentService(options)
  env = { MOCAP_BASE_URL: service.url, MOCAP_API_KEY: service.apiKey }
}

/** Nobody answers this call. It is done all the same. */
function silent(operation: Operation, nth: Fault['nth'] = 1): Fault {
  return { operation, nth, action: { delayMs: 600_000 } }
}

/** Runs a command until the service has this call for the nth time, and then ends it by Ctrl-C. */
async function interruptedAt(operation: Operation, nth: number, args: readonly string[]): Promise<CliEnd> {
  const running = cli.start(args, env)
  let isOver = false
  void running.ended.then(() => (isOver = true))
  await expect.poll(() => isOver || service.requestsOf(operation).length === nth).toBe(true)
  running.process.kill('SIGINT')
  return running.ended
}

/** Runs the command that follows `words`, in a shell that knows nothing but the key. */
async function runTold(stderr: string, words: string, ...more: string[]): Promise<CliEnd> {
  const [, told = ''] = new RegExp(`${words}: mocap-uplink (.*)\n`).exec(stderr) ?? []
  // As a shell takes it apart: words in single quotes, of which one is put between two.
  const args = [...told.matchAll(/(?:'[^']*'|\\'|[^' ])+/g)].map(([word]) =>
    word.replace(/\\'|'/g, (one) => one.slice(1)),
  )
  return cli.run([...args, ...more], { MOCAP_API_KEY: service.apiKey })
}

async function draft(): Promise<string> {
  const segment = await cli.run(['segment', 'create', '--movement-type', '1', '--dom-hand', 'RHA', '--json'], env)
  const primary = String(lastLine(segment.stdout)['segmentId'])
  const made = await cli.run(['analysis', 'create', '--name', 'n', '--primary', primary, '--json'], env)
  return String(lastLine(made.stdout)['analysisId'])
}

/** The fields of the result that say what may have been done. */
function possibilities(stdout: string): string[] {
  return Object.keys(lastLine(stdout)).filter((name) => name.startsWith('hasPossible'))
}

describe('a submit', () => {
  it('that is interrupted may have arrived, which it says with the command that shows it', async () => {
    await serviceWith({ faults: [silent('submitAnalysis')] })
    const end = await interruptedAt('submitAnalysis', 1, ['analysis', 'submit', await draft(), '--json'])

    expect(end).toMatchObject({
      code: 130,
      stderr: /^The submit may have arrived\. To look: .*\nInterrupted by SIGINT\.\n$/,
    })
    expect(lastLine(end.stdout)).toMatchObject({ status: 'interrupted' })
    expect(possibilities(end.stdout)).toEqual(['hasPossibleSubmit'])
    const look = await runTold(end.stderr, 'To look')
    expect([look.code, JSON.parse(look.stdout)]).toEqual([0, expect.objectContaining({ name: 'n' })])
  })

  it.each([
    ['doubtful', { isDoubtful: true }, ['It may have been done.', { hasPossibleSubmit: true }]],
    ['clear', {}, []],
  ])('whose failure is %s is told as such', async (_, details, expected) => {
    const told: unknown[] = []
    const tell = (one: unknown) => told.push(one)
    const output = { mode: 'quiet', complain: tell } as never
    const context = { interruption: { signal: new AbortController().signal } as never, addToResult: tell }
    const doubt = { words: 'It may have been done.', field: 'hasPossibleSubmit' } as const
    const cause = new UploadError('ERR_UPLOAD_HTTP_STATUS', 'It failed.', { details })
    const call = () => Promise.reject(new UploadError('ERR_UPLOAD_RETRIES_EXHAUSTED', 'Gave up.', { cause }))

    await expect(called(context, output, call, doubt)).rejects.toThrow('Gave up.')

    expect(told).toEqual(expected)
  })

  it.each([
    ['of a create', ['analysis', 'create', '--name', 'n', '--submit', '--primary', '31']],
    ['of a request', REQUEST],
  ])('%s that is interrupted leaves a draft that may have been submitted', async (_, args) => {
    await serviceWith({ faults: [silent('submitAnalysis')], idStyle: 'number' })
    await draft()
    const { code, stdout, stderr } = await interruptedAt('submitAnalysis', 1, [...args, '--json'])

    expect(code).toBe(130)
    expect(lastLine(stdout)).toMatchObject({ status: 'interrupted', serviceStatus: 'draft', hasPossibleSubmit: true })
    const id = String(lastLine(stdout)['analysisId'])
    const place = `--base-url ${service.url}`
    expect(stderr).toBe(
      `The submit may have arrived. To look: mocap-uplink analysis get ${id} ${place}\n` +
        'If it is still a draft, the service does nothing before that is submitted: ' +
        `mocap-uplink analysis submit ${id} ${place}\n`,
    )
  })
})

describe('a request', () => {
  it('that is interrupted at its second segment names the first, and goes on with it', async () => {
    await serviceWith({ faults: [silent('createSegment', 2)], analysisProgress: ['completed'], idStyle: 'number' })
    const end = await interruptedAt('createSegment', 2, [...REQUEST, ...SOON, '--json'])

    expect(end.code).toBe(130)
    expect(jsonLines(end.stdout)).toContainEqual(
      expect.objectContaining({ event: 'segment', role: 'primary', segmentId: 31 }),
    )
    expect(lastLine(end.stdout)).toMatchObject({
      ...{ status: 'interrupted', analysisId: null, segmentIds: { primary: 31 }, hasPossibleSegment: true },
    })
    expect(end.stderr).toContain(
      'No analysis was begun. To ask with the segments that exist (primary 31): mocap-uplink ',
    )
    expect(end.stderr).toMatch(/\nA segment without an answer may have been made too; nothing uses it\.\n$/)
    const goneOn = await runTold(end.stderr, 'segments that exist \\(primary 31\\)')
    expect(goneOn.code).toBe(0)
    expect(service.requestsOf('createAnalysis')[0]?.body).toMatchObject({
      ...{ name: "o'hara", primary_analysis_segment_id: 31, population_analysis_segment_id: 33 },
    })
  })

  it('that is interrupted at its first segment says that one may have been made, and to ask again', async () => {
    await serviceWith({ faults: [silent('createSegment')] })
    const end = await interruptedAt('createSegment', 1, REQUEST)

    expect(end.stderr).toBe(
      'No analysis was begun: run the command again.\n' +
        'A segment without an answer may have been made too; nothing uses it.\n',
    )
  })

  it('whose analysis is refused names the segments that it made', async () => {
    await serviceWith({ faults: [{ operation: 'createAnalysis', nth: 1, action: { status: 422 } }], idStyle: 'number' })

    const { code, stderr } = await cli.run(REQUEST, env)

    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^error: .*\nNo analysis was begun\. To ask with the segments that exist \(primary 31, population 32\): /,
    )
    const again = await runTold(stderr, 'population 32\\)', '--deadline', '0.1s', ...SOON)
    expect([again.code, service.requestsOf('createSegment')]).toEqual([0, expect.objectContaining({ length: 2 })])
  })

  it('whose analysis may have been made says to look for it first', async () => {
    await serviceWith({ faults: [silent('createAnalysis')] })
    const { stderr } = await interruptedAt('createAnalysis', 1, REQUEST)

    expect(stderr).toMatch(
      /^It may have been made\. Look for its name before it is asked for again: .* list .*\nIf it is not there, ask /,
    )
    expect((await runTold(stderr, 'asked for again')).stdout).toContain("o'hara")
  })
})

it.each([
  [
    'a segment',
    'createSegment',
    ['segment', 'create', '--movement-type', '1', '--dom-hand', 'RHA'],
    'The segment may ',
    ['hasPossibleSegment'],
  ],
  [
    'a free call',
    'createSegment',
    ['api', 'POST', '/player_group_segments', '--data', POPULATION],
    'The service may ',
    ['hasPossibleChange'],
  ],
  ['a free call that reads', 'listAnalyses', ['api', 'GET', '/requested_analyses'], 'Interrupted by SIGINT.\n', []],
] as const)('%s that is interrupted says what may have become of it', async (_, operation, args, words, fields) => {
  await serviceWith({ faults: [silent(operation)] })

  const { code, stdout, stderr } = await interruptedAt(operation, 1, [...args, '--json'])

  expect([code, stderr.slice(0, words.length)]).toEqual([130, words])
  expect(possibilities(stdout)).toEqual(fields)
})

it('cannot have arrived while a host that has heard nothing is waited for', () => {
  const output = { mode: 'quiet', event: () => undefined, complain: () => undefined } as never
  const calling = waitingCall(output, { signal: new AbortController().signal } as never)
  const wait = { host: 'h', operation: 'o', reason: 'r', sinceMs: 0, untilMs: 0, giveUpAtMs: 0 }
  const seen = [calling.mayHaveArrived]
  for (const next of [undefined, { ...wait, isDoubtful: false }, undefined, { ...wait, isDoubtful: true }]) {
    calling.onWaiting?.(next)
    seen.push(calling.mayHaveArrived)
  }

  expect(seen).toEqual([false, true, false, true, true])
})
