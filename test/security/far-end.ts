// A service and a storage that live in one function each, behind a transport without sockets, and everything that a host
// or a log can see of an upload against them.

import { inspect } from 'node:util'
import { explaining } from '../../src/adapters/node/http/explain-failure.ts'
import { memoryJournal } from '../../src/adapters/web/memory-journal.ts'
import { TransportError } from '../../src/core/errors.ts'
import type { Hasher, Journal, Transport, TransportReply, TransportRequest } from '../../src/core/ports.ts'
import type { Upload, UploadEvents, UploadReport } from '../../src/flows/upload.ts'
import { createUplink, type Uplink, type UplinkOptions } from '../../src/index.ts'
import { createSimulatedClock, type SimulatedClock } from '../helpers/simulated-clock.ts'

export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** JSON, unless it is text or bytes. */
  readonly body?: unknown
}

/** An answer, an error to throw as it is, or undefined for a lost connection. */
export type Behaviour = (request: TransportRequest, body: Uint8Array) => Answer | Error | undefined

/** One that may take its time. */
export type SlowBehaviour = (...sent: Parameters<Behaviour>) => ReturnType<Behaviour> | Promise<Answer | Error>

export interface FarEndOptions extends Partial<UplinkOptions> {
  readonly service: SlowBehaviour
  readonly storage: SlowBehaviour
  readonly journal?: Journal
  /** Default: nothing is verified. */
  readonly hasher?: Hasher
  /** For `verify: 'full'`. */
  readonly contentHasher?: Hasher
}

export interface FarEnd {
  readonly uplink: Uplink
  readonly clock: SimulatedClock
  /** Every request, in order. */
  readonly requests: readonly TransportRequest[]
  /** Lets time pass until the task settles. Rejects when nothing is left that could settle it. */
  settled<T>(task: Promise<T>): Promise<T>
}

export const BASE_URL = 'https://service.example/api'
export const VIDEO = { movementTypeId: 1, playerId: 'p-17', sessionDate: '2026-11-20', sessionTypeId: 2 }
export const CAPTURE = { orgId: 'org-1', mocapTypeId: 2, sessionTypeId: 1, sessionDate: '2026-11-19' }

export function createFarEnd({ service, storage, journal, hasher, contentHasher, ...options }: FarEndOptions): FarEnd {
  const requests: TransportRequest[] = []
  const endings = new WeakMap<TransportRequest, 'doubtful'>()
  const transport: Transport = {
    async send(request) {
      requests.push(request)
      request.signal.throwIfAborted()
      const body = await bodyOf(request)
      request.onSent?.(body.byteLength)
      endings.set(request, 'doubtful')
      const answer = await (request.url.startsWith(BASE_URL) ? service : storage)(request, body)
      if (answer instanceof Error) throw answer
      if (answer !== undefined) return replyOf(answer, request.maxReplyBytes ?? 65_536)
      const lost = { phase: 'answer', ending: 'doubtful' } as const
      throw new TransportError('ERR_UPLOAD_NETWORK', 'Connection to the far end was reset', lost)
    },
    endingOf: (request) => endings.get(request) ?? 'neverWhole',
    close: () => Promise.resolve(),
  }
  const clock = createSimulatedClock()
  const uplink = createUplink(
    { baseUrl: BASE_URL, credentials: { apiKey: 'key-of-the-tests' }, concurrency: 2, ...options },
    {
      transport,
      clock,
      journal: journal ?? memoryJournal(),
      random: () => 0.5,
      explain: explaining(() => ({})),
      ...(hasher && { hasher }),
      ...(contentHasher && { contentHasher }),
    },
  )
  return { uplink, clock, requests, settled: (task) => settled(clock, task) }
}

async function settled<T>(clock: SimulatedClock, task: Promise<T>): Promise<T> {
  const state = { isOver: false }
  const end = (): void => void (state.isOver = true)
  task.then(end, end)
  // What has just been called has set its timers by then: the first to fire must not be one that waits far longer.
  await clock.advance(0)
  for (let idle = 0; idle < 50; idle += 1) {
    await clock.advance(clock.nextDueInMs ?? 0)
    if (state.isOver) return task
    if (clock.pending > 0) idle = 0
  }
  throw new Error('Nothing is left that could settle this.')
}

