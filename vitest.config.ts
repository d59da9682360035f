import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { serviceProjects } from './test/conformance/projects.ts'
import { LongFirst } from './test/helpers/long-first.ts'
import { settleRunSeed } from './test/helpers/run-seed.ts'

settleRunSeed()

/** Folders whose tests leave no global state behind except what vitest restores. */
const LOADED_ONCE = ['test/{client,core,element,flows,machines,protocols}/**/*.test.ts']
/**
 * Files that need a process of their own: they count steps in V8, and must start before any module is loaded; they replace
 * modules, which the files after them would get; or they watch the heap of the whole process. They are found by what they
 * contain, because a file missing from a list would fail only on some runs.
 */
const OWN_PROCESS = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .map((path) => `test/${path.replaceAll('\\', '/')}`)
  .filter((path) => path.endsWith('.test.ts'))
  .filter((path) => /helpers\/growth\.ts|vi\.mock\(|keepHeapLean\(/.test(readFileSync(path, 'utf8')))

/** Tests that start no databases or browsers. */
const unitProject = (
  name: string,
  which: { readonly include: string[]; readonly exclude?: string[]; readonly isolate?: boolean },
) => ({ extends: true as const, test: { name, ...which } })

// One project for each place where tests run. `unit …` is in this process's workers. `system` has real servers,
// processes and databases. `service …` tests the interface on each engine. `browser` is in a real Chromium, and skipped
// loudly where there is none. `package` tests the packed package as a host would install it.
export default defineConfig({
  test: {
    // One worker more than processors, because many tests wait for other processes. By default vitest starts one less than
    // processors, and the suite then takes more than a quarter of an hour on two of them.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongFirst },
    setupFiles: ['test/helpers/seed.ts'],
    // A mock that outlives its test would change what other tests test.
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
    // These limits only stop hangs. A test may start five programs one after another, each with a database of its own, or
    // read a million names, and a busy machine takes many times as long as a quiet one.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // A poll waits for something to happen, however slowly. vitest's default would give up after one second.
    expect: { poll: { timeout: 120_000 } },
    projects: [
      // These files load almost the same modules, which takes half a second. A worker keeps them loaded for its next file.
      unitProject('unit', { include: LOADED_ONCE, exclude: OWN_PROCESS, isolate: false }),
      unitProject('unit, own process', { include: OWN_PROCESS }),
      unitProject('unit, each alone', {
        include: ['test/**/*.test.ts'],
        exclude: [
          ...OWN_PROCESS,
          ...LOADED_ONCE,
          'test/package/**',
          'test/service/**',
          'test/cli/**',
          'test/end-to-end/**',
          'test/long/**',
          'test/browser/**',
          'test/conformance/**',
        ],
      }),
      {
        extends: true,
        test: {
          name: 'system',
          include: ['test/service/**/*.test.ts', 'test/cli/**/*.test.ts', 'test/end-to-end/**/*.test.ts'],
          exclude: OWN_PROCESS,
          // A worker keeps PGlite compiled for its next file, which saves a minute and a half of processor time.
          isolate: false,
          globalSetup: [
            'test/helpers/prepared-database.ts',
            'test/helpers/postgres-for-tests.ts',
            'test/cli/built-cli.ts',
          ],
        },
      },
      // The interface over plain HTTP, on what the service can run on. The third combination, with Ceph, is in the long run.
      ...serviceProjects('pglite-disk', 'postgres-disk'),
      {
        extends: true,
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          isolate: false,
          globalSetup: ['test/browser/rig/announce.ts', 'test/helpers/prepared-database.ts'],
        },
      },
      {
        extends: true,
        test: { name: 'package', include: ['test/package/**/*.test.ts'] },
      },
    ],
  },
})
