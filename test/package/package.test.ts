// The package as it is published: packed, installed into an empty project, loaded by import and by require.

import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { build as bundle } from 'esbuild'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { compile, compileCopy, installPackage } from './installed-package.ts'

const root = join(import.meta.dirname, '..', '..')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: Record<string, string | Record<string, Record<string, string> | null>>
  imports: Record<string, object | string>
  bin: Record<string, string>
  scripts: Record<string, string>
}
/** What a piece of code in a page leaves to its reader, because the text around it says it. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  createUplink: "import { createUplink } from 'mocap-uplink/node'",
  drivenSessions: "import { drivenSessions } from 'mocap-uplink/browser'",
  useRef: "import { useRef } from 'react'",
  useEffect: "import { useEffect } from 'react'",
  Amount: "import type { Amount, Problem, RefusalReason } from 'mocap-uplink/element'",
  Outage: "import type { Outage } from 'mocap-uplink'",
  uplink: "declare const uplink: import('mocap-uplink/browser').BrowserUplink",
  start: "declare const start: import('mocap-uplink/react').UploadStore['start']",
  input: "declare const input: import('mocap-uplink').VideosInput",
  credentials: "declare const credentials: import('mocap-uplink').Credentials",
  baseUrl: 'declare const baseUrl: string',
  journal: "declare const journal: import('mocap-uplink').Journal",
  foldJournal: "import { foldJournal } from 'mocap-uplink'",
  key: 'declare const key: string',
  clips: 'declare const clips: File[]',
  fetchToken: 'declare function fetchToken(): Promise<string>',
  save: 'declare function save(id: unknown): void',
}
let project: string

beforeAll(() => {
  project = installPackage()
})
afterAll(() => rmSync(project, { recursive: true, force: true }))

function run(file: string, code: string): string {
  writeFileSync(join(project, file), code)
  return execFileSync(process.execPath, [file], { cwd: project, encoding: 'utf8' }).trim()
}

const importable = ['.', './node', './browser'].map((path) => `mocap-uplink${path.slice(1)}`)

describe('the packed package', () => {
  it.each(importable)('%s loads by import and by require, with the same names', (path) => {
    const imported = run(
      'names.mjs',
      `import * as face from '${path}'\nconsole.log(Object.keys(face).sort().join(' '))`,
    )
    const required = run('names.cjs', `console.log(Object.keys(require('${path}')).sort().join(' '))`)

    expect(imported).toContain('UploadError')
    expect(imported).toContain('createUplink')
    expect(required).toBe(imported)
  })

  it('brings the licence of every package whose code it contains, and the database that a service begins with', () => {
    const dist = join(project, 'node_modules', 'mocap-uplink', 'dist')
    const maps = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.map'))
    const contained = maps.flatMap((path) => {
      const { sources } = JSON.parse(readFileSync(join(dist, path), 'utf8')) as { readonly sources: readonly string[] }
      return sources.flatMap((source) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? [])
    })
    const licences = readFileSync(join(dist, 'third-party-licenses.txt'), 'utf8')
    const licensed = [...licences.matchAll(/^(\S+) \d+\.\d+\.\d+$/gm)].map(([, name]) => name)

    expect(contained).toContain('p-queue')
    // PGlite has made the database, which is PostgreSQL's.
    expect(new Set(licensed)).toEqual(new Set([...contained, '@electric-sql/pglite']))
    expect(licences).toContain('Sindre Sorhus')
    expect(licences).toContain('The Regents of the University of California')
    // One that cannot be unpacked would be passed over in silence, for a slower start.
    const database = brotliDecompressSync(readFileSync(join(dist, 'cli', 'new-database.tar.br')))
    expect(database.includes('PG_VERSION')).toBe(true)
  })

  it('loads the element where there is no page, by import and by require, and registers it where there is one', () => {
    const names = "Object.keys(face).sort().join(' ')"
    const imported = run('el.mjs', `import * as face from 'mocap-uplink/element'\nconsole.log(${names})`)
    const required = run('el.cjs', `const face = require('mocap-uplink/element')\nconsole.log(${names})`)

    expect(imported).toBe('MocapUploaderElement defineMocapUploader englishTexts')
    expect(required).toBe(imported)
    const page = 'globalThis.customElements = { get() {}, define(name) { console.log(name) } }\n'
    expect(run('define.mjs', `${page}await import('mocap-uplink/element/define')`)).toBe('mocap-uploader')
    expect(run('server.mjs', "await import('mocap-uplink/element/define')")).toBe('')
    expect(run('server.cjs', "require('mocap-uplink/element/define')")).toBe('')
  })

  it.each([
    ['import', 's3.mjs', "import * as s3 from 'mocap-uplink/s3'\nimport * as all from 'mocap-uplink'\n"],
    ['require', 's3.cjs', "const s3 = require('mocap-uplink/s3'), all = require('mocap-uplink')\n"],
  ])('has the protocol of S3 in a face of its own, the same as in the portable one, by %s', (_how, file, head) => {
    const code = `${head} console.log(Object.keys(s3).sort().join(' '), s3.s3Multipart === all.s3Multipart)`

    expect(run(file, code)).toBe('listParts s3Multipart true')
  })

  it.each([
    ['import', 'same.mjs', "import * as a from 'mocap-uplink'\nimport * as b from 'mocap-uplink/node'\n"],
    ['require', 'same.cjs', "const a = require('mocap-uplink'), b = require('mocap-uplink/node')\n"],
  ])('has one UploadError in all entry points, by %s', (_how, file, head) => {
    const code = `${head}
      try { b.createUplink({ baseUrl: 'ftp://x', credentials: { apiKey: 'k' } }) }
      catch (error) { console.log(error instanceof a.UploadError, error.code) }`

    expect(run(file, code)).toBe('true ERR_UPLOAD_INVALID_ARGUMENT')
  })

  it.each(['react-vite', 'uppy'])(
    'has types under which a copy of examples/%s compiles with its own settings',
    (name) => {
      const copy = join(project, 'examples', name)
      cpSync(join(root, 'examples', name), copy, { recursive: true })
      // What else it installs. Our own package is none of it, and is found in the project.
      const others = join(project, 'examples', 'node_modules')
      if (!existsSync(others)) symlinkSync(join(root, 'node_modules'), others, 'junction')

      expect(compileCopy(copy)).toEqual({ stdout: '', status: 0 })
    },
  )

  it("has types under which the README's first example and a page with the tag compile strictly", () => {
    const [, example = ''] = /```ts\n(.*?)```/s.exec(readFileSync(join(root, 'README.md'), 'utf8')) ?? []
    expect(example).toContain("from 'mocap-uplink/node'")
    // What events and options hold has names, so that a host can write functions of its own for it.
    const named = `
      import type { AnalysisState, AttemptTimeouts, Outage } from 'mocap-uplink/node'
      import { lineHearing, wholeBodies, type UplinkPorts } from 'mocap-uplink'
      export const ports: Partial<UplinkPorts> = { hearing: lineHearing(), wholeBodies: wholeBodies() }
      const show = ({ host, untilMs }: Outage) => console.log(host, untilMs)
      const isOver = (state: AnalysisState): boolean => state === 'completed' || state === 'failed'
      const timeouts: AttemptTimeouts = { connectMs: 1, stallMs: 1, answerMs: 1 }
      upload.on('waiting', show)
      const { status } = await uplink.requestAnalysis({ name: 'Night', primary: { segmentId: 7 } }).done()
      console.log(isOver(status), createUplink({ baseUrl: '', credentials: { apiKey: '' }, timeouts }))`
    writeFileSync(join(project, 'shortest.ts'), example + named)
    // Whoever only registers the tag has its types and those of its events. JSX is told as docs/element.md says.
    const types = join(project, 'tag', 'node_modules', '@types')
    mkdirSync(types, { recursive: true })
    symlinkSync(join(root, 'node_modules', '@types', 'react'), join(types, 'react'))
    const [, told = ''] =
      /```ts\n(\/\/ mocap-uploader\.d\.ts\n.*?)```/s.exec(readFileSync(join(root, 'docs/element.md'), 'utf8')) ?? []
    writeFileSync(join(project, 'tag', 'mocap-uploader.d.ts'), told)
    writeFileSync(
      join(project, 'tag', 'tag.tsx'),
      `/// <reference path="./mocap-uploader.d.ts" />
      import 'mocap-uplink/element/define'
      const uploader = document.querySelector('mocap-uploader')
      if (uploader) uploader.credentials = { apiKey: 'k' }
      uploader?.addEventListener('mocap-upload-done', ({ detail }) => void detail.files.length)
      document.addEventListener('mocap-upload-error', ({ detail }) => void (detail.error.code === 'ERR_UPLOAD_NETWORK'))
      const own = { input: { playerId: 'p-17' }, texts: { pause: 'Anhalten' } }
      const capture = { org: 'o-1', kind: 'tracking', session: 's-1', rename: true, reprocess: false } as const
      export const Captures = () => <mocap-uploader flow="capture" mocap-type="2" auto-start {...capture} />
      export const Tag = () => (
        <mocap-uploader flow="video" movement-type="1" player="p-17" date="2026-11-20" accept=".mov" lang="de"
          ref={(it) => void it?.phase} {...own} />
      )`,
    )

    const both = ['shortest.ts', '--module', 'nodenext', '--jsx', 'react-jsx']
    expect(compile(project, 'tag/tag.tsx', ...both)).toEqual({ stdout: '', status: 0 })
  })

  it('needs no types of Node for its own, as TypeScript 6 brings none by itself', () => {
    writeFileSync(join(project, 'plain.ts'), "export * from 'mocap-uplink/node'")

    // Later options win.
    const withoutNode = ['--module', 'nodenext', '--types', 'react']
    expect(compile(project, 'plain.ts', ...withoutNode)).toEqual({ stdout: '', status: 0 })
  })

  it('has types under which all code of its pages compiles strictly', () => {
    const folder = join(project, 'pages')
    mkdirSync(join(folder, 'node_modules', '@types'), { recursive: true })
    symlinkSync(join(root, 'node_modules', '@types', 'react'), join(folder, 'node_modules', '@types', 'react'))
    writeFileSync(
      join(folder, 'table-journal.ts'),
      `export declare function tableJournal(place: string): import('mocap-uplink').Journal & { close(): Promise<void> }`,
    )
    const installed = join(project, 'node_modules', 'mocap-uplink')
    const pages = ['README.md', ...readdirSync(join(installed, 'docs')).map((name) => join('docs', name))]
    const pieces = pages.flatMap((page) =>
      [...readFileSync(join(installed, page), 'utf8').matchAll(/^```(tsx?|js|html)\n(.*?)^```$/gms)].flatMap(
        ([, kind, code = '']) =>
          kind === 'html' ? (/<script type="module">(.*?)<\/script>/s.exec(code)?.[1] ?? []) : code,
      ),
    )
    const files = pieces.map((code, index) => {
      // Who writes no TypeScript need not say that the element is there.
      const text = code.replaceAll(/querySelector\('[\w-]+'\)(?=[.\n])/g, '$&!')
      const known = Object.entries(LEFT_OUT).filter(
        ([name]) => !new RegExp(`(?:const|function|import)\\b(?:(?! of )[^=\\n])*\\b${name}\\b`).test(text),
      )
      const file = join('pages', `piece-${String(index)}.tsx`)
      writeFileSync(join(project, file), [...known.map(([, declared]) => declared), text].join('\n'))
      return file
    })

    expect(files.length).toBeGreaterThan(14)
    const [first = '', ...rest] = files
    const options = ['--module', 'nodenext', '--jsx', 'react-jsx', '--skipLibCheck']
    expect(compile(project, first, ...rest, ...options)).toEqual({ stdout: '', status: 0 })
  })

  it('brings hosts of the engine no types of the schema library, which TypeScript 5.0 does not take', () => {
    const installed = join(project, 'node_modules', 'mocap-uplink', 'dist')
    const types = readdirSync(installed).filter((name) => /\.d\.c?ts$/.test(name))
    const naming = types.filter((name) => readFileSync(join(installed, name), 'utf8').includes('valibot'))

    expect(types).toContain('node.d.ts')
    expect(naming.toSorted()).toEqual(['service.d.cts', 'service.d.ts'])
  })

  it('is built by whoever packs it: from a fresh clone it would go without a file of its own', () => {
    expect(manifest.scripts['prepack']).toMatch(/^npm run .*build\b/)
  })

  it('has a file for every export and every export type', () => {
    const filesOf = (entry: unknown): string[] =>
      typeof entry === 'string' ? [entry] : Object.values(entry ?? {}).flatMap((inner) => filesOf(inner))
    const named = filesOf([manifest.exports, manifest.imports]).filter((file) => file.startsWith('.'))
    const installed = join(project, 'node_modules', 'mocap-uplink')
    const missing = [...named, ...Object.values(manifest.bin)].filter((file) => !existsSync(join(installed, file)))

    expect(named).toContain('./dist/node.cjs')
    expect(missing).toEqual([])
  })

  it('has the pages to which its README and its types send the reader', () => {
    const installed = join(project, 'node_modules', 'mocap-uplink')
    const types = readdirSync(join(installed, 'dist')).filter((name) => name.endsWith('.d.ts'))
    const texts = ['README.md', ...types.map((name) => join('dist', name))].map((path) =>
      readFileSync(join(installed, path), 'utf8'),
    )
    const pages = new Set(texts.flatMap((text) => text.match(/docs\/[\w-]+\.md/g) ?? []))

    expect([...pages]).toContain('docs/errors.md')
    expect([...pages].filter((page) => !existsSync(join(installed, page)))).toEqual([])
  })

  it('names in its pages whatever it exports', () => {
    const installed = join(project, 'node_modules', 'mocap-uplink')
    const pages = ['README.md', ...readdirSync(join(installed, 'docs')).map((name) => join('docs', name))]
    const text = pages.map((page) => readFileSync(join(installed, page), 'utf8')).join('\n')
    const loaded = ['.', './node', './browser', './browser-hasher', './s3', './tuning', './element']
    const names = run(
      'exported.mjs',
      loaded
        .map((path) => `console.log(Object.keys(await import('mocap-uplink${path.slice(1)}')).join(' '))`)
        .join('\n'),
    ).split(/\s+/)
    // These load packages that a host of the engine need not have.
    for (const name of ['react', 'service', 'testing']) {
      const [, list = ''] =
        /^export \{(.*)\};$/m.exec(readFileSync(join(installed, 'dist', `${name}.d.ts`), 'utf8')) ?? []
      names.push(...list.split(',').flatMap((item) => /^\s*(\w+)\s*$/.exec(item)?.[1] ?? []))
    }

    for (const known of ['createUplink', 'useUpload', 'startService', 'clockContract']) expect(names).toContain(known)
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(text))).toEqual([])
  })

  it('carries no script that nothing asks for', () => {
    const folder = join(project, 'node_modules', 'mocap-uplink', 'dist')
    const scripts = readdirSync(folder).filter((name) => /\.c?js$/.test(name))
    const texts = [JSON.stringify(manifest), ...scripts.map((name) => readFileSync(join(folder, name), 'utf8'))]

    expect(scripts).toContain('browser-hasher.js')
    expect(scripts.filter((name) => !texts.some((text) => text.includes(`/${name}`)))).toEqual([])
  })

  it('installs no database and no server for those who embed the engine', () => {
    const installed = readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.'))
    expect(installed.toSorted()).toEqual([
      'eventemitter3',
      'idb',
      'mocap-uplink',
      'p-queue',
      'p-timeout',
      'undici',
      'valibot',
      'xstate',
    ])
  })

  it('reads answers without sending undici’s parser to the optimising compiler', () => {
    const trace = run(
      'answers.mjs',
      `import { createServer } from 'node:http'
      import { setFlagsFromString } from 'node:v8'
      import { undiciTransport } from 'mocap-uplink/node'
      setFlagsFromString('--trace-wasm-compilation-times')
      const server = createServer((_, answer) => answer.end('hello')).listen(0, '127.0.0.1')
      await new Promise((resolve) => server.once('listening', resolve))
      const transport = undiciTransport()
      const url = 'http://127.0.0.1:' + server.address().port
      for (let count = 0; count < 40; count += 1) {
        await transport.send({ method: 'GET', url, headers: {}, body: undefined, signal: new AbortController().signal })
      }
      await transport.close()
      server.close()`,
    )

    expect(trace).toContain('using Liftoff')
    expect(trace).not.toContain('using TurboFan')
  })

  it('makes nothing of Intl while it is loaded: the first such object of a process takes longer than the engine', () => {
    const made = run(
      'intl.mjs',
      `const made = []
      const watch = { construct: (Kind, args) => (made.push(Kind.name), new Kind(...args)) }
      for (const name of ['Collator', 'DateTimeFormat', 'Segmenter']) Intl[name] = new Proxy(Intl[name], watch)
      process.on('exit', () => console.log('made: ' + made))
      process.argv.push('--version')
      await import('mocap-uplink/node')
      await import('./node_modules/mocap-uplink/dist/cli/cli.js')`,
    )

    expect(made).toMatch(/^made:$/m)
  })

  it('helps without undici, which asks Node for HTTP/2', () => {
    const loaded = run(
      'help.mjs',
      `process.argv.push('--help')
      process.on('exit', () => console.log('http2: ' + process.moduleLoadList.includes('NativeModule http2')))
      await import('./node_modules/mocap-uplink/dist/cli/cli.js')`,
    )

    expect(loaded).toMatch(/^Usage: mocap-uplink/)
    expect(loaded).toMatch(/^http2: false$/m)
  })

  it('runs its command', () => {
    const help = execFileSync(join(project, 'node_modules', '.bin', 'mocap-uplink'), ['--help'], { encoding: 'utf8' })
    expect(help).toContain('mocap-uplink')
  })

  it('has its command in one folder beside the manifest: the image of the service takes no more of it', () => {
    const installed = join(project, 'node_modules', 'mocap-uplink')
    const away = join(project, 'image')
    cpSync(join(installed, 'dist', 'cli'), join(away, 'dist', 'cli'), { recursive: true })
    cpSync(join(installed, 'package.json'), join(away, 'package.json'))
    const command = [join(away, 'dist', 'cli', 'cli.js'), 'sessions', '--state-dir', join(away, 'state')]

    expect(execFileSync(process.execPath, command, { encoding: 'utf8' })).toContain('There is no session')
  })

  it('goes into a bundle of ESM that leaves undici outside', async () => {
    writeFileSync(
      join(project, 'host.mjs'),
      "import { undiciTransport } from 'mocap-uplink/node'\nconsole.log(typeof undiciTransport)",
    )
    const files = { absWorkingDir: project, entryPoints: ['host.mjs'], outfile: 'bundled.mjs' }
    await bundle({ ...files, bundle: true, platform: 'node', format: 'esm', external: ['undici'] })

    expect(execFileSync(process.execPath, ['bundled.mjs'], { cwd: project, encoding: 'utf8' }).trim()).toBe('function')
  })

  it('satisfies publint', async () => {
    const { messages, pkg } = await publint({ pkgDir: root, level: 'suggestion', strict: true })
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([])
  })
})
