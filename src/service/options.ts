// What a host can choose about the service.

import type { JwtOptions } from './access/jwt-settings.ts'
import type { ServiceLimits } from './access/limits.ts'
import type { FaultPlan } from './faults/fault-plan.ts'
import type { NIGHTS } from './faults/nights.ts'
import type { ServicePage } from './routes/page-routes.ts'
import type { S3Options } from './s3/s3-settings.ts'

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
   * closed within twice as long, an answer of which nothing is taken after so long. Default 60 s.
   */
  readonly bodyIdleMs?: number
  /**
   * Bytes of the disk of `dataDir` that are left to the database: a body that would take of them is answered 507, and where
   * half of them are gone every call that writes is answered 503. 0 looks at nothing, at the start neither. Default 64 MiB.
   */
  readonly keepFreeBytes?: number
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
