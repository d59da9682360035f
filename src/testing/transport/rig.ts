// What each test of a transport has: a transport of its own, and far ends that are closed behind it.

import { afterEach, beforeEach } from 'vitest'
import type { Transport, TransportReply, TransportRequest } from '../../core/ports.ts'
import { refusingAddress, type RefusingAddress } from '../refusing-address.ts'
import { scriptedServer, type ScriptedServer } from '../scripted-server.ts'
import { requestTo } from './requests.ts'

/** How a platform's transport differs. */
export interface TransportTraits {
  /** The far end sees a TCP reset when an attempt ends, and the ending is known exactly; else every abort is doubtful. */
  readonly hasReset: boolean
  /** `onSent` comes while the body goes out; else once, with the answer. */
  readonly isProgressLive: boolean
  /** The platform does not say why there is no answer, not even that nobody was there, and forgives bad header lines. */
  readonly isBrowser?: boolean
  /** The platform follows a redirect unseen, and it is found out only by the address that answered. */
  readonly followsRedirects?: boolean
  /** An answer whose connection broke off right behind its head is no answer there. */
  readonly losesBrokenAnswers?: boolean
  /** The platform gives the connection up at a 100 that nobody asked for, as Node's own fetch does. */
  readonly refusesContinue?: boolean
}

export interface TransportRig {
  readonly traits: TransportTraits
  /** That of the test which runs. */
  readonly transport: Transport
  serve(script: Parameters<typeof scriptedServer>[0]): Promise<ScriptedServer>
  refuse(): Promise<RefusingAddress>
  /** Sends what `requestTo` makes. */
  send(server: ScriptedServer, request?: Partial<TransportRequest>): Promise<TransportReply>
}

/** Makes and closes what a test uses, before and after each test of the group that calls this. */
export function transportRig(create: () => Transport, traits: TransportTraits): TransportRig {
  let transport: Transport
  const farEnds: { close(): Promise<void> }[] = []
  const kept = <T extends { close(): Promise<void> }>(farEnd: T): T => {
    farEnds.push(farEnd)
    return farEnd
  }

  beforeEach(() => {
    transport = create()
  })
  afterEach(async () => {
    await transport.close()
    await Promise.all(farEnds.splice(0).map((farEnd) => farEnd.close()))
  })

  return {
    traits,
    get transport() {
      return transport
    },
    serve: async (script) => kept(await scriptedServer(script)),
    refuse: async () => kept(await refusingAddress()),
    send: (server, request = {}) => transport.send(requestTo(server, request)),
  }
}
