// Who a call comes from: the organisation whose data it may see. Every record has an owner, and every query asks for the caller's
// own records. A record of another organisation is answered as if it did not exist.

import type { FastifyRequest } from 'fastify'

/** The owner of whatever the fixed development credentials create, and of everything older than organisations. */
export const DEVELOPMENT = 'development'

export interface Caller {
  readonly orgId: string
  /** Identified by a fixed credential; any `org_id` of the interface is allowed then. */
  readonly isDevelopment: boolean
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the credential check; null where none is needed. */
    caller: Caller | null
  }
}

/** The caller of a route behind the credential check. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new Error('The route has no credential check.')
  return request.caller
}

/** A record as it is sent to its owner, who knows whose it is. */
export function withoutOwner<TRecord extends { readonly owner: string }>(record: TRecord): Omit<TRecord, 'owner'> {
  const answered: Omit<TRecord, 'owner'> & { owner?: string } = { ...record }
  delete answered.owner
  return answered
}
