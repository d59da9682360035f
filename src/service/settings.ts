// Turns a host's options into settings: every default is filled in and every value checked here.

import { randomBytes } from 'node:crypto'

import { resolveJwt } from './access/jwt-settings.ts'
import { resolveLimits } from './access/limits.ts'
import { check, integerIn, isVisibleAscii } from './option-checks.ts'
import type { ServiceCredentials, ServiceOptions } from './options.ts'
import { resolveS3 } from './s3/s3-settings.ts'

/** The options, checked and with every default filled in. */
export type ServiceSettings = Readonly<ReturnType<typeof resolveOptions>>

const WEEK_SECONDS = 604_800
/** Beyond that, a time might not be one that the database knows. */
const TEN_YEARS_MS = 520 * WEEK_SECONDS * 1000
const PORTS = [0, 65_535] as const

/** Fills in the defaults. Throws a TypeError that names the option and the rule, never a credential. */
export function resolveOptions(options: ServiceOptions) {
  const addressLifeSeconds = Math.ceil((options.addressLifeMs ?? 3_600_000) / 1000)
  check(
    addressLifeSeconds >= 1 && addressLifeSeconds <= WEEK_SECONDS,
    'addressLifeMs must be more than 0 and at most 7 days',
  )
  const bodyIdleMs = options.bodyIdleMs ?? 60_000
  check(bodyIdleMs > 0 && isTimer(bodyIdleMs), 'bodyIdleMs must be more than 0 and fit a timer')
  const keepFreeBytes = options.keepFreeBytes ?? 64 * 1024 ** 2
  check(keepFreeBytes >= 0, 'keepFreeBytes must be 0 or more')
  const { analysisCompletesAfterMs } = options
  check(
    analysisCompletesAfterMs === undefined ||
      (analysisCompletesAfterMs >= 0 && analysisCompletesAfterMs <= TEN_YEARS_MS),
    'analysisCompletesAfterMs must be 0 to ten years',
  )
  const endSessionsAfterMs = options.endSessionsAfterMs ?? WEEK_SECONDS * 1000
  check(
    endSessionsAfterMs === 0 || endSessionsAfterMs >= addressLifeSeconds * 1000,
    'endSessionsAfterMs must not be shorter than addressLifeMs: nobody may send to a session that has ended',
  )
  check(endSessionsAfterMs <= TEN_YEARS_MS, 'endSessionsAfterMs must be at most ten years')
  check(
    options.s3 === undefined || options.faults === undefined,
    'faults need the store on disk: with s3 no body passes the service',
  )
  return {
    port: integerIn(PORTS, 'port', options.port ?? 8787),
    host: options.host ?? '127.0.0.1',
    dataDir: options.dataDir,
    databaseUrl: checkedDatabaseUrl(options),
    // Whoever ends old sessions holds one.
    databaseConnections: integerIn([2, 1000], 'databaseConnections', options.databaseConnections ?? 10),
    s3: options.s3 === undefined ? undefined : resolveS3(options.s3),
    endSessionsAfterMs,
    credentials: credentialsOf(options),
    jwt: options.jwt === undefined ? undefined : resolveJwt(options.jwt),
    limits: resolveLimits(options.limits),
    trustedProxies: integerIn([0, 10], 'trustedProxies', options.trustedProxies ?? 0),
    bearerHeaders: checkedBearerHeaders(options),
    addressLifeSeconds,
    analysisCompletesAfterMs,
    publicUrl: options.publicUrl === undefined ? undefined : checkedPublicUrl(options.publicUrl),
    videoMocapTypeIds: new Set(options.videoMocapTypeIds ?? [67]),
    malformedStatus: integerIn([200, 499], 'malformedStatus', options.malformedStatus ?? 200),
    bodyIdleMs,
    leastBytesPerSecond: integerIn([0, 1_000_000], 'leastBytesPerSecond', options.leastBytesPerSecond ?? 100),
    keepFreeBytes,
    page: options.page,
    ...operatorSettings(options),
    log: options.log,
    now: options.now ?? Date.now,
    preparedDatabase: options.preparedDatabase,
  }
}

/** The settings that matter only to the operator of the service. */
function operatorSettings(options: ServiceOptions) {
  const { stopWithinMs = 30_000, stopDelayMs = 0, metricsPort, metricsHost = '127.0.0.1', metricsToken } = options
  check(isTimer(stopWithinMs), 'stopWithinMs must be at least 0 and fit a timer')
  check(isTimer(stopDelayMs), 'stopDelayMs must be at least 0 and fit a timer')
  if (metricsPort !== undefined) integerIn(PORTS, 'metricsPort', metricsPort)
  check(metricsToken === undefined || isVisibleAscii(metricsToken), 'metricsToken must be visible ASCII')
  return { stopWithinMs, stopDelayMs, metricsPort, metricsHost, metricsToken }
}

function isTimer(ms: number): boolean {
  return ms >= 0 && ms <= 2_147_483_647
}

function newCredentials(): ServiceCredentials {
  const secret = () => randomBytes(24).toString('base64url')
  return { apiKeys: [secret()], accessTokens: [secret()] }
}

function credentialsOf({ credentials }: ServiceOptions): ServiceCredentials {
  if (credentials === 'managed') return { apiKeys: [], accessTokens: [] }
  return checkedCredentials(credentials ?? newCredentials())
}

function checkedCredentials(credentials: ServiceCredentials): ServiceCredentials {
  const all = [...credentials.apiKeys, ...credentials.accessTokens]
  check(all.length > 0, 'credentials must hold at least one API key or access token')
  check(all.every(isVisibleAscii), 'credentials must be visible ASCII without spaces, since they travel in a header')
  return credentials
}

/** No message quotes the URL, because it holds a password. */
function checkedDatabaseUrl({ databaseUrl, dataDir, s3 }: ServiceOptions): string | undefined {
  if (databaseUrl === undefined) return undefined
  check(
    URL.canParse(databaseUrl) && /^postgres(?:ql)?:$/.test(new URL(databaseUrl).protocol),
    'databaseUrl must be a URL that begins with postgres:// or postgresql://',
  )
  check(
    dataDir !== undefined || s3 !== undefined,
    'databaseUrl needs dataDir or s3: the objects that its records speak of must outlive the process',
  )
  return databaseUrl
}

function checkedBearerHeaders({ bearerHeaders = ['authorization', 'authentication'] }: ServiceOptions): string[] {
  check(
    bearerHeaders.every((name) => /^[\w-]+$/.test(name)),
    'bearerHeaders must be names of headers',
  )
  return bearerHeaders.map((name) => name.toLowerCase())
}

function checkedPublicUrl(publicUrl: string): string {
  const url = URL.canParse(publicUrl) ? new URL(publicUrl) : undefined
  check(
    url !== undefined && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '' && url.username === '',
    'publicUrl must be an http or https URL without user, query and fragment',
  )
  // As it was understood, not as it was written: a blank at its end would be in the middle of every address.
  return url.origin + url.pathname.replace(/\/+$/, '')
}
