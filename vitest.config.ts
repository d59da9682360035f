import { defineConfig } from 'vitest/config'

// One seed for all random tests of a run, printed here and replayed by FC_SEED. This file is read once a project.
if (process.env['FC_SEED'] === undefined) {
  process.env['FC_SEED'] = String(Math.floor(Math.random() * 2 ** 31))
  process.stdout.write(`Random tests use a seed; replay with FC_SEED=${process.env['FC_SEED']}\n`)
}

// One project per place where a test runs: `unit` in this process's workers; `system` with real servers, processes and
// databases; `package` on the packed package, as a host would install it.
export default defineConfig({
  test: {
    setupFiles: ['test/helpers/seed.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/package/**', 'test/service/**', 'test/cli/**', 'test/end-to-end/**', 'test/long/**'],
        },
      },
      {
        extends: true,
        test: {
          name: 'system',
          include: ['test/service/**/*.test.ts', 'test/cli/**/*.test.ts', 'test/end-to-end/**/*.test.ts'],
          globalSetup: ['test/helpers/prepared-database.ts'],
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
