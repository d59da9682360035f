// What every Transport promises, judged by a real server on a socket. Where platforms differ a trait says how.

import { describe } from 'vitest'
import type { Transport } from '../core/ports.ts'
import { describeAborting } from './transport/aborting.ts'
import { describeComingBack } from './transport/coming-back.ts'
import { describeGoingOut } from './transport/going-out.ts'
import { transportRig, type TransportTraits } from './transport/rig.ts'
import { describeTelling } from './transport/telling.ts'
import { describeWithoutAnswer } from './transport/without-answer.ts'

export type { TransportTraits } from './transport/rig.ts'

/**
 * Declares the tests of a transport. `create` makes one for each test, which closes it; `traits` say what its platform cannot do.
 * Checked: what goes out byte for byte, what is told of it, answers whole, cut and broken, aborts, and what errors say and hide.
 * Far ends are sockets on 127.0.0.1 without TLS, bodies up to 32 MiB. Proxies, certificates, `roundTrip` and
 * `isFreshConnection` are not looked at.
 */
export function transportContract(label: string, create: () => Transport, traits: TransportTraits): void {
  describe(`${label}: the contract of a transport`, () => {
    const rig = transportRig(create, traits)

    describeGoingOut(rig)
    describeTelling(rig)
    describeComingBack(rig)
    describeAborting(rig)
    describeWithoutAnswer(rig)
  })
}
