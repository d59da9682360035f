// Memory for windows that the system copies into and out of quickly.

/**
 * What the system copies from a file lies at the beginning of a page. Some processors (AMD's, since they have a fast `rep movsb`) take
 * twice as long for a copy whose two ends lie nearly alike in their pages, the goal a little behind the source; and a large piece
 * of memory begins 16 bytes behind the beginning of a page, since malloc keeps its size there. Half a page further is as far
 * from that as can be.
 */
const PAGE_BYTES = 4096
const HALF_A_PAGE_ON = PAGE_BYTES / 2 - 16

/** Zeroed memory for windows. */
export function windowMemory(bytes: number): Uint8Array {
  return new Uint8Array(new ArrayBuffer(bytes + PAGE_BYTES), HALF_A_PAGE_ON, bytes)
}
