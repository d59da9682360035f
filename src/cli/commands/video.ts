// `mocap-uplink video`: uploads single-camera videos of one player.

import type { Command } from 'commander'
import { checkDate, checkFrameRate, checkText } from '../../client/checks.ts'
import { given } from '../../core/given.ts'
import { interruptible, type CommandContext } from '../command-context.ts'
import { findFiles } from '../found-files.ts'
import { addExamples } from '../views/help-texts.ts'
import { parseDecimal, parseInteger } from '../options/option-values.ts'
import { addTransferOptions, type SharedOptions } from '../options/options.ts'
import { runUploadCommand } from './upload-command.ts'

interface VideoOptions extends SharedOptions {
  readonly movementType: string
  readonly player: string
  readonly date: string
  readonly sessionType: string
  readonly frameRate?: string
}

export function addVideoCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('video')
    .description('upload single-camera videos of one player')
    .argument('<file...>', '.mov and .mp4 files; a directory means those in it, in natural order')
    .requiredOption('--movement-type <n>', 'id of the movement type')
    .requiredOption('--player <id>', 'id of the player')
    .requiredOption('--date <day>', 'the day of capture, YYYY-MM-DD')
    .requiredOption('--session-type <n>', 'id of the session type')
    .option('--frame-rate <n>', 'frames per second of the clips')
  addExamples(
    command,
    'Example',
    'mocap-uplink video swing-*.mp4 --movement-type 1 --player p-17 \\',
    '  --date 2026-11-20 --session-type 2 --frame-rate 240',
  )
  command
    .optionsGroup('Upload:')
    .option('--part-size <size>', 'bytes of a part (default: a 128th of the file, 5 MiB to 16 MiB)')
  addTransferOptions(command).action(async (paths: string[], options: VideoOptions) => {
    const output = context.begin('video', options)
    const fields = {
      movementTypeId: parseInteger(options.movementType, '--movement-type'),
      playerId: checkText(options.player, '--player'),
      sessionDate: checkDate(options.date, '--date'),
      sessionTypeId: parseInteger(options.sessionType, '--session-type'),
      ...given({ frameRate: frameRateOf(options.frameRate) }),
    }
    const files = await interruptible(findFiles(paths, 'video', output), context.interruption)
    const input = { ...fields, files }
    const code = await runUploadCommand(context, output, options, {
      flow: 'video',
      files,
      plan: (uplink) => uplink.planVideos(input),
      start: (uplink) => uplink.uploadVideos(input),
    })
    context.exitWith(code)
  })
}

/** The frames a second of `--frame-rate`, if it is given. */
export function frameRateOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : checkFrameRate(parseDecimal(text, '--frame-rate'), '--frame-rate')
}