async function bodyOf({ body }: TransportRequest): Promise<Uint8Array> {
  if (body === undefined) return new Uint8Array()
  if (body.kind === 'bytes') return body.bytes
  if (body.kind === 'blob') return new Uint8Array(await body.blob.arrayBuffer())
  const pieces: Uint8Array[] = []
  for await (const piece of body.windows()) pieces.push(piece.slice())
  return Buffer.concat(pieces)
}

function replyOf({ status, headers = {}, body }: Answer, maxReplyBytes: number): TransportReply {
  const bytes = body instanceof Uint8Array ? body : new TextEncoder().encode(textOf(body))
  const names = Object.assign(Object.create(null) as Record<string, string>, headers)
  return { status, headers: names, body: bytes.subarray(0, maxReplyBytes), isBodyCut: bytes.length > maxReplyBytes }
}

function textOf(body: unknown): string {
  return typeof body === 'string' || body === undefined ? (body ?? '') : JSON.stringify(body)
}

const EVENTS = Object.keys({
  state: 0,
  progress: 0,
  file: 0,
  retry: 0,
  waiting: 0,
  'session.replaced': 0,
  shortfall: 0,
  warning: 0,
} satisfies Record<keyof UploadEvents, 0>) as (keyof UploadEvents)[]

/** Everything that an upload tells its host, as one text; call it before the upload goes on. */
export function listenTo(upload: Upload): () => string {
  const told: unknown[] = []
  for (const event of EVENTS) upload.on(event, (payload) => told.push(event, payload))
  return () => shown([told, upload.snapshot(), upload.files(), upload.progress(), upload.state, upload])
}

/** A value in every form in which a log may write it: JSON, inspect, and each cause of an error on its own. */
export function shown(value: unknown): string {
  const pieces = [inspect(value, { depth: Infinity, showHidden: true, maxStringLength: null, maxArrayLength: null })]
  try {
    pieces.push(JSON.stringify(value))
  } catch {
    // What cannot be written as JSON has no JSON form to be judged.
  }
  for (let cause = value; cause instanceof Error; cause = cause.cause) {
    pieces.push(String(cause), cause.message, cause.stack ?? '', JSON.stringify(cause))
    if ('details' in cause) pieces.push(JSON.stringify(cause.details))
  }
  return pieces.join('\n')
}

/** How an upload ended, resolved or rejected. */
export async function endOf(upload: Upload): Promise<{ readonly report?: UploadReport; readonly error?: unknown }> {
  return upload.done().then(
    (report) => ({ report }),
    (error: unknown) => ({ error }),
  )
}

/** The answer of a service that does as it is asked, with `address` making each address. */
export function goodService(address: (fileIndex: number, partNumber: number) => string): Behaviour {
  return ({ url, method }, body) => {
    const path = url.slice(BASE_URL.length)
    const sent = (body.length === 0 ? {} : JSON.parse(new TextDecoder().decode(body))) as Record<string, unknown>
    if (path === '/upload_videos' && method === 'POST') {
      const files = sent['files'] as { number_of_chunks: number }[]
      const entries = files.map(({ number_of_chunks }, fileIndex) => ({
        session_file_id: `f-${String(fileIndex)}`,
        info: Array.from({ length: number_of_chunks }, (_, part) => ({ url: address(fileIndex, part + 1) })),
      }))
      return { status: 200, body: { upload_session_id: 's-1', pre_signed_urls: entries } }
    }
    if (path === '/mocap_session') return { status: 200, body: { session_id: 'c-1' } }
    if (path === '/mocap_session_file') {
      const names = sent['filenames'] as string[]
      return { status: 200, body: Object.fromEntries(names.map((name, index) => [name, address(index, 1)])) }
    }
    return { status: 200 }
  }
}

/** A storage that says of every address that it has expired. */
export const expiredStorage: Behaviour = () => ({
  ...{ status: 403, body: '<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>' },
})

/** A storage that takes everything. */
export const goodStorage: Behaviour = () => ({ status: 200, headers: { etag: '"9e107d9d372bb6826bd81d3542a419d6-1"' } })
