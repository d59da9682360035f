// Wraps a transport so that it does something more when it sends, and keeps all its other traits. The compiler knows when a
// trait is missing here: one that was forgotten would silently change what the engine may do.

import { given } from './given.ts'
import type { Transport, TransportReply, TransportRequest } from './ports.ts'

type Traits = {
  readonly [K in Exclude<keyof Transport, 'send' | 'endingOf' | 'close' | 'roundTrip' | 'controllers'>]-?: NonNullable<
    Transport[K]
  >
}

/** What the wrapper does besides sending. */
interface More extends Pick<Transport, 'hasQueue'> {
  /** `forward` sends this request or a replacement for it; `endingOf` then answers for either. */
  send(request: TransportRequest, forward: (sent: TransportRequest) => Promise<TransportReply>): Promise<TransportReply>
}

/** Makes the wrapped transport. Round trips are not handed on. */
export function sendThrough(transport: Transport, more: More): Transport {
  /** What was sent in place of a request. */
  const inPlaceOf = new WeakMap<TransportRequest, TransportRequest>()
  return {
    // Read each time: a page learns its own only while it sends.
    get isProgressLive() {
      return transport.isProgressLive ?? true
    },
    hasQueue: more.hasQueue ?? transport.hasQueue ?? false,
    isResetByAbort: transport.isResetByAbort ?? false,
    ...given({ controllers: transport.controllers }),
    endingOf: (request) => transport.endingOf(inPlaceOf.get(request) ?? request),
    distrust: (request) => transport.distrust?.(inPlaceOf.get(request) ?? request),
    close: () => transport.close(),
    send: (request) =>
      more.send(request, (sent) => {
        if (sent !== request) inPlaceOf.set(request, sent)
        return transport.send(sent)
      }),
  } satisfies Transport & Traits
}
