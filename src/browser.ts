// The face for browsers: the engine with Blobs, fetch and a memory journal wired in.

import { fetchTransport } from './adapters/web/fetch-transport.ts'
import { memoryJournal } from './adapters/web/memory-journal.ts'
import { systemClock } from './adapters/web/system-clock.ts'
import { createUplink as createPortableUplink, type Uplink, type UplinkOptions, type UplinkPorts } from './uplink.ts'

export * from './index-names.ts'

/** Options of createUplink in a browser: the Uplink's own, and any port to replace. */
export interface BrowserUplinkOptions extends UplinkOptions, Partial<UplinkPorts> {}

/**
 * Makes an Uplink for a browser. Without a hasher nothing is verified. `concurrency` defaults to 5: a browser opens six
 * connections to an HTTP/1 host and queues the rest unseen.
 */
export function createUplink(options: BrowserUplinkOptions): Uplink {
  const { transport, storageTransport, journal, clock, random, hasher, ...own } = options
  return createPortableUplink(
    { concurrency: 5, ...own },
    {
      transport: transport ?? fetchTransport(),
      ...(storageTransport === undefined ? {} : { storageTransport }),
      journal: journal ?? memoryJournal(),
      clock: clock ?? systemClock(),
      random: random ?? Math.random,
      ...(hasher === undefined ? {} : { hasher }),
    },
  )
}
