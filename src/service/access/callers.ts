// Who a call comes from: the organisation whose data it may see, and nothing else. Every record has its owner, and every
// query asks for the caller's own; what belongs to another organisation is answered as what does not exist.

import type { FastifyRequest } from 'fastify'

/** The owner of what the fixed credentials of the development mode make, and of all that is older than organisations. */
export const DEVELOPMENT = 'development'

export interface Caller {
  readonly orgId: string
  /** Known by a fixed credential, under which the interface's `org_id` may be any. */
  readonly isDevelopment: boolean
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the credential check; null where none is needed. */
    caller: Caller | null
  }
}

/** The caller of a route that stands behind the credential check. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new Error('The route has no credential check.')
  return request.caller
}

/** A record as it is answered: whose it is, its owner knows. */
export function withoutOwner<TRecord extends { readonly owner: string }>(record: TRecord): Omit<TRecord, 'owner'> {
  const answered: Omit<TRecord, 'owner'> & { owner?: string } = { ...record }
  delete answered.owner
  return answered
}
