// Sends one part once and says what came of it. The order holds the bounds: windows first, then read, then PUT, then
// the windows back when nothing touches them any more. Whether and when to try again is not decided here: a part that
// waits for its next attempt must hold neither a slot nor a window.

import { createBody } from './body.ts'
import { isUploadError, UploadError, type AttemptEnding, type TransportError } from './errors.ts'
import { echoesAddress, md5FromEtag } from './etag.ts'
import type { Pace } from './pace.ts'
import type { Clock, Hasher, Protocol, Reader, Receipt, Transport, TransportReply } from './ports.ts'
import type { TransportRequest, Unit, Verdict } from './ports.ts'
import { foreignWords } from './redact.ts'
import { createSlicer } from './slices.ts'
import { createWatchdog, type AttemptTimeouts, type Watchdog } from './watchdog.ts'
import type { Content, WholeBodies } from './whole-body.ts'
import type { WindowLease, WindowPool } from './windows.ts'

export interface SendPartPorts {
  readonly transport: Transport
  readonly clock: Clock
  readonly windows: WindowPool
  /** Absent: nothing is hashed and no receipt is verified. */
  readonly hasher: Hasher | undefined
  readonly timeouts: AttemptTimeouts
  readonly pace: Pick<Pace, 'isLimited' | 'pieceBytes' | 'take'>
  /** How a short part goes out in one piece, where a window holds it and nothing is limited; absent: through windows. */
  readonly wholeBodies?: WholeBodies | undefined
}

export interface SendPartOptions {
  readonly unit: Unit
  readonly address: string
  readonly protocol: Pick<Protocol, 'request' | 'judge'>
  readonly reader: Reader
  readonly isFreshConnection: boolean
  /** Bytes of this attempt handed to the network so far. */
  readonly onSent: (sentBytes: number) => void
  /** Of this attempt alone: whoever holds it may abort it, and so does the watch over its waits. */
  readonly controller: AbortController
}

/**
 * `received`: stored, with its receipt. `refused`: answered otherwise. `missing`: no answer. `source`: our own bytes
 * could not be read or have changed, or no request can be made for them; another attempt would end in the same way.
 * `aborted`: the signal fired.
 */
export type SendPartResult =
  | { readonly kind: 'received'; readonly receipt: Receipt }
  | { readonly kind: 'refused'; readonly verdict: Exclude<Verdict, { kind: 'received' }> }
  | { readonly kind: 'missing'; readonly ending: AttemptEnding; readonly error: TransportError }
  | { readonly kind: 'source'; readonly ending: AttemptEnding; readonly error: UploadError }
  | { readonly kind: 'aborted'; readonly ending: AttemptEnding }

/** Never rejects for what the world does; a rejection is a mistake of ours. */
export async function sendPart(ports: SendPartPorts, options: SendPartOptions): Promise<SendPartResult> {
  const { unit, controller } = options
  const { signal } = controller
  if (controller.signal.aborted) return { kind: 'aborted', ending: 'neverWhole' }
  let lease: WindowLease | undefined
  try {
    if (!goesUnread(ports, options.reader)) {
      lease = await ports.windows.lease(unit.end - unit.start, signal)
    }
    return await attemptOnce(ports, options, lease?.windows)
  } catch (error) {
    if (signal.aborted && error === signal.reason) return { kind: 'aborted', ending: 'neverWhole' }
    throw error
  } finally {
    lease?.release()
  }
}

/** A Blob goes out without passing through us when it need not be paced, and is hashed elsewhere or not at all. */
function goesUnread({ hasher, pace }: SendPartPorts, reader: Reader): boolean {
  const isHashable = hasher === undefined || hasher.digestBlob !== undefined
  return reader.blob !== undefined && isHashable && !pace.isLimited()
}

