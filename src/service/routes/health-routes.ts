// What a supervisor and a load balancer ask: is the process alive, and should it receive calls right now?

import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { sql } from 'kysely'

import type { ServiceContext } from '../context.ts'
import { storageOf } from '../objects/storage-of.ts'

/** How long a database or store may take to answer before it counts as unavailable, ms. */
const CHECK_WITHIN_MS = 5_000

/**
 * Adds /healthz, which answers 200 while the process lives, and /readyz, which answers 200 when database and store answer, else 503,
 * and always 503 once the service was told to stop. Any number of callers share one running check.
 */
export function healthRoutes(app: FastifyInstance, context: ServiceContext): void {
  let checking: Promise<Readiness> | undefined
  app.get('/healthz', () => Promise.resolve({ status: 'ok' }))
  app.get('/readyz', async (_request, reply) => {
    if (context.isStopping()) return reply.code(503).send({ status: 'stopping' })
    checking ??= readinessOf(context, app.log).finally(() => (checking = undefined))
    const { database, store } = await checking
    const isReady = database && store
    const word = (answers: boolean) => (answers ? 'ok' : 'unavailable')
    return reply.code(isReady ? 200 : 503).send({ status: word(isReady), database: word(database), store: word(store) })
  })
}

interface Readiness {
  readonly database: boolean
  readonly store: boolean
}

async function readinessOf(context: ServiceContext, log: FastifyBaseLogger): Promise<Readiness> {
  const [database, store] = await Promise.all([
    answersInTime('database', sql`select 1`.execute(context.db), log),
    answersInTime('store', storageOf(context).checkReachable(), log),
  ])
  return { database, store }
}

/** Tells the world only whether it answers. The reason is for the log: a copy that is not ready gets no calls that would fail. */
async function answersInTime(what: string, answer: Promise<unknown>, log: FastifyBaseLogger): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`There was no answer within ${CHECK_WITHIN_MS} ms.`)), CHECK_WITHIN_MS)
  })
  try {
    await Promise.race([answer, late])
    return true
  } catch (error) {
    log.error({ err: error }, `the service is not ready: its ${what}`)
    return false
  } finally {
    clearTimeout(timer)
  }
}
