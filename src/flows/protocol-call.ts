// A call of the protocol, which the host may have written: its waits are told, and it is left where it does not end.

import type { Clock, OnWaiting } from '../core/ports.ts'
import { createTimeLimit, type TimeLimit } from '../core/time/time-limit.ts'
import type { TransferEvent } from '../core/transfer/transfer-job.ts'
import { unlessAborted } from '../core/unless-aborted.ts'

/** How long it may neither end nor tell that it waits, ms. */
const SILENT_MS = 3_600_000
/** How long it may take to end when its signal has fired, ms. */
const ENDING_MS = 30_000
const SILENT =
  'The protocol gave no answer for 1 h and did not say that it waits. See whether its service answers, then resume.'

/**
 * Makes the call, and tells with its end that its waits are over. Rejects with ERR_UPLOAD_TIMEOUT, or with the signal's reason where
 * that has fired, when it is left: its answer is lost then.
 */
export async function callProtocol<T>(
  { clock, report }: { readonly clock: Clock; readonly report: (event: TransferEvent) => void },
  signal: AbortSignal,
  call: (onWaiting: OnWaiting) => Promise<T>,
): Promise<T> {
  const leaving = new AbortController()
  let limit: TimeLimit | undefined
  const giveTime = (): void => {
    limit?.end()
    const { signal: late } = (limit = createTimeLimit(clock, signal.aborted ? ENDING_MS : SILENT_MS, SILENT))
    late.onabort = () => leaving.abort(signal.aborted ? signal.reason : late.reason)
  }
  giveTime()
  signal.addEventListener('abort', giveTime)
  try {
    const called = call((wait) => {
      // Whoever was told to end gets no more time by waiting.
      if (!signal.aborted) giveTime()
      report(wait ? { ...wait, type: 'unreachable', call } : { type: 'tried', call })
    })
    return await unlessAborted(called, leaving.signal)
  } finally {
    limit?.end()
    signal.removeEventListener('abort', giveTime)
    report({ type: 'reachable', call })
  }
}
