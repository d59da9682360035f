// What must hold at every moment, in every order of events: which requests may begin in which state of their upload,
// that a part has only one attempt at a time, and that what is journalled as confirmed is stored.

import type { JournalRecord } from '../../../src/core/journal/journal.ts'
import type { Transport, TransportReply, TransportRequest } from '../../../src/core/ports.ts'
import type { Upload, UploadState } from '../../../src/flows/upload.ts'
import { SERVICE_URL, type FarEnd } from '../../simulation/whole/far-end.ts'

/** One upload as its host sees it. The names of its files begin with its letter. */
export interface Driven {
  readonly upload: Upload
  isCancelAsked: boolean
  /** Successive tries of its create to which a service that had never answered anyone gave no answer. */
  missedTries: number
  /** `done()` or a `cancel()` has settled, so nothing may begin any more. */
  isOver: boolean
}

export interface PromiseWatch {
  readonly violations: string[]
  violate(what: string): void
  /** Wraps a transport to watch what is sent. */
  over(inner: Transport): Transport
  onSettled(key: string, record: JournalRecord): void
  /** Watches the states that the host is told. */
  follow(driven: Driven): void
  inFlight(): number
}

const NEXT_STATES: Readonly<Record<string, readonly UploadState[]>> = {
  creating: ['waiting', 'uploading', 'pausing', 'paused', 'cancelling', 'settling'],
  uploading: ['waiting', 'pausing', 'cancelling', 'settling'],
  waiting: ['creating', 'uploading', 'pausing', 'cancelling', 'settling'],
  // It returns to creating if the wait for the service was abandoned, because there is no session yet.
  pausing: ['paused', 'creating', 'uploading', 'cancelling', 'settling'],
  paused: ['creating', 'uploading', 'cancelling'],
  cancelling: ['settling'],
  settling: ['confirmed', 'partial', 'failed', 'cancelled'],
}
/** The address of a service that has never answered is more likely misspelt. After this many tries the upload ends. */
export const FIRST_CONTACT_TRIES = 3
/** A DELETE for a session that its upload had already abandoned when it was created. */
const END_OF_LEFT = 'DELETE of a session that was left'
const SENDING: readonly UploadState[] = ['uploading', 'waiting']
const MAY_BEGIN: Readonly<Record<string, readonly UploadState[]>> = {
  PUT: SENDING,
  POST: ['creating', ...SENDING],
  // Asks whether the service is there before a create is tried again.
  GET: ['creating', ...SENDING],
  PATCH: SENDING,
  DELETE: ['cancelling'],
  // Allowed whether or not the upload is cancelled.
  [END_OF_LEFT]: ['cancelling', 'settling'],
}

