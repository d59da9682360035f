// Runs after a build. Writes dist/third-party-licenses.txt: the licences of all whose code, or in the case of PGlite whose database, the
// build has copied into dist. Each asks to go with every copy.

import { readdir, readFile, writeFile } from 'node:fs/promises'

const COPIED = [
  ...['@electric-sql/pglite', 'commander', 'eventemitter3', 'hash-wasm', 'idb', 'nanotar', 'p-queue', 'p-timeout'],
  ...['undici', 'valibot', 'xstate'],
]

async function licenceOf(name) {
  const folder = `node_modules/${name}`
  const [, version = ''] = /"version": "(.*)"/.exec(await readFile(`${folder}/package.json`, 'utf8')) ?? []
  const files = (await readdir(folder)).filter((file) => /^(?:licen[cs]e|notice)(?:[-.]|$)/i.test(file))
  if (files.length === 0) throw new Error(`${folder} has no licence to copy.`)
  const texts = await Promise.all(files.map((file) => readFile(`${folder}/${file}`, 'utf8')))
  return `${name} ${version}\n\n${texts.map((text) => text.trim()).join('\n\n')}\n`
}

await writeFile(
  'dist/third-party-licenses.txt',
  (await Promise.all(COPIED.map(licenceOf))).join(`\n${'-'.repeat(80)}\n\n`),
)
