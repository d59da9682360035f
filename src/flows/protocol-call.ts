// A call of the protocol, which the host may have written. Its waits are reported, and a call that never ends is abandoned.

import { onAbort } from '../core/on-abort.ts'
import type { Clock, OnWaiting } from '../core/ports.ts'
import { createTimeLimit } from '../core/time/time-limit.ts'
import type { TransferEvent } from '../core/transfer/transfer-job.ts'
import { unlessAborted } from '../core/unless-aborted.ts'

/** How long a call may neither end nor report that it waits, ms. */
const SILENT_MS = 3_600_000
/** How long a call may take to end once its signal has fired, ms. */
const ENDING_MS = 30_000
const SILENT = 'The protocol gave no answer for 1 h.'

/**
 * Makes the call, unless the signal has fired already, and reports at its end that its waits are over. Rejects with
 * ERR_UPLOAD_TIMEOUT when the call is abandoned; its answer is lost then.
 */
export async function callProtocol<T>(
  { clock, report }: { readonly clock: Clock; readonly report: (event: TransferEvent) => void },
  signal: AbortSignal,
  call: (onWaiting: OnWaiting) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  const limit = createTimeLimit(clock, SILENT_MS, SILENT)
  const giveTime = (): void => limit.restart(signal.aborted ? ENDING_MS : SILENT_MS)
  let isOver = false
  const onWaiting: OnWaiting = (wait) => {
    if (isOver) return
    // A call that was told to end gets no more time by reporting a wait.
    if (!signal.aborted) giveTime()
    // These fields come last, since what the host reports may have fields of the same names.
    report(wait ? { ...wait, type: 'unreachable', call } : { type: wait === null ? 'reachable' : 'tried', call })
  }
  const leave = onAbort(signal, giveTime)
  try {
    return await unlessAborted(call(onWaiting), limit.signal)
  } finally {
    isOver = true
    limit.end()
    leave()
    report({ type: 'reachable', call })
  }
}
