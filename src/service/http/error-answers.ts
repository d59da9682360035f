// How errors become answers: those of ours with their own words, all others without a word of the error.

import type { FastifyRequest } from 'fastify'

import type { ServiceContext } from '../context.ts'
import { isDatabaseAway, isDiskFull } from '../database/database-errors.ts'
import { DISK_FULL_RETRY_SECONDS, errorBody, MalformedRequest, Refusal } from './replies.ts'

/** What answering needs of Fastify's reply, whatever its route. */
export interface Answering {
  code(status: number): Answering
  header(name: string, value: string): Answering
  headers(values: Readonly<Record<string, string>>): Answering
  removeHeader(name: string): Answering
  send(body: object): unknown
}

/** Answers a request that failed. What is not ours is logged, also where it made us refuse. */
export function answerError(
  { settings }: ServiceContext,
  error: unknown,
  request: FastifyRequest,
  reply: Answering,
): unknown {
  if (error instanceof MalformedRequest && request.routeOptions.config.answersMalformed === true) {
    return reply.code(settings.malformedStatus).send({ message: error.message, errors: error.problems })
  }
  if (error instanceof Refusal) {
    if (error.cause !== undefined) request.log.error({ err: error.cause }, 'a call failed')
    if (error.status === 503) reply.header('retry-after', '1')
    // What would be taken (RFC 9110, 15.5.16).
    if (error.status === 415) reply.header('accept-encoding', 'identity')
    if (error.status === 429) reply.header('retry-after', String(error.facts['retry_after_seconds']))
    // Fastify would close the connection, and a client that does not ask before it sends would often not see the answer.
    if (!request.raw.complete && request.headers.expect === undefined) reply.removeHeader('connection')
    return reply.code(error.status).send(errorBody(error.code, error.message, error.facts))
  }
  const status = statusOf(error)
  if (status < 500) return reply.code(status).send(errorBody('invalid_request', 'The request could not be read.'))
  request.log.error({ err: error }, 'a call failed')
  if (isDiskFull(error)) {
    const message = 'The service has no room left on its disk. Try again when there is some.'
    return reply
      .code(503)
      .header('retry-after', String(DISK_FULL_RETRY_SECONDS))
      .send(errorBody('unavailable', message))
  }
  if (isDatabaseAway(error)) {
    return reply.code(503).header('retry-after', '1').send(errorBody('unavailable', 'The service is busy. Try again.'))
  }
  return reply.code(500).send(errorBody('internal', 'The service failed.'))
}

function statusOf(error: unknown): number {
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined
  return typeof status === 'number' && status >= 400 && status < 500 ? status : 500
}
