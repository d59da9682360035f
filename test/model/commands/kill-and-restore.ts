// Kills the process, and another one resumes the session from the journal. What was confirmed still is.

import { expect } from 'vitest'
import type { Command } from '../command.ts'
import { isUnderWay } from '../model.ts'

export function killAndRestore(): Command {
  return {
    check: isUnderWay,
    async run(model, real) {
      const before = real.confirmed()
      await real.killAndRestore()
      model.isPaused = false
      model.isDone = real.report() !== undefined
      expect([...real.confirmed()]).toEqual(expect.arrayContaining([...before]))
      real.agree(model)
    },
    toString: () => 'killAndRestore()',
  }
}
