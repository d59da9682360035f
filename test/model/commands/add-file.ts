// Adds a file with a number of parts to the files that will be uploaded.

import type { Command } from '../command.ts'

export function addFile(parts: number): Command {
  return {
    check: ({ isStarted, fileParts }) => !isStarted && fileParts.length < 4,
    async run({ fileParts }) {
      fileParts.push(parts)
    },
    toString: () => `addFile(${parts})`,
  }
}
