import { defineConfig } from 'vitest/config'

// One project per place where a test runs. The suffix of a file says which: `.test.ts` Node, `.memory.test.ts` a
// process of its own with the collector exposed. Every property test prints its seed; FC_SEED replays it.
export default defineConfig({
  test: {
    setupFiles: ['test/helpers/seed.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [
            'test/**/*.memory.test.ts',
            'test/package/**',
            'test/service/**',
            'test/cli/**',
            'test/end-to-end/**',
          ],
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
