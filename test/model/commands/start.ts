// Starts the upload of the files that were added.

import type { Command } from '../command.ts'

export function start(): Command {
  return {
    check: ({ isStarted, fileParts }) => !isStarted && fileParts.length > 0,
    async run(model, real) {
      await real.start(model.fileParts)
      model.isStarted = true
      real.agree(model)
    },
    toString: () => 'start()',
  }
}
