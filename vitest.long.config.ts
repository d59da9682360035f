import { defineConfig } from 'vitest/config'
import { settleRunSeed } from './test/helpers/run-seed.ts'
import { longSummary } from './test/long/long-summary.ts'

settleRunSeed()

// Long runs and real stores: `npm run ci:long`, from a fresh clone after `npm ci`. They build, start and stop what they
// need, take minutes, and skip loudly what the machine lacks.
export default defineConfig({
  test: {
    name: 'long',
    setupFiles: ['test/helpers/seed.ts'],
    globalSetup: ['test/browser/rig/announce.ts', 'test/helpers/prepared-database.ts'],
    include: ['test/long/**/*.test.ts'],
    testTimeout: 600_000,
    hookTimeout: 240_000,
    fileParallelism: false,
    reporters: ['default', longSummary()],
  },
})