async function attemptOnce(
  ports: SendPartPorts,
  options: SendPartOptions,
  windows: readonly Uint8Array[] | undefined,
): Promise<SendPartResult> {
  const { unit, reader, controller, protocol, address, isFreshConnection } = options
  const { signal } = controller
  const lengthBytes = unit.end - unit.start
  const expiry: { error?: TransportError } = {}
  const watchdog = createWatchdog(ports.clock, timeoutsFor(ports, lengthBytes), `Part ${unit.partNumber}`, (error) => {
    expiry.error = error
    controller.abort(error)
  })
  const body = createContent(ports, options, windows, watchdog)
  const progress = createProgress(lengthBytes, watchdog, options.onSent)
  let request: TransportRequest | undefined
  try {
    const { method, headers } = protocol.request(unit, address)
    request = {
      method,
      headers,
      url: address,
      body: await body.make(),
      signal,
      isFreshConnection,
      onSent: (bytes) => progress.onSent(bytes),
      onStarted: () => watchdog.started(),
    }
    if (ports.transport.hasQueue === true) watchdog.hold()
    const reply = await ports.transport.send(request)
    watchdog.stop()
    return await judge(options, reply, progress.sentBytes(), () => body.digest())
  } catch (error) {
    const ending = request === undefined ? 'neverWhole' : ports.transport.endingOf(request)
    const readError = body.readError?.()
    if (readError !== undefined) return sourceFailure(readError, ending)
    if (signal.aborted && signal.reason !== expiry.error) return { kind: 'aborted', ending }
    // A platform that could not read the Blob says no more than that no answer came.
    const changed = body.isUnread && (await verifySource(reader).catch((caught: unknown) => caught))
    if (changed !== undefined) return sourceFailure(changed, ending)
    if (isTransportError(error)) return { kind: 'missing', ending, error }
    // A hasher that lost its thread says so: the same part may well go through once more.
    if (isUploadError(error) && error.isRetryable) {
      return { kind: 'refused', verdict: { kind: 'retry', error, isThrottle: false } }
    }
    if (isUploadError(error)) return { kind: 'source', ending, error }
    throw error
  } finally {
    watchdog.stop()
    progress.end()
    // The read that was under way when the attempt ended still writes into its window.
    await body.end?.()
    // What hashes elsewhere need not go on for an answer that asked for no digest.
    if (body.isUnread && body.digest() !== undefined) controller.abort(new Error('The attempt has ended.'))
  }
}

function createContent(
  ports: SendPartPorts,
  { unit, reader, controller: { signal } }: SendPartOptions,
  windows: readonly Uint8Array[] | undefined,
  watchdog: Watchdog,
): Content {
  const { hasher, pace } = ports
  const lengthBytes = unit.end - unit.start
  if (windows === undefined) return blobContent(unit, reader, hasher, signal)
  const startHash = hasher === undefined ? undefined : () => hasher.start()
  const take = (bytes: number): Promise<void> | undefined => pace.take(bytes, signal)
  const whole = windows.length > 1 || pace.isLimited() ? undefined : ports.wholeBodies
  const short = whole?.({ unit, reader, startHash, take, windows, watchdog })
  if (short !== undefined) return short
  const { windows: sequence, ...rest } = createBody({
    ...{ unit, reader, windows, startHash },
    slicer: createSlicer(ports.clock, ports.windows.windowBytes),
    pace: { pieceBytes: () => pace.pieceBytes(), take },
    onHold: () => watchdog.hold(),
    onReady: () => watchdog.resume(),
  })
  return { ...rest, make: () => ({ kind: 'windows', lengthBytes, windows: sequence }) }
}

function blobContent(unit: Unit, reader: Reader, hasher: Hasher | undefined, signal: AbortSignal): Content {
  let digest: Promise<string> | undefined
  return {
    isUnread: true,
    make() {
      // Only from such a reader a part goes unread.
      const blob = (reader as Required<Reader>).blob(unit.start, unit.end)
      digest = hasher?.digestBlob?.(blob, signal)
      digest?.catch(() => undefined)
      return { kind: 'blob', lengthBytes: unit.end - unit.start, blob }
    },
    digest: () => digest,
  }
}

/** Counts what was handed over, until the attempt has ended: what a transport says later is not true any more. */
function createProgress(
  lengthBytes: number,
  watchdog: Watchdog,
  tell: (sentBytes: number) => void,
): { onSent(bytes: number): void; sentBytes(): number; end(): void } {
  let sentBytes = 0
  let isOver = false
  return {
    onSent(bytes) {
      if (isOver || bytes < sentBytes) return
      sentBytes = Math.min(bytes, lengthBytes)
      if (bytes >= lengthBytes) watchdog.handedOver(bytes)
      else watchdog.moved()
      // The first word of a body that goes in one piece is that its connection is there.
      if (sentBytes > 0 || lengthBytes === 0) tell(sentBytes)
    },
    sentBytes: () => sentBytes,
    end() {
      isOver = true
    },
  }
}

/** The slowest line that a transport without live progress is waited for, bytes a second. */
const SLOWEST_BYTES_PER_SECOND = 8 * 1024

/** How long a request may rest in a queue of the platform that nobody sees. */
const UNSEEN_QUEUE_MS = 5 * 60_000

