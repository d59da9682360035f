// The HTTP server: which routes require which credential, and what a log line may hold.

import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'

import { createAdmission, type Admission } from '../access/admission.ts'
import { credentialCheck } from '../access/credentials.ts'
import type { ServiceContext } from '../context.ts'
import { objectRoutes } from '../objects/object-routes.ts'
import { analysisRoutes } from '../routes/analysis-routes.ts'
import { captureRoutes } from '../routes/capture-routes.ts'
import { healthRoutes } from '../routes/health-routes.ts'
import { lookupRoutes } from '../routes/lookup-routes.ts'
import { openApiRoutes } from '../routes/openapi-routes.ts'
import { pageRoutes } from '../routes/page-routes.ts'
import { segmentRoutes } from '../routes/segment-routes.ts'
import { storedRoutes } from '../routes/stored-routes.ts'
import { videoRoutes } from '../videos/video-routes.ts'
import { noteMethods } from './allowed-methods.ts'
import { createCallBodies, type CallBodies } from './call-bodies.ts'
import { watchConnections, type Connections } from './connections.ts'
import { answerError, type Answering } from './error-answers.ts'
import { holdExpectedBodies, inviteBody } from './expected-bodies.ts'
import { metricsRoute, type Metrics } from './metrics.ts'
import { allowOtherOrigins, ORIGIN_HEADERS } from './other-origins.ts'
import { errorBody } from './replies.ts'
import { pathOf, requireOneHost } from './request-heads.ts'
import { echoRequestIds, requestIdOf } from './request-ids.ts'
import { securityHeaders } from './security-headers.ts'
import { endIfStalled, endStalledBodies, endUntakenAnswers } from './stalled-bodies.ts'
import { closeAnswered } from './stopping.ts'
import { answerUnreadable, UNREADABLE } from './unreadable-requests.ts'
import { parseJson } from './wire.ts'

export interface ServerOptions {
  readonly metrics: Metrics
  /** Installs hooks that run for every operation. */
  readonly lay?: ((app: FastifyInstance) => void) | undefined
}

export interface Server {
  readonly app: FastifyInstance
  readonly connections: Connections
}

