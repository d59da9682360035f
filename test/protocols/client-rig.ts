// A client of the service whose requests a test answers one by one, for tests of the protocols that speak to it.

import { createServiceClient } from '../../src/client/service-client.ts'
import { hastyClock } from '../../src/testing/hasty-clock.ts'
import { createScriptedTransport, type ScriptedReply } from '../helpers/scripted-transport.ts'

export function startClientRig() {
  const transport = createScriptedTransport()
  const client = createServiceClient({
    ...{ transport, clock: hastyClock(), random: () => 0 },
    ...{ baseUrl: 'https://api.example', credentials: { apiKey: 'key-1' } },
  })
  /** Answers the next request; gives what it said: method, path and JSON. */
  const answer = async (reply: ScriptedReply) => {
    const request = await transport.next()
    const body = request.request.body === undefined ? undefined : await request.bodyJson()
    request.reply(reply)
    return { method: request.method, path: new URL(request.url).pathname, body }
  }
  return { transport, client, answer }
}

export const NEVER = new AbortController().signal

/** What a promise was rejected with. */
export async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error('It was not rejected.')
    },
    (error: unknown) => error,
  )
}
