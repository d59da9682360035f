import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { defineConfig, type Options } from 'tsup'

const shared: Options = {
  target: 'es2023',
  sourcemap: true,
  // Entries share chunks, so that an UploadError from './node' is an instance of the class from '.'.
  splitting: true,
}

type Plugin = NonNullable<Options['esbuildPlugins']>[number]

/**
 * When a module imports a CommonJS file, Node scans its text for exported names with a slow parser before it runs it. Two
 * packages that offer Node only CommonJS therefore go through files of ours, which have names under `imports` in package.json.
 * `#xstate` is a bundled copy in Node and the package itself in pages. It saves 55 of 340 ms of processor time at every start.
 */
const xstateByPlatform: Plugin = {
  name: 'xstate-by-platform',
  setup: (build) => build.onResolve({ filter: /^xstate$/ }, () => ({ path: '#xstate', external: true })),
}

const UNDICI_CLIENT = 'undici/lib/dispatcher/client.js'

/**
 * `#undici-client` is a file of two lines that requires undici's client. It loads in 117 million instructions instead of 138.
 * Bundlers get an import instead (condition `module`), because an import can stay external in their ESM and a require cannot.
 */
const undiciByRequire: Plugin = {
  name: 'undici-by-require',
  setup: (build) =>
    build.onResolve({ filter: /^undici\/lib\/dispatcher\/client\.js$/ }, () => ({
      path: '#undici-client',
      external: true,
    })),
}

/** The command bundles those two lines, because the service's image contains dist/cli without the files beside it. */
const undiciInCommand: Plugin = {
  name: 'undici-in-command',
  setup: (build) =>
    build.onResolve({ filter: /^undici\/lib\/dispatcher\/client\.js$/ }, ({ kind, path }) =>
      kind === 'require-call'
        ? { path, external: true }
        : { path: resolve('src/adapters/node/http/undici-client.cjs') },
    ),
}

/** Reads a package's file without these parts. */
function readWithout(path: string, parts: readonly RegExp[]): string {
  return parts.reduce(
    (text, part) => {
      if (!part.test(text)) throw new Error(`${path} is not written as it was: see what can be left out.`)
      return text.replace(part, '')
    },
    readFileSync(path, 'utf8'),
  )
}

