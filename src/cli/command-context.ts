// What every command receives, and the few steps that all of them share.

import { unlessAborted } from '../core/unless-aborted.ts'
import type { Environment } from './options/credentials-from-options.ts'
import type { SharedOptions } from './options/options.ts'
import type { Output } from './views/output.ts'
import type { Interruption } from './signals.ts'

/** The flows of the contract, and the commands that are no flow. */
export const COMMAND_FLOWS = Object.freeze([
  'video',
  'capture',
  'analysis',
  'segment',
  'sessions',
  'resume',
  'cancel',
  'receipt',
  'api',
  'serve',
  'demo',
] as const)
export type CommandFlow = (typeof COMMAND_FLOWS)[number]

export interface CommandContext {
  readonly env: Environment
  readonly interruption: Interruption
  /** Begins a command. From here on, errors are reported in its output mode and under its flow. */
  begin(flow: CommandFlow, options: Pick<SharedOptions, 'json' | 'quiet'>): Output
  /** Fields of the result with which `--json` ends, if the command ends early, with an error or by a signal. */
  addToResult(fields: Readonly<Record<string, unknown>>): void
  /** Hands the exit code to the process. A command that neither does so nor throws ends with 0. */
  exitWith(code: number): void
}

/** Resolves with the task's value. Rejects with the signal's reason as soon as the process is asked to stop. */
export function interruptible<T>(task: Promise<T>, { signal }: Interruption): Promise<T> {
  return unlessAborted(task, signal)
}
