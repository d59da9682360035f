// What is sent bears stamps, so that the server knows by the first bytes of a body which range of which file it is, without
// reading the rest. Parts of whole MiB begin with one.

export const STAMP_BYTES = 16
/** The distance between two stamps of a file. */
export const STAMP_EVERY_BYTES = 1 << 20
/** Nothing that is sent begins with these bytes by chance: `moc@`. */
const MARK = 0x6d6f6340

/** Writes the stamp of a byte of a file over the first bytes. Leaves alone what has no room for one. */
export function stamp(bytes: Uint8Array, file: number, at: number): void {
  if (bytes.length < STAMP_BYTES) return
  const view = new DataView(bytes.buffer, bytes.byteOffset, STAMP_BYTES)
  view.setUint32(0, MARK)
  view.setUint32(4, file)
  view.setBigUint64(8, BigInt(at))
}

/** Writes all the stamps of a piece of a file, which begins with a whole MiB of it. */
export function stampAll(bytes: Uint8Array, file: number, from = 0): void {
  for (let at = 0; at < bytes.length; at += STAMP_EVERY_BYTES) stamp(bytes.subarray(at), file, from + at)
}

/** What a stamp says. Undefined where there is none. */
export function readStamp(bytes: Uint8Array): { readonly file: number; readonly at: number } | undefined {
  if (bytes.length < STAMP_BYTES) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, STAMP_BYTES)
  if (view.getUint32(0) !== MARK) return undefined
  return { file: view.getUint32(4), at: Number(view.getBigUint64(8)) }
}
