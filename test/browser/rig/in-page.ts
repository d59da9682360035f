// What the page under test is made of: the browser's face, and the far ends of the proxies through which the suites of
// test/contracts drive adapters that live here.

import * as face from '../../../src/browser.ts'
import { serveJournal } from './journal-in-page.ts'
import { serveTransport } from './transport-in-page.ts'

const rig = {
  ...face,
  ...serveTransport({ xhr: face.xhrTransport, fetch: () => face.fetchTransport() }),
  ...serveJournal((name) => face.indexedDbJournal({ name })),
}

type Rig = typeof rig
declare global {
  // The page's own name for it; tests use it inside `page.evaluate`.
  var rig: Rig
}
globalThis.rig = rig
