// A storage in memory behind the Transport port, with faults as data and time from the simulated clock. It checks what
// the engine promises: a window does not change while it is on the line, and no part has two attempts at once.

import { createHash } from 'node:crypto'

import { TransportError, type AttemptEnding } from '../../src/core/errors.ts'
import type { Clock, Transport, TransportReply, TransportRequest } from '../../src/core/ports.ts'
import { sleep } from '../../src/core/time/sleep.ts'
import { placeOf } from './test-protocol.ts'

/** What happens to a request instead of being stored and answered. */
export type Fault =
  | {
      readonly kind: 'status'
      readonly status: number
      readonly headers?: Readonly<Record<string, string>>
      readonly code?: string
      /**
       * Time until this answer, ms, which then comes before any of the body is read. Default: the whole body is read, and the
       * answer takes as long as any other.
       */
      readonly afterMs?: number
    }
  /** No connection is made. */
  | { readonly kind: 'connect' }
  /** The connection breaks when this share of the body is on the line, from 0 to below 1. */
  | { readonly kind: 'reset'; readonly share: number }
  /** The whole body is received and the connection breaks. `isStored` is what the client cannot know. */
  | { readonly kind: 'lostAnswer'; readonly isStored: boolean }
  /** The whole body is received, and the answer is unreadable. */
  | { readonly kind: 'unreadable' }
  /** Nothing more happens until our side ends the attempt. */
  | { readonly kind: 'silence'; readonly phase: 'connect' | 'send' | 'answer' }
  /** A 2xx before the body is read. */
  | { readonly kind: 'early' }
  /** Only this share of the bytes is accepted, and the answer says so. */
  | { readonly kind: 'partial'; readonly share: number }
  | { readonly kind: 'wrongEtag' }
  | { readonly kind: 'noEtag' }
  | { readonly kind: 'opaqueEtag' }

export interface StoreRequest {
  readonly fileIndex: number
  readonly partNumber: number
  readonly generation: number
  readonly start: number
  readonly end: number
  readonly isFreshConnection: boolean
  /** Monotonic ms. */
  readonly atMs: number
}

export interface ObjectStoreOptions {
  readonly clock: Clock
  readonly fault?: (request: StoreRequest) => Fault | undefined
  /** Time that one window is on the line, ms. 0 (default): no time passes. */
  readonly windowMs?: number | ((request: StoreRequest) => number)
  /** Time that an answer takes, ms. Default 0. */
  readonly answerMs?: number
  /** Called once a whole part is there; it is answered when this resolves. Rejects when the signal fires. Default: after `answerMs`. */
  readonly passOn?: (signal: AbortSignal) => Promise<void>
  readonly isProgressLive?: boolean
  /** Whether a body that was handed over completely before an abort is stored nevertheless. Default false. */
  readonly storesAborted?: () => boolean
}

export interface ObjectStore extends Transport {
  readonly requests: readonly StoreRequest[]
  /** The stored pieces of a file, by the byte at which each starts. */
  pieces(fileIndex: number): ReadonlyMap<number, Uint8Array>
  /** The stored bytes of a file in one array. */
  content(fileIndex: number, sizeBytes: number): Uint8Array
  inFlight(): number
  readonly maxInFlight: number
  /** The engine's broken promises. */
  readonly violations: readonly string[]
}

