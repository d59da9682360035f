// What the commands share that make one call of the service: show it with --dry-run, or make it and say how it ended.

import type { CallOptions } from '../client/operations.ts'
import type { Uplink } from '../uplink.ts'
import type { CommandContext, CommandFlow } from './command-context.ts'
import type { SharedOptions } from './options/options.ts'
import { uplinkFromOptions } from './options/uplink-from-options.ts'
import { called, type Doubt } from './unclear-end.ts'
import type { Output } from './views/output.ts'
import { printCalls } from './views/plan-view.ts'

export interface SingleCall<T> {
  readonly flow: CommandFlow
  /** What `--dry-run` shows. */
  readonly shown: string
  /** What to say if it may have been done without an answer. Undefined for a call that only reads. */
  readonly doubt?: Doubt | undefined
  make(client: Uplink['client'], calling: CallOptions): Promise<T>
}

/** Resolves with the answer, and in a dry run with undefined. Rejects as the call does. */
export async function answerTo<T extends object>(
  context: CommandContext,
  output: Output,
  options: SharedOptions,
  { flow, shown, doubt, make }: SingleCall<T>,
): Promise<T | undefined> {
  const { client } = await uplinkFromOptions(options, context)
  if (options.dryRun === true) {
    printCalls(output, flow, [shown])
    return undefined
  }
  return called(context, output, (calling) => make(client, calling), doubt)
}
