// Serves pages to the browser under test: an almost empty page, and scripts bundled from the sources.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { build } from 'esbuild'

const root = join(import.meta.dirname, '..', '..', '..')

export interface PageServer {
  /** `http://127.0.0.1:port/` */
  readonly url: string
  /** Answers `/rig/next?id=…`, or a POST of an id too long for that: with the bytes, with 204 for undefined, and with 500 if it rejects. */
  onNext: (id: string) => Promise<Uint8Array | undefined>
  close(): Promise<void>
}

const bundled = new Map<string, Promise<ReadonlyMap<string, Uint8Array>>>()

/** The page's script and the hashing worker, bundled as a bundler would; once for all files of a worker. */
export function bundleScripts(page = 'in-page.ts'): Promise<ReadonlyMap<string, Uint8Array>> {
  const scripts = bundled.get(page) ?? bundleNow(page)
  bundled.set(page, scripts)
  return scripts
}

async function bundleNow(page: string): Promise<ReadonlyMap<string, Uint8Array>> {
  const { outputFiles } = await build({
    entryPoints: {
      page: join(root, 'test/browser/rig', page),
      'browser-hash-worker': join(root, 'src/browser-hash-worker.ts'),
    },
    ...{ bundle: true, format: 'esm', target: 'es2023', platform: 'browser', sourcemap: 'inline' },
    ...{ write: false, outdir: root, logLevel: 'error' },
    // For suites of src/testing that run in a page. Nothing else there imports a test runner.
    alias: { vitest: join(root, 'test/browser/rig/vitest-in-page.ts') },
  })
  return new Map(outputFiles.map((file) => [file.path.slice(root.length + 1), file.contents]))
}

/** `headers` go with every answer, for example a Content-Security-Policy. */
export async function servePages(
  scripts: ReadonlyMap<string, Uint8Array>,
  headers: Readonly<Record<string, string>> = {},
): Promise<PageServer> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://page')
    if (pathname === '/rig/next') {
      const asked = searchParams.get('id') ?? text(request)
      void Promise.resolve(asked)
        .then((id) => served.onNext(id))
        .then(
          (bytes) => (bytes === undefined ? response.writeHead(204).end() : response.end(bytes)),
          () => response.writeHead(500).end(),
        )
      return
    }
    const name = pathname.slice(1)
    const script = scripts.get(name)
    if (script !== undefined) response.writeHead(200, { 'content-type': 'text/javascript', ...headers }).end(script)
    else if (name === '') response.writeHead(200, { 'content-type': 'text/html', ...headers }).end(PAGE)
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const served: PageServer = {
    onNext: () => Promise.reject(new Error('Nobody offers windows.')),
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return served
}

const PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><link rel="icon" href="data:,">
<title>Page under test</title><input type="file" id="files" multiple><button id="go">Go</button>
<script type="module" src="/page.js"></script></html>`
