// Reads one answer from undici's callbacks: the head, and no more of the body than was asked for.

import type { TransportReply } from '../../../core/ports.ts'

/** An answer under way. */
export interface ReplyReader {
  /** Takes the head of the answer. Heads of 1xx are ignored. */
  onHead(status: number, rawHeaders: readonly (Buffer | string)[]): void
  /** Returns false once so much was thrown away that the connection is better closed. */
  onData(chunk: Uint8Array): boolean
  /** What was read, once there is a final head. `isWhole` says whether the body has come to its end. */
  reply(isWhole: boolean): TransportReply | undefined
}

/** How much of an answer is read and thrown away so that its connection can be used again. */
const MAX_DRAINED_BYTES = 256 * 1024
/**
 * Shared by all answers without a body, such as those to parts: allocating memory costs more than reading all the rest
 * of them.
 */
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
      // Copied, because a view would keep alive the whole buffer that the socket read into.
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

/** The prototype is null, so that a header named `__proto__` is like any other. */
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
