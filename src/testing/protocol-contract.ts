// What every Protocol promises, through the real engine and against its own far end. A protocol's test calls this with a
// way to start that far end.

import { describe } from 'vitest'
import { describeCalling } from './protocol/calling.ts'
import { describeDelivering } from './protocol/delivering.ts'
import { protocolRig, type ProtocolSubject } from './protocol/rig.ts'
import { describeSpeaking } from './protocol/speaking.ts'

export type { ProtocolSubject } from './protocol/rig.ts'

/**
 * Declares the tests of a protocol. `start` starts one with its far end, which must be a real or an independent one: what is stored is
 * compared with what was sent. Checked, through the engine and over a line that loses requests and answers: four files, one of
 * them empty, arrive whole; no unit carries a credential; registering, confirming and cancelling can be repeated; calls end with their
 * signal; every answer is judged. Waits between attempts are a hundredth of the longest that the engine makes. Addresses that
 * expire, and answers that the far end itself gives under load, are not looked at.
 */
export function protocolContract(label: string, start: () => Promise<ProtocolSubject>): void {
  describe(`${label}: the contract of a protocol`, () => {
    const rig = protocolRig(start)

    describeSpeaking(rig)
    describeDelivering(rig)
    describeCalling(rig)
  })
}
