// Sends one part once and says what came of it. The order keeps the bounds: open the source, lease windows, read, PUT, then
// give each back when nothing touches it any more. Whether and when to try again is not decided here: a part that waits for its
// next attempt must hold neither a slot nor a window.

import type { Attempt, AttemptResult } from './attempt.ts'
import { timeoutsFor } from './attempt-timeouts.ts'
import { invalid, isTransportError, isUploadError, type AttemptEnding } from '../errors.ts'
import { judgeReply, judgeDigest } from './judge-reply.ts'
import type { PartPace } from '../line/pace.ts'
import type { Clock, Hasher, Protocol, Reader, Transport, TransportRequest } from '../ports.ts'
import type { ReaderCache } from './reader-cache.ts'
import { asSourceError, changeOf, verifyReader } from './source-failure.ts'
import { blobContent, goesUnread } from './unread-body.ts'
import { createWatchdog, type AttemptTimeouts, type Watchdog } from './watchdog.ts'
import type { Content } from './whole-body.ts'
import type { WindowBodies } from './window-bodies.ts'
import { isPromise } from '../is-promise.ts'
import { tellHang } from '../time/tell-hang.ts'
import { giveTime } from '../time/unless-late.ts'

/** What the attempts of all sessions share. */
export interface AttemptPorts {
  readonly transport: Transport
  readonly clock: Clock
  /** For bytes that must pass through our memory; absent: only Blobs that go unread can be sent. */
  readonly bodies?: WindowBodies | undefined
  /** Absent: nothing is hashed and no receipt is verified. */
  readonly hasher?: Hasher | undefined
  readonly timeouts: AttemptTimeouts
  readonly pace: PartPace
}

/** What the attempts of one session share besides. */
export interface SendPartPorts extends AttemptPorts {
  readonly protocol: Pick<Protocol, 'request' | 'judge'>
  readonly readers: ReaderCache
  /** Whether the address of an attempt must no longer be used. Asked when its request is about to be made. */
  isExpired(attempt: Attempt): boolean
  /** Called with true when the source of a file must be waited for or hangs, and with false once an attempt can go on with it. */
  hold(fileIndex: number, isHeld: boolean): void
  /** An attempt has handed `grownBytes` more to the network; its `sentBytes` is the total. */
  onSent(attempt: Attempt, grownBytes: number): void
}

