// The next part that is sent meets a fault.

import type { StorageFault } from '../../simulation/whole/night.ts'
import type { Command } from '../command.ts'
import { isUnderWay } from '../model.ts'

export function failNextPut(fault: StorageFault): Command {
  return {
    check: isUnderWay,
    async run(_, real) {
      real.failNextPut(fault)
    },
    toString: () => `failNextPut('${fault}')`,
  }
}
