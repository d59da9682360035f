// The line between one life and the far ends, as a Transport. Time passes, connections break in any phase, answers are
// lost, requests arrive twice, and what was handed over completely may still arrive after we gave it up or died.

import { TransportError, type AttemptEnding } from '../../../src/core/errors.ts'
import type { Body, Transport, TransportReply, TransportRequest } from '../../../src/core/ports.ts'
import { SERVICE_URL, storageError, type Answer, type FarEnd } from './far-end.ts'
import { never, type End, type Life } from './life.ts'
import type { Memory } from './memory.ts'
import type { Night } from './night.ts'
import type { Trouble } from './trouble.ts'
import type { Sent, Watch } from './watch.ts'

export interface NetworkOptions {
  readonly night: Night
  readonly life: Life
  readonly farEnd: FarEnd
  readonly watch: Pick<Watch, 'begin' | 'end' | 'unsure' | 'refused' | 'violate' | 'confirmAsked'>
  readonly memory?: Pick<Memory, 'beginSend' | 'endSend'>
  readonly trouble: Trouble
  readonly log: (line: () => string) => void
  /** The far ends' wall clock, ms since 1970. */
  readonly serverNow: () => number
  /** Does something later, even if the life has died. */
  readonly later: (act: () => void, delayMs: number) => void
  /** A planted bug: an abort is only a signal, and the kernel still delivers what it has. */
  readonly isAbortSoft?: boolean
}

interface Attempt extends Sent {
  readonly request: TransportRequest
  /** The end that its signal's abort triggers. */
  readonly end: End
  /** The body in the kernel's hands; undefined until it is complete. */
  body: Uint8Array | undefined
  /** What has been taken from the client so far. */
  taken: Uint8Array | undefined
  /** What the line still reads. */
  window: Uint8Array | undefined
  /** The fields of a call's body. */
  readonly fields: Record<string, unknown>
  hasArrived: boolean
  /** The body was damaged. It is not delivered late, because nobody could find damage whose answer nobody hears. */
  isDamaged: boolean
}

const decoder = new TextDecoder()
const encoder = new TextEncoder()
const NO_BODY = new Uint8Array()
const NO_FIELDS: Record<string, unknown> = {}

