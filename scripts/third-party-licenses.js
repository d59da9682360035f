// Runs after a build. Writes dist/third-party-licenses.txt: the licences of all whose code, or in the case of PGlite whose database, the
// build has copied into dist. Each asks to go with every copy.

import { readdir, readFile, writeFile } from 'node:fs/promises'

const COPIED = [
  ...['@electric-sql/pglite', 'commander', 'eventemitter3', 'hash-wasm', 'idb', 'nanotar', 'p-queue', 'p-timeout'],
  'xstate',
]

/** Of what is in every new database. The package of PGlite does not bring it. */
const POSTGRESQL = `PostgreSQL

PostgreSQL Database Management System
(formerly known as Postgres, then as Postgres95)

Portions Copyright (c) 1996-2026, PostgreSQL Global Development Group

Portions Copyright (c) 1994, The Regents of the University of California

Permission to use, copy, modify, and distribute this software and its
documentation for any purpose, without fee, and without a written agreement
is hereby granted, provided that the above copyright notice and this
paragraph and the following two paragraphs appear in all copies.

IN NO EVENT SHALL THE UNIVERSITY OF CALIFORNIA BE LIABLE TO ANY PARTY FOR
DIRECT, INDIRECT, SPECIAL, INCIDENTAL, OR CONSEQUENTIAL DAMAGES, INCLUDING
LOST PROFITS, ARISING OUT OF THE USE OF THIS SOFTWARE AND ITS
DOCUMENTATION, EVEN IF THE UNIVERSITY OF CALIFORNIA HAS BEEN ADVISED OF THE
POSSIBILITY OF SUCH DAMAGE.

THE UNIVERSITY OF CALIFORNIA SPECIFICALLY DISCLAIMS ANY WARRANTIES,
INCLUDING, BUT NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY
AND FITNESS FOR A PARTICULAR PURPOSE.  THE SOFTWARE PROVIDED HEREUNDER IS
ON AN "AS IS" BASIS, AND THE UNIVERSITY OF CALIFORNIA HAS NO OBLIGATIONS TO
PROVIDE MAINTENANCE, SUPPORT, UPDATES, ENHANCEMENTS, OR MODIFICATIONS.
`

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
  [...(await Promise.all(COPIED.map(licenceOf))), POSTGRESQL].join(`\n${'-'.repeat(80)}\n\n`),
)
