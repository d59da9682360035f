// Puts the running service together and takes it apart in reverse order. Loaded once its packages are known to be installed.

import { isIPv6, type AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

import type { FastifyBaseLogger } from 'fastify'

import type { ServiceContext } from './context.ts'
import type { CheckedFaultPlan } from './faults/fault-plan.ts'
import { createMetrics, listenForScrapes, type Metrics } from './http/metrics.ts'
import { checkPort } from './http/port-check.ts'
import { createServer } from './http/server.ts'
import { stopServer } from './http/stopping.ts'
import { openContext, type Undo } from './open-context.ts'
import type { ServiceCredentials } from './options.ts'
import type { ServiceSettings } from './settings.ts'
import { cautiousClock } from './videos/cautious-clock.ts'
import { sweepSessions, type SweepResult } from './videos/session-sweeper.ts'

/** Also the time to the first sweep: a clock that is wrong at the start has been put right by then. */
const SWEEP_EVERY_MS = 600_000
const NOTHING_SWEPT: SweepResult = { settled: 0, failed: 0 }

/** A service that listens. */
export interface RunningService {
  /** The service's URL, without a slash at the end. */
  readonly url: string
  readonly port: number
  /** The metrics' URL, if they have a port of their own. */
  readonly metricsUrl: string | undefined
  /** The credentials that callers must present; the random ones when none were given. Secret. */
  readonly credentials: ServiceCredentials
  /**
   * Reports that it is not ready, stops accepting calls, finishes what is in flight (for at most `stopWithinMs`) and then closes
   * the database. Idempotent.
   */
  close(): Promise<void>
}

/** Starts everything, with the faults of a plan if there is one. If a step fails, what was opened before is closed again. */
export async function runService(settings: ServiceSettings, plan?: CheckedFaultPlan): Promise<RunningService> {
  // For localhost, Fastify opens a second server, which has neither the bounds nor the stop of the first.
  const host = settings.host === 'localhost' ? '127.0.0.1' : settings.host
  await checkPort(settings.port, host)
  if (settings.metricsPort !== undefined) await checkPort(settings.metricsPort, settings.metricsHost)
  const undo: Undo = []
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
    const metrics = createMetrics()
    const { app, connections } = createServer(faults?.context ?? context, { metrics, lay: faults?.attach })
    if (settings.endSessionsAfterMs > 0) undo.push(startSweeping(context, app.log))
    undo.push(() => stopServer(app, connections, settings.stopWithinMs))
    const metricsUrl = await offerMetrics(settings, metrics, undo)
    await app.listen({ port: settings.port, host })
    const { port } = app.server.address() as AddressInfo
    const url = `http://${reachableHost(settings.host)}:${port}`
    context.listensAt = url
    let closing: Promise<void> | undefined
    const stop = async () => {
      context.stopping = true
      // Meanwhile /readyz answers no, but calls that still come are accepted.
      if (settings.stopDelayMs > 0) await wait(settings.stopDelayMs)
      await takeApart()
    }
    return { url, port, metricsUrl, credentials: settings.credentials, close: () => (closing ??= stop()) }
  } catch (error) {
    // The host must hear the first error, not one from cleaning up.
    await takeApart().catch(() => undefined)
    throw error
  }
}

/** Opens the metrics port if one is wanted. It is closed without waiting, because a scrape is short. */
async function offerMetrics(
  { metricsPort, metricsHost }: ServiceSettings,
  metrics: Metrics,
  undo: Undo,
): Promise<string | undefined> {
  if (metricsPort === undefined) return undefined
  const server = await listenForScrapes(metrics, metricsPort, metricsHost)
  undo.push(async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
  })
  const { port } = server.address() as AddressInfo
  return `http://${reachableHost(metricsHost)}:${port}/metrics`
}

/** Sweeps every ten minutes. The returned function stops it at once: the next start goes on with the session at hand. */
function startSweeping(context: ServiceContext, log: FastifyBaseLogger): () => Promise<void> {
  /** That of the sweep at hand: one for all would remember every call of the service's life. */
  let stopping: AbortController | undefined
  const { now, endSessionsAfterMs } = context.settings
  const clock = cautiousClock(now)
  let current: Promise<void> | undefined
  const sweep = () => {
    if (current) return
    stopping = new AbortController()
    current = sweepSessions(context, new Date(clock() - endSessionsAfterMs), stopping.signal)
      .then(({ settled, failed, failure } = NOTHING_SWEPT) => {
        if (settled + failed > 0) log.info({ settled, failed }, 'unfinished sessions were ended')
        if (failed > 0) log.error({ err: failure }, 'a session could not be ended, and is left for the next time')
      })
      .catch((error: unknown) => log.error({ err: error }, 'unfinished sessions could not be ended'))
      .finally(() => {
        current = undefined
      })
  }
  const timer = setInterval(sweep, SWEEP_EVERY_MS)
  return async () => {
    clearInterval(timer)
    stopping?.abort()
    await current
  }
}

/** A wildcard host cannot be called, so the loopback address takes its place. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return isIPv6(host) ? `[${host}]` : host
}
