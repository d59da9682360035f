// What is kept of a secret and compared with another: its digest, which has one length, so that a comparison in constant time tells
// nothing of the secret.

import { createHash } from 'node:crypto'

export function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}
