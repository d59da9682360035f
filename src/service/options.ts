// What a host can choose about the service, and the settings that follow: every default is filled in and checked here.

import { randomBytes } from 'node:crypto'

import { resolveJwt, type JwtOptions, type JwtSettings } from './access/jwt-settings.ts'
import { resolveLimits, type LimitSettings, type ServiceLimits } from './access/limits.ts'
import type { FaultPlan } from './faults/fault-plan.ts'
import type { NIGHTS } from './faults/nights.ts'
import type { ServicePage } from './routes/page-routes.ts'
import { resolveS3, type S3Options, type S3Settings } from './s3/s3-settings.ts'

/** The two kinds of credential, each with all values that are accepted. */
export interface ServiceCredentials {
  readonly apiKeys: readonly string[]
  readonly accessTokens: readonly string[]
}

export interface ServiceOptions {
  /** Default 8787; 0 takes any free port. */
  readonly port?: number
  /** The interface to listen on. Default 127.0.0.1: this machine only. */
  readonly host?: string
  /** Where database, objects and signing key are kept. Default: in memory and a private folder removed by `close`. */
  readonly dataDir?: string
  /**
   * A PostgreSQL server (`postgres://…`, with what pg takes in its query) instead of the embedded database. Secret. Any
   * number of services may then work on it, all with the same `dataDir` on a shared disk. Default: embedded.
   */
  readonly databaseUrl?: string
  /**
   * An S3-compatible store for the objects instead of the disk: clients send to it directly. Chosen when the service is
   * begun: a database belongs to one store. Not with `faults`, which are the disk's. Default: the disk.
   */
  readonly s3?: S3Options
  /**
   * A video session that is so old, ms, is ended if nobody finished it: confirmed files stay, the rest is removed. Not
   * less than `addressLifeMs`. Default 7 days; 0 never ends one.
   */
  readonly endSessionsAfterMs?: number
  /** The most connections to that server from this service, at least 2. Default 10. */
  readonly databaseConnections?: number
  /**
   * Fixed credentials for development: each opens all that is of the organisation `development`. `managed`: none, only API
   * keys that `openKeyRing` or `serve keys` made, which are taken in either case. Default: one random API key and one
   * random access token, both in what `startService` returns.
   */
  readonly credentials?: ServiceCredentials | 'managed'
  /** Access tokens of an issuer, beside the credentials. Needs the package jose. Default: none are taken. */
  readonly jwt?: JwtOptions
  /** How much an organisation, an address and a call may ask for. Of calls each copy counts those that reach it. */
  readonly limits?: ServiceLimits
  /**
   * How many proxies stand in front and each add the address that called it to `X-Forwarded-For`: so the address that is
   * limited is the client's. Default 0: the header is not believed. At most 10.
   */
  readonly trustedProxies?: number
  /** Headers in which a bearer token is looked for. Default Authorization and Authentication: the interface shows both. */
  readonly bearerHeaders?: readonly string[]
  /** How long an address lives, ms, rounded up to seconds. Default 1 h, at most 7 days. */
  readonly addressLifeMs?: number
  /** A requested analysis is completed this long after it was requested, ms, at most ten years. Default: it stays requested. */
  readonly analysisCompletesAfterMs?: number
  /** What addresses begin with, when a proxy stands in front. No query. Default: the service's own URL. */
  readonly publicUrl?: string
  /** Mocap types whose source is plain video. Default [67]. An assumption: the interface names no id. */
  readonly videoMocapTypeIds?: readonly number[]
  /**
   * The status with which POST /player_group_segments and POST /upload_videos answer a malformed request. The interface
   * shows only that the answer lacks the field that was asked for, so the default is 200 with `{"errors": [...]}`.
   */
  readonly malformedStatus?: number
  /**
   * A PUT whose body brings nothing for this long is answered 400 RequestTimeout and closed, ms; a call whose body does so is
   * closed within twice as long. Default 60 s.
   */
  readonly bodyIdleMs?: number
  /** What a person sees at `/`, served without a credential. Default: nothing. */
  readonly page?: ServicePage
  /** How long a stop waits for what is in flight before it cuts the connections, ms. Default 30 s. */
  readonly stopWithinMs?: number
  /** How long /readyz says 503 before a stop begins, so that a balancer sends nothing more, ms. Default 0. */
  readonly stopDelayMs?: number
  /**
   * Metrics at a port of their own instead of the service's; 0 takes any free one. No token is needed there. Default:
   * GET /metrics at the service's port.
   */
  readonly metricsPort?: number
  /** The interface of that port. Default 127.0.0.1. */
  readonly metricsHost?: string
  /** What a scrape of the service's port must show as bearer. Secret. Default: nothing; no metric holds an id or a name. */
  readonly metricsToken?: string
  /** Where log lines (JSON) go. Default: nowhere. No key, token or signed query is ever in a line. */
  readonly log?: { write(line: string): void }
  /** Wall time, ms since 1970. Default Date.now. */
  readonly now?: () => number
  /**
   * What `prepareDatabase` gave: a new database begins as a copy of it, in a tenth of the time. For test suites that
   * start many services; a folder that has a database already is opened as it is. Default: made from nothing.
   */
  readonly preparedDatabase?: Blob
  /** What is to go wrong, to rehearse it: a plan, or the name of a ready-made night. Default: nothing. */
  readonly faults?: FaultPlan | `night:${keyof typeof NIGHTS}`
}

