// The S3-compatible store of `serve`, from the environment, because keys do not belong on a command line, where `ps` shows them.

import { invalid } from '../../core/errors.ts'
import type { S3Options } from '../../service/index.ts'
import type { Environment } from '../options/credentials-from-options.ts'

/** The store's options. Undefined without S3_BUCKET. Throws if the rest does not fit together. */
export function s3FromEnvironment(env: Environment): S3Options | undefined {
  const bucket = env['S3_BUCKET']
  if (!bucket) {
    if (env['S3_ENDPOINT']) invalid('S3_ENDPOINT is set and S3_BUCKET is not: name the bucket.')
    return undefined
  }
  const [accessKeyId, secretAccessKey] = [env['S3_ACCESS_KEY'], env['S3_SECRET_KEY']]
  if (!accessKeyId !== !secretAccessKey) invalid('Set both S3_ACCESS_KEY and S3_SECRET_KEY, or neither.')
  const style = env['S3_PATH_STYLE']
  if (style && !/^(?:true|false)$/.test(style)) invalid('S3_PATH_STYLE must be true or false.')
  return {
    bucket,
    endpoint: env['S3_ENDPOINT'] || undefined,
    publicEndpoint: env['S3_PUBLIC_ENDPOINT'] || undefined,
    region: env['S3_REGION'] || undefined,
    pathStyle: style ? style === 'true' : undefined,
    keys: accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : undefined,
  }
}
