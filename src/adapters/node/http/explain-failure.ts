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

/** No way out of this machine or its network, or nobody there to ask for a name. */
const NO_WAY: ReadonlySet<string> = new Set(['EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH', 'ENETDOWN'])

/**
 * Some systems say of every name that it does not exist when there is no cable and no WLAN. What refuses or is silent is
 * there, if only on this machine.
 */
export const explainFailure: Explain = (error) => {
  let cause: unknown = error.cause
  for (let depth = 0; depth < 3 && cause instanceof Error; depth += 1) {
    const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : ''
    const known = REASONS.find(([pattern]) => pattern.test(code))
    if (known !== undefined) {
      return { reason: known[1], isOffline: NO_WAY.has(code) || (code === 'ENOTFOUND' && !hasAddress()) }
    }
    cause = cause.cause
  }
  return { isOffline: false }
}

function hasAddress(): boolean {
  return Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ internal }) => !internal))
}
