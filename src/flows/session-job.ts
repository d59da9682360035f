// The bridge from one session to the engine: how its files get their addresses, how they are confirmed, and what happens when
// addresses die.

import type { Hasher } from '../core/ports.ts'
import type { TransferJob } from '../core/transfer/transfer-job.ts'
import { createConfirmation } from './confirmation.ts'
import { endLeftSessions } from './end-sessions.ts'
import type { SourceProof } from './prove-sources.ts'
import { createRegistration } from './registration.ts'
import { createRenewal, type RenewalOptions } from './renewal.ts'

export interface SessionJobOptions extends RenewalOptions {
  readonly source: TransferJob['source']
  /** See SourceProof. */
  readonly readAgain?: SourceProof['readAgain'] | undefined
  /** Present where all of each file is read again. */
  readonly contentHasher?: Hasher | undefined
}

/** How many files may be finished at once when that takes only a record: they share the cost of writing it. */
const RECORDS_AT_ONCE = 64

export function createSessionJob(session: SessionJobOptions): TransferJob {
  const { record, protocol, source, report, readAgain, contentHasher } = session
  const registration = createRegistration(session)
  return {
    ledger: record.ledger(),
    protocol,
    source,
    record: record.write,
    report,
    ...(protocol.confirm || contentHasher ? {} : { finishesAtOnce: RECORDS_AT_ONCE }),
    replenish: registration.next,
    finish: createConfirmation(session, readAgain),
    renew: createRenewal(session, registration.again),
    // Whether the service is told now or later makes no difference to the files, because the sessions ended here are empty.
    async moved() {
      await endLeftSessions(session)
    },
  }
}
