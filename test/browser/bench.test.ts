// The benchmark in a browser works: tiny sizes through the real pages and servers, and every byte counted.

import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { build, type Options } from 'tsup'
import { expect, onTestFinished, test } from 'vitest'
import { isInstalled, OURS, TUS, UPPY, UPPY_5 } from '../../bench/contestants/field.ts'
import { browserPart } from '../../bench/parts/browser.ts'
import { describeMachine } from '../../bench/report/machine.ts'
import config from '../../tsup.config.ts'
import { chromiumPath } from './rig/chromium.ts'

const hasCompiler = ['cc', 'gcc', 'clang'].some((program) => {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})
if (!hasCompiler) console.warn('SKIPPED: the smoke test of the browser benchmark needs a C compiler (cc).')

test.skipIf(chromiumPath === undefined || !hasCompiler)('every contestant that is there sends every byte', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-page-bench-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const dist = join(folder, 'dist')
  const [scratch, programs] = [join(folder, 'scratch'), join(folder, 'programs')]
  await Promise.all([mkdir(scratch), mkdir(programs)])
  const [faces] = config as [Options]
  const quietly: Options = { config: false, silent: true, sourcemap: false, dts: false, format: ['esm'] }
  // Without the plugin that names XState by our package.json: this copy has none.
  const whole: Options = { noExternal: [/./], esbuildPlugins: [] }
  await build({ ...faces, ...quietly, ...whole, entry: { browser: 'src/browser.ts' }, outDir: dist })
  const root = resolve('.')
  const machine = describeMachine({}, new Date(0))
  const setting = {
    root,
    dist,
    programs,
    scratch,
    rounds: 1,
    isQuick: true,
    machine,
    say: () => undefined,
    keep: async () => {},
  }

  const result = (await browserPart.run(setting))!

  const rivals = [TUS, UPPY, UPPY_5].filter((name) => isInstalled(root, name))
  const there = [OURS, 'bare XMLHttpRequest', 'bare XMLHttpRequest, slices', ...rivals]
  expect(result.runs.map(({ contestant, setting: at }) => [contestant, at?.['files']])).toEqual(
    [1, 12].flatMap((files) => there.map((name) => [name, files])),
  )
  expect(result.shortfalls).toHaveLength(2 * (6 - there.length))
  for (const { measures } of result.runs) expect(measures['gigabytesPerSecond']).toBeGreaterThan(0)
})