export function createNetwork(options: NetworkOptions): Transport {
  const { night, life, farEnd, watch, memory, trouble, log } = options
  const endings = new WeakMap<TransportRequest, Attempt>()
  const running = new Set<Attempt>()

  const deliver = (attempt: Attempt, body: Uint8Array, isDoubted: boolean): Answer => {
    attempt.hasArrived = true
    log(() => `arrives ${attempt.method} ${nameOf(attempt)}${isDoubted ? ' (unheard)' : ''}`)
    if (attempt.target !== undefined) return farEnd.put(attempt.target, body, isDoubted)
    if (attempt.store !== undefined) return farEnd.store.call(attempt.store, attempt.callText, isDoubted)
    const key = attempt.headers['x-api-key']
    // The words of a service may hold the key.
    if (!farEnd.takesKey(key))
      return { status: 401, body: JSON.stringify({ message: `${key ?? 'no key'} has lapsed` }) }
    return farEnd.call(attempt.method, attempt.path, attempt.fields, isDoubted)
  }
  /** Called when we gave the attempt up, or died. If its body was handed over, it may arrive late. */
  const abandon = (attempt: Attempt): void => {
    running.delete(attempt)
    const body = attempt.body ?? (options.isAbortSoft === true ? attempt.taken : undefined)
    if (body === undefined || attempt.hasArrived || attempt.isDamaged || !trouble.isLate()) return
    attempt.hasArrived = true
    options.later(() => void deliver(attempt, body, attempt.body !== undefined), trouble.lateMs())
  }
  life.onDeath(() => {
    for (const attempt of running) abandon(attempt)
  })
  const silence = (attempt: Attempt): Promise<never> => untilEnded(attempt.end)
  const broken = (attempt: Attempt, phase: 'connect' | 'send' | 'answer'): TransportError =>
    new TransportError('ERR_UPLOAD_NETWORK', 'The connection broke.', { ending: endingOf(attempt), phase })

  /** Puts the body on the line. Checks that no window changes between its arrival and its end on the line. */
  const takeBody = async (attempt: Attempt, fault: string | undefined): Promise<Uint8Array> => {
    const { body, onSent } = attempt.request
    if (body === undefined || body.kind === 'blob' || attempt.target === undefined) return bytesOf(attempt.request)
    const lengthBytes = body.kind === 'bytes' ? body.bytes.byteLength : body.lengthBytes
    let all = NO_BODY
    let at = 0
    if (body.kind === 'bytes') onSent?.(0)
    for await (const window of body.kind === 'bytes' ? [body.bytes] : windowsOf(attempt, body)) {
      memory?.beginSend(window)
      attempt.window = window
      const arrived = window.slice()
      if (arrived.byteLength === lengthBytes) all = arrived
      else if (at === 0) all = new Uint8Array(lengthBytes)
      if (all !== arrived) all.set(arrived, at)
      at += arrived.byteLength
      attempt.taken = all
      await life.pass(night.lineMs, attempt.end)
      if (fault === 'reset') throw broken(attempt, 'send')
      if (fault === 'silentSend') await silence(attempt)
      if (arrived.some((byte, index) => byte !== window[index]))
        watch.violate('a window changed while it was on the line')
      if (at === lengthBytes) continue
      onSent?.(at)
      memory?.endSend(window)
      attempt.window = undefined
    }
    if (at !== lengthBytes) watch.violate(`a body of ${String(lengthBytes)} bytes had ${String(at)}`)
    return all
  }
  /** Where an end takes its time, no read is waited for after it, as with real connections. It writes to its window nevertheless. */
  const windowsOf = ({ end }: Attempt, body: Extract<Body, { kind: 'windows' }>): AsyncIterable<Uint8Array> =>
    night.settleMs === 0 ? body.windows() : unlessEnded(body.windows(), end)
  const exchange = async (attempt: Attempt): Promise<Answer> => {
    const { onSent } = attempt.request
    const { end } = attempt
    if (attempt.method === 'PATCH') {
      const { upload_session_id: sessionId, affected_file_id: fileId } = attempt.fields
      watch.confirmAsked(attempt, sessionId, fileId)
    }
    const { store } = attempt
    if (store?.operation === 'complete') watch.confirmAsked(attempt, store.uploadId, store.uploadId)
    const host = store === undefined ? 'service' : 'storage'
    const fault = attempt.target === undefined ? trouble.ofCall(host) : trouble.ofPut(attempt.target)
    if (fault !== undefined) log(() => `fault ${fault} for ${nameOf(attempt)}`)
    await life.pass(night.connectMs, end)
    if (fault === 'connect') throw broken(attempt, 'connect')
    if (fault === 'silentConnect') await silence(attempt)
    if (fault === 'early503') return storageError(503, 'SlowDown', 'Please reduce your request rate.')
    const whole = await takeBody(attempt, fault)
    const body = fault === 'damaged' ? damaged(whole) : whole
    attempt.body = body
    attempt.isDamaged = fault === 'damaged'
    onSent?.(whole.byteLength)
    await life.pass(night.answerMs, end)
    if (fault === 'lostRequest') {
      attempt.hasArrived = true
      throw broken(attempt, 'answer')
    }
    if (fault === 'silentAnswer') await silence(attempt)
    const refusal = fault === undefined ? undefined : refusalOf(attempt, fault)
    const retryAfter = refusal?.headers?.['retry-after']
    if (retryAfter !== undefined) watch.refused(attempt, Number(retryAfter) * 1_000)
    if (refusal !== undefined) return refusal
    const answer = deliver(attempt, body, fault === 'lostReply')
    if (fault === 'lostReply') throw broken(attempt, 'answer')
    if (fault === 'status500Done') return failureOf(attempt)
    return distorted(answer, fault, () => deliver(attempt, body, false))
  }
  /** Some stores begin a completion with 200, and say in its body that it failed. */
  const failureOf = ({ store }: Attempt): Answer =>
    store?.operation === 'complete' && night.saysAlready
      ? storageError(200, 'InternalError', 'Please try again.')
      : { status: 500 }
  const refusalOf = (attempt: Attempt, fault: string): Answer | undefined =>
    fault === 'status500' ? failureOf(attempt) : REFUSALS[fault]
  const attemptFor = (request: TransportRequest): Attempt => {
    const target = farEnd.targetOf(request.url)
    const store = target === undefined ? farEnd.store.callOf(request.url) : undefined
    const isOfService = target === undefined && store === undefined
    if (isOfService && !request.url.startsWith(SERVICE_URL)) watch.violate('a request to an unknown host')
    const path = isOfService
      ? request.url.slice(SERVICE_URL.length)
      : store === undefined
        ? `/${target!.sessionId}`
        : `/${Object.values(store).join('/')}`
    const { url, method, headers } = request
    return {
      lifeNumber: life.number,
      url,
      target,
      store,
      method,
      path,
      headers,
      request,
      end: { reason: undefined, leave: undefined },
      body: undefined,
      taken: undefined,
      window: undefined,
      callText: target === undefined ? decoder.decode(bytesOf(request)) : '',
      fields: isOfService ? fieldsOf(bytesOf(request)) : NO_FIELDS,
      hasArrived: false,
      isDamaged: false,
    }
  }

  return {
    async send(request) {
      if (life.dies()) return never()
      request.signal.throwIfAborted()
      const attempt = attemptFor(request)
      endings.set(request, attempt)
      running.add(attempt)
      watch.begin(attempt)
      log(() => `begins ${attempt.method} ${nameOf(attempt)}`)
      const { end } = attempt
      const onAbort = (): void => {
        end.reason = request.signal.reason as Error
        end.leave?.(end.reason)
      }
      request.signal.addEventListener('abort', onAbort, { once: true })
      let isAnswered = false
      let isClear = false
      try {
        const answer = await exchange(attempt)
        isAnswered = true
        isClear = answer.status !== 500
        log(() => `answered ${String(answer.status)} to ${attempt.method} ${nameOf(attempt)}`)
        return replyOf(answer, night.tellsTime ? dateText(options.serverNow()) : undefined)
      } catch (error) {
        log(() => `ended ${attempt.method} ${nameOf(attempt)}: ${error instanceof Error ? error.message : ''}`)
        abandon(attempt)
        const settleMs = end.reason === undefined ? 0 : trouble.settleMs()
        if (settleMs > 0) await life.pass(settleMs)
        throw error
      } finally {
        running.delete(attempt)
        request.signal.removeEventListener('abort', onAbort)
        if (attempt.window !== undefined) memory?.endSend(attempt.window)
        if (!life.isDead()) watch.end(attempt, isAnswered)
        if (!life.isDead() && !isClear && (attempt.body ?? end.reason) !== undefined) watch.unsure(attempt)
        if (life.dies()) await never()
      }
    },
    endingOf(request) {
      const attempt = endings.get(request)
      return attempt === undefined ? 'neverWhole' : endingOf(attempt)
    },
    close: () => Promise.resolve(),
  }
}

