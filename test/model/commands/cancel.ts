// Cancels the upload, of which the service is told. An upload that was already over keeps its outcome.

import { expect } from 'vitest'
import type { Command } from '../command.ts'
import { isUnderWay } from '../model.ts'

export function cancel(): Command {
  return {
    check: isUnderWay,
    async run(model, real) {
      const report = await real.cancel()
      // If it is cancelled before a session was asked for, there is nobody to tell.
      if (report.status === 'cancelled') expect(report.isServiceTold).toBe(report.sessionId !== undefined)
      else expect(report.status).toBe('confirmed')
      model.isDone = true
      model.isPaused = false
      real.agree(model)
    },
    toString: () => 'cancel()',
  }
}
