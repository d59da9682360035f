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
    // Workers and the manifest have no types. The hasher of browsers and the suites for vitest are for import alone.
    const isTyped = (path: string) =>
      !/worker|json$/.test(path) && (file.endsWith('.mts') || !['./browser-hasher', './testing'].includes(path))
    const paths = Object.keys(manifest.exports).filter(isTyped)
    const imports = paths.map((path, index) => `import * as face${index} from 'mocap-uplink${path.slice(1)}'`)
    const uses = paths.map((_path, index) => `face${index}`).join(', ')
    writeFileSync(join(project, file), [...imports, `export const all: readonly object[] = [${uses}]`].join('\n'))

    expect(paths.length).toBeGreaterThan(8)
    expect(compile(project, file, ...options, '--lib', 'es2022,dom,dom.iterable')).toEqual({ stdout: '', status: 0 })
  })

  it('has one type of the element for a program that imports it in one file and requires it in another', () => {
    const both = "import * as face from 'mocap-uplink/element'\n"
    const use = "export const found: face.MocapUploaderElement | null = document.querySelector('mocap-uploader')\n"
    writeFileSync(join(project, 'imported.mts'), both + use)
    writeFileSync(join(project, 'required.cts'), both + use)
    writeFileSync(join(project, 'both.mts'), "import './imported.mjs'\nimport './required.cjs'\n")

    const options = ['--module', 'node16', '--lib', 'es2022,dom,dom.iterable']
    expect(compile(project, 'both.mts', ...options)).toEqual({ stdout: '', status: 0 })
  })
})
