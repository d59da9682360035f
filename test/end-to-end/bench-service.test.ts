// The benchmark of the service works: tiny sizes through real copies and a real PostgreSQL server, and what it fills a
// database with is what the service of today keeps there.

import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { build, type Options } from 'tsup'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { isInstalled, LOAD_GENERATOR } from '../../bench/contestants/field.ts'
import type { BenchSetting } from '../../bench/part.ts'
import { describeMachine } from '../../bench/report/machine.ts'
import { servicePart } from '../../bench/service/part.ts'
import { tablesPart } from '../../bench/service/tables-part.ts'
import config from '../../tsup.config.ts'
import { postgresPrograms } from '../helpers/postgres-server.ts'

const root = resolve('.')
const hasGenerator = isInstalled(root, LOAD_GENERATOR)
if (!hasGenerator) console.warn('SKIPPED: calls a second were not tried; autocannon is not installed in bench/.')

describe.skipIf(postgresPrograms === undefined)('the benchmark of the service', () => {
  let folder: string
  let setting: BenchSetting

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-bench-service-test-'))
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
    await writeFile(join(folder, 'package.json'), '{"type":"module"}')
    const [faces] = config as readonly Options[]
    const quietly: Options = { config: false, silent: true, sourcemap: false, dts: false, format: ['esm'] }
    const [dist, programs] = [join(folder, 'dist'), join(folder, 'programs')]
    await build({ ...faces, ...quietly, entry: { service: 'src/service/index.ts' }, outDir: dist })
    await mkdir(programs)
    await build({
      ...quietly,
      ...{ entry: ['bench/service/copy.ts'], outDir: join(programs, 'service'), platform: 'node', target: 'node20' },
    })
    const machine = describeMachine({}, new Date(0))
    const say = (): void => {}
    setting = { root, dist, programs, scratch: folder, rounds: 1, isQuick: true, machine, say, keep: async () => {} }
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('fills databases that the service then lists, reads, adds to and confirms from', async () => {
    const result = (await tablesPart.run(setting))!

    const measured = result.runs.filter((run) => run.measures['ms'] !== undefined)
    expect(measured).toHaveLength(9 * 2)
    for (const { measures } of measured) expect(measures['ms']).toBeGreaterThan(0)
    expect(result.bars.map(({ status }) => status)).not.toContain('not measured')
    expect(result.plots).toHaveLength(1)
  })

  it.skipIf(!hasGenerator)('counts the calls of each kind in each arrangement', async () => {
    const result = (await servicePart.run(setting))!

    expect(result.shortfalls).toEqual([])
    expect(result.runs).toHaveLength(3 * 6)
    for (const { measures } of result.runs) {
      expect(measures['perSecond']).toBeGreaterThan(0)
      expect(measures['copiesCpuMs']).toBeGreaterThan(0)
    }
  })
})
