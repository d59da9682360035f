// What speaks HTTP over one connection: an undici Client that is given one socket and never gets a second one.

// Imports the file of this one class: undici's index also loads fetch, caches and mocks, and with them Node's own copy
// of all that. That is 0.05 s of processor time at every start. The path is not public, so only patch releases of
// undici are taken.
import Client from 'undici/lib/dispatcher/client.js'
import { withBaselineParser } from './baseline-parser.ts'
import type { Wire } from './wire.ts'

/** `keepAliveMs`: how long it stays open without a request. A shorter time that the server names is honoured. */
export function clientOf(wire: Wire, target: URL, keepAliveMs: number): Client {
  let isGiven = false
  return new Client(target.origin, {
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: keepAliveMs,
    // Else a longer time that the server names is obeyed as well, up to ten minutes.
    keepAliveMaxTimeout: keepAliveMs,
    // undici 7 dispatches nothing if a connector calls back before it has returned.
    connect: (_options, callback) => {
      const isFirst = !isGiven
      isGiven = true
      queueMicrotask(() => {
        if (isFirst) withBaselineParser(() => callback(null, wire.socket))
        else callback(Object.assign(new Error('The idle connection had ended'), { code: 'ECONNRESET' }), null)
      })
    },
  })
}