/** Builds the server, which does not listen yet. */
export function createServer(context: ServiceContext, { metrics, lay }: ServerOptions): Server {
  const { limits, trustedProxies, bodyIdleMs } = context.settings
  const app = fastify({
    logger: loggerOptions(context),
    trustProxy: (_address, hop) => hop < trustedProxies,
    // A large body on a slow line takes hours. One that stalls is ended below, or by its own route.
    requestTimeout: 0,
    forceCloseConnections: 'idle',
    // A call that came in time for a stop is in flight. Fastify's own refusal has none of our headers.
    return503OnClosing: false,
    routerOptions: { maxParamLength: 200 },
    genReqId: requestIdOf,
    rewriteUrl: pathOf,
    // Node's own refusal has no word of why, and pages cannot read its status.
    http: { requireHostHeader: false },
    // Fastify's own refusals quote the URL, and an address must not be quoted.
    frameworkErrors: (error, { raw }, reply) => {
      if (!raw.complete) endIfStalled(raw, context.settings)
      const answering = reply as unknown as Answering
      answering
        .code(error.statusCode ?? 400)
        .headers(ORIGIN_HEADERS)
        .send(UNREADABLE)
    },
    clientErrorHandler: (error, socket) => answerUnreadable(error, socket, connections.isAnswering(socket)),
  })
  holdExpectedBodies(app.server)
  const connections = watchConnections(app.server)
  // No body is read before its caller and purpose are known. Node discards an unread body as it arrives.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  app.setErrorHandler((error, request, reply) => answerError(context, error, request, reply))
  const methodsOf = noteMethods(app)
  app.setNotFoundHandler(({ url }, reply) => {
    // Decoded, as the router has read it.
    const methods = methodsOf(decodeURI(url.replace(/[?#].*/s, ''))).join(', ')
    if (methods === '') return reply.code(404).send(errorBody('not_found', 'The service has no such operation.'))
    const message = `This path has no such operation, only ${methods}.`
    return reply.code(405).header('allow', methods).send(errorBody('wrong_method', message))
  })
  app.decorateRequest('caller', null)
  metrics.attach(app)
  echoRequestIds(app)
  securityHeaders(app)
  allowOtherOrigins(app, context.settings.bearerHeaders)
  requireOneHost(app)
  endStalledBodies(app, context.settings)
  closeAnswered(app, context.isStopping)
  lay?.(app)
  endUntakenAnswers(app, bodyIdleMs)
  const { page, metricsPort, metricsToken } = context.settings
  if (page !== undefined)
    pageRoutes(app, page, () => context.settings.s3?.place.origin ?? new URL(context.publicUrl()).origin)
  healthRoutes(app, context)
  if (metricsPort === undefined) metricsRoute(app, metrics, metricsToken)
  openApiRoutes(app)
  const admission = createAdmission(context.settings)
  const bodies = createCallBodies(limits.bodyBytes)
  guarded(app, { context, admission, bodies, status: 401, rooms: [videoRoutes] })
  guarded(app, {
    context,
    admission,
    bodies,
    status: 403,
    rooms: [captureRoutes, segmentRoutes, analysisRoutes, lookupRoutes, storedRoutes],
  })
  // With a bucket, addresses lead there instead.
  if (context.bucket === undefined) {
    void app.register((scope, _options, done) => {
      objectRoutes(scope, context)
      done()
    })
  }
  return { app, connections }
}

type Routes = (app: FastifyInstance, context: ServiceContext) => void

interface Guarded {
  readonly context: ServiceContext
  readonly admission: Admission
  readonly bodies: CallBodies
  readonly status: 401 | 403
  readonly rooms: readonly Routes[]
}

function guarded(app: FastifyInstance, { context, admission, bodies, status, rooms }: Guarded): void {
  void app.register((scope, _options, done) => {
    scope.addHook('onRequest', credentialCheck(context, admission, status))
    scope.addHook('preParsing', async (request, reply, payload) => {
      const { method } = request
      // Before the body is read: nothing may wait from its parsing to its judgement, because parsed it can take ten times its size.
      if (method === 'POST' || method === 'PATCH') await context.roomForRecords?.forRecord()
      bodies.check(request)
      inviteBody(reply.raw)
      return payload
    })
    bodies.attach(scope)
    context.answers.attach(scope)
    // The body of a DELETE means nothing (RFC 9110, 9.3.5).
    scope.addContentTypeParser('application/json', async (request: FastifyRequest) => {
      const bytes = await bodies.read(request)
      return request.method === 'DELETE' ? undefined : parseJson(bytes)
    })
    for (const routes of rooms) routes(scope, context)
    done()
  })
}

/** As much of a target as the paths of this service are made of: an address may have come with its query encoded once more. */
const PLAIN_PATH = /^[\w/.-]*/

/** Off unless asked for. A request is logged by method and path only, because headers and queries hold secrets. */
function loggerOptions({ settings }: ServiceContext): false | object {
  if (settings.log === undefined) return false
  return {
    level: 'info',
    stream: settings.log,
    serializers: {
      req: ({ method, url = '' }: { method: string; url?: string }) => ({ method, path: PLAIN_PATH.exec(url)?.[0] }),
      res: ({ statusCode }: { statusCode: number }) => ({ statusCode }),
      // A database error holds the statement's parameters, so only what a person needs is logged.
      err: ({ message, stack, cause }: Error) => ({
        message,
        stack,
        // Of a host with several addresses, the error that stands for all of them has a code and no words.
        ...(cause instanceof Error ? { cause: cause.message || (cause as NodeJS.ErrnoException).code } : {}),
      }),
    },
  }
}
