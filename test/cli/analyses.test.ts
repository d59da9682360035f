// Segments, analyses and free calls by the built CLI: what is sent, what is printed, how each ends.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { text as wholeText } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'

import type { IndependentServiceOptions } from '../helpers/independent-records.ts'
import { startIndependentService } from '../helpers/independent-service.ts'
import type { IndependentService } from '../helpers/independent-service.ts'
import { installCli, jsonLines, lastLine } from './cli-under-test.ts'
import type { CliUnderTest } from './cli-under-test.ts'

let cli: CliUnderTest
let service: IndependentService

beforeAll(async () => {
  cli = await installCli()
})
afterAll(() => cli.remove())
afterEach(() => service.close())

async function serviceWith(options: IndependentServiceOptions = {}): Promise<Record<string, string>> {
  service = await startIndependentService(options)
  return { MOCAP_BASE_URL: service.url, MOCAP_API_KEY: service.apiKey }
}

async function createSegment(env: Record<string, string>): Promise<string> {
  const { stdout } = await cli.run(['segment', 'create', '--movement-type', '1', '--dom-hand', 'RHA', '--json'], env)
  return String(lastLine(stdout)['segmentId'])
}

describe('a segment', () => {
  it('is created with its movements and updated with any fields', async () => {
    const env = await serviceWith()
    const criteria = ['--movement-type', '3', '--dom-hand', 'LHA', '--movement', 'm-1', '--movement', 'm-2']

    const created = await cli.run(['segment', 'create', ...criteria], env)
    const { analysis_segment_id: id } = JSON.parse(created.stdout) as { analysis_segment_id: number }
    await writeFile(join(cli.folder, 'change.json'), '{"name":"lefties"}')
    const updated = await cli.run(['segment', 'update', String(id), '--data', '@change.json', '--json'], env)

    expect({ created: created.code, updated: updated.code }).toEqual({ created: 0, updated: 0 })
    expect(service.requestsOf('createSegment')[0]?.body).toEqual({
      ...{ movement_type_id: 3, dom_hand: 'LHA', org_movement_ids: ['m-1', 'm-2'] },
    })
    expect(service.requestsOf('updateSegment')[0]?.body).toEqual({ name: 'lefties' })
    expect(lastLine(updated.stdout)).toMatchObject({ event: 'result', flow: 'segment', status: 'completed' })
  })
})

