// A Transport in the test that delegates to one in the page, so that the suite of src/testing, with its servers on
// real sockets, tests the adapter in a real browser.

import type { Page } from 'playwright-core'
import { errorFromJson } from './errors-as-json.ts'
import { fromBase64, toBase64 } from './bytes-as-text.ts'
import type { AttemptEnding } from '../../../src/core/errors.ts'
import type { Body, Transport, TransportReply, TransportRequest } from '../../../src/core/ports.ts'
import type { PageServer } from './page-server.ts'
import type { Outcome, RequestJson } from './transport-in-page.ts'

interface UnderWay {
  readonly request: TransportRequest
  readonly windows: AsyncIterator<Uint8Array> | undefined
  problem: unknown
}

export interface TransportBridge {
  create(kind: 'xhr' | 'fetch'): Transport
}

/** Call this once for each page, before it is used. */
export async function bridgeTransports(page: Page, pages: PageServer): Promise<TransportBridge> {
  const underWay = new Map<string, UnderWay>()
  let count = 0
  pages.onNext = async (id) => {
    const entry = underWay.get(id)
    try {
      const step = await entry?.windows?.next()
      return step === undefined || step.done === true ? undefined : step.value
    } catch (error) {
      if (entry !== undefined) entry.problem = error
      throw error
    }
  }
  await page.exposeFunction('rigSent', (id: string, sentBytes: number) => underWay.get(id)?.request.onSent?.(sentBytes))

  return {
    create(kind) {
      const transport = `transport ${String((count += 1))}`
      const endings = new WeakMap<TransportRequest, AttemptEnding>()
      return {
        async send(request) {
          const id = `request ${String((count += 1))}`
          const windows = request.body?.kind === 'windows' ? request.body.windows()[Symbol.asyncIterator]() : undefined
          const entry: UnderWay = { request, windows, problem: undefined }
          underWay.set(id, entry)
          const json = await requestJson(request, { id, transport, kind })
          const abort = () => void page.evaluate((each) => rig.abortRequest(each), id)
          const running = page.evaluate((each) => rig.sendRequest(each), json)
          if (request.signal.aborted) abort()
          request.signal.addEventListener('abort', abort, { once: true })
          try {
            const outcome = await running
            endings.set(request, outcome.ending)
            return settle(outcome, entry)
          } finally {
            request.signal.removeEventListener('abort', abort)
            underWay.delete(id)
          }
        },
        endingOf: (request) => endings.get(request) ?? 'neverWhole',
        close: () => page.evaluate(([name, of]) => rig.closeTransport(name, of), [transport, kind] as const),
      }
    },
  }
}

function settle(outcome: Outcome, { request, problem }: UnderWay): TransportReply {
  if ('own' in outcome) throw outcome.own === 'reason' ? request.signal.reason : problem
  if ('error' in outcome) throw errorFromJson(outcome.error)
  const { status, headers, hasPrototype, body, isBodyCut } = outcome.reply
  const own = hasPrototype ? {} : (Object.create(null) as Record<string, string>)
  for (const [name, value] of headers) own[name] = value
  return { status, headers: own, body: fromBase64(body), isBodyCut }
}

async function requestJson(
  { method, url, headers, body, maxReplyBytes, signal }: TransportRequest,
  names: { readonly id: string; readonly transport: string; readonly kind: string },
): Promise<RequestJson> {
  return {
    ...{ ...names, method, url, headers, isAborted: signal.aborted },
    ...(body === undefined ? {} : { body: await bodyJson(body) }),
    ...(maxReplyBytes === undefined ? {} : { maxReplyBytes }),
  }
}

async function bodyJson(body: Body): Promise<NonNullable<RequestJson['body']>> {
  if (body.kind === 'bytes')
    return { kind: 'bytes', lengthBytes: body.bytes.byteLength, text: toBase64(Uint8Array.from(body.bytes)) }
  const { kind, lengthBytes } = body
  if (kind === 'windows') return { kind, lengthBytes }
  return { kind, lengthBytes, text: toBase64(new Uint8Array(await body.blob.arrayBuffer())), type: body.blob.type }
}
