// What a store's ETag says: parsing, writing, and the one case in which it is an MD5 of ours. By its contract an ETag
// is opaque; everything here that looks into it says when it may, and leaves it alone otherwise.

import type { SignedAddress } from '../address/address.ts'
import { invariant } from '../errors.ts'

/** An ETag as it came and as it is compared. */
export interface Etag {
  /** As received, without blanks around it. */
  readonly raw: string
  /** Without quotes and weakness. */
  readonly value: string
  /** `W/`: often a proxy that touched the answer; the value is still the store's. */
  readonly isWeak: boolean
}

/** How a service wants to read an ETag. */
export type EtagForm = 'asReceived' | 'quoted' | 'bare'

/** Digests and their like are a quarter as long; more is a text of the storage, not a tag. */
const LONGEST = 256
/**
 * What stands between the quotes (RFC 9110, 8.8.3: no blank, no quote, no control character), without the marks of a query:
 * a storage that answers with the address that it was sent to must not get that address into receipts.
 */
const TAG = /^[\x21\x23-\x25\x27-\x3e\x40-\x7e\x80-\xff]+$/

/**
 * Reads an ETag header: quoted, bare or weak. Undefined when there is none that can be kept: absent, empty, the words `null`
 * and `undefined`, which are a lost value that some program wrote down, and what no store gives: longer than 256 characters,
 * not in the form of an entity tag, a URL or a query.
 */
export function parseEtag(raw: string | undefined | null): Etag | undefined {
  const trimmed = raw?.trim() ?? ''
  const isWeak = /^w\//i.test(trimmed)
  const opaque = isWeak ? trimmed.slice(2).trim() : trimmed
  const value = /^"(.*)"$/.exec(opaque)?.[1] ?? opaque
  if (trimmed.length > LONGEST || !TAG.test(value) || value.includes('://')) return undefined
  if (value === 'null' || value === 'undefined') return undefined
  return { raw: trimmed, value, isWeak }
}

/**
 * The MD5 of the stored bytes, 32 lower-case hex digits, when this ETag is one: 32 hex digits, and an answer that names
 * no encryption under a key of the customer or of a key service (with those an ETag looks the same and is none). The
 * multipart form, `hex-N`, is not one either. `etag` is as received; `replyHeaders` has lower-case names; where a browser hides them, the
 * caller must know from elsewhere whether the storage encrypts.
 */
export function md5FromEtag(
  etag: string | undefined,
  replyHeaders: Readonly<Record<string, string>>,
): string | undefined {
  const value = parseEtag(etag)?.value ?? ''
  if (!/^[0-9a-f]{32}$/i.test(value)) return undefined
  for (const [name, text] of Object.entries(replyHeaders)) {
    // Only AES256, the store's own key, keeps the MD5; aws:kms, aws:kms:dsse and what may follow do not.
    if (name === 'x-amz-server-side-encryption' && text.trim().toLowerCase() !== 'aes256') return undefined
    if (name.startsWith('x-amz-server-side-encryption-')) return undefined
    if (name.startsWith('x-goog-encryption-')) return undefined
  }
  return value.toLowerCase()
}

/**
 * Whether an ETag repeats a piece of the signed address that it answers: a value of the query, or most of one. Such a tag is
 * no proof of anything and would carry a signature into receipts. Digests, upload ids and plain numbers are no secrets.
 */
export function echoesAddress(etag: string, { query }: Pick<SignedAddress, 'query'>): boolean {
  const tag = (parseEtag(etag)?.value ?? etag).toLowerCase()
  return query.some(([name, value]) => {
    if (NO_SECRET.test(name) || value.length < SHORTEST_ECHO || /^\d+$/.test(value)) return false
    return [value, encodeURIComponent(value)].some((text) => {
      const secret = text.toLowerCase()
      return tag.includes(secret) || (tag.length >= 2 * SHORTEST_ECHO && secret.includes(tag))
    })
  })
}

/** Shorter values are words such as `host`, and would be found in many a tag by chance. */
const SHORTEST_ECHO = 8
const NO_SECRET = /md5|sha(?:1|256)|crc|checksum|digest|etag|^upload-?id$/i

/** Writes an ETag in the form a service reads. Weakness survives only in `asReceived`. Throws for what is no ETag. */
export function formatEtag(raw: string, form: EtagForm): string {
  const etag = parseEtag(raw)
  invariant(etag !== undefined, 'a receipt has an ETag before it is written')
  if (form === 'asReceived') return etag.raw
  return form === 'quoted' ? `"${etag.value}"` : etag.value
}
