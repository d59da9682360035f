// Whether a text is that of a certificate, asked before one is trusted.

import { X509Certificate } from 'node:crypto'

/** TLS leaves out what is no certificate, such as a torn one or the path of one, and connections would fail much later. */
export function beginsWithCertificate(pem: string): boolean {
  try {
    new X509Certificate(pem)
    return true
  } catch {
    return false
  }
}
