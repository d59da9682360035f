// Gives the upload up, and the service is told; one that was over already stays what it was.

import { expect } from 'vitest'
import type { Command } from '../command.ts'
import { isUnderWay } from '../model.ts'

export function cancel(): Command {
  return {
    check: isUnderWay,
    async run(model, real) {
      const report = await real.cancel()
      // One that is given up before its session was asked for has nobody to tell.
      if (report.status === 'cancelled') expect(report.isServiceTold).toBe(report.sessionId !== undefined)
      else expect(report.status).toBe('confirmed')
      model.isDone = true
      model.isPaused = false
      real.agree(model)
    },
    toString: () => 'cancel()',
  }
}
