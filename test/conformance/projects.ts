// The suite as projects of the test runner: one for each engine, or one for a deployment.

/** `deployment` is the one that the environment names (MOCAP_BASE_URL). */
export function serviceProjects(...names: readonly string[]) {
  return names.map((name) => ({
    extends: true as const,
    test: {
      name: `service ${name}`,
      include: ['test/conformance/**/*.test.ts'],
      isolate: false,
      globalSetup: ['test/conformance/target.ts'],
      setupFiles: ['test/conformance/cancel-opened.ts'],
      testTimeout: 300_000,
      hookTimeout: 300_000,
    },
  }))
}
