// What the command `serve` takes: its options as commander knows them, and the environment variables that its sources read.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { Command } from 'commander'

import type { CommandContext } from '../../src/cli/command-context.ts'
import { addJwtOptions } from '../../src/cli/serve/jwt-from-options.ts'
import { addLimitOptions } from '../../src/cli/serve/limits-from-options.ts'
import { createProgram } from '../../src/cli/program.ts'

export const root = join(import.meta.dirname, '../..')

/** The long names of all options of `serve`, or of a command under it. */
export function optionsOfServe(under?: string): string[] {
  const idle = () => {
    throw new Error('Nothing is run here.')
  }
  const context: CommandContext = {
    ...{ env: {}, begin: idle, exitWith: idle, addToResult: idle },
    interruption: undefined as never,
  }
  const named = (commands: readonly Command[], name: string) => commands.find((one) => one.name() === name)!
  const serve = named(createProgram(context).commands, 'serve')
  const command = under === undefined ? serve : named(serve.commands, under)
  return command.options.map(({ long }) => long!)
}

/** The variables that `serve` reads; those of the calling commands are not among them, nor is a constant of the library. */
export function variablesOfServe(): string[] {
  const folder = join(root, 'src/cli')
  const others = new Set(['MOCAP_BASE_URL', 'MOCAP_STATE_DIR', 'MOCAP_DEBUG', 'S3_LIMITS'])
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').match(/\b(?:MOCAP|S3)_[A-Z][A-Z_0-9]*\b|DATABASE_URL/g))
    .filter((name) => name !== null)
  // Those of the limits and of access tokens are made from the names of their options.
  const derived = new Command()
  addLimitOptions(derived)
  addJwtOptions(derived)
  const made = derived.options.map(({ long }) => `MOCAP_${long!.slice(2).replaceAll('-', '_').toUpperCase()}`)
  return [...new Set([...names, ...made])].filter((name) => !others.has(name)).sort()
}
