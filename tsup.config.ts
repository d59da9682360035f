import { defineConfig } from 'tsup'

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    node: 'src/node.ts',
    browser: 'src/browser.ts',
    service: 'src/service/index.ts',
    cli: 'src/cli/main.ts',
  },
  format: ['esm', 'cjs'],
  // Shared chunks in both formats: an UploadError of './node' must be an instance of the class of '.'.
  splitting: true,
  // p-queue is ESM only: bundled, so that the CJS build needs no Node that can require ESM. commander serves the CLI alone.
  noExternal: ['p-queue', 'commander'],
  target: 'es2023',
  platform: 'neutral',
  dts: { compilerOptions: { ignoreDeprecations: '6.0' } },
  sourcemap: true,
  clean: true,
})
