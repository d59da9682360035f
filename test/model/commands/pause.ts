// Pauses. No part is confirmed until the resume.

import type { Command } from '../command.ts'
import { isUnderWay } from '../model.ts'

export function pause(): Command {
  return {
    check: isUnderWay,
    async run(model, real) {
      await real.pause()
      model.isPaused = true
      model.isDone = real.report() !== undefined
      model.confirmed = real.confirmed()
      real.agree(model)
    },
    toString: () => 'pause()',
  }
}
