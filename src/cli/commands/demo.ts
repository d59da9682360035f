// `mocap-uplink demo`: runs the whole product once, on this machine, with files that it makes itself.

import type { Command } from 'commander'
import { given } from '../../core/given.ts'
import type { CommandContext } from '../command-context.ts'
import { makeFolderOrTemporary } from '../options/folder-option.ts'
import { addOutputOptions } from '../options/options.ts'

interface DemoOptions {
  readonly keep?: string
  readonly open?: boolean
  readonly json?: boolean
  readonly quiet?: boolean
}

export function addDemoCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('demo')
    .description('start the service, make sample captures and videos, run all three flows, show the report')
    .option('--keep <dir>', 'keep samples and stored objects in this folder (default: a temporary one, removed)')
    .option('--open', 'open the page of the service in a browser, and keep it running until Ctrl-C')
  addOutputOptions(command).action(async (options: DemoOptions) => {
    const output = context.begin('demo', options)
    const { interruption } = context
    await makeFolderOrTemporary(options.keep, '--keep')
    // Imported only here: no other command needs samples or a service.
    const { runDemo } = await import('../demo/demo.ts')
    context.exitWith(
      await runDemo({
        output,
        interruption,
        env: context.env,
        isShown: options.open ?? false,
        ...given({ keep: options.keep }),
      }),
    )
  })
}
