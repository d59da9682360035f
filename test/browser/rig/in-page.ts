// The script of the page under test: the browser entry, and the far ends of the proxies through which the suites of
// src/testing drive adapters that live in the page.

import { listenForNetwork } from '../../../src/adapters/browser/network-hints.ts'
import * as face from '../../../src/browser.ts'
import { startHashers } from '../../../src/browser-hasher.ts'
import { serveHasher } from './hasher-in-page.ts'
import { serveJournal } from './journal-in-page.ts'
import { serveTransport } from './transport-in-page.ts'

const rig = {
  ...face,
  listenForNetwork,
  startHashers,
  ...serveHasher(startHashers),
  ...serveTransport({ xhr: face.xhrTransport, fetch: () => face.fetchTransport() }),
  ...serveJournal((name) => face.indexedDbJournal({ name })),
}

type Rig = typeof rig
declare global {
  // The page's global name. Tests use it inside `page.evaluate`.
  var rig: Rig
}
globalThis.rig = rig