export function createPromiseWatch(options: {
  readonly cap: number
  readonly farEnd: () => FarEnd
  readonly driven: ReadonlyMap<string, Driven>
  readonly bytesOf: (fileName: string) => Uint8Array
  /** The upload whose action led here, for a call that names none. */
  readonly letterOfDoing: () => string | undefined
}): PromiseWatch {
  const violations: string[] = []
  const inFlight = new Set<string>()
  const letters = new Map<string, string>()
  const plans = new Map<string, { readonly names: readonly string[]; readonly ids: Map<number, unknown> }>()
  const confirmedIds = new Set<unknown>()
  const leftIds = new Set<string>()
  let hasAnswered = false
  const violate = (what: string): void => void violations.push(what)

  /** The letter of the upload to which a call belongs. */
  const letterOfCall = (request: TransportRequest): string => {
    const fields = fieldsOf(request)
    const [first] = (fields['files'] ?? []) as readonly { readonly raw_file_name: string }[]
    const sessionId = fields['upload_session_id'] ?? sessionIdOf(request)
    return first?.raw_file_name[0] ?? letters.get(sessionId as string) ?? options.letterOfDoing() ?? ''
  }
  const mayBegin = (letter: string, what: string, method: string): void => {
    const driven = options.driven.get(letter)
    if (driven === undefined) violate(`${what} belongs to no upload`)
    else if (driven.isOver) violate(`${what} begins after its upload was over`)
    else if (!(MAY_BEGIN[method] ?? []).includes(driven.upload.state))
      violate(`${what} begins while its upload is ${driven.upload.state}`)
    else if (method === 'DELETE' && !driven.isCancelAsked) violate(`${what}: nobody asked for a cancel`)
  }
  const call = async (inner: Transport, request: TransportRequest): Promise<TransportReply> => {
    const letter = letterOfCall(request)
    const isEndOfLeft = request.method === 'DELETE' && leftIds.has(sessionIdOf(request))
    mayBegin(letter, `${request.method} for ${letter}`, isEndOfLeft ? END_OF_LEFT : request.method)
    const { affected_file_id: fileId } = fieldsOf(request)
    if (confirmedIds.has(fileId)) violate(`file ${String(fileId)} is confirmed again after its answer was journalled`)
    const reply = await inner.send(request).catch((error: unknown) => {
      const driven = options.driven.get(letter)
      if (!hasAnswered && driven !== undefined) driven.missedTries += 1
      throw error
    })
    hasAnswered = true
    const { upload_session_id: sessionId } = JSON.parse(new TextDecoder().decode(reply.body) || '{}') as {
      upload_session_id?: string
    }
    if (sessionId !== undefined) letters.set(sessionId, letter)
    return reply
  }
  const put = async (inner: Transport, request: TransportRequest): Promise<TransportReply> => {
    const { fileName, partNumber } = options.farEnd().targetOf(request.url)!
    const what = `part ${String(partNumber)} of ${fileName}`
    mayBegin(fileName[0]!, what, 'PUT')
    if (inFlight.has(what)) violate(`two attempts of ${what} at once`)
    inFlight.add(what)
    if (inFlight.size > options.cap) violate(`${String(inFlight.size)} parts in flight`)
    try {
      return await inner.send(request)
    } finally {
      inFlight.delete(what)
    }
  }

  return {
    violations,
    violate,
    inFlight: () => inFlight.size,
    over: (inner) => ({
      ...inner,
      send: (request) =>
        options.farEnd().targetOf(request.url) === undefined ? call(inner, request) : put(inner, request),
    }),
    onSettled(key, record) {
      if (record.type === 'session.begun')
        plans.set(key, { names: record.files.map(({ name }) => name), ids: new Map() })
      if (record.type === 'session.created')
        for (const { fileIndex, serverFileId } of record.files ?? []) plans.get(key)?.ids.set(fileIndex, serverFileId)
      if (record.type === 'session.left') leftIds.add(String(record.sessionId))
      if (record.type !== 'file.confirmed') return
      const { names = [], ids } = plans.get(key) ?? {}
      const name = names[record.fileIndex]!
      confirmedIds.add(ids?.get(record.fileIndex))
      const stored = options.farEnd().stored(name)
      if (stored === undefined || Buffer.compare(stored, options.bytesOf(name)) !== 0)
        violate(`${name} is called confirmed, and its stored bytes differ`)
    },
    follow(driven) {
      let before: UploadState = driven.upload.state
      driven.upload.on('state', ({ state }) => {
        // After a pause the count starts anew.
        if (state === 'paused' || state === 'pausing') driven.missedTries = 0
        if (NEXT_STATES[before]?.includes(state) !== true) violate(`${state} follows ${before}`)
        before = state
      })
    },
  }
}

function sessionIdOf({ url }: TransportRequest): string {
  return url.slice(`${SERVICE_URL}/upload_videos/`.length)
}

function fieldsOf({ body }: TransportRequest): Record<string, unknown> {
  return body?.kind === 'bytes' ? (JSON.parse(new TextDecoder().decode(body.bytes)) as Record<string, unknown>) : {}
}
