// A real service on a free port, in memory, under a clock that only the test moves, and short ways to call it.

import { openAsBlob } from 'node:fs'
import { join } from 'node:path'

import { inject } from 'vitest'

import { withKeptDatabases } from '../helpers/kept-database.ts'
import { answerTo, callAt, put, sendRaw, type Answer } from '../conformance/plain-http.ts'
import { openDatabase } from '../../src/service/database/database.ts'
import type { Database } from '../../src/service/database/tables.ts'
import { startService, type RunningService, type ServiceOptions } from '../../src/service/index.ts'

/** The moment at which every service under test starts. */
export const START = Date.parse('2026-11-20T12:00:00.000Z')
export const API_KEY = 'test-key-5b1c'
export const TOKEN = 'test-token-9f27'

export interface ServiceUnderTest extends RunningService {
  /** Moves the service's clock. */
  advance(ms: number): void
  clock(): number
  /** A call with the API key; `headers` replaces the credential. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
}

export { answerTo, put, type Answer }

export async function startUnderTest(options: ServiceOptions = {}): Promise<ServiceUnderTest> {
  return start(options, false)
}

/** Starts one whose objects are in this folder, and whose records stay in this process for as long as the folder is there. */
export async function startWithObjectsIn(dataDir: string, options: ServiceOptions = {}): Promise<ServiceUnderTest> {
  return start({ ...options, dataDir }, true)
}

/** Opens the records of a service that was started there with its objects, or that will be. */
export async function openRecordsOf(dataDir: string): Promise<Database> {
  const prepared = await openAsBlob(inject('preparedDatabase'))
  return withKeptDatabases(() => openDatabase({ kind: 'embedded', folder: join(dataDir, 'db') }), prepared)
}

async function start(options: ServiceOptions, isAlsoForFolders: boolean): Promise<ServiceUnderTest> {
  let now = START
  const preparedDatabase = await openAsBlob(inject('preparedDatabase'))
  const credentials = { apiKeys: [API_KEY], accessTokens: [TOKEN] }
  const common = { port: 0, credentials, now: () => now, ...options }
  // Into such a folder the prepared database is not even copied.
  const service = isAlsoForFolders
    ? await withKeptDatabases(() => startService(common), preparedDatabase)
    : await withKeptDatabases(() => startService({ preparedDatabase, ...common }))
  return {
    ...service,
    clock: () => now,
    advance: (ms) => {
      now += ms
    },
    call: (method, path, body, headers = { 'x-api-key': API_KEY }) => callAt(service.url + path, method, headers, body),
  }
}

/** The target of a request exactly as given, which fetch would first make proper. */
export async function rawStatus(base: string, method: string, path: string): Promise<number> {
  return (await sendRaw(base, { method, path })).status
}

export interface VideoSession {
  readonly sessionId: string
  readonly files: readonly { readonly id: number; readonly urls: readonly string[] }[]
}

/** Where calls go: to a service under test, or to whichever of its copies. */
type Calls = Pick<ServiceUnderTest, 'call'>

/** Opens a video session for files of these sizes and numbers of chunks. */
export async function openVideoSession(
  service: Calls,
  files: readonly { readonly bytes: number; readonly chunks: number; readonly name?: string }[],
): Promise<VideoSession> {
  const { json } = await service.call('POST', '/upload_videos', {
    files: files.map(({ bytes, chunks, name }, index) => ({
      raw_file_name: name ?? `clip-${index + 1}.mp4`,
      file_size_bytes: bytes,
      number_of_chunks: chunks,
    })),
    movement_type_id: 1,
    player_id: 'p-17',
    session_date: '2026-11-20',
    session_type_id: 2,
  })
  const reply = json as {
    upload_session_id: string
    pre_signed_urls: { session_file_id: number; info: { url: string }[] }[]
  }
  return {
    sessionId: reply.upload_session_id,
    files: reply.pre_signed_urls.map((file) => ({ id: file.session_file_id, urls: file.info.map(({ url }) => url) })),
  }
}

/** Opens a capture session and gives its id. Type 67 is plain video. */
export async function openCaptureSession(service: Calls, mocapTypeId = 2): Promise<string> {
  const { json } = await service.call('POST', '/mocap_session', {
    org_id: 'org-4',
    mocap_type_id: mocapTypeId,
    session_date: '2026-11-20',
    session_type_id: 1,
  })
  return (json as { id: string }).id
}

/** Registers names that must be accepted; the addresses by name. */
export async function register(
  service: Calls,
  sessionId: string,
  filenames: readonly string[],
  extra: object = {},
): Promise<Record<string, string>> {
  const answer = await service.call('POST', '/mocap_session_file', { session_id: sessionId, filenames, ...extra })
  if (answer.status !== 200) throw new Error(`not registered: ${answer.text}`)
  return answer.json as Record<string, string>
}
