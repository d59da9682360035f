// CRC-32C (Castagnoli) of bytes. A CRC rather than a mixing hash such as FNV-1a, because it guarantees something: every change
// of up to 32 bits in a row is found, so no single broken byte can pass.

import { atOnce, type Steps } from './steps.ts'

const POLYNOMIAL = 0x82f63b78

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = (value & 1) === 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1
  return value
})

/** Takes some milliseconds. */
const STEP_BYTES = 1_048_576

/** The checksum as 8 lower-case hex digits. It finds damage, not forgery. */
export function crc32c(bytes: Uint8Array): string {
  return atOnce(crc32cInSteps(bytes))
}

/** `crc32c` in steps. */
export function* crc32cInSteps(bytes: Uint8Array): Steps<string> {
  let crc = 0xffffffff
  for (let at = 0; at < bytes.length; at += STEP_BYTES) {
    if (at > 0) yield
    crc = continued(crc, bytes.subarray(at, at + STEP_BYTES))
  }
  return ((crc ^ 0xffffffff) >>> 0).toString(16).padStart(8, '0')
}

function continued(before: number, bytes: Uint8Array): number {
  let crc = before
  for (const byte of bytes) crc = (TABLE[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8)
  return crc
}
