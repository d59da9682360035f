// An example, built as its user builds it but with our sources in place of the installed package, and served.

import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { build } from 'vite'

const root = join(import.meta.dirname, '..', '..', '..')

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
}

export interface ServedExample {
  /** `http://127.0.0.1:port/` */
  readonly url: string
  close(): Promise<void>
}

/** `name` is the name of the folder in examples/. */
export async function serveExample(name: string): Promise<ServedExample> {
  const outDir = await mkdtemp(join(tmpdir(), 'mocap-uplink-example-'))
  await build({
    root: join(root, 'examples', name),
    resolve: { alias: [{ find: /^mocap-uplink\/(.+)$/, replacement: join(root, 'src', '$1.ts') }] },
    build: { outDir, emptyOutDir: true, reportCompressedSize: false },
    logLevel: 'error',
  })
  const names = await readdir(outDir, { recursive: true })
  const files = new Map<string, Uint8Array>()
  for (const file of names) if (extname(file) !== '') files.set(`/${file}`, await readFile(join(outDir, file)))
  await rm(outDir, { recursive: true })

  const server = createServer((request, response) => {
    const path = request.url === '/' ? '/index.html' : (request.url ?? '')
    const file = files.get(path)
    if (file === undefined) response.writeHead(404).end()
    else response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'application/octet-stream' }).end(file)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
