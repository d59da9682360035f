// The scripts of the pages: the contests, and each contestant's library as a bundler would deliver it.

import { join } from 'node:path'

export type PageScripts = ReadonlyMap<string, string>

/** The library of each contestant. The bare loops have none. */
const LIBRARIES: Readonly<Record<string, { readonly from: string; readonly code: string }>> = {
  tus: { from: 'bench', code: "import { Upload } from 'tus-js-client'; globalThis.rival = { Upload }" },
  uppy: { from: 'bench', code: uppyCode() },
  uppy5: { from: join('bench', 'uppy-5'), code: uppyCode() },
}

/** Bundles the scripts. `dist` holds the product as shipped. Libraries that are not installed are left out. */
export async function bundlePages(root: string, dist: string): Promise<PageScripts> {
  const { build } = await import('esbuild')
  const bundle = async (resolveDir: string, contents: string, loader: 'js' | 'ts' = 'js'): Promise<string> => {
    const { outputFiles } = await build({
      stdin: { contents, resolveDir, loader },
      ...{ bundle: true, format: 'esm', target: 'es2023', platform: 'browser', minify: true },
      ...{ write: false, logLevel: 'silent' },
    })
    return outputFiles[0]?.text ?? ''
  }
  const scripts = new Map([
    ['page', await bundle(join(root, 'bench', 'browser'), "import './in-page.ts'", 'ts')],
    ['uplink', await bundle(dist, "import * as rival from './browser.js'; globalThis.rival = rival")],
    ['xhr', ''],
    ['slices', ''],
  ])
  for (const [name, { from, code }] of Object.entries(LIBRARIES)) {
    const script = await bundle(join(root, from), code).catch(() => undefined)
    if (script !== undefined) scripts.set(name, script)
  }
  return scripts
}

function uppyCode(): string {
  return "import { Uppy } from '@uppy/core'; import AwsS3 from '@uppy/aws-s3'; globalThis.rival = { Uppy, AwsS3 }"
}
