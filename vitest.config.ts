import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { serviceProjects } from './test/conformance/projects.ts'
import { settleRunSeed } from './test/helpers/run-seed.ts'

settleRunSeed()

// One project per place where a test runs: `unit` in this process's workers; `system` with real servers, processes and
// databases; `service …` the interface on each engine; `browser` in a real Chromium, skipped loudly where there is none; `package` on the packed package, as a host would install it.
export default defineConfig({
  test: {
    // One more than there are processors, since many tests wait for other processes: left to itself vitest takes one less, and
    // the whole takes more than a quarter of an hour on two.
    maxWorkers: availableParallelism() + 1,
    setupFiles: ['test/helpers/seed.ts'],
    // What is waited for is a thing that comes, not that it comes within the second that vitest would wait.
    expect: { poll: { timeout: 30_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          // A bound against hangs, not a judgement of speed: a busy machine takes ten times as long as a quiet one.
          testTimeout: 60_000,
          include: ['test/**/*.test.ts'],
          exclude: [
            'test/package/**',
            'test/service/**',
            'test/cli/**',
            'test/end-to-end/**',
            'test/long/**',
            'test/browser/**',
            'test/conformance/**',
          ],
        },
      },
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
