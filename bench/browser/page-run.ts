// One run in a real Chromium: a new page in a fresh profile, files picked as a person picks them, and a server that counts what arrived.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser } from 'playwright-core'
import { launchChromium } from '../../test/browser/rig/launch-chromium.ts'
import type { Contestant } from '../contestants/field.ts'
import { checkArrival } from '../measure/arrival.ts'
import type { Tools } from '../measure/interleaved.ts'
import { startBenchService } from '../server/service.ts'
import { startSink, type SinkCounts } from '../server/sink.ts'
import type { PageScripts } from './scripts.ts'

/** A contestant that is a page. */
export interface PageContestant extends Pick<Contestant, 'name' | 'isOurs' | 'setting' | 'load' | 'rival'> {
  /** Name of its script, which is also that of its contest. */
  readonly script: string
  /** Paths of the files to pick. */
  readonly files: readonly string[]
}

export interface PageRunner {
  /** Runs a contestant. Rejects if the contest fails or unless exactly what was to be sent arrived. */
  run(contestant: PageContestant): Promise<Record<string, number>>
  close(): Promise<void>
}

/** Starts the browser and the server that serves the pages. */
export async function startPageRunner(scripts: PageScripts, tools: Tools): Promise<PageRunner> {
  const server = createServer((request, response) => {
    const [, name = ''] = /^\/(\w+)\.js$/.exec(request.url ?? '') ?? []
    const script = scripts.get(name)
    if (script !== undefined) response.writeHead(200, { 'content-type': 'text/javascript' }).end(script)
    else response.writeHead(200, { 'content-type': 'text/html' }).end(pageOf((request.url ?? '').slice(1)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const browser = await launchChromium()
  return {
    async run(contestant) {
      const sink = await startSink({ program: tools.sink })
      const service = await startBenchService(sink.origin)
      let found: Record<string, number>
      let counts: SinkCounts
      try {
        found = await contestIn(browser, origin, contestant, {
          storageOrigin: sink.origin,
          serviceOrigin: service.origin,
        })
      } finally {
        await service.close()
        counts = await sink.counts()
      }
      checkArrival(contestant, counts, service.counts())
      const { load } = contestant
      const wallMs = found['wallMs'] ?? Number.NaN
      return {
        ...found,
        gigabytesPerSecond: load.bytes / 1e6 / wallMs,
        filesPerSecond: (load.files * 1e3) / wallMs,
        ...{ bodies: counts.bodies, requests: counts.requests, mostOpen: counts.mostOpen },
      }
    },
    async close() {
      await browser.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function contestIn(
  browser: Browser,
  origin: string,
  { script, files }: PageContestant,
  site: { readonly storageOrigin: string; readonly serviceOrigin: string },
): Promise<Record<string, number>> {
  const context = await browser.newContext()
  try {
    const page = await context.newPage()
    await page.goto(`${origin}/${script}`)
    await page.waitForFunction(() => 'contest' in globalThis)
    await page.setInputFiles('input', [...files])
    return await page.evaluate(([name, at]) => globalThis.contest(name, at), [script, site] as const)
  } finally {
    await context.close()
  }
}

function pageOf(script: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><link rel="icon" href="data:,"><title>Contest</title>
<input type="file" multiple><script type="module" src="/${script}.js"></script><script type="module" src="/page.js"></script></html>`
}
