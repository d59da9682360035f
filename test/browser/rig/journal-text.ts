// What the journal of a page holds, as one text in which a test can look for words.

import type { Page } from 'playwright-core'

/** All records of the default journal of the page's origin. */
export function journalText(page: Page): Promise<string> {
  return page.evaluate(
    () =>
      new Promise<string>((resolve) => {
        const opening = indexedDB.open('mocap-uplink')
        opening.onsuccess = () => {
          const rows = opening.result.transaction('records').objectStore('records').getAll()
          rows.onsuccess = () => resolve(rows.result.join(' '))
          opening.result.close()
        }
      }),
  )
}