describe('an analysis', () => {
  it('is a draft, is read, listed, changed and submitted', async () => {
    const env = await serviceWith()
    const primary = await createSegment(env)

    const made = lastLine(
      (await cli.run(['analysis', 'create', '--name', 'night', '--primary', primary, '--json'], env)).stdout,
    )
    const id = String(made['analysisId'])
    const get = await cli.run(['analysis', 'get', id, '--json'], env)
    const list = await cli.run(['analysis', 'list', '--json'], env)
    const update = await cli.run(['analysis', 'update', id, '--data', '{"name":"late night"}', '--json'], env)
    const submit = await cli.run(['analysis', 'submit', id, '--json'], env)

    expect(made).toMatchObject({ flow: 'analysis', status: 'draft', serviceStatus: 'draft' })
    expect(lastLine(get.stdout)).toMatchObject({ event: 'result', status: 'draft', serviceStatus: 'draft' })
    expect(jsonLines(list.stdout)).toMatchObject([
      { event: 'analysis', record: { name: 'night', primary_analysis_segment_id: Number(primary) } },
      { event: 'result', flow: 'analysis', status: 'completed', count: 1 },
    ])
    expect(service.requestsOf('updateAnalysis')[0]?.body).toEqual({ name: 'late night' })
    expect(lastLine(submit.stdout)).toMatchObject({ status: 'requested', analysisId: made['analysisId'] })
    expect([get, list, update, submit].map(({ code }) => code)).toEqual([0, 0, 0, 0])
    const fields = ['flow', 'status', 'serviceStatus', 'key', 'sessionId', 'bytes', 'durationMs', 'files', 'analysisId']
    for (const { stdout } of [get, list, update, submit])
      expect(Object.keys(lastLine(stdout))).toEqual(expect.arrayContaining(fields))
  })

  it('is submitted at once when asked for', async () => {
    const env = await serviceWith()
    const primary = await createSegment(env)

    const { code, stdout } = await cli.run(
      ['analysis', 'create', '--name', 'night', '--primary', primary, '--population', primary, '--submit', '--json'],
      env,
    )

    expect(code).toBe(0)
    expect(lastLine(stdout)).toMatchObject({ status: 'requested', serviceStatus: 'requested' })
    expect(service.requestsOf('createAnalysis')[0]?.body).toEqual({
      ...{ name: 'night', status: 'draft' },
      ...{ primary_analysis_segment_id: Number(primary), population_analysis_segment_id: Number(primary) },
    })
    expect(service.requestsOf('submitAnalysis')).toHaveLength(1)
  })

  it('is requested from criteria and followed to its report', async () => {
    const env = await serviceWith({ analysisProgress: ['requested', 'processing', 'completed'] })
    const [primary, population] = [
      '{"movement_type_id":1,"dom_hand":"RHA","org_movement_ids":["m-1"]}',
      '{"movementTypeId":1,"domHand":"RHA"}',
    ]

    const { code, stdout } = await cli.run(
      [
        'analysis',
        'request',
        '--name',
        'n',
        '--primary',
        primary,
        '--population',
        population,
        '--poll-every',
        '1s',
        '--json',
      ],
      env,
    )

    expect(code).toBe(0)
    expect(service.requestsOf('createSegment').map(({ body }) => body)).toEqual([
      { movement_type_id: 1, dom_hand: 'RHA', org_movement_ids: ['m-1'] },
      { movement_type_id: 1, dom_hand: 'RHA' },
    ])
    const words = jsonLines(stdout).map(({ serviceStatus }) => serviceStatus)
    expect(words.filter((word) => typeof word === 'string')).toEqual([
      ...['requested', 'processing', 'completed', 'completed'],
    ])
    expect(lastLine(stdout)).toMatchObject({ flow: 'analysis', status: 'completed', serviceStatus: 'completed' })
  })

  it.each(['watch', 'request'])('has an exit code at its deadline that the help of %s tells', async (command) => {
    const { stdout } = await cli.run(['help', 'analysis', command], {})

    expect(stdout).toMatch(/Exit code 0 also where the analysis is still going on at the deadline/)
  })

  it('that the service fails ends with 1; one that is not over at the deadline ends with 0 and says so', async () => {
    const failing = await serviceWith({ analysisProgress: ['error'] })
    const primary = '{"movement_type_id":1,"dom_hand":"RHA"}'
    const request = ['analysis', 'request', '--name', 'n', '--primary', primary, '--json']
    const failed = await cli.run(request, failing)
    await service.close()
    const slow = await serviceWith({ analysisProgress: ['processing'] })
    const late = await cli.run([...request, '--deadline', '0.2s', '--poll-every', '1s'], slow)

    expect(failed.code).toBe(1)
    expect(lastLine(failed.stdout)).toMatchObject({ status: 'failed', serviceStatus: 'error' })
    expect(late.code).toBe(0)
    expect(lastLine(late.stdout)).toMatchObject({
      ...{ status: 'requested', serviceStatus: 'processing', hasDeadlinePassed: true },
    })
    const [, told = ''] = /deadline has passed .*: mocap-uplink (.*)\n/.exec(late.stderr) ?? []
    // In a shell that knows nothing but the key.
    const further = [...told.split(' '), '--deadline', '0.2s', '--poll-every', '1s']
    expect((await cli.run(further, { MOCAP_API_KEY: service.apiKey })).stdout).toMatch(/^requested: analysis/m)
  })

  it('that is interrupted says how to wait further, or that none was begun', async () => {
    const env = await serviceWith({ analysisProgress: ['processing'] })
    const request = ['analysis', 'request', '--name', 'night', '--primary', '{"movement_type_id":1,"dom_hand":"RHA"}']
    const watched = cli.start(request, env)
    await watched.seen(/analysis: requested/)
    watched.process.kill('SIGINT')
    const { code, stderr } = await watched.ended
    const [, told = ''] = /To wait further: mocap-uplink (.*)\n/.exec(stderr) ?? []
    const further = [...told.split(' '), '--deadline', '0.2s', '--poll-every', '1s']
    const again = await cli.run(further, { MOCAP_API_KEY: service.apiKey })

    await service.close()
    const silent = await serviceWith({ faults: [{ operation: 'createSegment', nth: 1, action: { delayMs: 60_000 } }] })
    const begun = cli.start(request, silent)
    await expect.poll(() => service.requestsOf('createSegment')).toHaveLength(1)
    begun.process.kill('SIGINT')

    expect({ code, again: again.code }).toEqual({ code: 130, again: 0 })
    expect(again.stdout).toMatch(/^requested: analysis/m)
    expect(await begun.ended).toMatchObject({ code: 130, stderr: /No analysis was begun: run the command again/ })
  })

  it('that could not be submitted, or not in time, is a draft whose id is told, and how to submit it', async () => {
    const create = ['analysis', 'create', '--name', 'n', '--submit', '--primary']
    const refusal = { operation: 'submitAnalysis', action: { status: 422 } } as const
    const refusing = await serviceWith({ faults: [1, 2].map((nth) => ({ ...refusal, nth })) })
    const primary = await createSegment(refusing)
    const refused = await cli.run([...create, primary, '--json'], refusing)
    const told = (await cli.run([...create, primary], refusing)).stderr
    const [, again = ''] = /before that is submitted: mocap-uplink (.*)\n/.exec(told) ?? []
    const submitted = await cli.run(again.split(' '), { MOCAP_API_KEY: service.apiKey })
    const drafts = service.requestsOf('createAnalysis').length

    await service.close()
    const silent = await serviceWith({ faults: [{ operation: 'submitAnalysis', nth: 1, action: { delayMs: 60_000 } }] })
    const begun = cli.start([...create, await createSegment(silent), '--json'], silent)
    await expect.poll(() => service.requestsOf('submitAnalysis')).toHaveLength(1)
    begun.process.kill('SIGINT')
    const interrupted = await begun.ended

    const draft = { serviceStatus: 'draft', analysisId: expect.anything() as unknown }
    expect(refused.code).toBe(1)
    expect(lastLine(refused.stdout)).toMatchObject({ status: 'failed', ...draft, error: { status: 422 } })
    expect([submitted.code, drafts]).toEqual([0, 2])
    expect(interrupted).toMatchObject({ code: 130, stderr: /before that is submitted: mocap-uplink analysis submit / })
    expect(lastLine(interrupted.stdout)).toMatchObject({ status: 'interrupted', ...draft })
  })

  it('that is still a draft at the deadline does not go on by itself, and says so', async () => {
    const env = await serviceWith()
    const primary = await createSegment(env)
    const made = await cli.run(['analysis', 'create', '--name', 'n', '--primary', primary, '--json'], env)
    const id = String(lastLine(made.stdout)['analysisId'])

    const watched = await cli.run(['analysis', 'watch', id, '--deadline', '0.2s', '--json'], env)

    expect(lastLine(watched.stdout)).toMatchObject({ status: 'draft', serviceStatus: 'draft', hasDeadlinePassed: true })
    expect(watched.stderr).toContain(`before that is submitted: mocap-uplink analysis submit ${id} `)
    expect(watched.stderr).not.toContain('goes on')
  })

  it('is watched by its id', async () => {
    const env = await serviceWith({ analysisProgress: ['completed'], idStyle: 'number' })
    const primary = await createSegment(env)
    const made = await cli.run(['analysis', 'create', '--name', 'n', '--primary', primary, '--submit', '--json'], env)

    const { analysisId } = lastLine(made.stdout)
    const { code, stdout } = await cli.run(['analysis', 'watch', String(analysisId)], env)
    const watched = await cli.run(['analysis', 'watch', String(analysisId), '--json'], env)

    const read = await cli.run(['analysis', 'get', String(analysisId), '--json'], env)

    // The id is what every other command gives, and not what was typed.
    expect(lastLine(watched.stdout)['analysisId']).toBe(lastLine(read.stdout)['analysisId'])
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /^analysis: the service says completed\n[^]*completed: analysis \S+, the service says completed/,
    )
  })

  it.each(['watch', 'get'])(
    'that the service does not know (%s) may be known to another: its address is doubted',
    async (verb) => {
      const env = await serviceWith()

      const { code, stderr } = await cli.run(['analysis', verb, '999'], env)
      const { stdout } = await cli.run(['analysis', verb, '999', '--json'], env)

      expect(code).toBe(1)
      expect(stderr).toMatch(
        /\(404\).* If it names nothing of yours, check the base URL\. \(ERR_UPLOAD_SERVICE_REFUSED\)\n$/m,
      )
      expect(lastLine(stdout)).toMatchObject({ status: 'failed', error: { status: 404 } })
    },
  )

  it('ends with 4 when the credentials are refused', async () => {
    const env = await serviceWith()

    const { code, stdout } = await cli.run(['analysis', 'list', '--json'], { ...env, MOCAP_API_KEY: 'wrong' })

    expect(code).toBe(4)
    expect(lastLine(stdout)).toMatchObject({
      flow: 'analysis',
      status: 'failed',
      error: { code: 'ERR_UPLOAD_CREDENTIALS_REFUSED' },
    })
  })

  it('makes no call in a dry run', async () => {
    await serviceWith()
    const primary = '{"movement_type_id":1,"dom_hand":"RHA"}'

    const { code, stdout } = await cli.run([
      'analysis',
      'request',
      '--name',
      'n',
      '--primary',
      primary,
      '--dry-run',
      '--json',
    ])

    expect(code).toBe(0)
    expect(lastLine(stdout)).toMatchObject({
      event: 'plan',
      calls: [
        ...['POST /player_group_segments', 'POST /requested_analyses', 'PATCH /requested_analyses/{id}/submit'],
        'GET /requested_analyses/{id}, until it is over',
      ],
    })
    expect(service.records.requests).toEqual([])
  })
})

