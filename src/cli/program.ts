// The command line as commander sees it: every command, and how mistakes of use are reported.

import type { Command } from 'commander'
import { version } from '../../package.json'
import { addHelpCommand, UplinkCommand } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { addAnalysisCommand } from './commands/analysis.ts'
import { addApiCommand } from './commands/api.ts'
import { addCancelCommand } from './commands/cancel.ts'
import { addCaptureCommand } from './commands/capture.ts'
import { addDemoCommand } from './commands/demo.ts'
import { addReceiptCommand } from './commands/receipt.ts'
import { addResumeCommand } from './commands/resume.ts'
import { addSegmentCommand } from './commands/segment.ts'
import { addServeCommand } from './commands/serve.ts'
import { addSessionsCommand } from './commands/sessions.ts'
import { addVideoCommand } from './commands/video.ts'
import { addBelow, addExamples, markRequired } from './views/help-texts.ts'

const EXIT_CODES =
  'Exit codes: 0 all confirmed; 1 failed; 2 wrong use or invalid input, found before any call; 3 some files confirmed, some ' +
  'not; 4 the service refused the credentials and nothing was confirmed; 130, 143, 129 interrupted by Ctrl-C, SIGTERM, SIGHUP.'

/** Builds the program. It throws CommanderError instead of ending the process, and prints help only. */
export function createProgram(context: CommandContext): Command {
  const program = new UplinkCommand('mocap-uplink')
    .description('Uploads motion capture files and videos, and requests analyses.')
    // Not -V as well: commander finds that anywhere, and of *.mp4 with a file -V1.mp4 nothing was sent, and the exit code 0.
    .version(version, '--version')
    .exitOverride()
    // A mistake is reported where all errors are. Help goes where commander sends it.
    .configureOutput({ outputError: () => undefined })
  markRequired(program)
  addExamples(
    program,
    'To begin',
    'mocap-uplink demo                everything on this machine, with samples',
    'mocap-uplink help video          what one command takes',
    'export MOCAP_BASE_URL=https://…  the service, and MOCAP_API_KEY its key',
  )
  addBelow(program, EXIT_CODES)
  addVideoCommand(program, context)
  addCaptureCommand(program, context)
  addSessionsCommand(program, context)
  addResumeCommand(program, context)
  addCancelCommand(program, context)
  addReceiptCommand(program, context)
  addSegmentCommand(program, context)
  addAnalysisCommand(program, context)
  addApiCommand(program, context)
  addServeCommand(program, context)
  addDemoCommand(program, context)
  addHelpCommand(program)
  return program
}
