// Pre-signs S3 addresses with AWS Signature Version 4. The SDK takes a millisecond for each, so a file of ten thousand parts would
// block the service for ten seconds; hence our own code. Only the host header is signed, and no checksum, so that any client can
// send any body. https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html

import { createHash, createHmac } from 'node:crypto'

/** Secret. */
export interface S3Keys {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** For temporary keys only. Addresses die with the token at the latest. */
  readonly sessionToken?: string | undefined
}

/** Where the objects of a bucket are. */
export interface BucketPlace {
  /** `https://host` or `https://host:port`. */
  readonly origin: string
  /** What comes before the key: `/bucket/`, or `/` where the bucket is in the host name. */
  readonly pathPrefix: string
}

export interface S3AddressOptions {
  readonly place: BucketPlace
  readonly region: string
  readonly lifeSeconds: number
  /** Wall time, ms. */
  readonly now: () => number
}

/** Returns a function that signs one method on one object, with the given query. */
export function createAddressSigner({ place, region, lifeSeconds, now }: S3AddressOptions) {
  const { host } = new URL(place.origin)
  let derived: { readonly of: string; readonly key: Buffer } | undefined
  return (keys: S3Keys, method: string, key: string, query: Readonly<Record<string, string>> = {}): string => {
    const time = new Date(now()).toISOString().replace(/[-:]|\.\d{3}/g, '')
    const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`
    const path = place.pathPrefix + key.split('/').map(encode).join('/')
    const pairs = Object.entries({
      ...query,
      'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
      'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD',
      'X-Amz-Credential': `${keys.accessKeyId}/${scope}`,
      'X-Amz-Date': time,
      'X-Amz-Expires': String(lifeSeconds),
      'X-Amz-SignedHeaders': 'host',
      ...(keys.sessionToken === undefined ? {} : { 'X-Amz-Security-Token': keys.sessionToken }),
    })
    const sorted = pairs
      .map(([name, value]) => `${encode(name)}=${encode(value)}`)
      .sort()
      .join('&')
    const request = `${method}\n${path}\n${sorted}\nhost:${host}\n\nhost\nUNSIGNED-PAYLOAD`
    const text = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${createHash('sha256').update(request).digest('hex')}`
    const of = `${keys.secretAccessKey} ${scope}`
    // The signing key stays the same all day.
    if (derived?.of !== of) derived = { of, key: signingKey(keys.secretAccessKey, scope) }
    return `${place.origin}${path}?${sorted}&X-Amz-Signature=${createHmac('sha256', derived.key).update(text).digest('hex')}`
  }
}

function signingKey(secret: string, scope: string): Buffer {
  return scope
    .split('/')
    .reduce((key, step) => createHmac('sha256', key).update(step).digest(), Buffer.from(`AWS4${secret}`))
}

/** Encodes by RFC 3986: encodeURIComponent leaves five more characters as they are. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
}
