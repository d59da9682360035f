// The options of the service, from the options and the environment of `serve`. Checked before anything starts.

import { checkText } from '../../client/checks.ts'
import { invalid } from '../../core/errors.ts'
import type { ServiceCredentials, ServiceOptions } from '../../service/index.ts'
import type { Environment } from '../options/credentials-from-options.ts'
import { databaseUrlOf } from './database-url.ts'
import { faultsFromOption } from './faults-from-option.ts'
import { jwtFromOptions, type JwtCommandOptions } from './jwt-from-options.ts'
import { limitsFromOptions, type LimitOptions } from './limits-from-options.ts'
import { parseDuration, parseInteger, parseSize } from '../options/option-values.ts'
import { readPage } from './page-files.ts'
import { s3FromEnvironment } from './s3-from-environment.ts'

/** The options of `serve` as commander passes them: texts, not yet checked. */
export interface ServeOptions extends JwtCommandOptions, LimitOptions {
  readonly port: string
  readonly host: string
  readonly data?: string
  readonly databaseUrlFile?: string
  readonly databaseConnections?: string
  readonly addressLife: string
  readonly completeAfter?: string
  readonly stopWithin: string
  readonly stopDelay?: string
  readonly metricsPort?: string
  readonly endSessionsAfter: string
  readonly keepFree?: string
  readonly publicUrl?: string
  readonly managedKeys?: boolean
  readonly log?: boolean
  readonly faults?: string
  readonly json?: boolean
  readonly quiet?: boolean
}

const MAX_PORT = 65_535
/** The service's name of each option, and what it is called on the command line. */
const FLAGS: Readonly<Record<string, string>> = {
  addressLifeMs: '--address-life',
  analysisCompletesAfterMs: '--complete-after',
  databaseConnections: '--database-connections',
  endSessionsAfterMs: '--end-sessions-after',
  keepFreeBytes: '--keep-free',
  publicUrl: '--public-url',
  stopWithinMs: '--stop-within',
  stopDelayMs: '--stop-delay',
  metricsToken: 'MOCAP_METRICS_TOKEN',
  credentials: 'MOCAP_API_KEY and MOCAP_ACCESS_TOKEN',
  's3.bucket': 'S3_BUCKET',
  's3.endpoint': 'S3_ENDPOINT',
  's3.publicEndpoint': 'S3_PUBLIC_ENDPOINT',
  's3.region': 'S3_REGION',
  's3.keys': 'S3_ACCESS_KEY and S3_SECRET_KEY',
  's3.pathStyle': 'S3_PATH_STYLE',
  'limits.callsPerMinute': '--calls-per-minute',
  'limits.refusalsPerMinute': '--refusals-per-minute',
  'limits.openSessions': '--max-open-sessions',
  'limits.filesPerSession': '--max-files',
  'limits.namesPerCall': '--max-names',
  'limits.bodyBytes': '--max-body',
  trustedProxies: '--trusted-proxies',
  issuer: '--jwt-issuer',
  audience: '--jwt-audience',
  orgClaim: '--jwt-org-claim',
  jwksUrl: '--jwt-jwks-url',
  publicKeyPem: '--jwt-public-key-file',
  algorithms: '--jwt-algorithms',
}

/** The checked settings. Rejects with ERR_UPLOAD_INVALID_ARGUMENT that names the option. */
export async function serveSettings(options: ServeOptions, env: Environment): Promise<ServiceOptions> {
  const port = portOf(options.port, '--port')
  // An empty host would be every address of this machine, and an empty folder none: a script's variable that is not set.
  const host = checkText(options.host, '--host')
  if (options.data !== undefined) checkText(options.data, '--data')
  const credentials = credentialsOf(options, env)
  const databaseUrl = await databaseUrlOf(options, env)
  const s3 = s3FromEnvironment(env)
  if (databaseUrl !== undefined && options.data === undefined && s3 === undefined) {
    invalid('A PostgreSQL server keeps records only: name a folder for the objects with --data (one for all services).')
  }
  const { completeAfter, stopDelay, metricsPort, endSessionsAfter, faults, keepFree, databaseConnections } = options
  if (databaseConnections !== undefined && databaseUrl === undefined) {
    invalid(
      '--database-connections is for a PostgreSQL server, and none is named: give --database-url-file or DATABASE_URL, or leave it out.',
    )
  }
  if (keepFree !== undefined && options.data === undefined) {
    invalid('--keep-free is for the disk of --data, which is not given: name a folder with --data, or leave it out.')
  }
  const settings: ServiceOptions = {
    port,
    host,
    addressLifeMs: parseDuration(options.addressLife, '--address-life'),
    endSessionsAfterMs: endSessionsAfter === 'never' ? 0 : parseDuration(endSessionsAfter, '--end-sessions-after'),
    stopWithinMs: parseDuration(options.stopWithin, '--stop-within'),
    ...limitsFromOptions(options, env),
    dataDir: options.data,
    databaseUrl,
    databaseConnections:
      databaseConnections === undefined ? undefined : parseInteger(databaseConnections, '--database-connections', 2),
    s3,
    publicUrl: options.publicUrl,
    credentials,
    jwt: await jwtFromOptions(options, env),
    analysisCompletesAfterMs:
      completeAfter === undefined ? undefined : parseDuration(completeAfter, '--complete-after'),
    page: await readPage(),
    keepFreeBytes: keepFree === undefined ? undefined : parseSize(keepFree, '--keep-free', 0),
    stopDelayMs: stopDelay === undefined ? undefined : parseDuration(stopDelay, '--stop-delay', 0),
    metricsPort: metricsPort === undefined ? undefined : portOf(metricsPort, '--metrics-port'),
    metricsToken: env['MOCAP_METRICS_TOKEN'] || undefined,
    log: options.log === true ? process.stderr : undefined,
    faults: faults === undefined ? undefined : await faultsFromOption(faults),
  }
  await checkTogether(settings)
  return settings
}

async function checkTogether(settings: ServiceOptions): Promise<void> {
  // Imported only here: uploads need nothing of the service.
  const { resolveOptions } = await import('../../service/settings.ts')
  applyRules(() => resolveOptions(settings))
}

/** Applies rules of the service's own. A breach is reported as wrong use, in the words of the command. */
export function applyRules(check: () => unknown): void {
  try {
    check()
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    const rule = error.message.replace(/^startService: (?:jwt: )?/, '')
    invalid(rule.replaceAll(/\b(?:s3\.|limits\.)?[a-z]\w*\b/g, (word) => FLAGS[word] ?? word))
  }
}

function portOf(text: string, option: string): number {
  const port = parseInteger(text, option)
  return port <= MAX_PORT ? port : invalid(`${option} must be at most ${MAX_PORT}.`)
}

function credentialsOf({ managedKeys }: ServeOptions, env: Environment): ServiceCredentials | 'managed' | undefined {
  const [key, token] = [env['MOCAP_API_KEY'], env['MOCAP_ACCESS_TOKEN']]
  if (managedKeys === true) {
    return key || token
      ? invalid('--managed-keys takes no fixed credentials: unset MOCAP_API_KEY and MOCAP_ACCESS_TOKEN.')
      : 'managed'
  }
  if (!key && !token) return undefined
  return { apiKeys: key ? [key] : [], accessTokens: token ? [token] : [] }
}