/** Sends one part once. Never rejects for what the world does; a rejection is a mistake of ours. */
export async function sendPart(ports: SendPartPorts, attempt: Attempt): Promise<AttemptResult> {
  const { transport, protocol, readers, bodies, pace, clock } = ports
  const { unit, lengthBytes, address, controller } = attempt
  const { signal } = controller
  const { fileIndex } = unit
  let reader: Reader | undefined
  let body: Content | undefined
  /** Its bytes go from a Blob to the network without passing through us. */
  let isUnread = false
  let request: TransportRequest | undefined
  const onHang = (isHung: boolean): void => {
    attempt.isHung = isHung
    if (isHung) attempt.onFree(false)
    ports.hold(fileIndex, isHung || !reader)
  }
  try {
    const opening = readers.acquire(fileIndex, signal)
    // What goes although its file is held asks the source anew.
    ports.hold(fileIndex, isPromise(opening))
    if (isPromise(opening)) {
      reader = await tellHang(clock, opening, onHang)
      ports.hold(fileIndex, false)
      // Its slot went to another. Many files may open at once when their drive is back: each waits for its turn, but not twice.
      if (attempt.isHung === false && !attempt.isFreshConnection) return { kind: 'aborted', ending: 'neverWhole' }
    } else reader = opening
    attempt.isSending = true
    const hasher = attempt.isWhole ? ports.hasher : undefined
    isUnread = goesUnread(hasher, pace, reader)
    if (!isUnread) {
      if (!bodies) invalid('Its bytes must pass through us: give windowBodies().')
      const leasing = bodies.lease(lengthBytes, signal)
      attempt.lease = isPromise(leasing) ? await leasing : leasing
    }
    const watchdog = (attempt.watchdog = watchOver(ports, attempt))
    body =
      attempt.lease && bodies
        ? bodies.content({ unit, reader, hasher, windows: attempt.lease.windows, pace, signal, watchdog, onHang })
        : blobContent(unit, reader, hasher, signal)
    const { method, headers } = protocol.request(unit, address.url)
    const making = body.make()
    const made = isPromise(making) ? await making : making
    // The signal may have fired in each of the waits before. That no request begins then is not left to the transport. Nor does a
    // session that was stopped renew anything.
    signal.throwIfAborted()
    // Asked only now: a source may take minutes to open, or a short part to be read.
    if (ports.isExpired(attempt)) return { kind: 'expired' }
    request = {
      method,
      headers,
      url: address.url,
      body: made,
      signal,
      isFreshConnection: attempt.isFreshConnection,
      onSent: (bytes) => handOver(ports, attempt, watchdog, bytes),
      onStarted: watchdog.started,
    }
    if (transport.hasQueue === true) watchdog.hold()
    const reply = await transport.send(request)
    watchdog.stop()
    const result = judgeReply(protocol, attempt, reply)
    // The slot is kept: a pause that the storage asks for must be known before the next part goes.
    if (result.kind === 'refused') return result
    if (isUnread) attempt.onFree(true)
    // Bytes that changed while they were on their way are stored, but they are not the file.
    const looking = verifyReader(reader)
    if (looking) await (isUnread ? looking : tellHang(clock, looking, onHang))
    // A far end that took only some of the bytes has proven nothing about the digest of all of them.
    const digest = result.acceptedEnd === unit.end ? body.digest() : undefined
    const end = judgeDigest(unit, reply, result, isPromise(digest) ? await digest : digest)
    if (end.kind === 'refused') transport.distrust?.(request)
    return end
  } catch (error) {
    const ending = request ? transport.endingOf(request) : 'neverWhole'
    const readError = body?.readError?.()
    if (readError !== undefined) return sourceFailure(readError, ending)
    // These are equal when the watchdog ended the attempt, or when nothing did: both are undefined then.
    if (signal.reason !== attempt.expiry) return { kind: 'aborted', ending }
    // A platform that could not read the Blob says only that no answer came.
    const changed = reader && isUnread && (await changeOf(reader))
    if (changed) return sourceFailure(changed, ending)
    if (reader && isTransportError(error)) return { kind: 'missing', ending, error }
    if (!reader || isUploadError(error)) return sourceFailure(error, ending)
    throw error
  } finally {
    attempt.isSending = false
    attempt.watchdog?.stop()
    try {
      // A read that was under way when the attempt ended still writes into its window.
      const ended = body?.end?.()
      if (ended) await ended
      // A hash that is computed elsewhere need not go on for an answer that asked for no digest.
      if (isUnread && body?.digest() !== undefined) controller.abort()
    } finally {
      // Even when a host's hash cannot be freed: other sessions of the engine need the windows.
      attempt.lease?.release()
      attempt.lease = undefined
      const closed = readers.release(fileIndex)
      // A drive that is gone may never close it. What came of the attempt is known by now.
      if (closed && reader) await giveTime(clock, closed)
    }
  }
}

function watchOver(ports: SendPartPorts, attempt: Attempt): Watchdog {
  const { unit, lengthBytes, controller } = attempt
  return createWatchdog(ports.clock, timeoutsFor(ports, lengthBytes), `Part ${unit.partNumber}`, (error) => {
    attempt.expiry = error
    controller.abort(error)
  })
}

/** Counts what was handed over until the attempt has ended. What a transport reports later is no longer true. */
function handOver(ports: SendPartPorts, attempt: Attempt, watchdog: Watchdog, bytes: number): void {
  const { lengthBytes, sentBytes } = attempt
  // Written so that what is no number counts as nothing told: a host's transport may give one.
  if (!attempt.isSending || !(bytes >= sentBytes)) return
  attempt.hasTold = true
  attempt.sentBytes = Math.min(bytes, lengthBytes)
  if (bytes >= lengthBytes) watchdog.handedOver(bytes)
  else watchdog.moved()
  // A first report of 0 bytes says only that the connection is there.
  if (attempt.sentBytes > 0 || lengthBytes === 0) ports.onSent(attempt, attempt.sentBytes - sentBytes)
}

function sourceFailure(error: unknown, ending: AttemptEnding): AttemptResult {
  return { kind: 'source', ending, error: asSourceError(error) }
}
