// Why a service gave no answer, in a few words, from the system's code. Also whether the reason is that this machine
// has no network, rather than the address.

import { isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { Explain } from '../../../core/ports.ts'

const REASONS: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED$/, 'connection refused'],
  [/^(?:ENOTFOUND|EAI_AGAIN)$/, 'its name was not found'],
  [/^(?:EHOSTUNREACH|ENETUNREACH|ENETDOWN)$/, 'no route to it'],
  [/^(?:ECONNRESET|EPIPE)$/, 'connection reset'],
  [/^ETIMEDOUT$/, 'no answer'],
  [/^E[MN]FILE$/, 'too many files are open here'],
  [/^ERR_PROXY_ANSWERED_407$/, 'it wants a name and a password that it knows'],
  [/^ERR_PROXY_ANSWERED_/, 'it opens no connection'],
  [/_ALERT_/, 'it refuses this TLS connection'],
  [/CERT|^ERR_TLS_|^UNABLE_TO_/, 'its certificate was not accepted'],
]

/** This machine has no way out, except perhaps by the other version of IP. */
const NO_WAY: ReadonlySet<string> = new Set(['ENETUNREACH', 'ENETDOWN'])
/** The codes of a machine without cable and WLAN, but also of a host that is misspelt or off. */
const NOBODY_THERE: ReadonlySet<string> = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH'])
/** The addresses that a machine gives itself if nobody in its network gives it one. */
const LINK_LOCAL = /^(?:169\.254\.|fe[89ab][0-9a-f]:)/i

/** A host that refuses or is silent is there, if only on this machine. */
export const explainFailure: Explain = explaining(networkInterfaces)

/** The same for a machine with these addresses. */
export function explaining(
  interfaces: () => NodeJS.Dict<readonly { readonly address: string; readonly internal: boolean }[]>,
): Explain {
  /**
   * Undefined if the system does not show its addresses to everybody, as on Android: that does not mean that it has
   * none.
   */
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
    // The machine may have addresses and still no way out, for example if it is joined to its cameras only. But if it
    // has none of this version of IP and some of the other, it has this version switched off.
    const isOfOther = typeof far === 'string' && own?.every((address) => isIPv6(address) !== isIPv6(far)) === true
    return NO_WAY.has(code) && !isOfOther
  }
  return (error) => {
    const causes = causesOf(error)
    // For what is no error of the system, such as a refused certificate, our transport gives a code without a cause.
    for (const said of [error.details['systemCode'], ...causes.map(({ code }) => code)]) {
      const code = typeof said === 'string' ? said : ''
      const known = REASONS.find(([pattern]) => pattern.test(code))
      const far = causes.find(({ address }) => address !== undefined)?.address
      if (known === undefined) continue
      const { proxy } = error.details
      const reason = typeof proxy === 'string' ? `its proxy ${proxy}: ${known[1]}` : known[1]
      return { reason, isOffline: isOffline(code, far) }
    }
    return { isOffline: false }
  }
}

/** As Node has it. `address` is the one that was tried. */
type SystemError = Error & { readonly code?: unknown; readonly address?: unknown }

/** The causes of an error, outermost first. */
function causesOf({ cause }: Error): readonly SystemError[] {
  const found: SystemError[] = []
  for (let each = cause; each instanceof Error && found.length < 3; each = each.cause) found.push(each)
  return found
}
