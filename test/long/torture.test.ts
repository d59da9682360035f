// The long torture: two hundred kills over 2 GiB of videos and captures.

import { afterAll, beforeAll, expect, it } from 'vitest'

import { installCli } from '../cli/cli-under-test.ts'
import type { CliUnderTest } from '../cli/cli-under-test.ts'
import { runTorture } from '../torture/torture.ts'

let cli: CliUnderTest

beforeAll(async () => {
  cli = await installCli()
})
afterAll(() => cli.remove())

it('keeps every promise over two hundred kills and 2 GiB', { timeout: 1_800_000 }, async () => {
  const seed = Number(process.env['FC_SEED'])
  const say = (line: string) => void process.stdout.write(`${line}\n`)

  const report = await runTorture({ entry: cli.entry, kills: 200, seed, megabytes: 2048, say })

  say(JSON.stringify(report))
  expect(report).toMatchObject({ kills: 200, breaches: [], objects: report.files * report.rounds })
  expect(report.killsMidway).toBeGreaterThanOrEqual(150)
})
