// What an answer to a part means: whether the storage has the part, and whether that is what was sent.

import type { SignedAddress } from '../address/address.ts'
import type { Attempt } from './attempt.ts'
import { UploadError, type HttpStatusError } from '../errors.ts'
import { echoesAddress, md5FromEtag } from './etag.ts'
import type { Protocol, Receipt, TransportReply, Unit, Verdict } from '../ports.ts'

type Received = Extract<Verdict, { kind: 'received' }>
type Refused = { readonly kind: 'refused'; readonly verdict: Exclude<Verdict, Received> }

/** Judges a reply. `attempt`: its state when the reply came. */
export function judgeReply(
  protocol: Pick<Protocol, 'judge'>,
  { unit, address, sentBytes, hasTold }: Pick<Attempt, 'unit' | 'address' | 'sentBytes' | 'hasTold'>,
  reply: TransportReply,
): Received | Refused {
  const verdict = judgeUnechoed(protocol, unit, address, reply)
  if (verdict.kind !== 'received') return { kind: 'refused', verdict }
  const { acceptedEnd } = verdict
  // A host's protocol in plain JavaScript may give none, or the text of a header.
  if (!Number.isInteger(acceptedEnd) || acceptedEnd > unit.end) {
    return refusedAs(
      'ERR_UPLOAD_SERVICE_REPLY',
      `The storage says that it has more of part ${unit.partNumber} than there is.`,
    )
  }
  if (unit.start + sentBytes < acceptedEnd) {
    return hasTold
      ? refusedAs('ERR_UPLOAD_NETWORK', `The storage accepted part ${unit.partNumber} before all of it was sent.`, {
          sentBytes,
        })
      : refusedAs('ERR_UPLOAD_INTERNAL', `The transport never told by onSent what it sent of part ${unit.partNumber}.`)
  }
  return verdict
}

/** Makes the receipt, or a refusal when the ETag contradicts `md5`, the digest of what was sent; undefined when nothing was hashed. */
export function judgeDigest(
  unit: Unit,
  reply: TransportReply,
  { acceptedEnd, etag }: Received,
  md5: string | undefined,
): { readonly kind: 'received'; readonly receipt: Receipt } | Refused {
  const theirs = md5 === undefined ? undefined : md5FromEtag(etag, reply.headers)
  // Where the platform hides the headers that name encryption, an ETag that differs may be no MD5 at all, so it proves nothing.
  const isComparable = reply.hidesHeaders !== true || reply.headers['x-amz-server-side-encryption'] !== undefined
  if (theirs !== undefined && theirs !== md5 && isComparable) {
    return refusedAs(
      'ERR_UPLOAD_DIGEST_MISMATCH',
      `The storage's ETag of part ${unit.partNumber} is not the MD5 of what was sent: bytes were damaged on the way, ` +
        'or the bucket encrypts. If it does, use verify: off (--verify off).',
    )
  }
  // Not built by spreading: this way the receipts of ten thousand parts have one shape.
  const receipt: { -readonly [K in keyof Receipt]: Receipt[K] } = {
    acceptedEnd,
    isVerified: theirs !== undefined && theirs === md5,
  }
  if (etag !== undefined) receipt.etag = etag
  if (md5 !== undefined) receipt.md5 = md5
  return { kind: 'received', receipt }
}

/** The protocol's verdict. It must not see what repeats the address, because it would carry a secret into receipts and errors. */
function judgeUnechoed(
  protocol: Pick<Protocol, 'judge'>,
  unit: Unit,
  address: SignedAddress,
  reply: TransportReply,
): Verdict {
  const { etag } = reply.headers
  const shown = etag === undefined || !echoesAddress(etag, address) ? reply : { ...reply, headers: {} }
  const verdict = protocol.judge(shown, unit)
  const code = verdict.kind !== 'received' && (verdict.error as Partial<HttpStatusError>).serviceCode
  if (!code || !echoesAddress(code, address)) return verdict
  // Only the status of this answer is used. A status of success makes no receipt of a refusal.
  const byStatus = protocol.judge({ ...reply, headers: {}, body: new Uint8Array() }, unit)
  return byStatus.kind === 'received'
    ? refusedAs('ERR_UPLOAD_SERVICE_REPLY', `The storage refused part ${unit.partNumber}.`).verdict
    : byStatus
}

/** A refusal that may be retried, except for ERR_UPLOAD_INTERNAL: a mistake of the host's transport is there at the next try, too. */
function refusedAs(
  code: 'ERR_UPLOAD_NETWORK' | 'ERR_UPLOAD_DIGEST_MISMATCH' | 'ERR_UPLOAD_SERVICE_REPLY' | 'ERR_UPLOAD_INTERNAL',
  message: string,
  details: UploadError['details'] = {},
): Refused {
  const error = new UploadError(code, message, { isRetryable: code !== 'ERR_UPLOAD_INTERNAL', details })
  return { kind: 'refused', verdict: { kind: 'retry', error } }
}
