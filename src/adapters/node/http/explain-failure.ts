// Why a service gave no answer, in a few words, from what the system called it; and whether it comes of this machine's being
// without a network, and not of the address.

import { isIPv6 } from 'node:net'
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

/** There is no way out of this machine, unless it has one by the other version of IP alone. */
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
  /** Undefined where the system shows its addresses not to everybody, such as Android: that is no sign of having none. */
  const addresses = (): readonly string[] | undefined => {
    try {
      const all = Object.values(interfaces()).flatMap((each) => each ?? [])
      return all.flatMap(({ address, internal }) => (internal || LINK_LOCAL.test(address) ? [] : [address]))
    } catch {
      return undefined
    }
  }
  const isOffline = (code: string, far: unknown): boolean => {
    const own = NO_WAY.has(code) || NOBODY_THERE.has(code) ? addresses() : undefined
    if (own?.length === 0) return true
    // The machine may have addresses and no way out, as one that is joined to its cameras alone; but one that has none of this
    // version of IP, and others, has it switched off.
    const isOfOther = typeof far === 'string' && own?.every((address) => isIPv6(address) !== isIPv6(far)) === true
    return NO_WAY.has(code) && !isOfOther
  }
  return (error) => {
    const causes = causesOf(error)
    // What our transport says of it comes without a cause where that is no error of the system, such as of a certificate.
    for (const said of [error.details['systemCode'], ...causes.map(({ code }) => code)]) {
      const code = typeof said === 'string' ? said : ''
      const known = REASONS.find(([pattern]) => pattern.test(code))
      const far = causes.find(({ address }) => address !== undefined)?.address
      if (known !== undefined) return { reason: known[1], isOffline: isOffline(code, far) }
    }
    return { isOffline: false }
  }
}

/** As Node has it: `address` is the one that was tried. */
type SystemError = Error & { readonly code?: unknown; readonly address?: unknown }

/** What is below an error, outermost first. */
function causesOf({ cause }: Error): readonly SystemError[] {
  const found: SystemError[] = []
  for (let each = cause; each instanceof Error && found.length < 3; each = each.cause) found.push(each)
  return found
}
