// A transport that adds the host's own headers, such as those of a trace or a gateway.

import { invalid } from '../../core/errors.ts'
import type { Transport } from '../../core/ports.ts'
import { sendThrough } from '../../core/send-through.ts'
import { unlessAborted } from '../../core/unless-aborted.ts'

/**
 * Makes the same transport with more headers on each request. `headersOf` is called for each request, may be
 * async, and gets the address, which is a secret if it is a part's. Names must be in lower case. A header that the request already has, the
 * credential included, is never replaced: that rejects with ERR_UPLOAD_INVALID_ARGUMENT. A storage's signature may not
 * allow more headers, so pass this as `transport` and name a `storageTransport` beside it.
 */
export function withHeaders(
  transport: Transport,
  headersOf: (url: string) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>,
): Transport {
  return sendThrough(transport, {
    async send(request, forward) {
      const added = await unlessAborted(headersOf(request.url), request.signal)
      const taken = Object.keys(added).find((name) => Object.hasOwn(request.headers, name.toLowerCase()))
      if (taken !== undefined) invalid(`The header ${taken} is the request's own and cannot be added.`)
      return forward({ ...request, headers: { ...request.headers, ...added } })
    },
  })
}
