// What there may be two of.

/**
 * True for what is to be waited for, of whichever maker: `instanceof` knows one Promise, and a test runner with a realm of its own
 * (Jest), or a page whose Promise was replaced (zone.js), has two.
 */
export function isPromise(value: unknown): value is Promise<unknown> {
  return (value as Partial<Promise<unknown>> | undefined)?.then !== undefined
}
