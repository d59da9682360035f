// The types of every entry point of the published package, as each way of resolving modules finds them. Needs a build.

import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import manifest from '../../package.json'
import { compile, installPackage } from '../package/installed-package.ts'

let project: string
beforeAll(() => {
  execFileSync('npm', ['run', 'build', '--', '--silent'], { stdio: 'pipe' })
  project = installPackage()
})
afterAll(() => rmSync(project, { recursive: true, force: true }))

describe('the packed package', () => {
  it.each([
    ['node16, by import', 'all.mts', ['--module', 'node16']],
    ['node16, by require', 'all.cts', ['--module', 'node16']],
    ['bundler', 'all.mts', ['--module', 'esnext', '--moduleResolution', 'bundler']],
  ])('has types for every entry point where modules are resolved as %s', (_how, file, options) => {
    // The hasher of browsers is for import alone, and workers and the manifest have no types.
    const isTyped = (path: string) =>
      !/worker|json$/.test(path) && (path !== './browser-hasher' || file.endsWith('.mts'))
    const paths = Object.keys(manifest.exports).filter(isTyped)
    const imports = paths.map((path, index) => `import * as face${index} from 'mocap-uplink${path.slice(1)}'`)
    const uses = paths.map((_path, index) => `face${index}`).join(', ')
    writeFileSync(join(project, file), [...imports, `export const all: readonly object[] = [${uses}]`].join('\n'))

    expect(paths.length).toBeGreaterThan(8)
    expect(compile(project, file, ...options, '--lib', 'es2022,dom,dom.iterable')).toEqual({ stdout: '', status: 0 })
  })
})