function timeoutsFor(ports: SendPartPorts, lengthBytes: number): AttemptTimeouts {
  if (ports.transport.isProgressLive ?? true) {
    const queueMs = ports.transport.hasQueue === true ? UNSEEN_QUEUE_MS : 0
    return { ...ports.timeouts, connectMs: Math.max(ports.timeouts.connectMs, queueMs) }
  }
  const sendMs = (lengthBytes / SLOWEST_BYTES_PER_SECOND) * 1_000
  const { connectMs, stallMs, answerMs } = ports.timeouts
  return { connectMs: connectMs + sendMs, stallMs: stallMs + sendMs, answerMs: answerMs + sendMs }
}

/** An ETag that repeats the address would take a secret into journal and receipt, so the protocol never sees it. */
function withoutEcho(reply: TransportReply, address: string): TransportReply {
  const { etag } = reply.headers
  if (etag === undefined || !echoesAddress(etag, address)) return reply
  const others = Object.entries(reply.headers).filter(([name]) => name !== 'etag')
  const headers = Object.assign(Object.create(null) as Record<string, string>, Object.fromEntries(others))
  return { ...reply, headers }
}

async function judge(
  options: SendPartOptions,
  reply: TransportReply,
  sentBytes: number,
  digest: () => Promise<string | undefined> | undefined,
): Promise<SendPartResult> {
  const { unit, reader, protocol, address } = options
  const verdict = protocol.judge(withoutEcho(reply, address), unit)
  if (verdict.kind !== 'received') return { kind: 'refused', verdict }
  const { acceptedEnd, etag } = verdict
  if (acceptedEnd > unit.end) {
    return refusedAs(
      'ERR_UPLOAD_SERVICE_REPLY',
      `The storage says that it has more of part ${unit.partNumber} than there is.`,
    )
  }
  if (unit.start + sentBytes < acceptedEnd) {
    return refusedAs('ERR_UPLOAD_NETWORK', `The storage accepted part ${unit.partNumber} before all of it was sent.`)
  }
  // Bytes that changed while they were on their way are stored, but they are not the file.
  await verifySource(reader)
  // A far end that took only some of the bytes has proven nothing about the digest of all of them.
  const md5 = acceptedEnd === unit.end ? await digest() : undefined
  const theirs = etag === undefined || md5 === undefined ? undefined : md5FromEtag(etag, reply.headers)
  // Where the platform hides the headers that name encryption, an ETag that differs may be no MD5: it proves nothing.
  const isComparable = reply.hidesHeaders !== true || reply.headers['x-amz-server-side-encryption'] !== undefined
  if (theirs !== undefined && theirs !== md5 && isComparable) {
    return refusedAs(
      'ERR_UPLOAD_DIGEST_MISMATCH',
      `The storage's ETag of part ${unit.partNumber} is not the MD5 of what was sent. The bytes were damaged on their way, ` +
        'or the bucket encrypts so that an ETag is no MD5; if it does, use verify: off (--verify off).',
    )
  }
  const receipt: Receipt = {
    acceptedEnd,
    ...(etag === undefined ? {} : { etag }),
    ...(md5 === undefined ? {} : { md5 }),
    isVerified: theirs !== undefined && theirs === md5,
  }
  return { kind: 'received', receipt }
}

function refusedAs(
  code: 'ERR_UPLOAD_NETWORK' | 'ERR_UPLOAD_DIGEST_MISMATCH' | 'ERR_UPLOAD_SERVICE_REPLY',
  message: string,
): SendPartResult {
  const error = new UploadError(code, message, { isRetryable: true })
  return { kind: 'refused', verdict: { kind: 'retry', error, isThrottle: false } }
}

async function verifySource(reader: Reader): Promise<void> {
  try {
    await reader.verify()
  } catch (error) {
    throw asSourceError(error)
  }
}

function sourceFailure(error: unknown, ending: AttemptEnding): SendPartResult {
  return { kind: 'source', ending, error: asSourceError(error) }
}

/** What a source rejected with: foreign errors become ERR_UPLOAD_SOURCE_READ. */
export function asSourceError(error: unknown): UploadError {
  if (isUploadError(error)) return error
  const message = `It could not be read: ${foreignWords(error)}`
  return new UploadError('ERR_UPLOAD_SOURCE_READ', message, { cause: error })
}

/** By its shape, because a host's own transport may come with another copy of the package. */
function isTransportError(error: unknown): error is TransportError {
  return isUploadError(error) && 'ending' in error && 'phase' in error
}
