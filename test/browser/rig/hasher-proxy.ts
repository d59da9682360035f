// A Hasher in the test that delegates to one in a page.

import type { Page } from 'playwright-core'
import type { Hasher } from '../../../src/core/ports.ts'
import { toBase64 } from './bytes-as-text.ts'

export function hasherInPage(page: () => Page): Hasher {
  let count = 0
  return {
    start() {
      const id = (count += 1)
      return {
        update: (bytes) =>
          page().evaluate((of) => rig.updateHash(of.id, of.text), { id, text: toBase64(Uint8Array.from(bytes)) }),
        digest: () => page().evaluate((of) => rig.digestHash(of), id),
        dispose: () => void page().evaluate((of) => rig.disposeHash(of), id),
      }
    },
  }
}
