// A small torture: ten kills at random moments over several videos and captures. `npm run torture` runs a longer one.

import { afterAll, beforeAll, expect, it } from 'vitest'

import { runTorture } from '../torture/torture.ts'
import { installCli } from './cli-under-test.ts'
import type { CliUnderTest } from './cli-under-test.ts'

let cli: CliUnderTest

beforeAll(async () => {
  cli = await installCli()
})
afterAll(() => cli.remove())

it('keeps every promise over ten kills', { timeout: 360_000 }, async () => {
  const seed = Number(process.env['FC_SEED'])
  const lines: string[] = []

  const report = await runTorture({ entry: cli.entry, kills: 10, seed, megabytes: 60, say: (line) => lines.push(line) })

  expect(report).toMatchObject({ kills: 10, breaches: [], objects: report.files * report.rounds })
  expect(report.sentBytes).toBeGreaterThanOrEqual(report.sourceBytes)
})