/** The options with every default filled in. */
export interface ServiceSettings {
  readonly port: number
  readonly host: string
  readonly dataDir: string | undefined
  readonly databaseUrl: string | undefined
  readonly databaseConnections: number
  readonly s3: S3Settings | undefined
  readonly endSessionsAfterMs: number
  readonly credentials: ServiceCredentials
  readonly jwt: JwtSettings | undefined
  readonly limits: LimitSettings
  readonly trustedProxies: number
  readonly bearerHeaders: readonly string[]
  readonly addressLifeSeconds: number
  readonly analysisCompletesAfterMs: number | undefined
  readonly publicUrl: string | undefined
  readonly videoMocapTypeIds: ReadonlySet<number>
  readonly malformedStatus: number
  readonly bodyIdleMs: number
  readonly page: ServicePage | undefined
  readonly stopWithinMs: number
  readonly stopDelayMs: number
  readonly metricsPort: number | undefined
  readonly metricsHost: string
  readonly metricsToken: string | undefined
  readonly log: { write(line: string): void } | undefined
  readonly now: () => number
  readonly preparedDatabase: Blob | undefined
}

const WEEK_SECONDS = 604_800

/** Fills in the defaults. Throws a TypeError that names the option, the rule and never a credential. */
export function resolveOptions(options: ServiceOptions): ServiceSettings {
  const addressLifeSeconds = Math.ceil((options.addressLifeMs ?? 3_600_000) / 1000)
  check(
    addressLifeSeconds >= 1 && addressLifeSeconds <= WEEK_SECONDS,
    'addressLifeMs must be more than 0 and at most 7 days',
  )
  const port = options.port ?? 8787
  check(Number.isInteger(port) && port >= 0 && port <= 65_535, 'port must be an integer from 0 to 65535')
  const malformedStatus = options.malformedStatus ?? 200
  check(
    Number.isInteger(malformedStatus) && malformedStatus >= 200 && malformedStatus <= 499,
    'malformedStatus must be a status from 200 to 499',
  )
  const bodyIdleMs = options.bodyIdleMs ?? 60_000
  check(bodyIdleMs > 0 && bodyIdleMs <= 2_147_483_647, 'bodyIdleMs must be more than 0 and fit a timer')
  const databaseConnections = options.databaseConnections ?? 10
  check(
    Number.isInteger(databaseConnections) && databaseConnections >= 2 && databaseConnections <= 1000,
    'databaseConnections must be an integer from 2 to 1000: whoever ends old sessions holds one',
  )
  const { analysisCompletesAfterMs } = options
  check(
    analysisCompletesAfterMs === undefined ||
      (analysisCompletesAfterMs >= 0 && analysisCompletesAfterMs <= 520 * WEEK_SECONDS * 1000),
    'analysisCompletesAfterMs must be 0 to ten years',
  )
  const trustedProxies = options.trustedProxies ?? 0
  check(
    Number.isInteger(trustedProxies) && trustedProxies >= 0 && trustedProxies <= 10,
    'trustedProxies must be an integer from 0 to 10',
  )
  const endSessionsAfterMs = options.endSessionsAfterMs ?? WEEK_SECONDS * 1000
  check(
    endSessionsAfterMs === 0 || endSessionsAfterMs >= addressLifeSeconds * 1000,
    'endSessionsAfterMs must be 0 or at least addressLifeMs: nobody may send to a session that has ended',
  )
  check(
    options.s3 === undefined || options.faults === undefined,
    'faults need the store on disk: with s3 no body passes the service',
  )
  return {
    port,
    host: options.host ?? '127.0.0.1',
    dataDir: options.dataDir,
    databaseUrl: checkedDatabaseUrl(options),
    databaseConnections,
    s3: options.s3 === undefined ? undefined : resolveS3(options.s3),
    endSessionsAfterMs,
    credentials: credentialsOf(options),
    jwt: options.jwt === undefined ? undefined : resolveJwt(options.jwt),
    limits: resolveLimits(options.limits),
    trustedProxies,
    bearerHeaders: checkedBearerHeaders(options),
    addressLifeSeconds,
    analysisCompletesAfterMs,
    publicUrl: options.publicUrl === undefined ? undefined : checkedPublicUrl(options.publicUrl),
    videoMocapTypeIds: new Set(options.videoMocapTypeIds ?? [67]),
    malformedStatus,
    bodyIdleMs,
    page: options.page,
    ...operatorSettings(options),
    log: options.log,
    now: options.now ?? Date.now,
    preparedDatabase: options.preparedDatabase,
  }
}

/** What only matters to whoever runs the service. */
function operatorSettings(options: ServiceOptions) {
  const { stopWithinMs = 30_000, stopDelayMs = 0, metricsPort, metricsHost = '127.0.0.1', metricsToken } = options
  check(isTimer(stopWithinMs), 'stopWithinMs must be at least 0 and fit a timer')
  check(isTimer(stopDelayMs), 'stopDelayMs must be at least 0 and fit a timer')
  check(
    metricsPort === undefined || (Number.isInteger(metricsPort) && metricsPort >= 0 && metricsPort <= 65_535),
    'metricsPort must be an integer from 0 to 65535',
  )
  check(metricsToken === undefined || /^[\x21-\x7e]+$/.test(metricsToken), 'metricsToken must be visible ASCII')
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
  check(
    all.every((value) => /^[\x21-\x7e]+$/.test(value)),
    'credentials must be visible ASCII without spaces, since they travel in a header',
  )
  return credentials
}

/** No message quotes the URL: it holds a password. */
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
    url !== undefined && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '',
    'publicUrl must be an http or https URL without query and fragment',
  )
  return publicUrl.replace(/\/+$/, '')
}

function check(condition: boolean, rule: string): asserts condition {
  if (!condition) throw new TypeError(`startService: ${rule}.`)
}
