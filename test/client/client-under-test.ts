// A client with a scripted transport, a simulated clock and dice that always fall the same way.

import { createSimulatedClock } from '../helpers/simulated-clock.ts'
import { createScriptedTransport } from '../helpers/scripted-transport.ts'
import type { ScriptedReply } from '../helpers/scripted-transport.ts'
import { explaining } from '../../src/adapters/node/http/explain-failure.ts'
import { createServiceClient } from '../../src/client/service-client.ts'
import type { ServiceClient } from '../../src/client/operations.ts'
import type { ServiceClientOptions } from '../../src/client/service-client.ts'

export function clientUnderTest(options: Partial<ServiceClientOptions> = {}) {
  const transport = createScriptedTransport()
  const clock = createSimulatedClock()
  const client = createServiceClient({
    baseUrl: 'https://service.example',
    credentials: { apiKey: 'key-0123456789abcdef' },
    transport,
    clock,
    random: () => 0.5,
    explain: explaining(() => ({})),
    ...options,
  })
  return { client, transport, clock }
}

export type ClientUnderTest = ReturnType<typeof clientUnderTest>

/** Makes the host one that has answered before, so that it counts as away and not as misspelt. */
export async function makeHostKnown({ client, transport }: ClientUnderTest): Promise<void> {
  const list = client.requestedAnalyses.list()
  const request = await transport.next()
  request.reply({ status: 200, body: [] })
  await list
}

/** The next request is answered with this. */
export async function answerNext({ transport }: ClientUnderTest, reply: ScriptedReply): Promise<void> {
  const request = await transport.next()
  request.reply(reply)
}

/** The error that a promise rejects with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => {
      throw new Error(`It resolved to ${JSON.stringify(value)}.`)
    },
    (error: unknown) => error,
  )
}

export const aMocapSession = { orgId: 'org-1', mocapTypeId: 2, sessionDate: '2026-11-20', sessionTypeId: 1 } as const

export const anAnalysis = { name: 'Fastballs', primaryAnalysisSegmentId: 4711 } as const

export type { ServiceClient }
