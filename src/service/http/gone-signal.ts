// For long work: whether anybody still waits for it.

import type { FastifyReply } from 'fastify'

import { Refusal } from './replies.ts'

/** Aborted when the caller has hung up before the answer. Its reason is for nobody; 499 is what proxies count it as. */
export function goneSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  raw.once('close', () => gone.abort(new Refusal(499, 'unavailable', 'The caller has hung up.')))
  return gone.signal
}
