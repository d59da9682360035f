// Why a service gave no answer, in a few words, from what the system called it; and whether it comes of this machine's being
// without a network, and not of the address.

import { networkInterfaces } from 'node:os'
import type { Explain } from '../../../core/ports.ts'

const REASONS: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED$/, 'connection refused'],
  [/^(?:ENOTFOUND|EAI_AGAIN)$/, 'its name was not found'],
  [/^(?:EHOSTUNREACH|ENETUNREACH|ENETDOWN)$/, 'no route to it'],
  [/^(?:ECONNRESET|EPIPE)$/, 'connection reset'],
  [/^ETIMEDOUT$/, 'no answer'],
  [/CERT|^ERR_TLS_|^UNABLE_TO_/, 'its certificate was not accepted'],
]

/** There is no way out of this machine. */
const NO_WAY: ReadonlySet<string> = new Set(['ENETUNREACH', 'ENETDOWN'])
/** So it is said without a cable and a WLAN too, but as well of a host that is misspelt or off. */
const NOBODY_THERE: ReadonlySet<string> = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH'])
/** What a machine gives itself when nobody in its network gives it an address. */
const LINK_LOCAL = /^(?:169\.254\.|fe[89ab][0-9a-f]:)/i

/** What refuses or is silent is there, if only on this machine. */
export const explainFailure: Explain = explaining(networkInterfaces)

/** The same for a machine with these addresses. */
export function explaining(
  interfaces: () => NodeJS.Dict<readonly { readonly address: string; readonly internal: boolean }[]>,
): Explain {
  const hasAddress = (): boolean => {
    try {
      return Object.values(interfaces()).some((all) =>
        all?.some(({ address, internal }) => !internal && !LINK_LOCAL.test(address)),
      )
    } catch {
      // Some systems, such as Android, do not show their addresses to everybody: that is no sign of having none.
      return true
    }
  }
  return (error) => {
    let cause: unknown = error
    for (let depth = 0; depth < 4 && cause instanceof Error; depth += 1) {
      // What our transport says of it comes without a cause where that is no error of the system, such as of a certificate.
      const said = 'code' in cause && depth > 0 ? cause.code : error.details['systemCode']
      const code = typeof said === 'string' ? said : ''
      const known = REASONS.find(([pattern]) => pattern.test(code))
      if (known !== undefined)
        return { reason: known[1], isOffline: NO_WAY.has(code) || (NOBODY_THERE.has(code) && !hasAddress()) }
      cause = cause.cause
    }
    return { isOffline: false }
  }
}
