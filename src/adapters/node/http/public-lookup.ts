// Resolves names only to addresses of the public internet, at the moment of connecting. The address that was judged is
// the one that is connected to, so a name that changes its address in between gains nothing.

import dns, { type LookupAddress, type LookupOptions } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { forbiddenHost } from '../../../core/address/address-policy.ts'
import { isPublicIp } from '../../../core/address/public-host.ts'

/** Asks the system for all addresses of a name. */
export type ResolveAll = (
  hostname: string,
  options: LookupOptions & { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[] | undefined) => void,
) => void

/** Makes a `lookup` for net.connect. A name without any public address fails with ERR_UPLOAD_INSECURE_URL. */
export function createPublicLookup(resolveAll: ResolveAll = dns.lookup): LookupFunction {
  return (hostname, options, callback) => {
    resolveAll(hostname, { ...options, all: true }, (error, found = []) => {
      const [first] = found
      if (error !== null || first === undefined) {
        callback(error ?? Object.assign(new Error(`No address of ${hostname}`), { code: 'ENOTFOUND' }), '')
        return
      }
      const allowed = found.filter(({ address }) => isPublicIp(address))
      const [chosen] = allowed
      if (chosen === undefined) callback(forbiddenHost(hostname, first.address), '')
      else if (options.all === true) callback(null, allowed)
      else callback(null, chosen.address, chosen.family)
    })
  }
}
