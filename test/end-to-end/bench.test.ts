// The benchmark works: tiny sizes through the real programs, processes and server; and nobody wins by sending less, or the same
// bytes twice.

import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { build, type Options } from 'tsup'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import {
  CURL,
  isInstalled,
  LIB_STORAGE,
  OUR_COMMAND,
  OURS,
  TUS,
  type Contestant,
} from '../../bench/contestants/field.ts'
import { runInterleaved } from '../../bench/measure/interleaved.ts'
import type { BenchSetting } from '../../bench/part.ts'
import { smallPart } from '../../bench/parts/small.ts'
import { uploadPart } from '../../bench/parts/upload.ts'
import { describeMachine } from '../../bench/report/machine.ts'
import { writeResult } from '../../bench/report/write-result.ts'
import config from '../../tsup.config.ts'

const isThere = (program: string): boolean => {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
const hasCompiler = ['cc', 'gcc', 'clang'].some(isThere)
if (!hasCompiler) console.warn('SKIPPED: the smoke test of the benchmark needs a C compiler (cc).')

describe.skipIf(!hasCompiler)('the benchmark', () => {
  let folder: string
  let setting: BenchSetting

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-bench-test-'))
    await symlink(resolve('node_modules'), join(folder, 'node_modules'))
    await writeFile(join(folder, 'package.json'), '{"type":"module"}')
    const options = config as readonly Options[]
    const [faces] = options
    const command = options.find(({ outDir }) => outDir === 'dist/cli')!
    const quietly: Options = { config: false, silent: true, sourcemap: false, dts: false, format: ['esm'] }
    const dist = join(folder, 'dist')
    const programs = join(folder, 'programs')
    // Without the plugins that name XState and undici by our package.json: this copy has none. Node loads the packages themselves.
    const plainly: Options = { esbuildPlugins: [], noExternal: [] }
    await build({ ...faces, ...quietly, ...plainly, entry: { node: 'src/node.ts' }, outDir: dist })
    await build({ ...command, ...quietly, outDir: join(dist, 'cli') })
    await build({
      ...quietly,
      entry: ['bench/contestants/*.ts'],
      splitting: false,
      outDir: join(programs, 'contestants'),
    })
    const machine = describeMachine({}, new Date(0))
    const say = (): void => {}
    setting = {
      root: resolve('.'),
      dist,
      programs,
      scratch: '',
      rounds: 1,
      isQuick: true,
      machine,
      say,
      keep: async () => {},
    }
  })

  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('sends a file by every contestant that is there, and keeps every run', async () => {
    const scratch = join(folder, 'upload')
    await mkdir(scratch)
    const result = (await uploadPart.run({ ...setting, scratch }))!

    const rivals = [TUS, LIB_STORAGE].filter((name) => isInstalled(setting.root, name))
    const there = [OURS, OUR_COMMAND, 'bare undici loop', ...(isThere('curl') ? [CURL] : []), ...rivals]
    expect(result.runs.map((run) => run.contestant)).toEqual(there)
    expect(result.shortfalls).toHaveLength(6 - there.length)
    for (const { measures } of result.runs) {
      for (const name of ['wallMs', 'cpuMs', 'gigabytesPerSecond', 'cpuSecondsPerGib', 'peakMib']) {
        expect(measures[name]).toBeGreaterThan(0)
      }
    }
    expect(result.runs[0]!.measures['progressEvents']).toBeGreaterThan(0)
    await writeResult(join(folder, 'results'), result, setting.machine)
    expect((await readdir(join(folder, 'results'))).toSorted()).toEqual(['summary.md', 'upload.json', 'upload.svg'])
  })

  it('sends a folder of captures, and asks the service for an address of each', async () => {
    const scratch = join(folder, 'small')
    await mkdir(scratch)
    const result = (await smallPart.run({ ...setting, scratch }))!

    expect(result.shortfalls).toEqual([])
    expect(result.runs.map((run) => run.measures['bodies'])).toEqual(result.runs.map(() => 120))
    expect(result.bars.map((bar) => bar.status)).not.toContain('not measured')
  })

  it('throws out who sends less than the file, or the same part twice, or fails, and goes on with the others', async () => {
    /** Sends pieces of a file, each with its stamp: where it says that it begins, and its length. */
    const sender = (name: string, pieces: readonly (readonly [number, number])[], exit = 0): Contestant => ({
      ...{ name, isOurs: false, load: { files: 1, bytes: 1_000 } },
      command: ({ storageOrigin }) => ({
        program: process.execPath,
        args: [
          '-e',
          `const piece = ([at, length]) => {
            const body = Buffer.alloc(length)
            body.write('moc@')
            body.writeBigUInt64BE(BigInt(at), 8)
            return fetch('${storageOrigin}/x', { method: 'PUT', body })
          }
          Promise.all(${JSON.stringify(pieces)}.map(piece)).then(() => process.exit(${exit}))`,
        ],
      }),
    })
    const halves = [
      [0, 500],
      [500, 500],
    ] as const
    const contestants = [
      sender('honest', halves),
      sender('cheat', [[0, 999]]),
      sender('twice', [halves[0], halves[0]]),
      sender('fails', halves, 7),
    ]
    const { runs, shortfalls } = await runInterleaved(setting, { contestants, rounds: 2 })

    expect(runs.map(({ contestant, round }) => [contestant, round])).toEqual([
      ['honest', 1],
      ['honest', 2],
    ])
    expect(shortfalls).toHaveLength(3)
    expect(shortfalls[0]).toContain('received 999 bytes of the 1000')
    expect(shortfalls[1]).toContain("500 were not the files'")
    expect(shortfalls[2]).toContain('ended with 7')
  })
})
