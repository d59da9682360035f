// A process that has a hasher, from its start to its end.

import { execFile } from 'node:child_process'
import { mkdtemp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ZEROS_64_KIB, ZEROS_128_KIB } from './worker-hasher-rig.ts'

describe('a process with a workerHasher', () => {
  const run = promisify(execFile)
  let folder = ''

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'worker-hasher-'))
    const inCore = ['core/errors', 'core/redact']
    const names = [
      ...inCore,
      ...[
        'hash-memory',
        'hash-thread',
        'md5-hasher',
        'md5-kernel',
        'md5-steps',
        'md5-words',
        'short-bodies',
        'wasm-code',
        'worker-hash-program',
        'worker-hasher',
      ].map(inNode),
      'adapters/node/window-memory',
    ]
    await Promise.all(names.map((name) => translate(name, folder)))
    await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  })
  afterAll(() => rm(folder, { recursive: true }))

  /** Runs a program in a process of its own; rejects when that does not end well by itself before the test is given up. */
  async function output(flags: readonly string[], program: string, env: Record<string, string> = {}): Promise<string> {
    const path = join(folder, 'program.js')
    await writeFile(path, `import { workerHasher } from './adapters/node/hash/worker-hasher.js'\n${program}`)
    const { stdout } = await run(process.execPath, [...flags, path], {
      timeout: 150_000,
      env: { ...process.env, ...env },
    })
    return stdout
  }

  const HASH_TWO_WINDOWS = `
    const hasher = workerHasher()
    const hash = hasher.start()
    for (const window of [hasher.allocate(65536), new Uint8Array(65536)]) await hash.update(window)
    console.log(await hash.digest())`

  it('gives back the memory of hashers that nobody holds any more, without other garbage', async () => {
    const program = `
      for (let left = 100; left > 0; left -= 1) {
        workerHasher().allocate(8 * 1024 * 1024).fill(1)
        await new Promise(setImmediate)
      }
      console.log(process.resourceUsage().maxRSS)`

    expect(Number(await output([], program)) / 1024).toBeLessThan(400)
  })

  it('ends the threads of hashers that nobody holds any more, but not that of a body under way', async () => {
    const program = `
      const { Worker } = await import('node:worker_threads')
      const { terminate } = Worker.prototype
      let ended = 0
      Worker.prototype.terminate = function () {
        ended += 1
        return terminate.call(this)
      }
      const begin = async () => {
        const hash = workerHasher().start()
        await hash.update(new Uint8Array(65536))
        return hash
      }
      const underWay = await begin()
      for (let left = 3; left > 0; left -= 1) await (await begin()).digest()
      for (let turns = 20; turns > 0; turns -= 1) {
        gc()
        await new Promise(setImmediate)
      }
      console.log(ended, await underWay.digest())`

    expect(await output(['--expose-gc'], program)).toBe(`3 ${ZEROS_64_KIB}\n`)
  })

  it('waits for a digest, and then ends by itself though the hasher was never closed', async () => {
    expect(await output([], HASH_TWO_WINDOWS)).toBe(`${ZEROS_128_KIB}\n`)
  })

  it('does without threads where they are forbidden', async () => {
    const permission = process.allowedNodeEnvironmentFlags.has('--permission')
      ? '--permission'
      : '--experimental-permission'
    const program = `
      const hash = workerHasher().start()
      console.log(hash.update(new Uint8Array(65536)), await hash.digest())`

    expect(await output([permission, '--allow-fs-read=*', '--no-warnings'], program)).toBe(
      `undefined ${ZEROS_64_KIB}\n`,
    )
  })

  it('does without threads where there is no WebAssembly', async () => {
    // Not every Node has a flag for it.
    const preload = join(folder, 'no-wasm.cjs')
    await writeFile(preload, 'delete globalThis.WebAssembly')
    const program = `
      process.on('worker', () => console.log('thread'))
      const hasher = workerHasher()
      const hash = hasher.start()
      console.log(typeof WebAssembly, hash.update(hasher.allocate(65536)), await hash.digest())`

    expect(await output(['-r', preload], program)).toBe(`undefined undefined ${ZEROS_64_KIB}\n`)
  })

  it('has threads under the flags of its host, and runs none of its preloads in them', async () => {
    const preload = join(folder, 'preload.cjs')
    // Written to the descriptor at once: what a thread says otherwise may come after the end of the process.
    const say = `require('node:fs').writeSync(1, 'preloaded')`
    await writeFile(preload, `if (!require('node:worker_threads').isMainThread) ${say}`)
    const flags = ['--disallow-code-generation-from-strings', '--frozen-intrinsics', '--no-warnings', '-r', preload]
    const program = `
      process.on('worker', (worker) => console.log('thread') ?? worker.on('error', console.log))
      ${HASH_TWO_WINDOWS}`

    const said = await output(flags, program, { NODE_OPTIONS: `--require=${preload}` })

    expect(said).toBe(`thread\n${ZEROS_128_KIB}\n`)
  })
})

function inNode(name: string): string {
  return `adapters/node/hash/${name}`
}

/** One source file as JavaScript, so that a plain Node of any version can run it. */
async function translate(name: string, folder: string): Promise<void> {
  const source = await readFile(join(import.meta.dirname, '../../../../src', `${name}.ts`), 'utf8')
  const compilerOptions = {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.ESNext,
    verbatimModuleSyntax: true,
    rewriteRelativeImportExtensions: true,
  }
  const { outputText } = ts.transpileModule(source, { compilerOptions, fileName: `${name}.ts` })
  await mkdir(dirname(join(folder, name)), { recursive: true })
  await writeFile(join(folder, `${name}.js`), outputText)
}
