// Metrics for Prometheus: how many requests each operation had, how they ended and how long they took. Labels are routes without
// the values of their parameters, so no id, name, key or address can be in one.

import { timingSafeEqual } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Gauge, Histogram, Registry } from 'prom-client'

import { digestOf } from '../access/secret-digest.ts'
import { errorBody } from './replies.ts'
import { pathOf } from './request-heads.ts'

export interface Metrics {
  /** Counts every request from now on. */
  attach(app: FastifyInstance): void
  /** The text that a scrape gets, and its content type. */
  read(): Promise<{ readonly type: string; readonly text: string }>
}

/** From a quick list to the PUT of a night's largest file, seconds. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600]

/** The status of a request whose connection ended before its answer was out, as proxies count it. */
const LEFT = 499

/** Makes the metrics of one service. Two services in one process do not share them. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  const requests = new Histogram({
    name: 'mocap_uplink_request_seconds',
    help: 'Time from the head of a request to the end of its answer, by operation and status',
    labelNames: ['operation', 'status'] as const,
    buckets: BUCKETS,
    registers,
  })
  new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory of the process',
    registers,
    collect() {
      try {
        this.set(process.memoryUsage.rss())
      } catch {
        // It opens a file, and is the less important where none can be opened any more.
        this.remove()
      }
    },
  })
  new Gauge({
    name: 'process_cpu_seconds_total',
    help: 'User and system time of the process',
    registers,
    collect() {
      const { user, system } = process.cpuUsage()
      this.set((user + system) / 1e6)
    },
  })
  return {
    attach(app) {
      // Not onResponse: that never comes where the connection ends before the answer is out.
      app.addHook('onRequest', (request, reply, done) => {
        const { raw } = reply
        const beganAtMs = performance.now()
        raw.once('close', () => {
          const status = raw.writableFinished ? raw.statusCode : LEFT
          const labels = { operation: operationOf(request), status: String(status) }
          requests.observe(labels, (performance.now() - beganAtMs) / 1000)
        })
        done()
      })
    },
    read: async () => ({ type: registry.contentType, text: await registry.metrics() }),
  }
}

/** Adds GET /metrics to the service's own port. With a token, callers must present it as a bearer. */
export function metricsRoute(app: FastifyInstance, metrics: Metrics, token: string | undefined): void {
  app.get('/metrics', async (request, reply) => {
    const { authorization = '' } = request.headers
    // The name of the scheme is the same in any case (RFC 9110, 11.1).
    const given = authorization.replace(/^bearer(?= )/i, 'Bearer')
    if (token !== undefined && !timingSafeEqual(digestOf(given), digestOf(`Bearer ${token}`))) {
      return reply.code(401).send(errorBody('credentials_refused', 'The metrics need their own bearer token.'))
    }
    const { type, text } = await metrics.read()
    return reply.type(type).send(text)
  })
}

/** Serves the metrics, and nothing else, on a port of their own. */
export async function listenForScrapes(metrics: Metrics, port: number, host: string): Promise<Server> {
  const server = createServer((request, response) => {
    // A scraper may be told to add a query.
    if (pathOf(request).replace(/\?.*/s, '') !== '/metrics') {
      response.writeHead(404).end()
      return
    }
    metrics.read().then(
      ({ type, text }) => response.writeHead(200, { 'content-type': type }).end(text),
      () => response.writeHead(500).end(),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve)
  })
  return server
}

/** A route, such as `PATCH /requested_analyses/:id`. All unknown paths count as one operation. */
function operationOf({ method, routeOptions: { url } }: FastifyRequest): string {
  return url === undefined ? 'none' : `${method} ${url}`
}
