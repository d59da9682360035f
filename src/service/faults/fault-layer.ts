// Adds the faults to the service in one place: a hook before each operation, one before each answer, and a store and a signer that
// know which fault has struck the current request. No route knows of them.
//
// A request passes, in this order: delay before, stall or reset at the start, an early answer, the body (slow line, stall, reset),
// the work or an answer in its place, delay after, stall at the answer, a changed or lost reply.

import { AsyncLocalStorage } from 'node:async_hooks'
import { createHash } from 'node:crypto'
import { finished } from 'node:stream/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import type { ServiceContext } from '../context.ts'
import { inviteBody } from '../http/expected-bodies.ts'
import type { ObjectStore } from '../objects/object-store.ts'
import type { Signer } from '../objects/signing.ts'
import { createFaultChoice } from './fault-choice.ts'
import type { CheckedFaultPlan, Fault, FaultAnswer } from './fault-plan.ts'
import { faultyBody } from './faulty-body.ts'
import { createHolding, cut, type Holding } from './holding.ts'
import { BODY_NAMES, namedBody, type BodyName } from './named-bodies.ts'
import { subjectOf, type FaultSubject } from './operations.ts'

export interface FaultLayer {
  /** The context to pass to the routes. */
  readonly context: ServiceContext
  /** Installs the hooks. Call it before any route is added. */
  attach(app: FastifyInstance): void
}

/** The fault that has struck one request. */
interface Strike {
  readonly fault: Fault
  readonly subject: FaultSubject
  readonly request: FastifyRequest
}

export interface FaultLayerOptions {
  readonly plan: CheckedFaultPlan
  readonly context: ServiceContext
  /** Makes a signer with the same secret for addresses with this lifetime. */
  readonly signerFor: (lifeSeconds: number) => Signer
}

export function createFaultLayer({ plan, context, signerFor }: FaultLayerOptions): FaultLayer {
  const choice = createFaultChoice(plan)
  const holding = createHolding()
  const current = new AsyncLocalStorage<Strike>()
  const startedAt = context.settings.now()

  const strikeOn = async (request: FastifyRequest): Promise<Strike | undefined> => {
    const subject = await subjectOf(context.db, request)
    if (subject === undefined) return undefined
    const fault = choice.choose(subject, (context.settings.now() - startedAt) / 1000)
    return fault === undefined ? undefined : { fault, subject, request }
  }
  return {
    context: {
      ...context,
      store: faultyStore(context.store, holding, () => current.getStore()),
      signer: {
        ...context.signer,
        sign: (...what) => {
          const lifeMs = current.getStore()?.fault.shortLifeMs
          const signer = lifeMs === undefined ? context.signer : signerFor(Math.ceil(lifeMs / 1000))
          return signer.sign(...what)
        },
      },
    },
    attach(app) {
      app.addHook('preClose', (done) => {
        holding.close()
        done()
      })
      app.addHook('preHandler', (request, reply, done) => {
        const meet = async () => {
          const strike = await strikeOn(request)
          if (strike === undefined) {
            done()
            return
          }
          const { operation, partNumber } = strike.subject
          request.log.info({ operation, partNumber, fault: Object.keys(strike.fault) }, 'a fault strikes')
          // The work, and the answer in any case, find the strike in what has begun here.
          await current.run(strike, async () => {
            if (await isLeftToWork(strike, reply, holding, context.settings.now)) done()
          })
        }
        meet().catch((error: unknown) => {
          if (request.raw.socket.destroyed) reply.hijack()
          else done(error instanceof Error ? error : new Error(String(error)))
        })
      })
      app.addHook('onSend', async (_request, reply, payload) => {
        const strike = current.getStore()
        if (strike !== undefined) await spoilAnswer(strike, reply, holding)
        return payload
      })
    },
  }
}

