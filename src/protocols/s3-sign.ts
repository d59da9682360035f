// Requests to an S3-compatible store are signed by the host: anew for each try, and with the same patience as a call.

import { checkAddress, readAddressPolicy, type AddressPolicy } from '../core/address/address-policy.ts'
import { isPublicHost } from '../core/address/public-host.ts'
import { isUploadError, UploadError } from '../core/errors.ts'
import type { Clock, Random, Transport } from '../core/ports.ts'
import { foreignWords } from '../core/redact.ts'
import { backoffMs } from '../core/retry.ts'
import { sleep } from '../core/time/sleep.ts'
import { withinTime } from '../core/time/within-time.ts'

export const DEFAULT_TRIES = 5

/** What the host is asked to sign. `partNumberMarker`: list the parts after this number. */
export type S3SignRequest =
  | { readonly operation: 'create' | 'head'; readonly key: string }
  | { readonly operation: 'complete' | 'abort'; readonly key: string; readonly uploadId: string }
  | { readonly operation: 'list'; readonly key: string; readonly uploadId: string; readonly partNumberMarker?: number }
  | { readonly operation: 'part'; readonly key: string; readonly uploadId: string; readonly partNumber: number }

export interface S3SignedRequest {
  /**
   * A pre-signed address: a secret. The address of a part must hold no checksum, because the signer does not know the
   * bytes. The client of an AWS SDK needs `requestChecksumCalculation: 'WHEN_REQUIRED'` for that. Otherwise it signs
   * the checksum of no bytes, which some stores refuse.
   */
  readonly url: string
  /** Headers that were signed with it, names in lower case. Not for `part`: see `partHeaders`. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Signs one request, on the host's server or with its keys. Called again for each try. If it rejects, that is tried
 * again, too.
 */
export type S3Sign = (request: S3SignRequest, signal: AbortSignal) => Promise<S3SignedRequest>

export interface S3CallPorts {
  /** Whether plain HTTP may leave this machine. Default false. */
  readonly isHttpAllowed?: boolean | undefined
  /** Which hosts addresses may be signed for. Default `any`. */
  readonly addressPolicy?: AddressPolicy | undefined
  readonly sign: S3Sign
  readonly transport: Transport
  readonly clock: Clock
  readonly random: Random
  /**
   * Time limit of one try, ms. Default 30,000. Completing gets ten times as long, because the store joins the parts
   * meanwhile.
   */
  readonly callTimeoutMs?: number | undefined
  /** Tries of one call that reached the store, the first included. Default 5. */
  readonly tries?: number | undefined
  /** How long the store may be out of reach during one call, ms. Default 1 h. */
  readonly giveUpAfterMs?: number | undefined
}

type Signed = Required<S3SignedRequest>
type PartRequest = Extract<S3SignRequest, { operation: 'part' }>

/**
 * Signs the address of a part with the patience of a call, so that a signer that fails now and then, or hangs, costs no
 * file.
 */
export async function signPart(ports: S3CallPorts, request: PartRequest, signal: AbortSignal): Promise<Signed> {
  const { tries = DEFAULT_TRIES, clock, random } = ports
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await signWithin(ports, request, signal)
    } catch (error) {
      if (!isSigning(error) || attempt >= tries) throw error
    }
    await sleep(clock, backoffMs(attempt, random), signal)
  }
}

/** Asks the host once, for as long as one try may take. */
export function signWithin(ports: S3CallPorts, request: S3SignRequest, signal: AbortSignal): Promise<Signed> {
  const limitMs = timeoutOf(ports)
  const tooLate = (): Error => notSigned(request, `nothing for ${limitMs / 1000} s.`)
  // A signer that ignores the signal must not hold us up.
  return withinTime(ports.clock, limitMs, tooLate, (until) => signFor(ports, request, until), signal)
}

/**
 * Asks the host. Its failures are told in its own words, without anything that reads like a secret. The address is
 * checked before use.
 */
async function signFor(ports: S3CallPorts, request: S3SignRequest, signal: AbortSignal): Promise<Signed> {
  let signed: Signed
  try {
    // One that returns nothing has not signed.
    const { url, headers } = await ports.sign(request, signal)
    // Servers in some languages write no headers as null.
    signed = { url, headers: headers ?? {} }
  } catch (error) {
    if (signal.aborted || isUploadError(error)) throw error
    throw notSigned(request, foreignWords(error).slice(0, 300))
  }
  const addressPolicy = readAddressPolicy(ports.addressPolicy ?? 'any', isPublicHost)
  checkAddress(signed.url, { isHttpAllowed: ports.isHttpAllowed, addressPolicy })
  return signed
}

function notSigned({ operation, key }: S3SignRequest, words: string): UploadError {
  const message = `The host did not sign the ${operation} of ${key}. It says: ${words}`
  return new UploadError('ERR_UPLOAD_SERVICE_REPLY', message, {
    isRetryable: true,
    details: { operation, isSigning: true },
  })
}

export function isSigning(error: unknown): boolean {
  return isUploadError(error) && error.details['isSigning'] === true
}

export function timeoutOf({ callTimeoutMs = 30_000 }: S3CallPorts): number {
  return callTimeoutMs
}
