// The options a host can choose for the service.

import type { JwtOptions } from './access/jwt-settings.ts'
import type { ServiceLimits } from './access/limits.ts'
import type { FaultPlan } from './faults/fault-plan.ts'
import type { NIGHTS } from './faults/nights.ts'
import type { ServicePage } from './routes/page-routes.ts'
import type { S3Options } from './s3/s3-settings.ts'

/** The two kinds of credential, each with all accepted values. */
export interface ServiceCredentials {
  readonly apiKeys: readonly string[]
  readonly accessTokens: readonly string[]
}

export interface ServiceOptions {
  /** The port to listen on. Default 8787; 0 takes any free port. */
  readonly port?: number | undefined
  /** The interface to listen on. Default 127.0.0.1: this machine only. */
  readonly host?: string | undefined
  /**
   * The folder for database, objects and signing key: new, empty, or begun by a service. Default: in memory and in a private folder
   * that `close` removes.
   */
  readonly dataDir?: string | undefined
  /**
   * A PostgreSQL server to use instead of the embedded database: `postgres://…`, with pg's own settings in the query. Secret. Any
   * number of services may share it, all with the same `dataDir` on a shared disk. Default: embedded.
   */
  readonly databaseUrl?: string | undefined
  /**
   * An S3-compatible store to use for objects instead of the disk; clients send to it directly. Choose it before the first start,
   * because a database belongs to one store. Not together with `faults`, which need the disk. Default: the disk.
   */
  readonly s3?: S3Options | undefined
  /**
   * Age at which an unfinished video session is ended, ms: confirmed files stay, the rest is removed. At least `addressLifeMs`, at
   * most ten years. Default 7 days; 0 never ends one.
   */
  readonly endSessionsAfterMs?: number | undefined
  /** The most connections from this service to that database server, 2 to 1000. Default 10. */
  readonly databaseConnections?: number | undefined
  /**
   * Fixed credentials for development; each gives access to everything of the organisation `development`. `managed`: no fixed ones,
   * only API keys made by `openKeyRing` or `serve keys`, which are accepted in either case. Default: one random API key and one
   * random access token, which `startService` returns.
   */
  readonly credentials?: ServiceCredentials | 'managed' | undefined
  /** Accepts an issuer's access tokens in addition to the credentials. Needs the package jose. Default: none are accepted. */
  readonly jwt?: JwtOptions | undefined
  /** Limits per organisation, per remote address and per call. Each copy of the service counts only the calls that reach it. */
  readonly limits?: ServiceLimits | undefined
  /**
   * How many proxies stand in front and each append their caller's address to `X-Forwarded-For`, so that limits apply to the
   * client's address. Default 0: the header is ignored. At most 10.
   */
  readonly trustedProxies?: number | undefined
  /** Headers searched for a bearer token. Default Authorization and Authentication: the interface shows both. */
  readonly bearerHeaders?: readonly string[] | undefined
  /** How long an address lives, ms, rounded up to seconds. Default 1 h, at most 7 days. */
  readonly addressLifeMs?: number | undefined
  /** Completes a requested analysis this long after its request, ms, at most ten years. Default: it stays requested. */
  readonly analysisCompletesAfterMs?: number | undefined
  /** What addresses begin with when a proxy stands in front; no query. Default: the service's own URL. */
  readonly publicUrl?: string | undefined
  /** Mocap types whose source is plain video. Default [67]. Assumption: the interface names no id. */
  readonly videoMocapTypeIds?: readonly number[] | undefined
  /**
   * The status of an answer to a malformed POST /player_group_segments or POST /upload_videos. The interface shows only that the
   * answer lacks the requested field, so the default is 200 with `{"errors": [...]}`.
   */
  readonly malformedStatus?: number | undefined
  /**
   * How long a transfer may stall, ms. A PUT whose body stalls is answered 400 RequestTimeout and closed. A call whose body stalls
   * is closed within twice this time, an answer that is not read after this time. Default 60 s.
   */
  readonly bodyIdleMs?: number | undefined
  /**
   * The least that a body must bring, bytes a second, on average over ten minutes. A slower PUT is answered 400 RequestTimeout and
   * closed, a slower call is closed. Default 100, which a phone on the worst of lines exceeds; 0 allows everything.
   */
  readonly leastBytesPerSecond?: number | undefined
  /**
   * Bytes on the disk of `dataDir` that are reserved for the database. A body that would use them is answered 507; once half of
   * them are gone, every call that writes is answered 503. 0 turns these checks off, at start too. Default 64 MiB.
   */
  readonly keepFreeBytes?: number | undefined
  /** The page shown at `/`, served without a credential. Default: none. */
  readonly page?: ServicePage | undefined
  /** How long a stop waits for what is in flight before it cuts the connections, ms. Default 30 s. */
  readonly stopWithinMs?: number | undefined
  /** How long /readyz answers 503 before a stop begins, so that a load balancer sends nothing more, ms. Default 0. */
  readonly stopDelayMs?: number | undefined
  /** A separate port for metrics, which needs no token; 0 takes any free port. Default: GET /metrics on the service's port. */
  readonly metricsPort?: number | undefined
  /** The interface of the metrics port. Default 127.0.0.1. */
  readonly metricsHost?: string | undefined
  /** The bearer token for metrics on the service's port. Secret. Default: none; no metric holds an id or a name. */
  readonly metricsToken?: string | undefined
  /** Where log lines (JSON) go. Default: nowhere. A line never holds a key, a token or a signed query. */
  readonly log?: { write(line: string): void } | undefined
  /** Wall time, ms since 1970. Default Date.now. */
  readonly now?: (() => number) | undefined
  /**
   * What `prepareDatabase` returned: a new database starts as a copy of it, in a fraction of the time. For test suites that start many
   * services. A folder with a database is opened as it is. A function is asked for it only for a new database, and may have none.
   * Default: databases are made from scratch.
   */
  readonly preparedDatabase?: Blob | (() => Promise<Blob | undefined>) | undefined
  /** Faults to inject for a rehearsal: a plan, or the name of a ready-made night. Default: none. */
  readonly faults?: FaultPlan | `night:${keyof typeof NIGHTS}` | undefined
}
