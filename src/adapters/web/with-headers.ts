// A transport that adds headers of the host, such as a trace's or a gateway's.

import { invalid } from '../../core/errors.ts'
import type { Transport } from '../../core/ports.ts'
import { sendThrough } from '../../core/send-through.ts'

/**
 * The same transport, with these headers on each request; `headersOf` is asked anew for each one and gets its address, a secret of
 * parts. Names in lower case. A header that the request has already, the credential among them, is never replaced:
 * ERR_UPLOAD_INVALID_ARGUMENT. A storage's signature may not allow more headers, so give it as `transport` and name `storageTransport`
 * beside it.
 */
export function withHeaders(
  transport: Transport,
  headersOf: (url: string) => Readonly<Record<string, string>>,
): Transport {
  return sendThrough(transport, {
    async send(request, forward) {
      const added = headersOf(request.url)
      const taken = Object.keys(added).find((name) => Object.hasOwn(request.headers, name.toLowerCase()))
      if (taken !== undefined) invalid(`The header ${taken} is the request's own and cannot be added.`)
      return forward({ ...request, headers: { ...request.headers, ...added } })
    },
  })
}
