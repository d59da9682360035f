// `npm run picture`: retakes the README's picture of the web component, in this machine's Chromium.

import { build } from 'esbuild'

import { launchChromium } from '../test/browser/rig/launch-chromium.ts'

/** Long enough that a rate is known and the first file is confirmed. */
const FOR_MS = 6_000

const { outputFiles } = await build({
  entryPoints: ['scripts/element-picture-page.ts'],
  ...{ bundle: true, format: 'esm', target: 'es2023', platform: 'browser', write: false, logLevel: 'error' },
})
const script = outputFiles[0]?.text ?? ''

const browser = await launchChromium()
const page = await browser.newPage({ viewport: { width: 1000, height: 200 }, locale: 'en-US' })
await page.setContent(`<!doctype html><html lang="en"><style>
  body { margin: 0; padding: 12px; display: flex; gap: 16px; align-items: start; background: #e6e8ec; width: max-content }
</style><script type="module">${script.replaceAll('</script', '<\\/script')}</script></html>`)
await page.waitForTimeout(FOR_MS)
await page.locator('body').screenshot({ path: 'docs/images/element.png' })
await browser.close()