/** Everything that happens before the work. False when the request has ended here, answered or not. */
async function isLeftToWork(strike: Strike, reply: FastifyReply, holding: Holding, now: () => number) {
  const { fault, subject, request } = strike
  const { socket } = request.raw
  const gone = () => {
    reply.hijack()
    return false
  }
  const { before = 0 } = typeof fault.delayMs === 'object' ? fault.delayMs : { before: fault.delayMs }
  if (before > 0 && !(await holding.hold(socket, before))) return gone()
  // The whole body of a call has arrived by now, so a fault in its middle strikes at the start.
  const isAtStart = (at: string | undefined) => at === 'start' || (at === 'body' && subject.operation !== 'put')
  if (isAtStart(fault.stall?.at) && !(await holding.hold(socket, fault.stall?.forMs))) return gone()
  if (isAtStart(fault.reset?.at)) {
    cut(socket, 'reset')
    return gone()
  }
  if (fault.expire !== undefined) {
    sendAnswer(reply, { body: `${fault.expire}-expired` }, now())
    return false
  }
  if (fault.earlyAnswer !== undefined) {
    if (fault.earlyAnswer.then === 'close') reply.header('connection', 'close')
    sendAnswer(reply, fault.earlyAnswer, now())
    return false
  }
  const isAnswered = fault.status !== undefined || fault.body !== undefined
  if (!isAnswered && fault.reset?.at !== 'answer') return true
  if (subject.operation === 'put') {
    inviteBody(reply.raw)
    await takeBody(strike, holding)
  }
  if (isAnswered) {
    sendAnswer(reply, fault, now())
    return false
  }
  cut(socket, 'reset')
  return gone()
}

/** Reads a body and stores none of it. */
async function takeBody({ fault, request }: Strike, holding: Holding): Promise<void> {
  const { raw } = request
  const body = faultyBody({ body: raw, socket: raw.socket, fault, holding, onTick: () => undefined })
  await finished(body.resume())
}

function sendAnswer(reply: FastifyReply, { status, headers = {}, body = '' }: FaultAnswer, now: number): void {
  if (typeof body === 'string' && isBodyName(body)) {
    const named = namedBody(body, now)
    const type = { 'content-type': named.contentType }
    reply.code(status ?? named.status).headers({ ...type, ...named.headers, ...headers })
    reply.send(named.text)
  } else {
    const type = typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8'
    reply.code(status ?? 500).headers({ 'content-type': type, ...headers })
    reply.send(typeof body === 'string' ? body : JSON.stringify(body))
  }
}

function isBodyName(text: string): text is BodyName {
  return (BODY_NAMES as readonly string[]).includes(text)
}

/** Everything that happens after the work, whatever the answer is. */
async function spoilAnswer({ fault, subject, request }: Strike, reply: FastifyReply, holding: Holding): Promise<void> {
  const { socket } = request.raw
  const after = typeof fault.delayMs === 'object' ? (fault.delayMs.after ?? 0) : 0
  if (after > 0) await holding.hold(socket, after)
  if (fault.stall?.at === 'answer') await holding.hold(socket, fault.stall.forMs)
  const etag = reply.getHeader('etag')
  if (subject.operation === 'put' && typeof etag === 'string') {
    if (fault.etag === 'missing') reply.removeHeader('etag')
    if (fault.etag === 'weak') reply.header('etag', `W/${etag}`)
    if (fault.etag === 'wrong') reply.header('etag', `"${createHash('md5').update(etag).digest('hex')}"`)
  }
  if (fault.loseReply !== undefined) cut(socket, fault.loseReply)
}

/** A store that receives bodies as the fault lets them through, and remembers an opaque ETag as the right one. */
function faultyStore(store: ObjectStore, holding: Holding, strike: () => Strike | undefined): ObjectStore {
  return {
    ...store,
    async receive(body, lengthBytes, onBytes) {
      const met = strike()
      if (met === undefined) return store.receive(body, lengthBytes, onBytes)
      const { fault } = met
      const { socket } = met.request.raw
      const coming = faultyBody({ body, socket, fault, holding, onTick: () => void onBytes?.(0) })
      const stored = await store.receive(coming, lengthBytes, onBytes)
      if (fault.lateDeliveryMs !== undefined) {
        cut(socket, 'reset')
        await holding.pass(fault.lateDeliveryMs, () => void onBytes?.(0))
      }
      return fault.etag === 'opaque' ? { ...stored, md5: `${stored.md5}-1` } : stored
    },
  }
}
