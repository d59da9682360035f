// What a host may do, as commands of a model that only knows which uploads it has started. Right after a verb the state
// must already show it.

import type fc from 'fast-check'
import { expect } from 'vitest'

import type { UploadEvents, UploadState } from '../../../src/flows/upload.ts'
import type { ServiceFault, StorageFault } from '../../simulation/whole/night.ts'
import type { ScheduledWorld } from './scheduled-world.ts'

export interface Host {
  readonly started: Set<string>
  callFaults: number
}

export type Verb = 'pause' | 'resume' | 'cancel'
type Command = fc.AsyncCommand<Host, ScheduledWorld>

/** The states that a verb leaves at once. */
const LEFT_BY: Readonly<Record<Verb, readonly UploadState[]>> = {
  pause: ['uploading', 'waiting'],
  resume: ['paused'],
  cancel: ['uploading', 'waiting', 'pausing', 'paused'],
}

function command(
  name: string,
  check: (host: Host) => boolean,
  run: (world: ScheduledWorld, host: Host) => unknown,
): Command {
  return {
    check: (host) => check(host),
    async run(host, world) {
      await run(world, host)
    },
    toString: () => name,
  }
}

export function start(letter: string, fileParts: readonly number[]): Command {
  return command(
    `start ${letter} with ${fileParts.join(', ')} parts`,
    ({ started }) => !started.has(letter),
    (world, { started }) => {
      started.add(letter)
      world.start(letter, fileParts)
    },
  )
}

export function say(letter: string, verb: Verb): Command {
  return command(
    `${verb} ${letter}`,
    ({ started }) => started.has(letter),
    (world) => {
      const { upload } = world.driven.get(letter)!
      const states: UploadState[] = []
      const listener = ({ state }: { readonly state: UploadState }): void => void states.push(state)
      upload.on('state', listener)
      world[verb](letter)
      upload.off('state', listener)
      // A listener that waited for a state may already have asked for the opposite. Then the state was left and is back again.
      const isLeft = [upload.state, ...states].some((state) => !(LEFT_BY[verb] as readonly string[]).includes(state))
      expect(isLeft, `${verb} left ${upload.state}`).toBe(true)
    },
  )
}

/** A listener says the verb, in the middle of the program's own work. */
export function sayAtNext(letter: string, event: keyof UploadEvents, verb: Verb): Command {
  return command(
    `${verb} ${letter} at the next ${event}`,
    ({ started }) => started.has(letter),
    (world) => {
      const { upload } = world.driven.get(letter)!
      const listener = (): void => {
        upload.off(event, listener)
        world[verb](letter)
      }
      upload.on(event, listener)
    },
  )
}

export function throwAtEach(letter: string, event: keyof UploadEvents): Command {
  return command(
    `a listener of ${letter} throws at each ${event}`,
    ({ started }) => started.has(letter),
    (world) =>
      world.driven.get(letter)!.upload.on(event, () => {
        throw new Error('a mistake of the host')
      }),
  )
}

/** Asks again for the outcome, the list of sessions and the receipt. */
export function ask(letter: string): Command {
  return command(
    `ask for ${letter}`,
    ({ started }) => started.has(letter),
    (world) => world.ask(letter),
  )
}

export function failNextPut(fault: StorageFault): Command {
  return command(
    `fail a PUT: ${fault}`,
    () => true,
    (world) => world.failNextPut(fault),
  )
}

/** At most two faults in all, because a service that fails three times in a row is given up by rule. */
export function failNextCall(fault: ServiceFault): Command {
  return command(
    `fail a call: ${fault}`,
    ({ callFaults }) => callFaults < 2,
    (world, host) => {
      host.callFaults += 1
      world.failNextCall(fault)
    },
  )
}

export function passTime(ms: number): Command {
  return command(
    `${String(ms)} ms pass`,
    () => true,
    (world) => world.clock.advance(ms),
  )
}

export function sleep(ms: number): Command {
  return command(
    `the machine sleeps ${String(ms)} ms`,
    () => true,
    (world) => world.sleep(ms),
  )
}
