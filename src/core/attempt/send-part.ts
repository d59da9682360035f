// Sends one part once and says what came of it. The order holds the bounds: windows first, then read, then PUT, then
// the windows back when nothing touches them any more. Whether and when to try again is not decided here: a part that
// waits for its next attempt must hold neither a slot nor a window.

import { timeoutsFor } from './attempt-timeouts.ts'
import { isUploadError, UploadError, type AttemptEnding, type TransportError } from '../errors.ts'
import { judgeReply, receiptOf } from './judge-reply.ts'
import type { PartPace } from '../line/pace.ts'
import type { Clock, Hasher, Protocol, Reader, Receipt, Transport } from '../ports.ts'
import type { TransportRequest, Unit, Verdict } from '../ports.ts'
import { asSourceError, changeOf, verifyReader } from './source-failure.ts'
import { blobContent, goesUnread } from './unread-body.ts'
import { createWatchdog, type AttemptTimeouts, type Watchdog } from './watchdog.ts'
import type { Content } from './whole-body.ts'
import type { WindowBodies } from './window-bodies.ts'
import type { WindowLease } from './windows.ts'

export interface SendPartPorts {
  readonly transport: Transport
  readonly clock: Clock
  /** The way of bytes that must pass through us; absent: only Blobs that go unread can be sent. */
  readonly bodies: WindowBodies | undefined
  /** Absent: nothing is hashed and no receipt is verified. */
  readonly hasher: Hasher | undefined
  readonly timeouts: AttemptTimeouts
  readonly pace: PartPace
}

export interface SendPartOptions {
  readonly unit: Unit
  readonly address: string
  readonly protocol: Pick<Protocol, 'request' | 'judge'>
  readonly reader: Reader
  readonly isFreshConnection: boolean
  /** Bytes of this attempt handed to the network so far. */
  readonly onSent: (sentBytes: number) => void
  /** The storage has taken a body that went unread: from here on the attempt needs the line no more. */
  readonly onAnswered?: (() => void) | undefined
  /** Of this attempt alone: whoever holds it may abort it, and so does the watch over its waits. */
  readonly controller: AbortController
}

/**
 * `received`: stored, with its receipt. `refused`: answered otherwise. `missing`: no answer. `source`: our own bytes
 * could not be read or have changed, or no request can be made for them; another attempt would end in the same way.
 * `ours`: something else of ours failed, and need not again. `aborted`: the signal fired.
 */
export type SendPartResult =
  | { readonly kind: 'received'; readonly receipt: Receipt }
  | { readonly kind: 'refused'; readonly verdict: Exclude<Verdict, { kind: 'received' }> }
  | { readonly kind: 'missing'; readonly ending: AttemptEnding; readonly error: TransportError }
  | { readonly kind: 'source'; readonly ending: AttemptEnding; readonly error: UploadError }
  | { readonly kind: 'ours'; readonly ending: AttemptEnding; readonly error: UploadError }
  | { readonly kind: 'aborted'; readonly ending: AttemptEnding }

/** Never rejects for what the world does; a rejection is a mistake of ours. */
export async function sendPart(ports: SendPartPorts, options: SendPartOptions): Promise<SendPartResult> {
  const { unit, controller } = options
  const { signal } = controller
  let lease: WindowLease | undefined
  try {
    if (!goesUnread(ports, options.reader)) {
      if (ports.bodies === undefined) return { kind: 'source', ending: 'neverWhole', error: withoutBodies() }
      lease = await ports.bodies.lease(unit.end - unit.start, signal)
    }
    return await attemptOnce(ports, options, lease?.windows)
  } catch (error) {
    if (signal.aborted && error === signal.reason) return { kind: 'aborted', ending: 'neverWhole' }
    throw error
  } finally {
    lease?.release()
  }
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
  const handover = createHandover(lengthBytes, watchdog, options.onSent)
  let request: TransportRequest | undefined
  try {
    const { method, headers } = protocol.request(unit, address)
    const making = body.make()
    const made = making instanceof Promise ? await making : making
    // It may have fired in each of the waits before; that no attempt begins then is not left to the transport.
    signal.throwIfAborted()
    request = {
      method,
      headers,
      url: address,
      body: made,
      signal,
      isFreshConnection,
      onSent: (bytes) => handover.onSent(bytes),
      onStarted: () => watchdog.started(),
    }
    if (ports.transport.hasQueue === true) watchdog.hold()
    const reply = await ports.transport.send(request)
    watchdog.stop()
    const result = judgeReply(options, reply, handover.sentBytes())
    // Its slot is kept: a pause that the storage asks for must be known before the next part goes.
    if (result.kind === 'refused') return result
    if (body.isUnread) options.onAnswered?.()
    // Bytes that changed while they were on their way are stored, but they are not the file.
    const looking = verifyReader(reader)
    if (looking !== undefined) await looking
    // A far end that took only some of the bytes has proven nothing about the digest of all of them.
    const digest = result.acceptedEnd === unit.end ? body.digest() : undefined
    return receiptOf(unit, reply, result, digest instanceof Promise ? await digest : digest)
  } catch (error) {
    const ending = request === undefined ? 'neverWhole' : ports.transport.endingOf(request)
    const readError = body.readError?.()
    if (readError !== undefined) return sourceFailure(readError, ending)
    if (signal.aborted && signal.reason !== expiry.error) return { kind: 'aborted', ending }
    // A platform that could not read the Blob says no more than that no answer came.
    const changed = body.isUnread === true ? await changeOf(reader) : undefined
    if (changed !== undefined) return sourceFailure(changed, ending)
    if (isTransportError(error)) return { kind: 'missing', ending, error }
    // A hasher that lost its thread says so: the same part may well go through once more.
    if (isUploadError(error)) return { kind: error.isRetryable ? 'ours' : 'source', ending, error }
    throw error
  } finally {
    watchdog.stop()
    handover.end()
    // The read that was under way when the attempt ended still writes into its window.
    const ended = body.end?.()
    if (ended !== undefined) await ended
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
  const { hasher, pace, bodies } = ports
  if (windows === undefined || bodies === undefined) return blobContent(unit, reader, hasher, signal)
  const startHash = hasher === undefined ? undefined : () => hasher.start()
  return bodies.content({ unit, reader, startHash, windows, pace, signal, watchdog })
}

function withoutBodies(): UploadError {
  const message = 'Its bytes must pass through us: give windowBodies().'
  return new UploadError('ERR_UPLOAD_INVALID_ARGUMENT', message)
}

/** Counts what was handed over, until the attempt has ended: what a transport says later is not true any more. */
function createHandover(
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

function sourceFailure(error: unknown, ending: AttemptEnding): SendPartResult {
  return { kind: 'source', ending, error: asSourceError(error) }
}

/** By its shape, because a host's own transport may come with another copy of the package. */
function isTransportError(error: unknown): error is TransportError {
  return isUploadError(error) && 'ending' in error && 'phase' in error
}
