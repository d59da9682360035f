// Puts the running service together and takes it apart in reverse order; loaded once its packages are known to be there.

import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, open, readFile, rename, rm } from 'node:fs/promises'
import { isIPv6, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { ServiceContext } from './context.ts'
import { lockDataFolder } from './data-lock.ts'
import { openDatabase } from './database.ts'
import type { CheckedFaultPlan } from './faults/fault-plan.ts'
import type { RunningService } from './index.ts'
import { createObjectStore } from './object-store.ts'
import type { ServiceSettings } from './options.ts'
import { createServer } from './server.ts'
import { createSigner, type Signer } from './signing.ts'

/** How often connections that have become idle are looked for while the service closes, ms. */
const IDLE_CHECK_MS = 50

/** Starts everything, under the faults of a plan if there is one. What was opened is closed again when a later step fails. */
export async function runService(settings: ServiceSettings, plan?: CheckedFaultPlan): Promise<RunningService> {
  const undo: (() => Promise<void>)[] = []
  const takeApart = async () => {
    const failures: unknown[] = []
    for (let step = undo.pop(); step !== undefined; step = undo.pop()) {
      await step().catch((error: unknown) => failures.push(error))
    }
    if (failures.length > 0) throw new AggregateError(failures, 'The service could not be closed cleanly.')
  }
  try {
    const { context, signerFor } = await openContext(settings, undo)
    const faults =
      plan === undefined
        ? undefined
        : (await import('./faults/fault-layer.ts')).createFaultLayer({ plan, context, signerFor })
    const app = createServer(faults?.context ?? context, faults?.attach)
    undo.push(async () => {
      // A kept-alive connection that was busy when the closing began would otherwise hold it until its client leaves.
      const sweep = setInterval(() => app.server.closeIdleConnections(), IDLE_CHECK_MS)
      await app.close().finally(() => clearInterval(sweep))
    })
    await app.listen({ port: settings.port, host: settings.host })
    const { port } = app.server.address() as AddressInfo
    const url = `http://${reachableHost(settings.host)}:${port}`
    context.listensAt = url
    let closing: Promise<void> | undefined
    return { url, port, credentials: settings.credentials, close: () => (closing ??= takeApart()) }
  } catch (error) {
    // What went wrong first is what the host must hear.
    await takeApart().catch(() => undefined)
    throw error
  }
}

interface Opened {
  readonly context: ServiceContext & { listensAt: string }
  /** A signer of the folder's secret for addresses that live so long. */
  readonly signerFor: (lifeSeconds: number) => Signer
}

async function openContext(settings: ServiceSettings, undo: (() => Promise<void>)[]): Promise<Opened> {
  const folder = settings.dataDir ?? (await mkdtemp(join(tmpdir(), 'mocap-uplink-')))
  if (settings.dataDir === undefined) undo.push(() => rm(folder, { recursive: true, force: true }))
  else await mkdir(folder, { recursive: true, mode: 0o700 })
  const lock = await lockDataFolder(folder)
  undo.push(() => lock.release())
  const db = await openDatabase(
    settings.dataDir === undefined ? undefined : join(folder, 'db'),
    settings.preparedDatabase,
  )
  undo.push(() => db.destroy())
  const store = await createObjectStore(join(folder, 'objects'))
  const blobs = await db.selectFrom('objects').select('blob').execute()
  await store.sweep(new Set(blobs.map(({ blob }) => blob)))
  const secret = await signingSecret(join(folder, 'signing-key'))
  const signerFor = (lifeSeconds: number) => createSigner({ secret, lifeSeconds, now: settings.now })
  const context: Opened['context'] = {
    settings,
    db,
    store,
    signer: signerFor(settings.addressLifeSeconds),
    listensAt: '',
    publicUrl: () => settings.publicUrl ?? context.listensAt,
  }
  return { context, signerFor }
}

/** The folder's secret, made on first use, so that addresses outlive a restart. Only the owner may read it. */
async function signingSecret(path: string): Promise<Uint8Array> {
  const known = await readFile(path).catch(() => undefined)
  if (known?.length === 32) return known
  const secret = randomBytes(32)
  const file = await open(`${path}.new`, 'w', 0o600)
  try {
    await file.writeFile(secret)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(`${path}.new`, path)
  return secret
}

/** A wildcard host is no address to call: it is reached on the loopback. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return isIPv6(host) ? `[${host}]` : host
}
