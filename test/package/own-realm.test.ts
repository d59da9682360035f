// The package where a test runner gives each test file a realm of its own, as Jest does: modules are run in it, and Node's own,
// whose errors and promises come from the realm outside, are not.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire, isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createContext, runInContext, runInNewContext } from 'node:vm'
import { afterAll, beforeAll, expect, it } from 'vitest'

import type * as NodeFace from '../../src/node.ts'

type Module = { exports: unknown }
type Wrapper = (exports: unknown, require: (name: string) => unknown, module: Module, file: string, at: string) => void

/** What a module's file exports when it is run in a realm that has Node's globals, on a platform whose files are asked on threads. */
function inOwnRealm(entry: string): unknown {
  const itsOwn = new Set(runInNewContext('Object.getOwnPropertyNames(globalThis)') as string[])
  const globals = Object.getOwnPropertyDescriptors(globalThis) as Record<string, PropertyDescriptor>
  const ofNode = Object.entries(globals).filter(([name]) => !itsOwn.has(name))
  const bytes = { Uint8Array: globals['Uint8Array']!, ArrayBuffer: globals['ArrayBuffer']! }
  const platform = { value: Object.create(process, { platform: { value: 'darwin' } }) as unknown, enumerable: true }
  const realm = createContext({})
  Object.defineProperties(realm, { ...Object.fromEntries(ofNode), ...bytes, process: platform })
  const loaded = new Map<string, Module>()
  const load = (file: string): unknown => {
    const known = loaded.get(file)
    if (known !== undefined) return known.exports
    const module: Module = { exports: {} }
    loaded.set(file, module)
    const own = createRequire(file)
    const text = `(function (exports, require, module, __filename, __dirname) {${readFileSync(file, 'utf8')}\n})`
    const require = (name: string): unknown => (isBuiltin(name) ? own(name) : load(own.resolve(name)))
    const run = runInContext(text, realm, { filename: file }) as Wrapper
    run(module.exports, require, module, file, dirname(file))
    return module.exports
  }
  return load(entry)
}

let folder: string
let face: typeof NodeFace
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'own-realm-'))
  face = inOwnRealm(join(import.meta.dirname, '..', '..', 'dist', 'node.cjs')) as typeof NodeFace
})
afterAll(() => rmSync(folder, { recursive: true }))

it('reads a file, and sees that it is the same', async () => {
  const path = join(folder, 'a.mp4')
  writeFileSync(path, 'bytes')
  const source = face.fileSource(path)
  const reader = await source.open(await source.describe())
  const bytes = new Uint8Array(5)

  await reader.read(bytes, 0)
  await reader.verify()
  await reader.close()

  expect(Buffer.from(bytes).toString()).toBe('bytes')
})

it('says of a file that is not there what the system said', async () => {
  await expect(face.fileSource(join(folder, 'none.mp4')).describe()).rejects.toMatchObject({
    code: 'ERR_UPLOAD_SOURCE_READ',
    details: { systemCode: 'ENOENT' },
  })
})

it('keeps a session on disk', async () => {
  const journal = face.diskJournal({ folder: join(folder, 'state') })
  const session = await journal.open('k')

  await session.append([{ type: 'session.creating', at: 1 }])
  await session.close()

  expect(await journal.list()).toEqual(['k'])
})
