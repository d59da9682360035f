// The storage refuses all addresses from now on. A new session takes over the unfinished files.

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
