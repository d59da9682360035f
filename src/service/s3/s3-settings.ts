// What a host says about the S3-compatible store that keeps the objects, checked and with defaults filled in.

import { check, isVisibleAscii } from '../option-checks.ts'
import type { BucketPlace } from './s3-addresses.ts'

export interface S3Options {
  /** The bucket's name. It must exist, and no other program may write under `captures/` and `videos/` in it. */
  readonly bucket: string
  /** `https://host` or `http://host:port` of the store. Default: AWS in the given region. */
  readonly endpoint?: string | undefined
  /** What addresses begin with, if clients reach the store under another name than the service does. Default `endpoint`. */
  readonly publicEndpoint?: string | undefined
  /** The region. Default us-east-1. */
  readonly region?: string | undefined
  /** The store's keys. Secret. Default: what the AWS SDK finds (environment, profile, the machine's role). */
  readonly keys?: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined
  /** Uses `host/bucket/key` instead of `bucket.host/key`. Default: true with an endpoint or a dot in the bucket's name, else false. */
  readonly pathStyle?: boolean | undefined
}

export interface S3Settings {
  readonly bucket: string
  readonly endpoint: string
  readonly region: string
  readonly pathStyle: boolean
  readonly keys: S3Options['keys']
  /** Where clients reach the bucket. */
  readonly place: BucketPlace
}

/** Throws a TypeError that names the option and the rule, never a key. */
export function resolveS3(options: S3Options): S3Settings {
  const { bucket, region = 'us-east-1', keys } = options
  // https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
  check(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket), 's3.bucket must be a bucket name: 3 to 63 of a-z 0-9 . -')
  check(/^[a-z0-9-]+$/.test(region), 's3.region must be a region name such as us-east-1')
  check(
    keys === undefined || (isVisibleAscii(keys.accessKeyId) && isVisibleAscii(keys.secretAccessKey)),
    's3.keys must hold both keys, without spaces',
  )
  const endpoint = originOf(options.endpoint ?? `https://s3.${region}.${domainOf(region)}`, 's3.endpoint')
  // The certificate of `*.host` is good for no name with one dot more.
  const pathStyle = options.pathStyle ?? (options.endpoint !== undefined || bucket.includes('.'))
  const reached = originOf(options.publicEndpoint ?? endpoint, 's3.publicEndpoint')
  const { protocol, host } = new URL(reached)
  const place = pathStyle
    ? { origin: reached, pathPrefix: `/${bucket}/` }
    : { origin: `${protocol}//${bucket}.${host}`, pathPrefix: '/' }
  check(URL.canParse(place.origin), 's3.pathStyle must be true where the store is reached by an IP address')
  return { bucket, endpoint, region, pathStyle, keys, place }
}

/** China and the European Sovereign Cloud are apart from the rest of AWS. */
function domainOf(region: string): string {
  if (region.startsWith('cn-')) return 'amazonaws.com.cn'
  return region.startsWith('eusc-') ? 'amazonaws.eu' : 'amazonaws.com'
}

function originOf(text: string, name: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isOrigin = url !== undefined && /^https?:$/.test(url.protocol) && url.pathname === '/' && url.search === ''
  check(isOrigin && url.username === '' && url.hash === '', `${name} must be an http or https URL of a host alone`)
  return url.origin
}
