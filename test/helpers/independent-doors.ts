// The two doors of the independent service, which handle its requests: one for the calls of the interface, one for PUTs
// to the storage. Each records a request before anything is done with it.

import type { IncomingMessage, ServerResponse } from 'node:http'

import { runExchange } from './independent-exchange.ts'
import type { Answer, FaultScript } from './independent-exchange.ts'
import type { Operation, Records, RequestRecord } from './independent-records.ts'
import type { Storage } from './independent-storage.ts'

export type Fields = Readonly<Record<string, unknown>>
export type Door = (request: IncomingMessage, response: ServerResponse) => void

/** What both doors need. */
export interface DoorSetting {
  readonly records: Records
  readonly script: FaultScript
  readonly now: () => number
  readonly closing: AbortSignal
  /** Resets every connection of the door's server, which then accepts no more. */
  goAway(): void
  readonly apiKey: string
  readonly token: string
}

const ROUTES: readonly (readonly [Operation, string, RegExp])[] = [
  ['createCapture', 'POST', /^\/mocap_session$/],
  ['register', 'POST', /^\/mocap_session_file$/],
  ['createSegment', 'POST', /^\/player_group_segments$/],
  ['updateSegment', 'PATCH', /^\/player_group_segments\/([^/]+)$/],
  ['listAnalyses', 'GET', /^\/requested_analyses$/],
  ['createAnalysis', 'POST', /^\/requested_analyses$/],
  ['getAnalysis', 'GET', /^\/requested_analyses\/([^/]+)$/],
  ['updateAnalysis', 'PATCH', /^\/requested_analyses\/([^/]+)$/],
  ['submitAnalysis', 'PATCH', /^\/requested_analyses\/([^/]+)\/submit$/],
  ['create', 'POST', /^\/upload_videos$/],
  ['confirm', 'PATCH', /^\/upload_videos$/],
  ['cancel', 'DELETE', /^\/upload_videos\/([^/]+)$/],
]
const VIDEO_OPERATIONS: readonly Operation[] = ['create', 'confirm', 'cancel']
const BODILESS_OPERATIONS: readonly Operation[] = ['cancel', 'listAnalyses', 'getAnalysis', 'submitAnalysis', 'unknown']
const CREDENTIAL_HEADERS = ['x-api-key', 'authorization', 'authentication', 'proxy-authorization', 'cookie']

/** The door for calls: finds the operation, checks credentials, parses JSON and passes the body to `answer`. */
export function createCallDoor(
  setting: DoorSetting & {
    readonly bearerHeader: 'authorization' | 'authentication'
    answer(operation: Operation, id: string, body: Fields): Answer
  },
): Door {
  const { apiKey, token, bearerHeader } = setting

  return (request, response) => {
    const path = (request.url ?? '').replace(/\?.*$/, '')
    const route = ROUTES.find(([, method, pattern]) => method === request.method && pattern.test(path))
    const operation = route?.[0] ?? 'unknown'
    const record = begin(setting, operation, request)
    const pieces: Buffer[] = []

    function work(): Answer {
      const text = Buffer.concat(pieces).toString('utf8')
      if (text !== '') record.body = parse(text)
      const { headers, body } = record
      if (headers['x-api-key'] !== apiKey && headers[bearerHeader] !== `Bearer ${token}`) {
        return { status: VIDEO_OPERATIONS.includes(operation) ? 401 : 403, body: { message: 'no valid credentials' } }
      }
      if (!isObject(body) && !BODILESS_OPERATIONS.includes(operation)) {
        return { status: 400, body: { message: 'the body is not a JSON object' } }
      }
      return setting.answer(operation, decodeURIComponent(route?.[2].exec(path)?.[1] ?? ''), isObject(body) ? body : {})
    }

    void run(setting, { record, request, response, pieces, work })
  }
}

/** The door for PUTs: counts those in flight and records credentials that must not reach the storage. */
export function createPutDoor(setting: DoorSetting & { readonly storage: Storage }): Door {
  const { records, storage, apiKey, token } = setting
  let putsInFlight = 0

  return (request, response) => {
    const receivedAtMs = setting.now()
    const record = begin(setting, request.method === 'PUT' ? 'put' : 'unknown', request)
    const address = storage.find(record.target)
    if (address !== undefined) {
      record.fileName = address.object.fileName
      record.partNumber = address.partNumber
    }
    for (const [header, value] of Object.entries(request.headers)) {
      const text = String(value)
      if (!CREDENTIAL_HEADERS.includes(header) && !text.includes(apiKey) && !text.includes(token)) continue
      records.credentialLeaks.push({ target: record.target, header })
    }
    records.maxPutsInFlight = Math.max(records.maxPutsInFlight, ++putsInFlight)
    response.once('close', () => putsInFlight--)
    const pieces: Buffer[] = []

    function work(): Answer {
      if (record.operation !== 'put') return { status: 405 }
      return storage.put(record.target, request.headers, receivedAtMs, pieces)
    }

    void run(setting, { record, request, response, pieces, work })
  }
}

function begin({ records }: DoorSetting, operation: Operation, request: IncomingMessage): RequestRecord {
  const { method = '', url: target = '', headers } = request
  const startedAtMs = performance.now()
  const record: RequestRecord = { operation, method, target, headers, startedAtMs, bodyBytes: 0, ending: 'open' }
  records.requests.push(record)
  return record
}

async function run(
  { script, closing, now, goAway }: DoorSetting,
  exchange: {
    readonly record: RequestRecord
    readonly request: IncomingMessage
    readonly response: ServerResponse
    readonly pieces: Buffer[]
    work(): Answer
  },
): Promise<void> {
  const { record, response, pieces } = exchange
  response.setHeader('date', new Date(now()).toUTCString())
  await runExchange({
    ...exchange,
    action: script.take(record),
    closing,
    goAway,
    onPiece: (piece) => void pieces.push(piece),
  })
  record.endedAtMs = performance.now()
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
