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
 * Files that count steps in V8. They must start counting before any module is loaded, so no other file may run before them in
 * the same worker. They are found by what they import, because a file missing from a list would fail only on some runs.
 */
const COUNTED = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .map((path) => `test/${path.replaceAll('\\', '/')}`)
  .filter((path) => path.endsWith('.test.ts') && readFileSync(path, 'utf8').includes('helpers/growth.ts'))

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
    // These limits only stop hangs. A test may start five programs one after another, each with a database of its own, or
    // read a million names, and a busy machine takes many times as long as a quiet one.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // A poll waits for something to happen, however slowly. vitest's default would give up after one second.
    expect: { poll: { timeout: 120_000 } },
    projects: [
      // These files load almost the same modules, which takes half a second. A worker keeps them loaded for its next file.
      unitProject('unit', { include: LOADED_ONCE, exclude: COUNTED, isolate: false }),
      unitProject('unit, counted', { include: COUNTED, exclude: ['test/cli/**'] }),
      unitProject('unit, each alone', {
        include: ['test/**/*.test.ts'],
        exclude: [
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
