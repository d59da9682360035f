// Which hosts a storage address may name. A server that embeds the engine sends bytes to addresses that another service made
// up: without a policy, that service could make it connect to hosts in its own network.

import { checkSecure } from './address.ts'
import { invalid, UploadError } from '../errors.ts'

/**
 * `any`: every host. `public`: those that `isPublicHost` accepts, which pages pass in themselves. A function decides alone; it
 * gets the host as a URL writes it: lower case, no port, IPv6 without brackets.
 */
export type AddressPolicy = 'any' | 'public' | HostPolicy

/** Whether bytes may be sent to a host. */
export type HostPolicy = (host: string) => boolean

/** What an address must satisfy before anything is sent to it. */
export interface AddressRules {
  /** Whether plain HTTP to other machines is allowed. Default false. */
  readonly isHttpAllowed?: boolean | undefined
  /** Absent: every host is allowed. */
  readonly addressPolicy?: HostPolicy | undefined
}

/**
 * Which hosts a policy allows; undefined: every host. Throws ERR_UPLOAD_INVALID_ARGUMENT for what is no policy, because callers
 * in plain JavaScript have no compiler to stop them, and for `public` where `isPublicHost` is not passed in.
 */
export function readAddressPolicy(policy: AddressPolicy, isPublicHost?: HostPolicy): HostPolicy | undefined {
  if (policy === 'any') return undefined
  if (policy === 'public') return isPublicHost ?? invalid('addressPolicy: public needs isPublicHost of mocap-uplink.')
  if (typeof policy === 'function') return policy
  return invalid('addressPolicy must be any, public or a function that takes a host.')
}

/**
 * Throws unless bytes may be sent to this address: as `checkSecure` does, and ERR_UPLOAD_INSECURE_URL, naming the host, for a
 * host that the policy does not allow.
 */
export function checkAddress(address: string, rules: AddressRules): void {
  checkSecure(address, rules.isHttpAllowed ?? false)
  if (rules.addressPolicy === undefined) return
  const host = new URL(address).hostname.replace(/^\[(.*)\]$/, '$1')
  // Nothing but true allows it: a function in plain JavaScript may be async, and its promise says nothing yet.
  const isAllowed: unknown = rules.addressPolicy(host)
  if (isAllowed !== true) throw forbiddenHost(host)
}

/** The error for a host that the policy does not allow. `ip`: what its name was resolved to, if it was. */
export function forbiddenHost(host: string, ip?: string): UploadError {
  const where = ip === undefined || ip === host ? host : `${host} (${ip})`
  return new UploadError(
    'ERR_UPLOAD_INSECURE_URL',
    `The storage address names the host ${where}, which the address policy of this program does not allow.`,
    { details: { host } },
  )
}
