// A transport that does something more when it sends, and is in all other traits what it was. The compiler knows when a trait
// is missing here: one that was forgotten would change what the engine may do, unseen.

import { given } from './given.ts'
import type { Transport } from './ports.ts'

type Traits = {
  readonly [K in Exclude<keyof Transport, 'send' | 'endingOf' | 'close' | 'roundTrip' | 'controllers'>]-?: NonNullable<
    Transport[K]
  >
}

/** `endingOf`: needed where `send` hands other requests on than it is given. Round trips are not handed on. */
export function sendThrough(
  transport: Transport,
  more: Pick<Transport, 'send'> & Partial<Pick<Transport, 'endingOf' | 'hasQueue'>>,
): Transport {
  const traits: Traits = {
    isProgressLive: transport.isProgressLive ?? true,
    hasQueue: transport.hasQueue ?? false,
    isResetByAbort: transport.isResetByAbort ?? false,
  }
  return {
    ...traits,
    ...given({ controllers: transport.controllers }),
    endingOf: (request) => transport.endingOf(request),
    close: () => transport.close(),
    ...more,
  }
}
