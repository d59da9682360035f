import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { operations } from '../../src/client/contract.ts'
import type { OperationName } from '../../src/client/contract.ts'
import { clientUnderTest } from './client-under-test.ts'
import type { ServiceClient } from './client-under-test.ts'

interface Fixture {
  readonly request: { readonly method: string; readonly path: string; readonly body?: unknown }
  readonly reply: { readonly status: number; readonly body?: unknown }
}

interface Example {
  readonly fixture: string
  readonly call: (client: ServiceClient) => Promise<unknown>
  readonly result: unknown
}

const examples: Readonly<Record<OperationName, Example>> = {
  'mocapSessions.create': {
    fixture: 'mocap-sessions.create',
    call: (client) =>
      client.mocapSessions.create({
        orgId: 'org-1a2b3c4d',
        mocapTypeId: 2,
        sessionDate: '2026-11-20',
        sessionTypeId: 1,
      }),
    result: {
      id: '0b6a5e0e-6a53-4f4e-9a55-0a8f0f3f6f10',
      sessionId: '0b6a5e0e-6a53-4f4e-9a55-0a8f0f3f6f10',
      orgId: 'org-1a2b3c4d',
      mocapTypeId: 2,
      sessionTypeId: 1,
      sessionDate: '2026-11-20',
      numMovements: 0,
      numPlayers: 0,
      status: 'pending',
      createdAt: '2026-11-21T04:12:09Z',
      updatedAt: '2026-11-21T04:12:09Z',
      session_num: 7,
    },
  },
  'mocapSessionFiles.register': {
    fixture: 'mocap-session-files.register',
    call: async (client) => [
      ...(await client.mocapSessionFiles.register({
        sessionId: '0b6a5e0e-6a53-4f4e-9a55-0a8f0f3f6f10',
        filenames: ['pitch-002.action', 'pitch-001.action', '__proto__', 'constructor', 'Björn 100% #1.action'],
        frameRate: 300,
      })),
    ],
    result: [
      ['pitch-002.action', 'https://storage.example/captures/2?X-Amz-Signature=aaaaaaaa02'],
      ['pitch-001.action', 'https://storage.example/captures/1?X-Amz-Signature=aaaaaaaa01'],
      ['__proto__', 'https://storage.example/captures/3?X-Amz-Signature=aaaaaaaa03'],
      ['constructor', 'https://storage.example/captures/4?X-Amz-Signature=aaaaaaaa04'],
      ['Björn 100% #1.action', 'https://storage.example/captures/5?X-Amz-Signature=aaaaaaaa05'],
    ],
  },
  'playerGroupSegments.create': {
    fixture: 'player-group-segments.create',
    call: (client) =>
      client.playerGroupSegments.create({
        movementTypeId: 1,
        domHand: 'RHA',
        orgMovementIds: ['play-0001', 'play-0002'],
      }),
    result: { analysisSegmentId: 4711, numPlayers: 1, numMovements: 2 },
  },
  'playerGroupSegments.update': {
    fixture: 'player-group-segments.update',
    call: (client) => client.playerGroupSegments.update({ id: 4711, data: { org_movement_ids: ['play-0003'] } }),
    result: { analysis_segment_id: 4711 },
  },
  'requestedAnalyses.list': {
    fixture: 'requested-analyses.list',
    call: async (client) => (await client.requestedAnalyses.list()).items,
    result: [
      { id: 31, name: 'Fastballs, April', status: 'draft', primaryAnalysisSegmentId: 4711 },
      { id: 32, name: 'Fastballs, May', status: 'requested', primaryAnalysisSegmentId: 4712, owner: 'u-9' },
    ],
  },
  'requestedAnalyses.create': {
    fixture: 'requested-analyses.create',
    call: (client) =>
      client.requestedAnalyses.create({
        name: 'Fastballs, April',
        primaryAnalysisSegmentId: '4711',
        comparisonAnalysisSegmentId: 4712,
        populationAnalysisSegmentId: 4713,
        status: 'draft',
      }),
    result: {
      id: 31,
      name: 'Fastballs, April',
      primaryAnalysisSegmentId: 4711,
      comparisonAnalysisSegmentId: 4712,
      populationAnalysisSegmentId: 4713,
      status: 'draft',
    },
  },
  'requestedAnalyses.get': {
    fixture: 'requested-analyses.get',
    call: (client) => client.requestedAnalyses.get(31),
    result: {
      id: 31,
      name: 'Fastballs, April',
      primaryAnalysisSegmentId: 4711,
      comparison_analysis_segment_id: null,
      status: 'requested',
      requested_at: '2026-11-21T05:00:00Z',
    },
  },
  'requestedAnalyses.update': {
    fixture: 'requested-analyses.update',
    call: (client) => client.requestedAnalyses.update({ id: 31, data: { name: 'Fastballs, April and May' } }),
    result: { id: 31, name: 'Fastballs, April and May', status: 'draft' },
  },
  'requestedAnalyses.submit': {
    fixture: 'requested-analyses.submit',
    call: (client) => client.requestedAnalyses.submit(31),
    result: { id: 31, name: 'Fastballs, April', status: 'requested' },
  },
  'videoUploads.create': {
    fixture: 'video-uploads.create',
    call: (client) =>
      client.videoUploads.create({
        files: [
          { name: 'swing-01.mp4', sizeBytes: 11_000_000, partCount: 2, fileId: 1, frameRate: 240 },
          { name: 'swing-02.mp4', sizeBytes: 5, partCount: 1, fileId: 2 },
        ],
        movementTypeId: 1,
        playerId: 'p-17',
        sessionDate: '2026-11-20',
        sessionTypeId: 2,
      }),
    result: {
      uploadSessionId: 'us-5f2c',
      sessionFiles: [
        {
          sessionFileId: 901,
          fileId: 1,
          fileName: 'swing-01.mp4',
          partAddresses: [
            {
              address: 'https://storage.example/videos/901?partNumber=1&X-Amz-Signature=bbbbbbbb01',
              partNumber: 1,
            },
            {
              address: 'https://storage.example/videos/901?partNumber=2&X-Amz-Signature=bbbbbbbb02',
              partNumber: 2,
            },
          ],
        },
        {
          sessionFileId: '902',
          partAddresses: [{ address: 'https://storage.example/videos/902?X-Amz-Signature=bbbbbbbb03' }],
        },
      ],
      expires_in: 3600,
    },
  },
  'videoUploads.confirm': {
    fixture: 'video-uploads.confirm',
    call: (client) =>
      client.videoUploads.confirm({
        uploadSessionId: 'us-5f2c',
        sessionFileId: 901,
        parts: [
          { partNumber: 1, etag: '"0cc175b9c0f1b6a831c399e269772661"' },
          { partNumber: 2, etag: '"92eb5ffee6ae2fec3ad71c777531578f"' },
        ],
      }),
    result: undefined,
  },
  'videoUploads.cancel': {
    fixture: 'video-uploads.cancel',
    call: (client) => client.videoUploads.cancel('us-5f2c'),
    result: undefined,
  },
}

