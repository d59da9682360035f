// A Transport for tus over any other: after an attempt whose answer was lost it asks the server how far it has come, and
// sends only what is missing. The core reads, counts and hashes the whole unit all the same, so a receipt covers all of it.

import type { Body, Transport, TransportReply, TransportRequest } from '../../../src/core/ports.ts'

export function resumingTransport(inner: Transport): Transport {
  const unclear = new Set<string>()
  const sentAs = new WeakMap<TransportRequest, TransportRequest>()

  const send = async (request: TransportRequest): Promise<TransportReply> => {
    const { url, body, headers } = request
    if (request.method !== 'PATCH' || body === undefined) return inner.send(request)
    const start = Number(headers['upload-offset'])
    const have = unclear.has(url) ? await offsetAt(inner, request) : start
    const lengthBytes = body.kind === 'bytes' ? body.bytes.byteLength : body.lengthBytes
    const skipBytes = Math.min(Math.max(0, have - start), lengthBytes)
    unclear.add(url)
    if (skipBytes > 0 && skipBytes === lengthBytes) return alreadyThere(request, body, have)
    const rest = skipBytes === 0 ? request : { ...request, ...without(request, body, lengthBytes, skipBytes, have) }
    sentAs.set(request, rest)
    const reply = await inner.send(rest)
    if (reply.status === 204) unclear.delete(url)
    return reply
  }
  return {
    send,
    endingOf: (request) => inner.endingOf(sentAs.get(request) ?? request),
    close: () => inner.close(),
  }
}

async function offsetAt(inner: Transport, { url, signal }: TransportRequest): Promise<number> {
  const reply = await inner.send({ method: 'HEAD', url, headers: { 'tus-resumable': '1.0.0' }, signal })
  return reply.status === 200 ? Number(reply.headers['upload-offset']) : NaN
}

async function alreadyThere({ onSent }: TransportRequest, body: Body, have: number): Promise<TransportReply> {
  let sentBytes = 0
  for await (const window of windowsOf(body)) onSent?.((sentBytes += window.byteLength))
  return { status: 204, headers: { 'upload-offset': String(have) }, body: new Uint8Array(), isBodyCut: false }
}

function without(request: TransportRequest, body: Body, lengthBytes: number, skipBytes: number, have: number) {
  async function* windows(): AsyncGenerator<Uint8Array, void, undefined> {
    let at = 0
    for await (const window of windowsOf(body)) {
      const from = Math.max(0, skipBytes - at)
      at += window.byteLength
      if (from < window.byteLength) yield window.subarray(from)
    }
  }
  return {
    headers: { ...request.headers, 'upload-offset': String(have) },
    body: { kind: 'windows', lengthBytes: lengthBytes - skipBytes, windows } as const,
    onSent: (sentBytes: number) => request.onSent?.(skipBytes + sentBytes),
  }
}

function windowsOf(body: Body): AsyncIterable<Uint8Array> | Iterable<Uint8Array> {
  if (body.kind === 'blob') throw new Error('The units of these tests are no Blobs.')
  return body.kind === 'bytes' ? [body.bytes] : body.windows()
}
