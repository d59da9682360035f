// Sends one part once and says what came of it. The order holds the bounds: windows first, then read, then PUT, then
// the windows back when nothing touches them any more. Whether and when to try again is not decided here: a part that
// waits for its next attempt must hold neither a slot nor a window.

import { createBody } from './body.ts'
import { isUploadError, TransportError, UploadError, type AttemptEnding } from './errors.ts'
import { md5FromEtag } from './etag.ts'
import type {
  BodyHash,
  Clock,
  Hasher,
  Protocol,
  Reader,
  Receipt,
  Transport,
  TransportReply,
  TransportRequest,
} from './ports.ts'
import type { Unit, Verdict } from './ports.ts'
import { createWatchdog, type AttemptTimeouts, type Watchdog } from './watchdog.ts'
import type { WindowPool } from './windows.ts'

export interface SendPartPorts {
  readonly transport: Transport
  readonly clock: Clock
  readonly windows: WindowPool
  /** Absent: nothing is hashed and no receipt is verified. */
  readonly hasher: Hasher | undefined
  readonly timeouts: AttemptTimeouts
  readonly pace: ((bytes: number, signal: AbortSignal) => Promise<void> | undefined) | undefined
}

export interface SendPartOptions {
  readonly unit: Unit
  readonly address: string
  readonly protocol: Pick<Protocol, 'request' | 'judge'>
  readonly reader: Reader
  readonly isFreshConnection: boolean
  /** Bytes of this attempt handed to the network so far. */
  readonly onSent: (sentBytes: number) => void
  readonly signal: AbortSignal
}

/**
 * `received`: stored, with its receipt. `refused`: answered otherwise. `missing`: no answer. `source`: our own bytes
 * could not be read or have changed. `aborted`: the signal fired.
 */
export type SendPartResult =
  | { readonly kind: 'received'; readonly receipt: Receipt }
  | { readonly kind: 'refused'; readonly verdict: Exclude<Verdict, { kind: 'received' }> }
  | { readonly kind: 'missing'; readonly ending: AttemptEnding; readonly error: TransportError }
  | { readonly kind: 'source'; readonly ending: AttemptEnding; readonly error: UploadError }
  | { readonly kind: 'aborted'; readonly ending: AttemptEnding }

/** Never rejects for what the world does; a rejection is a mistake of ours. */
export async function sendPart(ports: SendPartPorts, options: SendPartOptions): Promise<SendPartResult> {
  const { unit, signal } = options
  const attempt = new AbortController()
  const follow = (): void => {
    attempt.abort(signal.reason)
  }
  if (signal.aborted) return { kind: 'aborted', ending: 'neverWhole' }
  signal.addEventListener('abort', follow, { once: true })
  try {
    const isBlob = options.reader.blob !== undefined && ports.hasher === undefined && ports.pace === undefined
    const lease = isBlob ? undefined : await ports.windows.lease(unit.end - unit.start, attempt.signal)
    try {
      return await attemptOnce(ports, options, lease?.windows, attempt)
    } finally {
      lease?.release()
    }
  } catch (error) {
    if (attempt.signal.aborted && error === attempt.signal.reason) return { kind: 'aborted', ending: 'neverWhole' }
    throw error
  } finally {
    signal.removeEventListener('abort', follow)
  }
}

