// The violations that axe finds in a page or a part of it, by rule and element.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string }[]
}

/** `of` is a selector. Default: the whole document. */
export async function violations(page: Page, of = 'html'): Promise<string[]> {
  await page.evaluate(`globalThis.axe === undefined && (() => { ${AXE} })()`)
  return page.evaluate(async (selector) => {
    const { axe } = globalThis as unknown as { axe: { run(of: string): Promise<{ violations: Violation[] }> } }
    const found = (await axe.run(selector)).violations
    return found.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
  }, of)
}
