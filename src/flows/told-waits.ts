// While a call of the protocol waits for its answer, the upload tells so as it does while the storage is out of reach.

import type { OnWaiting } from '../core/ports.ts'
import type { TransferEvent } from '../core/transfer/transfer-job.ts'

/** Makes the call, and says with its end that the wait is over, if there was one. */
export async function toldWaits<T>(
  report: (event: TransferEvent) => void,
  call: (onWaiting: OnWaiting) => Promise<T>,
): Promise<T> {
  try {
    return await call((wait) => report(wait ? { ...wait, type: 'unreachable', call } : { type: 'tried' }))
  } finally {
    report({ type: 'reachable', call })
  }
}