async function attemptOnce(
  ports: SendPartPorts,
  options: SendPartOptions,
  windows: readonly Uint8Array[] | undefined,
  attempt: AbortController,
): Promise<SendPartResult> {
  const { unit, reader, signal } = options
  const lengthBytes = unit.end - unit.start
  const hash = windows === undefined ? undefined : ports.hasher?.start()
  const timeouts = timeoutsFor(ports, lengthBytes)
  const watchdog = createWatchdog(ports.clock, timeouts, `Part ${String(unit.partNumber)}`, (error) => {
    attempt.abort(error)
  })
  let sentBytes = 0
  const body = createBody({
    ...{ unit, reader, windows: windows ?? [], hash },
    pace: ports.pace && ((bytes) => ports.pace?.(bytes, attempt.signal)),
    onHold: () => watchdog.hold(),
    onReady: () => watchdog.moved(sentBytes),
  })
  const request: TransportRequest = {
    ...options.protocol.request(unit, options.address),
    url: options.address,
    body:
      windows === undefined && reader.blob !== undefined
        ? { kind: 'blob', lengthBytes, blob: reader.blob(unit.start, unit.end) }
        : { kind: 'windows', lengthBytes, windows: () => body.windows() },
    signal: attempt.signal,
    isFreshConnection: options.isFreshConnection,
    onSent: (bytes) => {
      sentBytes = bytes
      noteSent(watchdog, bytes, lengthBytes)
      options.onSent(bytes)
    },
  }
  try {
    const reply = await ports.transport.send(request)
    watchdog.stop()
    return await judge(options, reply, sentBytes, hash)
  } catch (error) {
    const ending = ports.transport.endingOf(request)
    if (body.readError() !== undefined) return sourceFailure(body.readError(), ending)
    if (signal.aborted) return { kind: 'aborted', ending }
    if (error instanceof TransportError) return { kind: 'missing', ending, error }
    if (isUploadError(error)) return { kind: 'source', ending, error }
    throw error
  } finally {
    watchdog.stop()
    // The read that was under way when the attempt ended still writes into its window.
    await body.idle()
    hash?.dispose?.()
  }
}

/** The slowest line that a transport without live progress is waited for, bytes a second. */
const SLOWEST_BYTES_PER_SECOND = 8 * 1024

function timeoutsFor(ports: SendPartPorts, lengthBytes: number): AttemptTimeouts {
  if (ports.transport.isProgressLive ?? true) return ports.timeouts
  const sendMs = (lengthBytes / SLOWEST_BYTES_PER_SECOND) * 1_000
  const { connectMs, stallMs, answerMs } = ports.timeouts
  return { connectMs: connectMs + sendMs, stallMs: stallMs + sendMs, answerMs }
}

function noteSent(watchdog: Watchdog, sentBytes: number, lengthBytes: number): void {
  if (sentBytes >= lengthBytes) watchdog.handedOver(sentBytes)
  else watchdog.moved(sentBytes)
}

async function judge(
  options: SendPartOptions,
  reply: TransportReply,
  sentBytes: number,
  hash: BodyHash | undefined,
): Promise<SendPartResult> {
  const { unit, reader, protocol } = options
  const verdict = protocol.judge(reply, unit)
  if (verdict.kind !== 'received') return { kind: 'refused', verdict }
  if (sentBytes < unit.end - unit.start && verdict.acceptedEnd === unit.end) {
    return refusedAs(
      'ERR_UPLOAD_NETWORK',
      `The storage accepted part ${String(unit.partNumber)} before all of it was sent.`,
    )
  }
  // Bytes that changed while they were on their way are stored, but they are not the file.
  await reader.verify()
  const { acceptedEnd, etag } = verdict
  // A far end that took only some of the bytes has proven nothing about the digest of all of them.
  const md5 = acceptedEnd === unit.end ? await hash?.digest() : undefined
  const theirs = etag === undefined || md5 === undefined ? undefined : md5FromEtag(etag, reply.headers)
  if (theirs !== undefined && theirs !== md5) {
    return refusedAs(
      'ERR_UPLOAD_DIGEST_MISMATCH',
      `The storage's ETag of part ${String(unit.partNumber)} is not the MD5 of what was sent. The bytes were damaged on their way, ` +
        'or the bucket encrypts so that an ETag is no MD5; if it does, use verify: off (--verify off).',
    )
  }
  const receipt: Receipt = {
    acceptedEnd,
    ...(etag === undefined ? {} : { etag }),
    ...(md5 === undefined ? {} : { md5 }),
    isVerified: theirs !== undefined,
  }
  return { kind: 'received', receipt }
}

function refusedAs(code: 'ERR_UPLOAD_NETWORK' | 'ERR_UPLOAD_DIGEST_MISMATCH', message: string): SendPartResult {
  return { kind: 'refused', verdict: { kind: 'retry', error: new UploadError(code, message), isThrottle: false } }
}

function sourceFailure(error: unknown, ending: AttemptEnding): SendPartResult {
  if (isUploadError(error)) return { kind: 'source', ending, error }
  const message = `A file could not be read: ${error instanceof Error ? error.message : String(error)}`
  return { kind: 'source', ending, error: new UploadError('ERR_UPLOAD_SOURCE_READ', message, { cause: error }) }
}
