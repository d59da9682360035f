// Calls over plain HTTP, with nothing of ours between a test and a service.

import { Agent, request } from 'node:http'
import { request as requestOverTls } from 'node:https'

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body read as JSON; undefined when it is none. */
  readonly json: unknown
}

export async function answerTo(url: string, init: RequestInit): Promise<Answer> {
  const reply = await fetch(url, init)
  const text = await reply.text()
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    json = undefined
  }
  return { status: reply.status, headers: reply.headers, text, json }
}

/** A call with a JSON body; a text is sent as it is. */
export function callAt(
  url: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  body?: unknown,
): Promise<Answer> {
  if (body === undefined) return answerTo(url, { method, headers })
  const sent = typeof body === 'string' ? body : JSON.stringify(body)
  return answerTo(url, { method, headers: { ...headers, 'content-type': 'application/json' }, body: sent })
}

/** PUTs bytes to an address. */
export function put(
  url: string,
  bytes: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return answerTo(url, { method: 'PUT', body: bytes, headers })
}

const agent = new Agent({ keepAlive: true, maxSockets: 4 })

/** The target of a request and its bytes exactly as given, which fetch would first make proper. */
export function sendRaw(
  base: string,
  { method, path, headers = {}, body = '', announcedBytes }: RawRequest,
): Promise<{ readonly status: number; readonly text: string }> {
  const { protocol, hostname, port } = new URL(base)
  const all = { ...headers, 'content-length': String(announcedBytes ?? Buffer.byteLength(body)) }
  const options = { hostname, port, method, path, headers: all }
  return new Promise((resolve, reject) => {
    const message = protocol === 'https:' ? requestOverTls(options) : request({ ...options, agent })
    message.on('response', (reply) => {
      const chunks: Buffer[] = []
      reply.on('data', (chunk: Buffer) => chunks.push(chunk))
      reply.on('end', () => {
        if (announcedBytes !== undefined) message.destroy()
        resolve({ status: reply.statusCode ?? 0, text: Buffer.concat(chunks).toString() })
      })
      reply.on('error', reject)
    })
    message.on('error', reject)
    if (announcedBytes === undefined) message.end(body)
    else message.flushHeaders()
  })
}

export interface RawRequest {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array | string
  /** Announces so many bytes and sends none. */
  readonly announcedBytes?: number
}
