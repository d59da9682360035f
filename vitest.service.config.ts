import { defineConfig } from 'vitest/config'
import { serviceProjects } from './test/conformance/projects.ts'
import { settleRunSeed } from './test/helpers/run-seed.ts'

settleRunSeed()

// The conformance suite alone: `npm run test:service`. MOCAP_TEST_TARGETS names the engines to test; the default is `pglite-disk`.
export default defineConfig({
  test: {
    setupFiles: ['test/helpers/seed.ts'],
    projects: serviceProjects(...(process.env['MOCAP_TEST_TARGETS'] ?? 'pglite-disk').split(',')),
  },
})