function bytesOf({ body }: TransportRequest): Uint8Array {
  return body?.kind === 'bytes' ? body.bytes : new Uint8Array()
}

function fieldsOf(body: Uint8Array): Record<string, unknown> {
  return body.byteLength === 0 ? {} : (JSON.parse(decoder.decode(body)) as Record<string, unknown>)
}

function endingOf({ body }: Attempt): AttemptEnding {
  return body === undefined ? 'neverWhole' : 'doubtful'
}

function nameOf({ target, path }: Sent): string {
  return target === undefined ? path : `${target.sessionId}/${target.fileName}/${String(target.partNumber)}`
}

const REFUSALS: Readonly<Record<string, Answer>> = {
  throttle: { status: 503, headers: { 'retry-after': '2' } },
  longThrottle: { status: 503, headers: { 'retry-after': '400' } },
  requestTimeout: storageError(400, 'RequestTimeout', 'Your socket connection was not read from in time.'),
  saysExpired: storageError(403, 'AccessDenied', 'Request has expired'),
}

/** What becomes of a good answer on its way, or of the request before it. */
function distorted(answer: Answer, fault: string | undefined, again: () => Answer): Answer {
  if (fault === 'twice') return again()
  if (answer.status !== 200) return answer
  if (fault === 'noEtag') return { ...answer, headers: {} }
  if (fault === 'wrongEtag') return { ...answer, headers: { etag: `"${'0'.repeat(32)}"` } }
  return answer
}

function damaged(bytes: Uint8Array): Uint8Array {
  const copy = bytes.slice()
  copy[0] = (copy[0] ?? 0) ^ 1
  return copy
}

function replyOf({ status, headers, body = '' }: Answer, date: string | undefined): TransportReply {
  const all = Object.assign(Object.create(null) as Record<string, string>, headers)
  if (date !== undefined) all['date'] = date
  return { status, headers: all, body: body === '' ? NO_BODY : encoder.encode(body), isBodyCut: false }
}

const dates = { ofSecond: NaN, text: '' }

/** Cached, because many answers come within one second. */
function dateText(ms: number): string {
  const second = Math.floor(ms / 1_000)
  if (second !== dates.ofSecond) Object.assign(dates, { ofSecond: second, text: new Date(ms).toUTCString() })
  return dates.text
}

function untilEnded(end: End): Promise<never> {
  return new Promise((_, reject) => {
    if (end.reason === undefined) end.leave = reject
    else reject(end.reason)
  })
}

function unlessEnded(windows: AsyncIterable<Uint8Array>, end: End): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = windows[Symbol.asyncIterator]()
      return { next: () => Promise.race([iterator.next(), untilEnded(end)]) }
    },
  }
}
