// Resumes after a pause, or is called although nothing was paused.

import type { Command } from '../command.ts'
import { isUnderWay } from '../model.ts'

export function resume(): Command {
  return {
    check: isUnderWay,
    async run(model, real) {
      await real.resume()
      model.isPaused = false
      model.isDone = real.report() !== undefined
      real.agree(model)
    },
    toString: () => 'resume()',
  }
}