/** What p-queue has to change, stop, await and list what it was given. */
const NEVER_CALLED = [
  / {4}setPriority\(id, priority\) \{[^]*?\n {4}\}\n/,
  / {4}async addAll\(functions, options\) \{[^]*(?= {4}get size\(\) \{)/,
  / {4}sizeBy\(options\) \{[^]*?\n {4}\}\n/,
  / {4}get isRateLimited\(\) \{[^]*?(?=\n\}\n)/,
]

/**
 * Our slots never time out and have no priorities. p-queue is therefore bundled without the package that its option
 * `timeout` needs, with a plain list in place of its priority queue, and without methods that we never call. Every page is 1.1 kB
 * smaller.
 */
const queueOfSlots: Plugin = {
  name: 'queue-of-slots',
  setup(build) {
    build.onLoad({ filter: /[\\/]p-queue[\\/]dist[\\/]index\.js$/ }, ({ path }) => ({
      contents: readWithout(path, NEVER_CALLED),
      loader: 'js',
    }))
    build.onResolve({ filter: /^p-timeout$/ }, ({ path }) => ({ path, namespace: 'left-out' }))
    build.onLoad({ filter: /^p-timeout$/, namespace: 'left-out' }, () => ({
      contents: `export class TimeoutError extends Error {}
        export default () => { throw new Error('This copy of p-queue has no timeouts.') }`,
    }))
    build.onResolve({ filter: /^\.\/priority-queue\.js$/ }, ({ path }) => ({ path, namespace: 'left-out' }))
    build.onLoad({ filter: /priority-queue/, namespace: 'left-out' }, () => ({
      contents: `export default class {
          runs = []
          enqueue(run) { this.runs.push(run) }
          dequeue() { return this.runs.shift() }
          get size() { return this.runs.length }
        }`,
    }))
  },
}

/** What idb has for cursors, for whoever sets or looks for a property, and for shortcuts past transactions, to its end. */
const NEVER_USED = [
  / {4}if \(getCursorAdvanceMethods\(\)[^]*?\n {4}\}\n/,
  / {4}set\(target, prop, value\) \{[^]*?\n {4}\},\n {4}has\(target, prop\) \{[^]*?\n {4}\},\n/,
  /const readMethods = [^]*(?=\nexport \{)/,
]

/**
 * We use the database only through transactions and without cursors. idb is therefore bundled without the rest, which would always
 * be loaded. Every page is 0.6 kB smaller. The types of page-database.ts offer no shortcut.
 */
const databaseWithoutShortcuts: Plugin = {
  name: 'database-without-shortcuts',
  setup(build) {
    build.onLoad({ filter: /[\\/]idb[\\/]build[\\/]index\.js$/ }, ({ path }) => ({
      contents: readWithout(path, NEVER_USED),
      loader: 'js',
    }))
  },
}

/**
 * Minifies the element's style sheet, which is four strings that a minifier leaves alone, and shortens the names of its own
 * properties. A page with an element is 0.3 kB smaller.
 */
const denseStyles: Plugin = {
  name: 'dense-styles',
  setup(build) {
    build.onLoad({ filter: /[\\/]element[\\/]style-sheet\.ts$/ }, ({ path }) => {
      const names: string[] = []
      const shortened = (name: string): string => {
        if (!names.includes(name)) names.push(name)
        return `--${String(names.indexOf(name))}`
      }
      const contents = readFileSync(path, 'utf8').replaceAll(/`\n([^`]+)`/g, (_whole, css: string) => {
        const { code } = build.esbuild.transformSync(css, { loader: 'css', minify: true })
        // It leaves the spaces in the values of custom properties.
        return JSON.stringify(
          code
            .trim()
            .replaceAll(/(?<=[,:]) /g, '')
            .replaceAll(/--_[a-z-]+/g, shortened),
        )
      })
      return { contents, loader: 'ts' }
    })
  },
}

const faces = {
  index: 'src/index.ts',
  node: 'src/node.ts',
  browser: 'src/browser.ts',
  'browser-hasher': 'src/browser-hasher.ts',
  react: 'src/react.ts',
  element: 'src/element.ts',
  'element-define': 'src/element/define.ts',
  s3: 'src/s3.ts',
  tuning: 'src/tuning.ts',
  // Not a public entry. It is a file of its own so that bundlers drop the database library where no journal is used.
  'page-database': 'src/adapters/browser/page-database.ts',
  service: 'src/service/index.ts',
}

export default defineConfig([
  {
    ...shared,
    entry: faces,
    format: ['esm', 'cjs'],
    platform: 'neutral',
    // p-queue is ESM only. It is bundled so that the CJS build runs on a Node that cannot require ESM. eventemitter3 is
    // CommonJS, whose text Node would scan for exported names with its slow parser.
    noExternal: ['p-queue', 'eventemitter3', 'idb', 'nanotar', 'xstate', UNDICI_CLIENT],
    esbuildPlugins: [xstateByPlatform, undiciByRequire, queueOfSlots, databaseWithoutShortcuts, denseStyles],
    // The hasher's entry is published as ESM only (see `files` in package.json), because a worker's script is located
    // through import.meta.url.
    esbuildOptions: (options) => void (options.logOverride = { 'empty-import-meta': 'silent' }),
    dts: { entry: { ...faces, testing: 'src/testing.ts' }, compilerOptions: { ignoreDeprecations: '6.0' } },
  },
  {
    // Built apart from the faces: code that it shared with them would split their chunks further, and every page would load
    // more bytes. Its types are built with theirs.
    entry: { testing: 'src/testing.ts' },
    format: ['esm'],
    platform: 'node',
    target: 'es2023',
  },
  {
    target: 'es2023',
    entry: { xstate: 'src/machines/xstate.ts' },
    format: ['esm', 'cjs'],
    platform: 'node',
    noExternal: ['xstate'],
  },
  {
    entry: { 'undici-client': 'src/adapters/node/http/undici-client.ts' },
    format: ['esm'],
    platform: 'node',
    target: 'es2023',
  },
  {
    entry: { 'undici-client': 'src/adapters/node/http/undici-client.cjs' },
    format: ['cjs'],
    platform: 'node',
    target: 'es2023',
  },
  {
    ...shared,
    entry: { 'browser-hash-worker': 'src/browser-hash-worker.ts' },
    format: ['esm'],
    platform: 'browser',
    // Bundled, so that the worker runs as it is, without a bundler or an import map.
    noExternal: ['hash-wasm'],
  },
  {
    ...shared,
    entry: { cli: 'src/cli/main.ts' },
    outDir: 'dist/cli',
    format: ['esm'],
    platform: 'node',
    // Bundled, so that hosts that embed the engine install nothing for the command. The last two are bundled because they start faster.
    noExternal: ['p-queue', 'commander', 'eventemitter3', 'nanotar', 'xstate', UNDICI_CLIENT],
    esbuildPlugins: [undiciInCommand],
    // commander is CommonJS and loads Node's modules with require.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
  },
  {
    // The service's page: one script that contains everything, and its static files as they are.
    entry: { page: 'src/page/main.ts' },
    outDir: 'dist/page',
    publicDir: 'src/page/static',
    format: ['esm'],
    platform: 'browser',
    target: 'es2023',
    outExtension: () => ({ js: '.js' }),
    noExternal: [/./],
    minify: true,
  },
])
