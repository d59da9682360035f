import { defineConfig } from 'vitest/config'

// Long runs and real stores: `npm run ci:long`. They may take minutes, and skip loudly what the environment lacks.
export default defineConfig({
  test: {
    name: 'long',
    setupFiles: ['test/helpers/seed.ts'],
    include: ['test/long/**/*.test.ts'],
    testTimeout: 600_000,
    hookTimeout: 120_000,
    fileParallelism: false,
  },
})
