// Addresses that carry their own permission, like SigV4 query signing: an HMAC over method, path and sorted query. Whoever has an
// address can do that one thing until it expires; any change to it is refused.

import { createHmac, timingSafeEqual } from 'node:crypto'

/** What a signature is worth right now. */
export type SignatureVerdict =
  | { readonly kind: 'valid' }
  | { readonly kind: 'unsigned' }
  | { readonly kind: 'mismatch' }
  | { readonly kind: 'expired'; readonly lifeSeconds: number; readonly expiredAt: number }

export interface Signer {
  /** The path and query of an address. `path` begins with a slash; `path` and `query` must be encoded already. */
  sign(method: string, path: string, query?: Readonly<Record<string, string | number>>): string
  /** Judges a request's method and its path with query, exactly as they came over the wire. */
  verify(method: string, pathAndQuery: string): SignatureVerdict
}

export interface SignerOptions {
  readonly secret: Uint8Array
  readonly lifeSeconds: number
  readonly now: () => number
}

const SIGNATURE = 'X-Amz-Signature='

/** Makes a signer. Two signers with the same secret accept each other's addresses. */
export function createSigner({ secret, lifeSeconds, now }: SignerOptions): Signer {
  const signatureOf = (method: string, path: string, pairs: readonly string[]) =>
    createHmac('sha256', secret)
      .update(`${method}\n${path}\n${[...pairs].sort().join('&')}`)
      .digest('hex')
  return {
    sign(method, path, query = {}) {
      const pairs = [
        ...Object.entries(query).map(([name, value]) => `${name}=${value}`),
        'X-Amz-Algorithm=AWS4-HMAC-SHA256',
        `X-Amz-Date=${toAmzDate(now())}`,
        `X-Amz-Expires=${lifeSeconds}`,
      ]
      return `${path}?${pairs.join('&')}&${SIGNATURE}${signatureOf(method, path, pairs)}`
    },
    verify(method, pathAndQuery) {
      const mark = pathAndQuery.indexOf('?')
      if (mark === -1) return { kind: 'unsigned' }
      const pairs = pathAndQuery.slice(mark + 1).split('&')
      const signatures = pairs.filter((pair) => pair.startsWith(SIGNATURE))
      if (signatures.length !== 1) return { kind: signatures.length === 0 ? 'unsigned' : 'mismatch' }
      const signed = pairs.filter((pair) => !pair.startsWith(SIGNATURE))
      const given = Buffer.from(String(signatures[0]).slice(SIGNATURE.length))
      const right = Buffer.from(signatureOf(method, pathAndQuery.slice(0, mark), signed))
      if (given.length !== right.length || !timingSafeEqual(given, right)) return { kind: 'mismatch' }
      return verdictOfTime(new URLSearchParams(signed.join('&')), now())
    },
  }
}

function verdictOfTime(query: URLSearchParams, now: number): SignatureVerdict {
  const lifeSeconds = Number(query.get('X-Amz-Expires'))
  const expiredAt = fromAmzDate(query.get('X-Amz-Date') ?? '') + lifeSeconds * 1000
  return now <= expiredAt ? { kind: 'valid' } : { kind: 'expired', lifeSeconds, expiredAt }
}

function toAmzDate(time: number): string {
  return new Date(time).toISOString().replace(/[-:]|\.\d{3}/g, '')
}

function fromAmzDate(date: string): number {
  return Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
}
