// Reads one answer from undici's callbacks: the head, and of the body no more than was asked for.

import type { TransportReply } from '../../../core/ports.ts'

/** An answer under way. */
export interface ReplyReader {
  /** The head of the answer; heads of 1xx are passed over. */
  onHead(status: number, rawHeaders: readonly (Buffer | string)[]): void
  /** Returns false when so much was left unread that the connection is better closed. */
  onData(chunk: Uint8Array): boolean
  /** What was read, once there is a final head. `isWhole` says whether the body has come to its end. */
  reply(isWhole: boolean): TransportReply | undefined
}

/** How much of an answer is read and thrown away so that its connection can be used again. */
const MAX_DRAINED_BYTES = 256 * 1024
/** One for all answers without a body, as those to parts are: memory of its own costs more than to read all else of them. */
const NOTHING = new Uint8Array()

/** Makes a reader that keeps at most `maxReplyBytes` of the body. */
export function createReplyReader(maxReplyBytes: number): ReplyReader {
  let head: Pick<TransportReply, 'status' | 'headers'> | undefined
  const kept: Uint8Array[] = []
  let keptBytes = 0
  let drainedBytes = 0

  return {
    onHead: (status, rawHeaders) => {
      if (status >= 200) head = { status, headers: parseHeaders(rawHeaders) }
    },
    onData: (chunk) => {
      const wanted = chunk.subarray(0, maxReplyBytes - keptBytes)
      // A copy: a view would keep alive the whole buffer that the socket read into.
      if (wanted.byteLength > 0) kept.push(Uint8Array.from(wanted))
      keptBytes += wanted.byteLength
      drainedBytes += chunk.byteLength - wanted.byteLength
      return drainedBytes <= MAX_DRAINED_BYTES
    },
    reply: (isWhole) => {
      if (head === undefined) return undefined
      const body = keptBytes === 0 ? NOTHING : new Uint8Array(Buffer.concat(kept))
      return { status: head.status, headers: head.headers, body, isBodyCut: !isWhole || drainedBytes > 0 }
    },
  }
}

/** A prototype of null, so that a header called `__proto__` is one like any other. */
function parseHeaders(raw: readonly (Buffer | string)[]): Record<string, string> {
  const headers = Object.create(null) as Record<string, string>
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = text(raw[at]).toLowerCase()
    const value = text(raw[at + 1])
    const earlier = headers[name]
    headers[name] = earlier === undefined ? value : `${earlier}, ${value}`
  }
  return headers
}

function text(value: Buffer | string | undefined): string {
  return typeof value === 'string' ? value : (value?.toString('latin1') ?? '')
}
