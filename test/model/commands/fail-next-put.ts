// The next part that is sent meets this fault.

import type { StorageFault } from '../../simulation/whole/night.ts'
import { isUnderWay, type Command } from '../model.ts'

export function failNextPut(fault: StorageFault): Command {
  return {
    check: isUnderWay,
    async run(_, real) {
      real.failNextPut(fault)
    },
    toString: () => `failNextPut('${fault}')`,
  }
}
