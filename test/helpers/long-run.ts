// Tests that draw cases by chance find more the more they draw. `npm test` has fifteen minutes for everything, so there such a test
// tries a few; `npm run ci:long` runs the same files with many.

const isLongRun = process.env['MOCAP_LONG_RUN'] !== undefined

/** What a test tries in `npm test`, or in the long run. */
export function fewOrMany<T>(few: T, many: T): T {
  return isLongRun ? many : few
}