describe.each(Object.entries(examples))('%s', (name, { fixture, call, result }) => {
  const { request, reply } = readFixture(fixture)
  const operation = operations[name as OperationName]

  it('sends exactly what the interface shows, and reads its reply', async () => {
    const { client, transport } = clientUnderTest({ baseUrl: 'https://service.example/api/' })

    const outcome = call(client)
    const sent = await transport.next()
    sent.reply(reply)

    expect(sent.method).toBe(request.method)
    expect(sent.url).toBe(`https://service.example/api${request.path}`)
    expect(await sent.bodyJson()).toStrictEqual(request.body)
    expect(sent.headers).toStrictEqual({
      accept: 'application/json',
      'accept-encoding': 'identity',
      'x-api-key': 'key-0123456789abcdef',
      ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
    })
    expect(sent.request.maxReplyBytes).toBe(67_108_864)
    expect(await outcome).toStrictEqual(result)
  })

  it('has a schema that takes the interface’s request and reply', () => {
    expect(operation.method).toBe(request.method)
    expect('request' in operation).toBe(request.body !== undefined)
    if ('request' in operation) expect(v.safeParse(operation.request, request.body).issues).toBeUndefined()
    expect(v.safeParse(operation.reply, reply.body).issues).toBeUndefined()
  })
})

it('has an example for every operation', () => {
  expect(Object.keys(operations).sort()).toStrictEqual(Object.keys(examples).sort())
})

function readFixture(name: string): Fixture {
  return JSON.parse(readFileSync(new URL(`fixtures/${name}.json`, import.meta.url), 'utf8')) as Fixture
}
