// How long a request's body is, in whatever form it goes out.

import type { Body } from './ports.ts'

export function bodyLength(body: Body): number {
  return body.kind === 'bytes' ? body.bytes.byteLength : body.lengthBytes
}
