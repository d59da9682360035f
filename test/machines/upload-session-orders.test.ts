import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createActor, fromPromise } from 'xstate'

import type { TransferResult } from '../../src/core/transfer/transfer.ts'
import type { EndStatus, UploadSessionEvent } from '../../src/machines/session-data.ts'
import { uploadSessionMachine } from '../../src/machines/upload-session.ts'
import { settled } from './hand-actors.ts'
import { away } from './session-events.ts'
import { stateName } from './state-name.ts'

const requests = [
  'upload.pause',
  'upload.resume',
  'upload.close',
  'upload.cancel',
  'host.reachable',
  'host.unreachable',
] as const
const works = ['create', 'fail', 'finish', 'attempts end', 'tell', 'settle'] as const
type Command = (typeof requests)[number] | (typeof works)[number]

type SettlingInput = { status: EndStatus }

const isRequest = (command: Command): command is (typeof requests)[number] =>
  (requests as readonly string[]).includes(command)

const eventOf = (type: (typeof requests)[number]): UploadSessionEvent => (type === 'host.unreachable' ? away : { type })

/**
 * A world in which an aborted transfer goes on until its attempts end, as sockets do. Each kind of work waits for its
 * command; `overlaps` takes down whatever must never be.
 */
function startWorld() {
  const overlaps: string[] = []
  const gates = new Map<Command, (() => void)[]>()
  const gate = (command: Command) =>
    new Promise<void>((resolve) => gates.set(command, [...(gates.get(command) ?? []), resolve]))
  let transfersRunning = 0
  let createsRunning = 0
  let lastCreate: AbortSignal | undefined

  const actors = {
    creatingSession: fromPromise<unknown>(async ({ signal }) => {
      createsRunning += 1
      if (createsRunning > 1) overlaps.push('two creates')
      // Only one that was given up while it waited may be asked for again.
      if (lastCreate?.aborted === false) overlaps.push('a second session')
      lastCreate = signal
      const aborted = new Promise<'aborted'>((resolve) =>
        signal.addEventListener('abort', () => resolve('aborted'), { once: true }),
      )
      const end = await Promise.race([gate('create'), aborted])
      createsRunning -= 1
      if (end === 'aborted') throw new Error('Given up while it waited.')
    }),
    transferring: fromPromise<{ confirmedCount: number; failedCount: number }>(async ({ signal }) => {
      transfersRunning += 1
      if (transfersRunning > 1) overlaps.push('two transfers')
      const aborted = new Promise<'aborted'>((resolve) =>
        signal.addEventListener('abort', () => resolve('aborted'), { once: true }),
      )
      const end = await Promise.race([gate('finish'), gate('fail').then(() => 'failed' as const), aborted])
      if (end === 'aborted') await gate('attempts end')
      transfersRunning -= 1
      if (end === 'failed') throw new Error('The service refused the key.')
      return { confirmedCount: 1, failedCount: 0 }
    }),
    draining: fromPromise<TransferResult | undefined, { reason: 'pause' | 'cancel' }>(async () => {
      while (transfersRunning + createsRunning > 0) await settled()
      return undefined
    }),
    cancellingSession: fromPromise<{ isServiceTold: boolean }>(async () => {
      if (transfersRunning > 0) overlaps.push('told the service while a transfer ran')
      await gate('tell')
      return { isServiceTold: true }
    }),
    settling: fromPromise<unknown, SettlingInput>(async () => {
      if (transfersRunning > 0) overlaps.push('settled while a transfer ran')
      await gate('settle')
    }),
  }
  const actor = createActor(uploadSessionMachine.provide({ actors }), {
    input: { place: 'new' },
  }).start()

  const run = (command: Command): void => {
    if (isRequest(command)) {
      // xstate would warn about a request to a session that is over.
      if (actor.getSnapshot().status === 'active') actor.send(eventOf(command))
      return
    }
    const open = gates.get(command) ?? []
    gates.delete(command)
    for (const resolve of open) resolve()
  }
  return { actor, overlaps, run }
}

const isOpen = (state: string) => !['confirmed', 'partial', 'cancelled', 'failed', 'closed', 'settling'].includes(state)

it('in any order of requests and work: one transfer at a time, a cancel holds, a close is undone by a cancel alone, and every session can end', async () => {
  const burst = fc.array(fc.constantFrom<Command>(...requests, ...works), { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(fc.array(burst, { maxLength: 14 }), async (bursts) => {
      const world = startWorld()
      const state = () => stateName(world.actor.getSnapshot().value)
      let [isCancelAsked, isCloseAsked] = [false, false]

      // The commands of a burst come in one tick: no promise is heard between them.
      for (const commands of bursts) {
        for (const command of commands) {
          if (command === 'upload.cancel' && isOpen(state())) isCancelAsked = true
          if (command === 'upload.close' && isOpen(state()) && !isCancelAsked) isCloseAsked = true
          world.run(command)
        }
        await settled()
      }
      for (const command of [
        'create',
        'attempts end',
        'upload.resume',
        'create',
        'finish',
        'tell',
        'settle',
      ] as const) {
        world.run(command)
        await settled()
        await settled()
      }

      expect(world.overlaps).toEqual([])
      expect(world.actor.getSnapshot().status).toBe('done')
      if (isCancelAsked) expect(state()).toBe('cancelled')
      else if (isCloseAsked) expect(state()).toBe('closed')
      else expect(['confirmed', 'failed']).toContain(state())
    }),
  )
})
