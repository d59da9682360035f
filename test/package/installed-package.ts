// The package as it is published, in an empty project: packed and installed, with the means to compile against it.

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..')

/** Packs what is built, installs it, and gives the project's folder, which is the caller's to remove. */
export function installPackage(): string {
  const project = mkdtempSync(join(tmpdir(), 'mocap-uplink-package-'))
  // What is built already is not built again.
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', project]
  const packed = execFileSync('npm', pack, { cwd: root, encoding: 'utf8' })
  const [{ filename }] = JSON.parse(packed.slice(packed.indexOf('['))) as [{ filename: string }]
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'host', private: true, type: 'module' }))
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--omit=optional', join(project, filename)], {
    cwd: project,
    stdio: 'pipe',
  })
  return project
}

const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')

/** Compiles a file of the project strictly, the library's own declarations too. */
export function compile(project: string, file: string, ...options: readonly string[]) {
  const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules', '@types')]
  const strictest = ['--strict', '--target', 'es2022', '--exactOptionalPropertyTypes', ...options]
  return runCompiler(project, '--noEmit', ...types, ...strictest, file)
}

/** Compiles a folder as its own tsconfig.json says. */
export function compileCopy(folder: string) {
  return runCompiler(folder, '--noEmit')
}

function runCompiler(cwd: string, ...options: readonly string[]) {
  const { stdout, status } = spawnSync(process.execPath, [compiler, ...options], { cwd, encoding: 'utf8' })
  return { stdout, status }
}
