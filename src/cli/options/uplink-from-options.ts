// Creates the Uplink of a command from its options and the environment. Makes no call.

import { beginsWithCertificate } from '../../adapters/node/http/certificate.ts'
import { parseBaseUrl } from '../../client/base-url.ts'
import { invalid } from '../../core/errors.ts'
import { given } from '../../core/given.ts'
import type { Journal } from '../../core/ports.ts'
import type { Uplink } from '../../uplink.ts'
import { interruptible, type CommandContext } from '../command-context.ts'
import { findCredentials, type Environment } from './credentials-from-options.ts'
import { asOption, readText } from './option-values.ts'
import { lowerPriority } from '../low-priority.ts'
import { engineChoices, type SharedOptions } from './options.ts'

/** The base URL of commands that make no call: a name that never resolves, in case one is made. */
const NOWHERE = 'https://dry-run.invalid'

/**
 * Rejects with ERR_UPLOAD_INVALID_ARGUMENT, ERR_UPLOAD_INSECURE_URL, or ERR_UPLOAD_SOURCE_READ for a file that an option names.
 * A dry run needs neither base URL nor credentials.
 */
export async function uplinkFromOptions(
  options: SharedOptions,
  { env, interruption }: Pick<CommandContext, 'env' | 'interruption'>,
  journal?: Journal,
): Promise<Uplink> {
  const isDryRun = options.dryRun === true
  const choices = engineChoices(options)
  if (options.background === true) await lowerPriority()
  const found = await interruptible(findCredentials(options, env), interruption)
  const baseUrl = baseUrlOf(options, env) ?? (isDryRun ? NOWHERE : undefined)
  const isHttpAllowed = options.allowHttp ?? false
  if (baseUrl === undefined) {
    return invalid("The service's address is missing: give --base-url or set MOCAP_BASE_URL.")
  }
  const label = options.baseUrl === undefined ? 'MOCAP_BASE_URL' : '--base-url'
  asOption(label, 'The base URL', () => parseBaseUrl(baseUrl, isHttpAllowed))
  const credentials = found ?? (isDryRun ? { apiKey: 'dry-run' } : undefined)
  if (credentials === undefined) {
    return invalid(
      'There is no credential: set MOCAP_API_KEY or MOCAP_ACCESS_TOKEN, or name a file with --api-key-file.',
    )
  }
  if (options.bearerHeader !== undefined && found !== undefined && 'apiKey' in found) {
    return invalid(
      '--bearer-header names the header of an access token, and an API key is given: leave it out, or give a token instead of the key.',
    )
  }
  const caPem =
    options.caFile === undefined ? undefined : await interruptible(readCertificates(options.caFile), interruption)
  // Imported only here: the engine takes half of the start-up time, and help, mistakes and listings do not need it.
  const { createUplink } = await import('../../node.ts')
  return createUplink({
    ...choices,
    baseUrl,
    credentials,
    isHttpAllowed,
    ...given({ bearerHeader: options.bearerHeader, caPem, journal }),
  })
}

/** The base URL as it was given, not yet checked. */
export function baseUrlOf({ baseUrl }: Pick<SharedOptions, 'baseUrl'>, env: Environment): string | undefined {
  return (baseUrl ?? env['MOCAP_BASE_URL'])?.trim() || undefined
}

async function readCertificates(path: string): Promise<string> {
  const pem = await readText(path, '--ca-file')
  if (beginsWithCertificate(pem)) return pem
  return invalid(`--ca-file: "${path}" holds no certificate in PEM form (-----BEGIN CERTIFICATE-----).`)
}
