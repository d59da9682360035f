// The page's end of the transport proxy: sends what the test's end asks for and reports the outcome. Aborts and the
// body's windows stay real: the page has a signal of its own, and pulls the windows one by one.

import type { AttemptEnding } from '../../../src/core/errors.ts'
import type { Body, Transport, TransportRequest } from '../../../src/core/ports.ts'
import { fromBase64, toBase64 } from './bytes-as-text.ts'
import { errorToJson, type ErrorJson } from './errors-as-json.ts'

export interface RequestJson {
  readonly id: string
  readonly transport: string
  readonly kind: string
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: { readonly kind: Body['kind']; readonly lengthBytes: number; readonly text?: string; type?: string }
  readonly maxReplyBytes?: number
  readonly isAborted: boolean
}

export type Outcome = { readonly ending: AttemptEnding } & (
  | {
      readonly reply: {
        readonly status: number
        readonly headers: readonly (readonly [string, string])[]
        readonly hasPrototype: boolean
        readonly body: string
        readonly isBodyCut: boolean
      }
    }
  /** It rejected with the signal's own reason, or with the error of the windows. */
  | { readonly own: 'reason' | 'source' }
  | { readonly error: ErrorJson }
)

/** Implemented by the test. */
declare global {
  var rigSent: (id: string, sentBytes: number) => Promise<void>
}

export function serveTransport(makers: Readonly<Record<string, () => Transport>>) {
  const transports = new Map<string, Transport>()
  const controllers = new Map<string, AbortController>()
  const transportOf = (name: string, kind: string): Transport => {
    const transport = transports.get(name) ?? makers[kind]?.()
    if (transport === undefined) throw new Error(`No transport is called ${kind}.`)
    transports.set(name, transport)
    return transport
  }
  return {
    async sendRequest(json: RequestJson): Promise<Outcome> {
      const transport = transportOf(json.transport, json.kind)
      const controller = new AbortController()
      controllers.set(json.id, controller)
      const reason = { theReasonOf: json.id }
      const problem = new Error('the windows failed')
      if (json.isAborted) controller.abort(reason)
      controller.signal.addEventListener('abort', () => undefined)
      const told: Promise<void>[] = []
      const body = bodyOf(json, problem)
      const request: TransportRequest = {
        ...{ method: json.method, url: json.url, headers: json.headers, signal: controller.signal },
        ...(body === undefined ? {} : { body }),
        ...(json.maxReplyBytes === undefined ? {} : { maxReplyBytes: json.maxReplyBytes }),
        onSent: (sentBytes) => void told.push(rigSent(json.id, sentBytes)),
      }
      try {
        const { status, headers, body: bytes, isBodyCut } = await transport.send(request)
        await Promise.all(told)
        const hasPrototype = Object.getPrototypeOf(headers) !== null
        const reply = { status, headers: Object.entries(headers), hasPrototype, body: toBase64(bytes), isBodyCut }
        return { ending: transport.endingOf(request), reply }
      } catch (error) {
        await Promise.all(told)
        const ending = transport.endingOf(request)
        if (controller.signal.aborted && error === controller.signal.reason) return { ending, own: 'reason' }
        if (error === problem) return { ending, own: 'source' }
        return { ending, error: errorToJson(error) }
      } finally {
        controllers.delete(json.id)
      }
    },
    abortRequest(id: string): void {
      controllers.get(id)?.abort({ theReasonOf: id })
    },
    isTransportProgressLive: (name: string, kind: string) => transportOf(name, kind).isProgressLive,
    async closeTransport(name: string, kind: string): Promise<void> {
      await transportOf(name, kind).close()
    },
  }
}

function bodyOf({ id, body }: RequestJson, problem: Error): Body | undefined {
  if (body === undefined) return undefined
  const { kind, lengthBytes, text = '', type = '' } = body
  if (kind === 'bytes') return { kind, bytes: fromBase64(text) }
  if (kind === 'blob') return { kind, lengthBytes, blob: new Blob([fromBase64(text)], { type }) }
  return { kind, lengthBytes, windows: () => windowsOf(id, problem) }
}

async function* windowsOf(id: string, problem: Error): AsyncGenerator<Uint8Array> {
  for (;;) {
    const next = await fetch(`/rig/next?id=${encodeURIComponent(id)}`, { cache: 'no-store' })
    if (next.status === 204) return
    if (!next.ok) throw problem
    yield new Uint8Array(await next.arrayBuffer())
  }
}
