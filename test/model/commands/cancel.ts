// Gives the upload up, and the service is told; one that was over already stays what it was.

import { expect } from 'vitest'
import type { Command } from '../command.ts'
import { isUnderWay } from '../model.ts'

export function cancel(): Command {
  return {
    check: isUnderWay,
    async run(model, real) {
      const report = await real.cancel()
      expect(report.status === 'cancelled' ? report.isServiceTold : report.status).toBe(
        report.status === 'cancelled' ? true : 'confirmed',
      )
      model.isDone = true
      model.isPaused = false
      real.agree(model)
    },
    toString: () => 'cancel()',
  }
}
