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
  if (url === undefined) return undefined
  if (!/^postgres(?:ql)?:\/\//.test(url))
    invalid(`${origin} does not hold a URL that begins with postgres:// or postgresql://.`)
  // Most often for a password that was made up of any characters.
  if (!URL.canParse(url))
    invalid(
      `${origin} does not hold a URL of the form postgres://user:password@host/name. Write each of # / ? @ % in the password by ` +
        'its code, such as %23 for #.',
    )
  return url
}
