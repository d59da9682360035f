// Tells promises from other values, where there may be two kinds of Promise.

/**
 * True for what must be awaited, whoever made it. `instanceof` knows only one Promise, but there are two in a test runner with
 * a realm of its own (Jest) and in a page whose Promise was replaced (zone.js).
 */
export function isPromise(value: unknown): value is Promise<unknown> {
  return (value as Partial<Promise<unknown>> | undefined)?.then !== undefined
}
