// The URL of the service's database, from a file or the environment. Never from the command line, because it holds a password.

import type { Environment } from '../options/credentials-from-options.ts'
import { readText } from '../options/option-values.ts'
import { invalid } from '../../core/errors.ts'

/** The URL. Undefined if neither names one. Rejects if it is not a PostgreSQL URL, without quoting it. */
export async function databaseUrlOf(
  { databaseUrlFile }: { readonly databaseUrlFile?: string },
  env: Environment,
): Promise<string | undefined> {
  const [url, origin] =
    databaseUrlFile === undefined
      ? [env['DATABASE_URL'] || undefined, 'DATABASE_URL']
      : [(await readText(databaseUrlFile, '--database-url-file')).trim(), `--database-url-file "${databaseUrlFile}"`]
  const isUsable = url === undefined || (/^postgres(?:ql)?:\/\//.test(url) && URL.canParse(url))
  return isUsable ? url : invalid(`${origin} does not hold a URL that begins with postgres:// or postgresql://.`)
}
