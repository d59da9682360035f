// A transport that does something more when it sends, and is in all other traits what it was. The compiler knows when a trait
// is missing here: one that was forgotten would change what the engine may do, unseen.

import { given } from './given.ts'
import type { Transport, TransportReply, TransportRequest } from './ports.ts'

type Traits = {
  readonly [K in Exclude<keyof Transport, 'send' | 'endingOf' | 'close' | 'roundTrip' | 'controllers'>]-?: NonNullable<
    Transport[K]
  >
}

/** What is done beside sending. */
interface More extends Pick<Transport, 'hasQueue'> {
  /** `forward` sends it, or another request in its place, of which it is remembered whose attempt it is. */
  send(request: TransportRequest, forward: (sent: TransportRequest) => Promise<TransportReply>): Promise<TransportReply>
}

/** Round trips are not handed on. */
export function sendThrough(transport: Transport, more: More): Transport {
  /** What the transport knows a request by. */
  const inPlaceOf = new WeakMap<TransportRequest, TransportRequest>()
  return {
    // A page learns of its own while it sends.
    get isProgressLive() {
      return transport.isProgressLive ?? true
    },
    hasQueue: more.hasQueue ?? transport.hasQueue ?? false,
    isResetByAbort: transport.isResetByAbort ?? false,
    ...given({ controllers: transport.controllers }),
    endingOf: (request) => transport.endingOf(inPlaceOf.get(request) ?? request),
    close: () => transport.close(),
    send: (request) =>
      more.send(request, (sent) => {
        if (sent !== request) inPlaceOf.set(request, sent)
        return transport.send(sent)
      }),
  } satisfies Transport & Traits
}
