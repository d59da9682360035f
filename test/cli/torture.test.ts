// A small torture: five kills at random moments over several videos and captures. `npm run ci:long` has two hundred.

import { afterAll, beforeAll, expect, it } from 'vitest'

import { runTorture } from '../torture/torture.ts'
import { installCli } from './cli-under-test.ts'
import type { CliUnderTest } from './cli-under-test.ts'

let cli: CliUnderTest

beforeAll(async () => {
  cli = await installCli()
})
afterAll(() => cli.remove())

it('keeps every promise over five kills', { timeout: 360_000 }, async () => {
  const seed = Number(process.env['FC_SEED'])
  const lines: string[] = []

  const report = await runTorture({ entry: cli.entry, kills: 5, seed, megabytes: 60, say: (line) => lines.push(line) })

  expect(report).toMatchObject({ kills: 5, breaches: [], objects: report.files * report.rounds })
  // Kills before anything is sent would prove nothing.
  expect(report.killsMidway).toBeGreaterThanOrEqual(3)
  expect(report.sentBytes).toBeGreaterThanOrEqual(report.sourceBytes)
})
