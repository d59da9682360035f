// Says that a command waits for a drive before it has begun anything: one that is gone may never answer.

import { systemClock } from '../adapters/web/system-clock.ts'
import type { Clock } from '../core/ports.ts'
import { tellHang } from '../core/time/tell-hang.ts'
import type { Output } from './views/output.ts'

/** Settles as the work does. `what` completes "Looking …". */
export type WaitForDrive = <T>(what: string, work: Promise<T>) => Promise<T>

/** Says of the first work that takes long what it is. The others most likely wait for the same drive. */
export function slowDrive(output: Pick<Output, 'event' | 'complain'>, clock: Clock = systemClock()): WaitForDrive {
  let isTold = false
  return (what, work) =>
    tellHang(clock, work, (isHung) => {
      if (!isHung || isTold) return
      isTold = true
      const message = `Looking ${what} takes long: its drive is slow or does not answer. Nothing has begun yet; Ctrl-C stops.`
      output.event('warning', { message })
      output.complain(`warning: ${message}`)
    })
}
