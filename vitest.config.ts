import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { serviceProjects } from './test/conformance/projects.ts'
import { LongFirst } from './test/helpers/long-first.ts'
import { settleRunSeed } from './test/helpers/run-seed.ts'

settleRunSeed()

/** Rooms that change nothing outside of a test but what vitest undoes. */
const LOADED_ONCE = ['test/{client,core,element,flows,machines,protocols}/**/*.test.ts']
/** Files that count V8's steps (test/helpers/growth.ts), from before anything is loaded. */
const COUNTED = [
  'test/core/engine.test.ts',
  'test/core/line/early-growth.test.ts',
  'test/core/transfer/schedule.test.ts',
]

/** Without processes, databases and browsers of its own. `testTimeout`: against hangs; a busy machine takes ten times as long as a quiet one. */
const unitProject = (
  name: string,
  which: { readonly include: string[]; readonly exclude?: string[]; readonly isolate?: boolean },
) => ({ extends: true as const, test: { name, testTimeout: 60_000, ...which } })

// One project per place where a test runs: `unit …` in this process's workers; `system` with real servers, processes and
// databases; `service …` the interface on each engine; `browser` in a real Chromium, skipped loudly where there is none; `package` on the packed package, as a host would install it.
export default defineConfig({
  test: {
    // One more than there are processors, since many tests wait for other processes: left to itself vitest takes one less, and
    // the whole takes more than a quarter of an hour on two.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongFirst },
    setupFiles: ['test/helpers/seed.ts'],
    // One that outlives its test makes others test something else.
    restoreMocks: true,
    // What is waited for is a thing that comes, not that it comes within the second that vitest would wait.
    expect: { poll: { timeout: 30_000 } },
    projects: [
      // These load much the same, half a second each: a worker keeps it for its next file.
      unitProject('unit', { include: LOADED_ONCE, exclude: COUNTED, isolate: false }),
      unitProject('unit, counted', { include: COUNTED }),
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
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      // The interface over plain HTTP, on what the service can stand on; the third, Ceph, is in the long run.
      ...serviceProjects('pglite-disk', 'postgres-disk'),
      {
        extends: true,
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          globalSetup: ['test/browser/rig/announce.ts', 'test/helpers/prepared-database.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: { name: 'package', include: ['test/package/**/*.test.ts'], testTimeout: 180_000, hookTimeout: 180_000 },
      },
    ],
  },
})
