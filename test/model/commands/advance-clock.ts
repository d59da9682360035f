// Lets time pass. While paused, nothing is confirmed and nothing ends. Otherwise an upload that ends is confirmed completely.

import { expect } from 'vitest'
import type { Command } from '../command.ts'
import { isUnderWay } from '../model.ts'

export function advanceClock(ms: number): Command {
  return {
    check: isUnderWay,
    async run(model, real) {
      await real.advance(ms)
      const report = real.report()
      model.isDone = report !== undefined
      if (model.isPaused) {
        expect(model.isDone).toBe(false)
        expect(real.confirmed()).toEqual(model.confirmed)
      } else if (report !== undefined) {
        expect(report.status).toBe('confirmed')
        expect(real.confirmed().size).toBe(model.fileParts.reduce((sum, parts) => sum + parts, 0))
      }
      real.agree(model)
    },
    toString: () => `advanceClock(${ms})`,
  }
}
