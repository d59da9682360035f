import { readdirSync, readFileSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { serviceProjects } from './test/conformance/projects.ts'
import { settleRunSeed } from './test/helpers/run-seed.ts'
import { longSummary } from './test/long/long-summary.ts'

settleRunSeed()

/** Files of `npm test` that try few cases there. */
const TRYING_FEW = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .map((path) => `test/${path.replaceAll('\\', '/')}`)
  .filter((path) => path.endsWith('.test.ts') && readFileSync(path, 'utf8').includes('fewOrMany('))

// Long runs and real stores: `npm run ci:long`, also from a fresh clone after `npm ci`. They build, start and stop what
// they need, take minutes, and loudly skip what the machine lacks.
export default defineConfig({
  test: {
    setupFiles: ['test/helpers/seed.ts'],
    fileParallelism: false,
    reporters: ['default', longSummary()],
    projects: [
      {
        extends: true,
        test: {
          name: 'long',
          globalSetup: ['test/browser/rig/announce.ts', 'test/helpers/prepared-database.ts', 'test/cli/built-cli.ts'],
          // The second shows all of its moments where no PostgreSQL is started.
          include: ['test/long/**/*.test.ts', 'test/service/videos/killed-sweep.test.ts'],
          testTimeout: 600_000,
          hookTimeout: 240_000,
        },
      },
      {
        extends: true,
        test: { name: 'many cases', include: TRYING_FEW, env: { MOCAP_LONG_RUN: 'yes' }, testTimeout: 1_800_000 },
      },
      // The interface over plain HTTP on every engine.
      ...serviceProjects('pglite-disk', 'postgres-disk', 'postgres-ceph'),
    ],
  },
})
