// What an ended attempt held is free for the next quick collection. It was not, for two reasons. V8's Sets and Maps renew their
// table as members come and go, and the old table points to the new one: one old table that had survived two quick collections
// kept all younger ones and whatever was in them until the next full collection. And undici's request of a stream assigns a
// function to a property of its own, which V8 allocates in the old generation while that code is not optimised yet.

import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { undiciTransport } from '../../../../src/adapters/node/http/undici-transport.ts'
import { createSpareControllers } from '../../../../src/adapters/node/http/spare-controllers.ts'
import { createEngine } from '../../../../src/core/adaptive-engine.ts'
import { answering, httpAnswer } from '../../../../src/testing/scripted-server.ts'
import { bodyOf, pattern, requestTo } from '../../../../src/testing/transport/requests.ts'
import { createWorld } from '../../../simulation/world.ts'
import type { WatchedSource } from '../../../simulation/watched-source.ts'
import { open, serve, closeAfterEach } from './undici-rig.ts'

closeAfterEach()

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as (options: { type: 'minor' | 'major' }) => void

const FILES = 500
const BALLAST_BYTES = 32_000

function oldSpaceBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')?.space_used_size ?? NaN
}

const ballast = (): number[] => new Array<number>(BALLAST_BYTES / 8).fill(0.5)

/** A source whose open reader holds this many bytes of the heap. */
function ballasted(source: WatchedSource): WatchedSource {
  return {
    ...source,
    async open(planned) {
      return { ...(await source.open(planned)), ballast: ballast() }
    },
  }
}

/** Sends small files, and returns by how many bytes for each of them the old part of the heap has grown. */
async function keptOfEach(files: number): Promise<number> {
  const world = createWorld()
  let sends = 0
  let before = 0
  const engine = createEngine({
    ...{ clock: world.clock, random: () => 0.5, concurrency: 16 },
    transport: {
      ...world.store,
      controllers: createSpareControllers(),
      send(request) {
        // Often at first, so that tables grow old; then seldom, so that no attempt is under way in two collections.
        sends += 1
        if (sends < 100 || sends % 80 === 0) collect({ type: 'minor' })
        if (sends === 100) before = oldSpaceBytes()
        return world.store.send(request)
      },
    },
  })
  const job = world.job({ sources: world.sources(new Array<number>(files).fill(1_000)).map(ballasted) })
  collect({ type: 'major' })
  const { confirmedCount } = await world.until(engine.run(job, new AbortController().signal))
  expect(confirmedCount).toBe(files)
  return (oldSpaceBytes() - before) / (files - 100)
}

it('keeps nothing of one attempt for the next', async () => {
  // Code that runs for the first time takes memory as well.
  await keptOfEach(FILES)
  expect(await keptOfEach(FILES)).toBeLessThan(BALLAST_BYTES / 4)
})

it('keeps nothing of a body that was sent in pieces', async () => {
  setFlagsFromString('--no-opt')
  const server = await serve(answering(() => httpAnswer(200)))
  const transport = undiciTransport()
  open.unshift(transport)
  const body = pattern(100)
  const send = async (requests: number): Promise<void> => {
    for (let sent = 0; sent < requests; sent += 1) {
      const held = ballast()
      const onSent = (bytes: number): number => held.push(bytes)
      await transport.send(requestTo(server, { body: bodyOf('windows', body), onSent }))
      if (sent % 10 === 0) collect({ type: 'minor' })
    }
  }

  await send(100)
  const before = oldSpaceBytes()
  await send(FILES)

  expect((oldSpaceBytes() - before) / FILES).toBeLessThan(BALLAST_BYTES / 4)
})
