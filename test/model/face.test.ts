// Tests the public interface against a model. Whatever a host does, in whatever order, the upload is in the state that
// the model expects, and in the end everything is confirmed unless it was cancelled.

import fc from 'fast-check'
import { expect, it } from 'vitest'

import { fewOrMany } from '../helpers/long-run.ts'
import type { StorageFault } from '../simulation/whole/night.ts'
import { addFile } from './commands/add-file.ts'
import { advanceClock } from './commands/advance-clock.ts'
import { cancel } from './commands/cancel.ts'
import { expireAddresses } from './commands/expire-addresses.ts'
import { failNextPut } from './commands/fail-next-put.ts'
import { killAndRestore } from './commands/kill-and-restore.ts'
import { pause } from './commands/pause.ts'
import { resume } from './commands/resume.ts'
import { start } from './commands/start.ts'
import { isUnderWay, newModel } from './model.ts'
import { realUpload } from './real-upload.ts'

const FAULTS: readonly StorageFault[] = [
  'connect',
  'reset',
  'lostReply',
  'silentAnswer',
  'status500',
  'damaged',
  'noEtag',
]

const commands = fc.commands(
  [
    fc.integer({ min: 1, max: 6 }).map(addFile),
    fc.constant(start()),
    fc.constant(pause()),
    fc.constant(resume()),
    fc.constant(killAndRestore()),
    fc.constantFrom(...FAULTS).map(failNextPut),
    fc.constant(expireAddresses()),
    fc.integer({ min: 1, max: 4_000 }).map(advanceClock),
    fc.integer({ min: 0, max: 9 }).map((dice) => (dice === 0 ? cancel() : advanceClock(dice * 10))),
  ],
  { size: 'large', maxCommands: 40 },
)

it('does what a host asks, in any order of asking', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), commands, async (seed, asked) => {
      const [model, real] = [newModel(), realUpload(seed)]
      await fc.asyncModelRun(() => ({ model, real }), [addFile(2), start(), ...asked])
      if (!isUnderWay(model)) return

      await fc.asyncModelRun(() => ({ model, real }), [resume(), advanceClock(4 * 3_600_000)])

      expect(model.isDone).toBe(true)
    }),
    { numRuns: fewOrMany(100, 1_000) },
  )
})
