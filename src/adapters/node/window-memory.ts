// Memory for windows into and out of which the system copies quickly.

/**
 * What the system copies from a file begins at the beginning of a page. Some processors (AMD's, since they have a fast
 * `rep movsb`) take twice as long for a copy if its two ends have nearly the same offset in their pages, with the
 * destination slightly after the source. And a large piece of memory begins 16 bytes into a page, because malloc stores
 * its size there. Half a page further is as far from that case as possible.
 */
const PAGE_BYTES = 4096
const HALF_A_PAGE_ON = PAGE_BYTES / 2 - 16

/** Zeroed memory for windows. */
export function windowMemory(bytes: number): Uint8Array {
  return new Uint8Array(new ArrayBuffer(bytes + PAGE_BYTES), HALF_A_PAGE_ON, bytes)
}
