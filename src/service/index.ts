// The whole interface as a server on this machine. `startService` opens the data folder, listens, and returns a handle to stop it.

import type { KeyRing, KeyRingOptions } from './access/key-ring.ts'
import type { ServiceCredentials, ServiceOptions } from './options.ts'
import { checkPeers, SERVICE_PEERS } from './peers.ts'
import type { RunningService } from './run.ts'
import { resolveS3, type S3Options } from './s3/s3-settings.ts'
import { resolveOptions } from './settings.ts'

/**
 * Starts the service. It needs the packages fastify, @fastify/helmet, prom-client, kysely and @electric-sql/pglite (pg with a
 * `databaseUrl`, @aws-sdk/client-s3 with `s3`, jose with `jwt`). Rejects when the port is taken; with ERR_SERVICE_PACKAGES and the
 * command that installs them when packages are missing; with ERR_SERVICE_DATA_IN_USE when another process has the data folder open;
 * with ERR_SERVICE_DATA_FULL when its disk has no room for the embedded database; with ERR_SERVICE_DATA_FOREIGN when the folder
 * belongs to another database or has other things in it; with ERR_SERVICE_DATABASE and the database's words when it cannot be
 * reached, opened or migrated; and with a TypeError that names the rule and the field when `faults` are malformed.
 */
export async function startService(options: ServiceOptions = {}): Promise<RunningService> {
  const settings = resolveOptions(options)
  await checkPeers([
    ...(settings.databaseUrl === undefined ? SERVICE_PEERS.embedded : SERVICE_PEERS.server),
    ...(settings.s3 === undefined ? [] : SERVICE_PEERS.s3),
    ...(settings.jwt === undefined ? [] : SERVICE_PEERS.jwt),
  ])
  // Only a service that is meant to misbehave loads the code for it.
  const { faults } = options
  const plan = faults === undefined ? undefined : (await import('./faults/fault-plan.ts')).readFaultPlan(faults)
  const { runService } = await import('./run.ts')
  return runService(settings, plan)
}

/**
 * Opens the API keys of a service for its administrator. Needs the same packages. With `databaseUrl`, services may run at the same
 * time. The embedded database is for one process: rejects with ERR_SERVICE_DATA_IN_USE while a service has the folder open.
 */
export async function openKeyRing(options: KeyRingOptions): Promise<KeyRing> {
  await checkPeers(options.databaseUrl === undefined ? SERVICE_PEERS.embedded : SERVICE_PEERS.server)
  const { openKeys } = await import('./access/key-ring.ts')
  return openKeys(options)
}

/**
 * Makes an empty database once, to pass to each `startService` of a test suite as `preparedDatabase`. About 40 MB. It fits only
 * this version of the package and of its database.
 */
export async function prepareDatabase(): Promise<Blob> {
  await checkPeers()
  const { packNewDatabase } = await import('./database/pglite-database.ts')
  return packNewDatabase()
}

/** Lets pages of these origins (`https://app.example`, or `*`) send to the bucket of `s3` and read ETags. */
export async function allowOriginsOfBucket(s3: S3Options, origins: readonly string[]): Promise<void> {
  const settings = resolveS3(s3)
  await checkPeers(SERVICE_PEERS.s3)
  const { openBucket } = await import('./s3/s3-bucket.ts')
  const bucket = openBucket(settings)
  try {
    await bucket.allowOrigins(origins)
  } finally {
    bucket.close()
  }
}

export type { S3Options }
export type { ServiceLimits } from './access/limits.ts'
export type { ApiKeyRecord } from './access/api-keys.ts'
export type { JwtOptions } from './access/jwt-settings.ts'
export type { KeyRing, KeyRingOptions }
export type { FaultPlan } from './faults/fault-plan.ts'
export type { PageFile, ServicePage } from './routes/page-routes.ts'
export type { RunningService, ServiceCredentials, ServiceOptions }
