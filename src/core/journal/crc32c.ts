// CRC-32C (Castagnoli) of bytes. A CRC rather than a mixing hash such as FNV-1a, because it guarantees something: every change
// of up to 32 bits in a row is found, so no single broken byte can pass.

const POLYNOMIAL = 0x82f63b78

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = (value & 1) === 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1
  return value
})

/** The checksum as 8 lower-case hex digits. It finds damage, not forgery. */
export function crc32c(bytes: Uint8Array): string {
  let crc = 0xffffffff
  for (const byte of bytes) crc = (TABLE[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8)
  return ((crc ^ 0xffffffff) >>> 0).toString(16).padStart(8, '0')
}
