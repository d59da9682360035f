// The real browser of the tests and the benchmark: Debian's Chromium, driven through playwright-core.

import { existsSync } from 'node:fs'
import { chromium, type Browser } from 'playwright-core'

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Path of the browser: `CHROMIUM_PATH`, or else where Debian and others install it. Undefined if there is none. */
export const chromiumPath = [process.env['CHROMIUM_PATH'] ?? '', ...PLACES].find((path) => existsSync(path))

/**
 * The last is a process that waits for the next page: no page here comes so soon, and without it a page costs an eighth less. The two
 * before are pages for the address bar, which nobody sees here: Chromium 156 loads them in each window, for a third of what a window
 * costs. The others are what playwright 1.65 disables by itself, because a second list takes the place of its own.
 */
const DISABLED_FEATURES = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'SpareRendererForSitePerProcess',
]

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--disable-features=${DISABLED_FEATURES.join(',')}`,
]

/** Starts a browser with a profile of its own, which is removed when the browser is closed. */
export function launchChromium(flags: readonly string[] = []): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error('There is no Chromium on this machine.')
  return chromium.launch({ executablePath: chromiumPath, args: [...FLAGS, ...flags] })
}
