import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { defineConfig, type Options } from 'tsup'

const shared: Options = {
  target: 'es2023',
  sourcemap: true,
  // Shared chunks: an UploadError of './node' must be an instance of the class of '.'.
  splitting: true,
}

type Plugin = NonNullable<Options['esbuildPlugins']>[number]

/**
 * Node searches a CommonJS file that a module imports for the names that it exports, with a slow reader, before it runs it. Two packages
 * that give Node CommonJS only go through a file of ours, by a name under `imports` of package.json. `#xstate`: a bundled copy in Node,
 * and the package itself for pages: 55 of 340 ms of processor time at every start.
 */
const xstateByPlatform: Plugin = {
  name: 'xstate-by-platform',
  setup: (build) => build.onResolve({ filter: /^xstate$/ }, () => ({ path: '#xstate', external: true })),
}

const UNDICI_CLIENT = 'undici/lib/dispatcher/client.js'

/**
 * `#undici-client`: a file of two lines that requires undici's: 117 million instructions in place of 138. A bundler is given an
 * import (condition `module`): that can stay outside of its ESM, and a require cannot.
 */
const undiciByRequire: Plugin = {
  name: 'undici-by-require',
  setup: (build) =>
    build.onResolve({ filter: /^undici\/lib\/dispatcher\/client\.js$/ }, () => ({
      path: '#undici-client',
      external: true,
    })),
}

/** The command has those two lines in its bundle: the service's image takes dist/cli without what lies beside it. */
const undiciInCommand: Plugin = {
  name: 'undici-in-command',
  setup: (build) =>
    build.onResolve({ filter: /^undici\/lib\/dispatcher\/client\.js$/ }, ({ kind, path }) =>
      kind === 'require-call'
        ? { path, external: true }
        : { path: resolve('src/adapters/node/http/undici-client.cjs') },
    ),
}

/**
 * Our slots never time out, and none goes before another: p-queue comes without the package that its option `timeout` needs, and with
 * a plain list in place of its order by priority, 0.7 kB of every page.
 */
const queueWithoutTimeouts: Plugin = {
  name: 'queue-without-timeouts',
  setup(build) {
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

/**
 * Our database is used through its transactions: idb comes without its shortcuts past them and without its loops over cursors, which
 * are the end of its file and load with all the rest, 0.5 kB of every page. The types of page-database.ts offer no shortcut.
 */
const databaseWithoutShortcuts: Plugin = {
  name: 'database-without-shortcuts',
  setup(build) {
    build.onLoad({ filter: /[\\/]idb[\\/]build[\\/]index\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      const [kept, left, ...more] = text.split('\nconst readMethods = ')
      if (left === undefined || more.length > 0)
        throw new Error('idb is not written as it was: see what can be left out.')
      return { contents: `${kept ?? ''}${left.slice(left.lastIndexOf('\nexport {'))}`, loader: 'js' }
    })
  },
}

/** A minifier leaves strings alone, and the element's style sheet is four of them: 0.2 kB of every page with an element. */
const denseStyles: Plugin = {
  name: 'dense-styles',
  setup(build) {
    build.onLoad({ filter: /[\\/]element[\\/]style-sheet\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll(/`\n([^`]+)`/g, (_whole, css: string) => {
        const { code } = build.esbuild.transformSync(css, { loader: 'css', minify: true })
        return JSON.stringify(code.trim())
      }),
      loader: 'ts',
    }))
  },
}

export default defineConfig([
  {
    ...shared,
    entry: {
      index: 'src/index.ts',
      node: 'src/node.ts',
      browser: 'src/browser.ts',
      'browser-hasher': 'src/browser-hasher.ts',
      react: 'src/react.ts',
      element: 'src/element.ts',
      'element-define': 'src/element/define.ts',
      s3: 'src/s3.ts',
      tuning: 'src/tuning.ts',
      // No face: a file of its own, so that bundlers drop the database's library with it where no journal is used.
      'page-database': 'src/adapters/browser/page-database.ts',
      service: 'src/service/index.ts',
    },
    format: ['esm', 'cjs'],
    platform: 'neutral',
    // p-queue is ESM only: bundled, so that the CJS build needs no Node that can require ESM. eventemitter3 is CommonJS below:
    // Node reads such a file's text for its names before it runs it, with a slow reader.
    noExternal: ['p-queue', 'eventemitter3', 'idb', 'xstate', UNDICI_CLIENT],
    esbuildPlugins: [xstateByPlatform, undiciByRequire, queueWithoutTimeouts, databaseWithoutShortcuts, denseStyles],
    // Only ESM publishes the hasher's entry, as package.json says under `files`: a worker's script is found by its module's own address.
    esbuildOptions: (options) => void (options.logOverride = { 'empty-import-meta': 'silent' }),
    dts: { compilerOptions: { ignoreDeprecations: '6.0' } },
  },
  {
    target: 'es2023',
    entry: { xstate: 'src/machines/xstate.ts' },
    format: ['esm', 'cjs'],
    platform: 'node',
    noExternal: ['xstate'],
    banner: { js: `/*!\n${readFileSync('node_modules/xstate/LICENSE', 'utf8')}*/` },
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
    // Bundled, so that those who embed the engine install nothing for the command; the last two because they start faster so.
    noExternal: ['p-queue', 'commander', 'eventemitter3', 'xstate', UNDICI_CLIENT],
    esbuildPlugins: [undiciInCommand],
    // commander is CommonJS and asks for Node's modules by require.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
  },
  {
    // The page of the service: one script with everything in it, and its files as they are.
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
