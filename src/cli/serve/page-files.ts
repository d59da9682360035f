// The files of the page, which the build puts beside the command.

import { readdir, readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ServicePage } from '../../service/index.ts'

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
}

/** The files of the page. Undefined if there are none, as in a build of the command alone. */
export async function readPage(folder = new URL('../page/', import.meta.url)): Promise<ServicePage | undefined> {
  try {
    const names = (await readdir(fileURLToPath(folder))).filter((name) => extname(name) in CONTENT_TYPES)
    const files = names.map(async (name) => {
      const file = { contentType: CONTENT_TYPES[extname(name)] ?? '', bytes: await readFile(new URL(name, folder)) }
      return [name === 'index.html' ? '/' : `/${name}`, file] as const
    })
    const page = new Map(await Promise.all(files))
    return page.has('/') && page.has('/page.js') ? page : undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
