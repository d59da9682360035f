// A call of the protocol, which the host may have written: its waits are told, and it is left where it does not end.

import { onAbort } from '../core/on-abort.ts'
import type { Clock, OnWaiting } from '../core/ports.ts'
import { createTimeLimit } from '../core/time/time-limit.ts'
import type { TransferEvent } from '../core/transfer/transfer-job.ts'
import { unlessAborted } from '../core/unless-aborted.ts'

/** How long it may neither end nor tell that it waits, ms. */
const SILENT_MS = 3_600_000
/** How long it may take to end when its signal has fired, ms. */
const ENDING_MS = 30_000
const SILENT = 'The protocol gave no answer for 1 h.'

/**
 * Makes the call, unless the signal has fired already, and tells with its end that its waits are over. Rejects with
 * ERR_UPLOAD_TIMEOUT when it is left: its answer is lost then.
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
    // Whoever was told to end gets no more time by waiting.
    if (!signal.aborted) giveTime()
    // Last, since what the host tells may have fields of these names.
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
