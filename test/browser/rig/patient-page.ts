// A page in which the browser may take as long as it likes to answer what it is asked of a file. The element gives it a second,
// and a machine that is busy may take longer.

import type { Page } from 'playwright-core'

/** Call this before files are dropped: timers of a second or more then wait for the answers that are under way. */
export async function waitForAnswers(page: Page): Promise<void> {
  await page.evaluate(() => {
    let underWay = 0
    const count = (of: object, name: string): void => {
      const ask = (of as Record<string, (...given: unknown[]) => Promise<unknown>>)[name]!
      const counted = function (this: unknown, ...given: unknown[]): Promise<unknown> {
        underWay += 1
        return ask.apply(this, given).finally(() => (underWay -= 1))
      }
      Object.defineProperty(of, name, { value: counted, configurable: true })
    }
    count(DataTransferItem.prototype, 'getAsFileSystemHandle')
    count(Blob.prototype, 'arrayBuffer')
    const { setTimeout: setReal } = window
    window.setTimeout = ((callback: (...given: unknown[]) => void, delayMs = 0, ...given: unknown[]) => {
      const goOn = (): unknown => (underWay > 0 ? setReal(goOn, 50) : callback(...given))
      return setReal(delayMs < 1_000 ? callback : goOn, delayMs, ...given)
    }) as typeof setReal
  })
}
