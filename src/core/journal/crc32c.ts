// CRC-32C (Castagnoli) of bytes. A CRC rather than a mixing hash such as FNV-1a, because it guarantees something: every change
// of up to 32 bits in a row is found, so no single broken byte can pass.

import type { Steps } from './steps.ts'

const POLYNOMIAL = 0x82f63b78

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = (value & 1) === 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1
  return value
})

const NO_BYTES = 0xffffffff
/** Takes some milliseconds. */
const STEP_BYTES = 1_048_576

/** The checksum as 8 lower-case hex digits. It finds damage, not forgery. */
export function crc32c(bytes: Uint8Array): string {
  return digitsOf(continued(NO_BYTES, bytes))
}

/** `crc32c` in steps. */
export function* crc32cInSteps(bytes: Uint8Array): Steps<string> {
  let crc = continued(NO_BYTES, bytes.subarray(0, STEP_BYTES))
  for (let at = STEP_BYTES; at < bytes.length; at += STEP_BYTES) {
    yield
    crc = continued(crc, bytes.subarray(at, at + STEP_BYTES))
  }
  return digitsOf(crc)
}

function continued(before: number, bytes: Uint8Array): number {
  let crc = before
  for (const byte of bytes) crc = (TABLE[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8)
  return crc
}

function digitsOf(crc: number): string {
  return ((crc ^ 0xffffffff) >>> 0).toString(16).padStart(8, '0')
}
