// Runs after a build. Puts dist/cli/new-database.tar.br beside the command: the service's database without any records, 40 MB packed into
// 1.6. The first start of `serve` copies it, because making it takes three seconds.

import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { brotliCompressSync, constants } from 'node:zlib'

const CACHE = 'node_modules/.cache'
const SOURCES = 'src/service/database'

// Making and packing it takes five seconds, so it is kept for as long as what it is made by stays the same.
const packages = ['@electric-sql/pglite', 'kysely', 'nanotar'].map((name) => `node_modules/${name}/package.json`)
const makers = [...packages, ...(await readdir(SOURCES)).sort().map((name) => `${SOURCES}/${name}`)]
const made = createHash('sha256').update((await Promise.all(makers.map((path) => readFile(path, 'utf8')))).join())
const kept = `${CACHE}/new-database-${made.digest('hex').slice(0, 16)}.tar.br`

if (!existsSync(kept)) {
  const { prepareDatabase } = await import('../dist/service.js')
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: 24 }
  const packed = brotliCompressSync(await (await prepareDatabase()).arrayBuffer(), { params })
  await mkdir(CACHE, { recursive: true })
  // Two builds at once must not see half of it.
  const own = `${kept}.${String(process.pid)}`
  await writeFile(own, packed)
  await rename(own, kept)
}
await copyFile(kept, 'dist/cli/new-database.tar.br')
