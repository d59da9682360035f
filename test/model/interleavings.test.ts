// Tests the public interface under the orders of events that fast-check's scheduler chooses. Replies, reads, hashes,
// journal writes, late arrivals and the host's verbs take turns as it decides, which searches for races at every await.

import fc from 'fast-check'
import { it } from 'vitest'

import { fewOrMany } from '../helpers/long-run.ts'
import { scheduledWorld } from './interleavings/scheduled-world.ts'
import {
  ask,
  failNextCall,
  failNextPut,
  passTime,
  say,
  sayAtNext,
  sleep,
  start,
  throwAtEach,
  type Host,
} from './interleavings/verbs.ts'

const letter = fc.constantFrom('a', 'b')
const verb = fc.constantFrom('pause', 'pause', 'resume', 'resume', 'cancel')
const event = fc.constantFrom('state', 'file', 'progress', 'retry', 'warning')
const parts = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 2 })
const commands = fc.commands(
  [
    parts.map((fileParts) => start('b', fileParts)),
    fc.tuple(letter, verb).map(([of, word]) => say(of, word)),
    fc.tuple(letter, verb).map(([of, word]) => say(of, word)),
    fc.tuple(letter, event, verb).map(([of, at, word]) => sayAtNext(of, at, word)),
    fc.tuple(letter, event).map(([of, at]) => throwAtEach(of, at)),
    letter.map(ask),
    fc.constantFrom('connect', 'reset', 'lostReply', 'status500', 'damaged', 'noEtag', 'twice').map(failNextPut),
    fc.constantFrom('connect', 'lostReply', 'lostRequest', 'status500').map(failNextCall),
    fc.integer({ min: 1, max: 3_000 }).map(passTime),
    fc.integer({ min: 6_000, max: 60_000 }).map(sleep),
  ],
  { size: 'large', maxCommands: 20 },
)

const ORDERS = fewOrMany(100, 1_000)
/**
 * A hundred orders take ten seconds on an otherwise idle machine. A slow one stops after this time, but not before it has
 * tried `LEAST_ORDERS`; the test's own limit fails a machine that is slower still.
 */
const LONG_MS = fewOrMany(60_000, 240_000)
const LEAST_ORDERS = 50

it('keeps every promise, however replies, reads, writes and verbs are interleaved', async () => {
  const beganAtMs = performance.now()
  let tried = 0
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), parts, commands, async (scheduler, fileParts, asked) => {
      if (tried >= LEAST_ORDERS && performance.now() - beganAtMs > LONG_MS) return
      tried += 1
      const host: Host = { started: new Set(), callFaults: 0 }
      const world = scheduledWorld(scheduler)

      await fc.scheduledModelRun(scheduler, () => ({ model: host, real: world }), [start('a', fileParts), ...asked])
      await world.finish()
    }),
    { numRuns: ORDERS },
  )
  if (tried < ORDERS)
    console.warn(`NOT TRIED: on this machine ${tried} of ${ORDERS} orders fit in ${LONG_MS / 1_000} s.`)
})
