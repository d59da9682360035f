import { defineConfig } from 'vitest/config'
import { serviceProjects } from './test/conformance/projects.ts'
import { settleRunSeed } from './test/helpers/run-seed.ts'

settleRunSeed()

// The conformance suite alone: `npm run test:service`, which says by MOCAP_TEST_TARGETS what is judged.
export default defineConfig({
  test: {
    setupFiles: ['test/helpers/seed.ts'],
    projects: serviceProjects(...(process.env['MOCAP_TEST_TARGETS'] ?? 'pglite-disk').split(',')),
  },
})
