// A line between the engine and the far end of a protocol that fails units on their way, as the tests of a protocol need it.

import { TransportError } from '../../core/errors.ts'
import type { Transport, TransportReply, TransportRequest } from '../../core/ports.ts'

export interface Fault {
  readonly kind: 'busy' | 'lost' | 'answerLost'
  /** Of the units, from the first on. */
  readonly everyNth: number
}

/** Fails units on their way, at most so many times, and keeps what was sent. */
export function faultyLine(inner: Transport, fault: Fault | undefined, mostTimes: number) {
  const units: TransportRequest[] = []
  let left = fault === undefined ? 0 : mostTimes
  const failed = new WeakSet<TransportRequest>()
  const lost = (phase: 'send' | 'answer', request: TransportRequest): TransportError => {
    if (phase === 'answer') failed.add(request)
    const ending = phase === 'answer' ? 'doubtful' : 'neverWhole'
    return new TransportError('ERR_UPLOAD_NETWORK', 'The connection was lost.', { ending, phase })
  }
  const transport: Transport = {
    async send(request) {
      if (request.body === undefined || request.body.kind === 'bytes') return inner.send(request)
      units.push(request)
      if (fault === undefined || left === 0 || units.length % fault.everyNth !== 1) return inner.send(request)
      left -= 1
      if (fault.kind === 'busy') return busy()
      if (fault.kind === 'lost') throw lost('send', request)
      await inner.send(request)
      throw lost('answer', request)
    },
    endingOf: (request) => (failed.has(request) ? 'doubtful' : inner.endingOf(request)),
    close: () => inner.close(),
  }
  return { transport, units }
}

function busy(): TransportReply {
  return { status: 503, headers: {}, body: new Uint8Array(), isBodyCut: false }
}