export function createObjectStore(options: ObjectStoreOptions): ObjectStore {
  const { clock, fault: faultOf = () => undefined, windowMs = 0, answerMs = 0 } = options
  const requests: StoreRequest[] = []
  const violations: string[] = []
  const files = new Map<number, Map<number, Uint8Array>>()
  const endings = new WeakMap<TransportRequest, AttemptEnding>()
  const partsInFlight = new Set<string>()
  let maxInFlight = 0

  const piecesOf = (fileIndex: number): Map<number, Uint8Array> => {
    const known = files.get(fileIndex) ?? new Map<number, Uint8Array>()
    files.set(fileIndex, known)
    return known
  }
  const windowMsOf = (about: StoreRequest): number => (typeof windowMs === 'number' ? windowMs : windowMs(about))
  const wait = (ms: number, signal: AbortSignal): Promise<void> => {
    signal.throwIfAborted()
    return ms > 0 ? sleep(clock, ms, signal) : Promise.resolve()
  }
  const broken = (
    request: TransportRequest,
    phase: 'connect' | 'send' | 'answer',
    isUnreadable = false,
  ): TransportError => {
    const ending = phase === 'answer' ? 'doubtful' : 'neverWhole'
    endings.set(request, ending)
    return new TransportError('ERR_UPLOAD_NETWORK', 'The connection broke.', { ending, phase, isUnreadable })
  }
  /** Puts the body on the line, up to a number of bytes. Checks that no window changes between its arrival and its end on the line. */
  const takeBody = async (request: TransportRequest, about: StoreRequest, upTo: number): Promise<Uint8Array> => {
    const { body, signal } = request
    if (body === undefined) return new Uint8Array()
    if (body.kind === 'blob') {
      await wait(windowMsOf(about), signal)
      request.onSent?.(body.lengthBytes)
      return new Uint8Array(await body.blob.arrayBuffer())
    }
    const lengthBytes = body.kind === 'bytes' ? body.bytes.byteLength : body.lengthBytes
    const all = new Uint8Array(lengthBytes)
    let at = 0
    // The first report is 0, also for a body in one piece.
    if (lengthBytes === 0 || body.kind === 'bytes') request.onSent?.(0)
    for await (const window of body.kind === 'bytes' ? [body.bytes] : body.windows()) {
      signal.throwIfAborted()
      const arrived = window.slice()
      await wait(windowMsOf(about), signal)
      if (Buffer.compare(arrived, window) !== 0) violations.push('a window changed while it was on the line')
      all.set(window, at)
      at += window.byteLength
      if (at >= upTo && upTo < lengthBytes) return all.subarray(0, at)
      request.onSent?.(at)
    }
    if (at !== lengthBytes) violations.push(`a body of ${String(lengthBytes)} bytes had ${String(at)}`)
    return all
  }
  const answer = (status: number, headers: Readonly<Record<string, string>>, code?: string): TransportReply => ({
    status,
    headers: Object.assign(Object.create(null) as Record<string, string>, headers),
    body: new TextEncoder().encode(code === undefined ? '' : `<Error><Code>${code}</Code></Error>`),
    isBodyCut: false,
  })
  const silence = (signal: AbortSignal): Promise<never> =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    })
  const exchange = async (request: TransportRequest, about: StoreRequest): Promise<TransportReply> => {
    const { signal } = request
    const fault = faultOf(about)
    const length = about.end - about.start
    if (fault?.kind === 'connect') throw broken(request, 'connect')
    if (fault?.kind === 'silence' && fault.phase === 'connect') return silence(signal)
    if (fault?.kind === 'early') {
      request.onSent?.(0)
      return answer(200, { etag: '"early"' })
    }
    if (fault?.kind === 'reset' || (fault?.kind === 'silence' && fault.phase === 'send')) {
      await takeBody(request, about, fault.kind === 'reset' ? Math.floor(length * fault.share) : 0)
      if (fault.kind === 'silence') return silence(signal)
      throw broken(request, 'send')
    }
    if (fault?.kind === 'status' && fault.afterMs !== undefined) {
      await wait(fault.afterMs, signal)
      return answer(fault.status, fault.headers ?? {}, fault.code)
    }
    const bytes = await takeBody(request, about, length)
    endings.set(request, 'doubtful')
    const store = (piece: Uint8Array): void => void piecesOf(about.fileIndex).set(about.start, piece.slice())
    try {
      if (fault?.kind === 'silence') return await silence(signal)
      await (options.passOn?.(signal) ?? wait(answerMs, signal))
    } catch (error) {
      if (options.storesAborted?.() === true) store(bytes)
      throw error
    }
    if (fault?.kind === 'lostAnswer') {
      if (fault.isStored) store(bytes)
      throw broken(request, 'answer')
    }
    if (fault?.kind === 'unreadable') throw broken(request, 'answer', true)
    if (fault?.kind === 'status') return answer(fault.status, fault.headers ?? {}, fault.code)
    if (fault?.kind === 'partial') {
      const taken = Math.floor(length * fault.share)
      store(bytes.subarray(0, taken))
      return answer(200, { 'x-accepted-end': String(about.start + taken), etag: '"partial"' })
    }
    store(bytes)
    const md5 = createHash('md5').update(bytes).digest('hex')
    if (fault?.kind === 'noEtag') return answer(200, {})
    if (fault?.kind === 'opaqueEtag') return answer(200, { etag: '"not-a-digest"' })
    return answer(200, { etag: fault?.kind === 'wrongEtag' ? `"${'0'.repeat(32)}"` : `"${md5}"` })
  }

  return {
    isProgressLive: options.isProgressLive ?? true,
    isResetByAbort: true,
    async send(request) {
      const { pathname } = new URL(request.url)
      const [start = 0, end = 0] = (request.headers['x-range'] ?? '').split('-').map(Number)
      const isFreshConnection = request.isFreshConnection ?? false
      const about = { ...placeOf(request.url), start, end, isFreshConnection, atMs: clock.monotonicNow() }
      requests.push(about)
      if (partsInFlight.has(pathname)) violations.push(`two attempts of ${pathname} at once`)
      partsInFlight.add(pathname)
      maxInFlight = Math.max(maxInFlight, partsInFlight.size)
      endings.set(request, 'neverWhole')
      try {
        return await exchange(request, about)
      } finally {
        partsInFlight.delete(pathname)
      }
    },
    endingOf: (request) => endings.get(request) ?? 'neverWhole',
    close: () => Promise.resolve(),
    requests,
    pieces: piecesOf,
    content(fileIndex, sizeBytes) {
      const whole = new Uint8Array(sizeBytes)
      for (const [start, piece] of piecesOf(fileIndex)) whole.set(piece.subarray(0, sizeBytes - start), start)
      return whole
    },
    inFlight: () => partsInFlight.size,
    get maxInFlight() {
      return maxInFlight
    },
    violations,
  }
}
