// The Transport of Node, on undici 7. Windows go straight to the socket. If an attempt ends without an answer, its
// connection is reset, so that the far end cannot complete it from what the kernel still holds.

import { invalid, isUploadError, UploadError, type AttemptEnding } from '../../../core/errors.ts'
import type { Transport, TransportReply, TransportRequest } from '../../../core/ports.ts'
import { descriptors, type Descriptors } from '../descriptors.ts'
import { createConnectionPool, type Connection } from './connection-pool.ts'
import { createConnector, type ConnectorOptions } from './connector.ts'
import { exchange, type ExchangeResult } from './exchange.ts'
import { networkFailure } from './network-failure.ts'
import { createRoundTrip } from './round-trip.ts'
import { createSpareControllers } from './spare-controllers.ts'
import { createTargetReader, readUrl } from './target.ts'
import type { Wire } from './wire.ts'

/** How the transport connects. */
export interface UndiciTransportOptions extends ConnectorOptions {
  /**
   * The most connections to one origin, idle ones included. Further requests wait. Default 63, which is 64 with a bare
   * handshake beside them, and one more than an engine has parts in flight, so that no call waits for a part.
   */
  readonly maxConnectionsPerHost?: number | undefined
  /** How long an idle connection is kept, ms. Default 4000. A server that names a shorter time is obeyed. */
  readonly keepAliveMs?: number | undefined
}

/**
 * Makes the transport of Node. Throws ERR_UPLOAD_INVALID_ARGUMENT for invalid options. `send` rejects with the same
 * code for a URL that is not http: or https:, and with the error of a body that could not be read.
 *
 * An answer whose head arrived but whose body broke off is an answer, with `isBodyCut`.
 */
export function undiciTransport(options: UndiciTransportOptions = {}): Transport {
  return undiciTransportOn(descriptors, options)
}

/** The same in a process whose descriptors a test decides. */
export function undiciTransportOn(descriptors: Descriptors, options: UndiciTransportOptions = {}): Transport {
  const { maxConnectionsPerHost = 63, keepAliveMs = 4000 } = options
  if (!Number.isInteger(maxConnectionsPerHost) || maxConnectionsPerHost < 1) {
    invalid('maxConnectionsPerHost must be a whole number of at least 1')
  }
  if (!(keepAliveMs > 0)) invalid('keepAliveMs must be more than 0')
  if (!['any', 'public'].includes(options.addressPolicy ?? 'any')) invalid('addressPolicy must be any or public')
  const connect = createConnector(options)
  const pool = createConnectionPool({ connect, descriptors, maxConnectionsPerHost, keepAliveMs })
  const endings = new WeakMap<TransportRequest, AttemptEnding>()
  /** What brought the answer to a request, if it was kept. */
  const wires = new WeakMap<TransportRequest, Wire>()

  const readTarget = createTargetReader()
  const acquire = async (request: TransportRequest, isFresh: boolean): Promise<Connection> => {
    const target = readUrl(request.url)
    try {
      return await pool.acquire(target, {
        isFresh,
        signal: request.signal,
        use: request.onSent === undefined ? 'call' : 'part',
        // So that its wait for a place or a descriptor does not pass for one for the host.
        onWait: request.onStarted,
      })
    } catch (error) {
      request.signal.throwIfAborted()
      // A host that may not be reached is not a failure of the network: another attempt would end in the same way.
      if (isUploadError(error)) throw error
      throw networkFailure(error, { target, phase: 'connect', ending: 'neverWhole' })
    }
  }

  const attempt = async (request: TransportRequest, isFresh: boolean): Promise<TransportReply> => {
    request.signal.throwIfAborted()
    const target = readTarget(request.url)
    const ready = isFresh ? undefined : pool.takeReady(target.origin)
    const connection = ready ?? (await acquire(request, isFresh))
    let result: ExchangeResult
    try {
      result = await exchange(connection, target.path, request)
    } catch (error) {
      // A host's protocol in plain JavaScript may give no headers. Its connection must not take a place forever.
      pool.discard(connection)
      throw error
    }
    if (result.kind === 'answered') {
      if (result.isReusable) {
        wires.set(request, connection.wire)
        pool.release(connection)
      } else pool.discard(connection)
      return result.reply
    }
    pool.discard(connection)
    // A kept connection that ended while idle has carried nothing of this request, so this is not a second attempt.
    if (result.kind === 'failed' && result.isStale) return attempt(request, true)
    endings.set(request, result.ending)
    request.signal.throwIfAborted()
    if (result.kind === 'failed' && !isRefusedInput(result.error)) {
      const phase = result.ending === 'doubtful' ? 'answer' : 'send'
      throw networkFailure(result.error, { target: readUrl(request.url), phase, ending: result.ending })
    }
    if (result.kind === 'sourceFailed') throw result.error
    throw new UploadError('ERR_UPLOAD_INVALID_ARGUMENT', 'The method or a header of the request cannot be sent')
  }

  return {
    isResetByAbort: true,
    controllers: createSpareControllers(),
    send(request) {
      // The same request may be sent again, and then starts anew.
      endings.delete(request)
      return attempt(request, request.isFreshConnection ?? false)
    },
    roundTrip: createRoundTrip(options),
    endingOf: (request) => endings.get(request) ?? 'neverWhole',
    distrust: (request) => wires.get(request)?.reset(),
    close: () => pool.close(),
  }
}

function isRefusedInput(error: unknown): boolean {
  // The second is for `expect` alone.
  const codes: readonly unknown[] = ['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED']
  return error instanceof Error && 'code' in error && codes.includes(error.code)
}
