// Tells long work whether anybody still waits for it.

import type { FastifyReply } from 'fastify'

import { Refusal } from './replies.ts'

/** Aborted when the caller hangs up before the answer. Nobody sees the reason; proxies count such calls as 499. */
export function goneSignal({ raw }: Pick<FastifyReply, 'raw'>): AbortSignal {
  const gone = new AbortController()
  const hangUp = () => gone.abort(new Refusal(499, 'unavailable', 'The caller has hung up.'))
  // The caller may have left while its credential was looked up.
  if (raw.destroyed) hangUp()
  else raw.once('close', hangUp)
  return gone.signal
}
