// The journal of a command that opens many sessions, one after another.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turnEnds } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it, onTestFinished } from 'vitest'

import { keptSessions, type KeptSessions } from '../../src/cli/kept-sessions.ts'
import type { Interruption } from '../../src/cli/signals.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

function keptIn(stateDir: string): KeptSessions {
  return keptSessions({ stateDir }, { env: {}, interruption: {} as Interruption })
}

it('lets go of a session that was closed, with its records, and closes those that are still open', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-kept-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const kept = keptIn(folder)
  const records = await (async () => {
    const session = await kept.journal.open('over')
    await session.close()
    return new WeakRef(session.records)
  })()
  await kept.journal.open('left')
  expect(await kept.isInUse('left')).toBe(true)

  await turnEnds()
  collect()
  expect(records.deref()).toBeUndefined()
  await kept.close()
  expect(await kept.isInUse('left')).toBe(false)
})
