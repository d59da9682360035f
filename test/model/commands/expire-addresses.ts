// The storage takes none of the addresses any more: a new session takes the unfinished files.

import type { Command } from '../command.ts'
import { isUnderWay } from '../model.ts'

export function expireAddresses(): Command {
  return {
    check: isUnderWay,
    async run(_, real) {
      real.expireAddresses()
    },
    toString: () => 'expireAddresses()',
  }
}
