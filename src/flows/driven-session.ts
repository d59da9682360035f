// What every step of one session works with.

import type { AddressRules } from '../core/address/address-policy.ts'
import type { Clock, Protocol } from '../core/ports.ts'
import type { TransferEvent } from '../core/transfer/transfer-job.ts'
import type { SessionRecord } from './session-record.ts'

/** One session while it is driven, with the rules for its addresses. */
export interface DrivenSession extends AddressRules {
  readonly record: SessionRecord
  readonly protocol: Protocol
  readonly clock: Clock
  /** Hears whom the session waits for, and what becomes of its files. */
  readonly report: (event: TransferEvent) => void
}
