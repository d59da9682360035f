// A body in the form in which the platform takes it whole: with an exact Content-Length, and without a Content-Type of
// its own.

import { invariant } from '../../core/errors.ts'
import type { Body } from '../../core/ports.ts'

/**
 * A Blob stays as it is, unread. Windows are collected into memory of the part's size. Rejects with ERR_UPLOAD_INTERNAL
 * if the lengths do not add up, with the signal's reason, and with what the windows throw.
 */
export async function collectBody(
  body: Body | undefined,
  signal: AbortSignal,
): Promise<Blob | Uint8Array<ArrayBuffer> | undefined> {
  if (!body) return undefined
  // Platforms refuse memory that is shared with a worker, hence the copy.
  if (body.kind === 'bytes') return new Uint8Array(body.bytes)
  if (body.kind === 'blob') {
    checkLength(body.blob.size, body.lengthBytes)
    // The type of a Blob would become a Content-Type that nobody signed.
    return body.blob.type === '' ? body.blob : body.blob.slice(0, body.blob.size, '')
  }
  const bytes = new Uint8Array(body.lengthBytes)
  let at = 0
  for await (const window of body.windows()) {
    signal.throwIfAborted()
    if (at + window.byteLength > body.lengthBytes) checkLength(at + window.byteLength, body.lengthBytes)
    bytes.set(window, at)
    at += window.byteLength
  }
  checkLength(at, body.lengthBytes)
  return bytes
}

function checkLength(givenBytes: number, lengthBytes: number): void {
  invariant(givenBytes === lengthBytes, `a body of ${lengthBytes} bytes gave ${givenBytes}`)
}
