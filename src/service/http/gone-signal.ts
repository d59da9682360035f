// Tells long work whether anybody still waits for it.

import type { FastifyReply } from 'fastify'

import { Refusal } from './replies.ts'

/** Aborted when the caller hangs up before the answer. Nobody sees the reason; proxies count such calls as 499. */
export function goneSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  raw.once('close', () => gone.abort(new Refusal(499, 'unavailable', 'The caller has hung up.')))
  return gone.signal
}
