// Addresses for files whose turn comes: when there is more to ask for, and when that is over.

import { expect, it } from 'vitest'
import { createFeeder } from '../../../src/core/transfer/feeder.ts'
import { testProtocol } from '../../simulation/test-protocol.ts'
import { createWorld } from '../../simulation/world.ts'

it('is done when every file has been asked for and answered, and not before', async () => {
  const world = createWorld()
  const protocol = testProtocol({ addressing: 'batches', batchSize: 2 })
  const job = world.job({ sources: world.sources([1, 1, 1]), protocol })
  const told: string[] = []
  const feeder = createFeeder(job, ({ plan }) => void told.push(plan.name))
  const { signal } = new AbortController()

  expect([feeder.isHungry(), feeder.isDone()]).toEqual([true, false])
  const asked = feeder.feed(signal)
  expect([feeder.isHungry(), feeder.isDone(), told.length]).toEqual([false, false, 0])
  await asked
  expect([feeder.isHungry(), feeder.isDone(), told.length]).toEqual([true, false, 2])
  await feeder.feed(signal)
  expect([feeder.isHungry(), feeder.isDone(), told.length]).toEqual([false, true, 3])
})

it('is done from the beginning where all addresses come with the session', () => {
  const world = createWorld()
  const feeder = createFeeder(world.job({ sources: world.sources([1]) }), () => undefined)

  expect([feeder.isHungry(), feeder.isDone()]).toEqual([false, true])
})
