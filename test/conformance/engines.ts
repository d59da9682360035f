// What the suite can start for itself, on the loopback: the service on each database and store, and how all of it ends.

import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { openKeyRing, startService, type ServiceOptions } from '../../src/service/index.ts'
import { newDatabase, startPostgres } from '../helpers/postgres-server.ts'
import { presign } from '../helpers/sigv4.ts'
import { startCephGateway } from '../long/ceph-gateway.ts'
import type { EngineName } from './engine-needs.ts'

export interface Engine {
  /** One for each copy of the service. */
  readonly baseUrls: readonly string[]
  /** API keys by organisation. Secret. */
  readonly keys: Readonly<Record<'org-conformance' | 'org-other' | 'org-fuzzed', string>>
  readonly accessToken: string
  readonly databaseUrl: string | undefined
  stop(): Promise<void>
}

/** Two copies where copies can be, so that calls which belong together land at different ones. */
export async function startEngine(engine: EngineName): Promise<Engine> {
  const undo: (() => Promise<void>)[] = []
  const stop = async (): Promise<void> => {
    for (let step = undo.pop(); step !== undefined; step = undo.pop()) await step()
  }
  try {
    return { ...(await start(engine, undo)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function start(engine: EngineName, undo: (() => Promise<void>)[]): Promise<Omit<Engine, 'stop'>> {
  const place = await placeOf(engine, undo)
  const { dataDir, databaseUrl } = place
  const ring = await openKeyRing({ dataDir, databaseUrl })
  const keyOf = async (orgId: string) => (await ring.create(orgId, 'conformance suite')).key
  const keys = {
    'org-conformance': await keyOf('org-conformance'),
    'org-other': await keyOf('org-other'),
    'org-fuzzed': await keyOf('org-fuzzed'),
  }
  await ring.close()
  const accessToken = randomBytes(16).toString('hex')
  const baseUrls: string[] = []
  for (let copy = 0; copy < (databaseUrl === undefined ? 1 : 2); copy += 1) {
    const service = await startService({
      ...{ port: 0, credentials: { apiKeys: [], accessTokens: [accessToken] } },
      ...place,
    })
    undo.push(() => service.close())
    baseUrls.push(service.url)
  }
  return { baseUrls, keys, accessToken, databaseUrl }
}

async function placeOf(engine: EngineName, undo: (() => Promise<void>)[]): Promise<ServiceOptions> {
  const bucket = engine === 'postgres-ceph' ? await startBucket(undo) : undefined
  const place: { dataDir?: string; databaseUrl?: string; s3?: NonNullable<ServiceOptions['s3']> } = {}
  if (bucket === undefined) {
    const dataDir = await mkdtemp(join(tmpdir(), 'mocap-uplink-conformance-'))
    undo.push(() => rm(dataDir, { recursive: true, force: true }))
    place.dataDir = dataDir
  } else place.s3 = bucket
  if (engine !== 'pglite-disk') {
    const server = await startPostgres()
    undo.push(() => server.stop())
    place.databaseUrl = await newDatabase(server.url)
  }
  return place
}

async function startBucket(undo: (() => Promise<void>)[]): Promise<NonNullable<ServiceOptions['s3']>> {
  const gateway = await startCephGateway()
  undo.push(() => gateway.stop())
  const bucket = 'mocap-uplink-conformance'
  const { status } = await fetch(presign({ bucket, ...gateway }, 'PUT', ''), { method: 'PUT' })
  if (status !== 200) throw new Error(`The bucket could not be made: ${String(status)}.`)
  const keys = { accessKeyId: gateway.accessKey, secretAccessKey: gateway.secretKey }
  return { bucket, endpoint: gateway.endpoint, keys }
}
