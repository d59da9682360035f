// Reads and writes the ETags of stores, and knows the one case in which an ETag is an MD5 that can be compared with ours. By
// contract an ETag is opaque: whatever looks into one here says when it may, and otherwise leaves it alone.

import { queryOf, type SignedAddress } from '../address/address.ts'
import { invariant } from '../errors.ts'

/** An ETag as it was received and as it is compared. */
export interface Etag {
  /** As received, without surrounding whitespace. */
  readonly raw: string
  /** Without the quotes and the `W/` that proxies put in front: the value is still the store's. */
  readonly value: string
}

/** The form in which a service reads an ETag. */
export type EtagForm = 'asReceived' | 'quoted' | 'bare'

/**
 * The longest ETag that is accepted, in characters. Digests and their like are a quarter as long; more is a text, not a tag.
 */
const LONGEST = 256
/**
 * What may stand between the quotes (RFC 9110, 8.8.3: no blank, no quote, no control character), without `?`, `&` and `://`: a
 * storage that answers with the address it was sent to must not get that address into receipts. Nor the words of a lost value.
 */
const TAG = /^(?!(?:null|undefined)$|.*:\/\/)[\x21\x23-\x25\x27-\x3e\x40-\x7e\x80-\xff]+$/

/**
 * Reads an ETag header: quoted, bare or weak. Undefined when there is none that can be kept: it is absent or empty; it is the
 * word `null` or `undefined`, a lost value that some program wrote down; or it is like nothing that a store gives: longer than
 * 256 characters, not in the form of an entity tag, a URL or a query.
 */
export function parseEtag(raw: string | undefined | null): Etag | undefined {
  const trimmed = raw?.trim() ?? ''
  const opaque = trimmed.replace(/^w\/\s*/i, '')
  const value = /^"(.*)"$/.exec(opaque)?.[1] ?? opaque
  if (trimmed.length > LONGEST || !TAG.test(value)) return undefined
  return { raw: trimmed, value }
}

/**
 * The MD5 of the stored bytes, 32 lower-case hex digits, if this ETag is one. It must have 32 hex digits, and the answer must
 * name no encryption under a key of the customer or of a key service: with those an ETag looks the same and is not an MD5. Nor
 * is the multipart form, `hex-N`. `etag` is as received; `replyHeaders` has lower-case names. Where a browser hides those, the
 * caller must know from elsewhere whether the storage encrypts.
 */
export function md5FromEtag(
  etag: string | undefined,
  replyHeaders: Readonly<Record<string, string>>,
): string | undefined {
  const value = parseEtag(etag)?.value ?? ''
  if (!/^[0-9a-f]{32}$/i.test(value)) return undefined
  for (const [name, text] of Object.entries(replyHeaders)) {
    const isOtherKey =
      name === 'x-amz-server-side-encryption'
        ? // Only AES256, the store's own key, keeps the MD5; aws:kms, aws:kms:dsse and what may follow do not.
          text.trim().toLowerCase() !== 'aes256'
        : /^x-(?:amz-server-side|goog)-encryption-/.test(name)
    if (isOtherKey) return undefined
  }
  return value.toLowerCase()
}

/**
 * Whether an ETag repeats a piece of the signed address that it answers: a value of the query, or most of one. Such a tag
 * proves nothing and would carry a signature into receipts. Digests, upload ids and plain numbers are no secrets and do not
 * count.
 */
export function echoesAddress(etag: string, { url }: Pick<SignedAddress, 'url'>): boolean {
  const tag = (parseEtag(etag)?.value ?? etag).toLowerCase()
  return [...new URLSearchParams(queryOf(url))].some(([name, value]) => {
    if (NO_SECRET.test(name) || value.length < SHORTEST_ECHO || /^\d+$/.test(value)) return false
    return [value, encodeURIComponent(value)].some((text) => {
      const secret = text.toLowerCase()
      return tag.includes(secret) || (tag.length >= 2 * SHORTEST_ECHO && secret.includes(tag))
    })
  })
}

/** Shorter values are words such as `host`, which many a tag contains by chance. */
const SHORTEST_ECHO = 8
const NO_SECRET = /md5|sha(?:1|256)|crc|checksum|digest|etag|^upload-?id$/i

/**
 * Writes an ETag in the form that a service reads. Weakness survives only in `asReceived`. Throws ERR_UPLOAD_INTERNAL when
 * `raw` is not an ETag.
 */
export function formatEtag(raw: string, form: EtagForm): string {
  const etag = parseEtag(raw)
  invariant(etag !== undefined, 'a receipt has an ETag before it is written')
  if (form === 'asReceived') return etag.raw
  return form === 'quoted' ? `"${etag.value}"` : etag.value
}
