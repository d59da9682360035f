// A store of S3 whose answers a test gives one by one, on a clock that stands still: for what happens while calls wait.

import type { Transport, TransportReply, TransportRequest } from '../../src/core/ports.ts'
import { TransportError } from '../../src/core/errors.ts'
import type { S3CallPorts, S3SignRequest } from '../../src/protocols/s3-sign.ts'
import type { Answer } from '../helpers/scripted-s3.ts'
import { createSimulatedClock } from '../helpers/simulated-clock.ts'

/**
 * `never`: until the call is given up. `no connection`: nobody heard it. `lost`: it was heard, and its answer was not. `unreadable`,
 * `redirected`: somebody answers, with what the platform does not give.
 */
export type Told = Answer | 'never' | 'no connection' | 'lost' | 'unreadable' | 'redirected'

export interface Asked {
  readonly operation: S3SignRequest['operation']
  readonly key: string
  /** How often this was asked of this key, this time included. */
  readonly nth: number
  readonly atMs: number
  readonly request: TransportRequest
}

/** `answerTo`: what a call is told, after `tripMs` on the clock; default 0. */
export function storeOfAnswers(answerTo: (asked: Asked) => Told, tripMs = 0) {
  const clock = createSimulatedClock()
  const asked: Asked[] = []
  const transport: Transport = {
    async send(request) {
      const { url, signal } = request
      const { pathname, searchParams } = new URL(url)
      const [operation, key] = [searchParams.get('do') as Asked['operation'], pathname.slice(1)]
      const nth = 1 + asked.filter((one) => one.operation === operation && one.key === key).length
      const one = { operation, key, nth, atMs: clock.monotonicNow(), request }
      asked.push(one)
      const answer = answerTo(one)
      if (answer === 'never')
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
      if (tripMs > 0) await new Promise<void>((resolve) => void clock.setTimeout(resolve, tripMs))
      if (typeof answer === 'string') throw missing(answer)
      const { status, body = '', headers = {} } = answer
      const reply: TransportReply = { status, headers, body: new TextEncoder().encode(body), isBodyCut: false }
      return reply
    },
    endingOf: () => 'doubtful',
    close: () => Promise.resolve(),
  }
  const ports: S3CallPorts = {
    ...{ transport, clock, random: () => 0.5 },
    sign: ({ operation, key }) => Promise.resolve({ url: `https://bucket.example/${key}?do=${operation}` }),
  }
  return { clock, asked, ports, operations: () => asked.map(({ operation }) => operation) }
}

export function missing(how: Exclude<Told, Answer | 'never'>): TransportError {
  if (how === 'no connection')
    return new TransportError('ERR_UPLOAD_NETWORK', 'No connection', { phase: 'connect', ending: 'neverWhole' })
  const code = how === 'redirected' ? 'ERR_UPLOAD_REDIRECT_REFUSED' : 'ERR_UPLOAD_NETWORK'
  return new TransportError(code, 'Lost', { phase: 'answer', ending: 'doubtful', isUnreadable: how === 'unreadable' })
}