describe('a free call', () => {
  it("carries the credentials and prints the service's JSON", async () => {
    const env = await serviceWith()

    const text = await cli.run(['api', 'get', '/requested_analyses?limit=2&tag=a&tag=b'], env)
    const json = await cli.run(
      ['api', 'POST', '/player_group_segments', '--data', '{"movement_type_id":1,"dom_hand":"RHA"}', '--json'],
      env,
    )

    expect(text.code).toBe(0)
    expect(JSON.parse(text.stdout)).toEqual(service.requestsOf('listAnalyses')[0]?.answer)
    expect(service.requestsOf('listAnalyses')[0]?.target).toBe('/requested_analyses?limit=2&tag=a&tag=b')
    expect(jsonLines(json.stdout)).toMatchObject([
      { event: 'reply', status: 200, data: { analysis_segment_id: expect.anything() as unknown } },
      { event: 'result', flow: 'api', status: 'completed', httpStatus: 200 },
    ])
  })

  it.runIf(process.platform === 'linux').each([
    ['/dev/stdin', 0],
    ['/dev/fd/3', 3],
  ])('takes the key from %s, where a program in Node has put a socket', async (path, descriptor) => {
    const { MOCAP_BASE_URL } = await serviceWith()
    const command = ['api', 'GET', '/requested_analyses', '--api-key-file', path]
    const child = spawn(process.execPath, [cli.entry, ...command], {
      ...{ stdio: ['pipe', 'ignore', 'pipe', 'pipe'], env: { PATH: '', MOCAP_BASE_URL } },
    })
    const door = child.stdio[descriptor] as Writable
    door.end(`${service.apiKey}\n`)
    const [stderr, [code]] = await Promise.all([wholeText(child.stdio[2] as Readable), once(child, 'close')])

    expect([code, stderr]).toEqual([0, ''])
  })

  it('ends with 1 when the service refuses it', async () => {
    const env = await serviceWith()

    const { code, stderr } = await cli.run(['api', 'GET', '/nothing_here'], env)

    expect(code).toBe(1)
    expect(stderr).toMatch(/^error: .*404.*\n$/)
  })
})
