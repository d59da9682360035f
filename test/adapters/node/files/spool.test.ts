import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import ts from 'typescript'

import { createSpool } from '../../../../src/adapters/node/files/spool.ts'
import { openFiles } from '../journal/disk-journal-rig.ts'

describe('createSpool', () => {
  let tempDir: string

  beforeEach(async () => {
    tempDir = await mkdtemp(join(tmpdir(), 'spool-'))
  })
  afterEach(() => rm(tempDir, { recursive: true }))

  it('reads anywhere while it grows at its end', async () => {
    const spool = await createSpool(tempDir)
    const into = Buffer.alloc(4)

    await spool.append(Buffer.from('abc'))
    expect(await spool.read(into, 1)).toBe(2)
    await spool.append(Buffer.from('def'))

    expect(await spool.read(into, 1)).toBe(4)
    expect(into.toString()).toBe('bcde')
    await spool.remove()
  })

  it('lets a read under way end before it is removed, and refuses later ones', async () => {
    const spool = await createSpool(tempDir)
    await spool.append(Buffer.from('abc'))
    const into = Buffer.alloc(3)
    const reading = spool.read(into, 0)

    await Promise.all([spool.remove(), spool.remove()])

    expect(await reading).toBe(3)
    expect(await readdir(tempDir)).toEqual([])
    await expect(spool.read(into, 0)).rejects.toMatchObject({ code: 'ERR_UPLOAD_INTERNAL' })
  })

  it.runIf(process.platform === 'linux')('gives the disk its space back as soon as it is removed', async () => {
    const spool = await createSpool(tempDir)
    // It has no name any more.
    expect(openFiles(tempDir)).toEqual([`${spool.path} (deleted)`])

    await spool.remove()

    // A file that is open takes its space until it is closed.
    expect(openFiles(tempDir)).toEqual([])
  })

  it.skipIf(process.platform === 'win32')('touches nothing that has taken its name since it lost it', async () => {
    const spool = await createSpool(tempDir)
    const taken = dirname(spool.path)
    await mkdir(taken)
    await writeFile(join(taken, 'of another user'), '')

    await spool.remove()

    expect(await readdir(taken)).toEqual(['of another user'])
  })

  it('rejects where there is no folder, naming it', async () => {
    const missing = join(tempDir, 'missing')

    await expect(createSpool(missing)).rejects.toMatchObject({
      code: 'ERR_UPLOAD_SOURCE_READ',
      message: `"${missing}" cannot be used for temporary files: there is nothing at this path. Check the path.`,
    })
  })

  it('listens to the end of the process only while there is one that has a name', async () => {
    const before = process.listenerCount('exit')

    const spools = await Promise.all(Array.from({ length: 30 }, () => createSpool(tempDir, 'win32')))
    expect(process.listenerCount('exit')).toBe(before + 1)
    for (const spool of spools) await spool.remove()

    expect(process.listenerCount('exit')).toBe(before)
  })

  it('is for its owner only, and holds what has come', async () => {
    const spool = await createSpool(tempDir, 'win32')
    await spool.append(Buffer.from('abc'))

    expect(await readFile(spool.path, 'utf8')).toBe('abc')
    if (process.platform !== 'win32') {
      expect(((await stat(spool.path)).mode & 0o777).toString(8)).toBe('600')
      expect(((await stat(dirname(spool.path))).mode & 0o777).toString(8)).toBe('700')
    }
    await spool.remove()
  })

  const ends = ['process.exit(3)', 'throw new Error("a mistake of the host")']
  // What is ended from outside runs nothing of ours any more: there the file must have no name.
  const kills = process.platform === 'win32' ? [] : ['SIGKILL', 'SIGTERM', 'SIGINT']
  it.each([
    ...ends.map((ending) => [ending, 'win32'] as const),
    ...kills.map((signal) => [`process.kill(process.pid, '${signal}')`, process.platform] as const),
  ])('is gone when the process ends by %s (as on %s)', async (ending, platform) => {
    const script = join(tempDir, 'script')
    await emitWithImports(script, 'adapters/node/files/spool.ts')
    await mkdir(join(tempDir, 'spools'))
    await writeFile(
      join(script, 'main.js'),
      `import { createSpool } from './adapters/node/files/spool.js'
         const spool = await createSpool(process.argv[2], process.argv[3])
         await spool.append(Buffer.from('abc'))
         console.log(spool.path)
         ${ending}`,
    )

    const child = spawn(process.execPath, [join(script, 'main.js'), join(tempDir, 'spools'), platform], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const said: Buffer[] = []
    child.stdout.on('data', (bytes: Buffer) => said.push(bytes))
    const complaints: Buffer[] = []
    child.stderr.on('data', (bytes: Buffer) => complaints.push(bytes))
    const [code] = (await once(child, 'close')) as [number]

    expect(code).not.toBe(0)
    const path = Buffer.concat(said).toString().trim()
    expect(path, Buffer.concat(complaints).toString()).toContain(join(tempDir, 'spools', 'mocap-uplink-'))
    expect(existsSync(path)).toBe(false)
    expect(await readdir(join(tempDir, 'spools'))).toEqual([])
  })
})

/** Writes a module of the sources and all that it imports as JavaScript: the oldest Node we run on reads no TypeScript. */
async function emitWithImports(folder: string, module: string, done = new Set<string>()): Promise<void> {
  if (done.has(module)) return
  done.add(module)
  const sources = join(import.meta.dirname, '../../../../src')
  const text = await readFile(join(sources, module), 'utf8')
  const { outputText } = ts.transpileModule(text, {
    compilerOptions: {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.ESNext,
      rewriteRelativeImportExtensions: true,
      verbatimModuleSyntax: true,
    },
  })
  const target = join(folder, module.replace(/\.ts$/, '.js'))
  await mkdir(dirname(target), { recursive: true })
  await writeFile(target, outputText)
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  for (const [, specifier] of outputText.matchAll(/from ['"](\.[^'"]+)\.js['"]/g)) {
    await emitWithImports(folder, relative(sources, join(sources, dirname(module), `${specifier!}.ts`)), done)
  }
}
