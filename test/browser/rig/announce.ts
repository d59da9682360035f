// Prints once in a run, so that nobody can miss it, that the browser tests were skipped.

import { chromiumPath } from './chromium.ts'

export function setup(): void {
  if (chromiumPath !== undefined) return
  process.stdout.write(
    `\n${'!'.repeat(96)}\n  NOT TESTED: everything in test/browser. There is no Chromium on this machine.\n` +
      '  Install the package chromium (apt-get install chromium), or say where it is with CHROMIUM_PATH.\n' +
      `${'!'.repeat(96)}\n\n`,
  )
}
