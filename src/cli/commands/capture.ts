// `mocap-uplink capture`: uploads motion capture files into a new session or a known one.

import { type Command, Option } from 'commander'
import type { CaptureKind } from '../../client/capture-kind.ts'
import { checkDate, checkId, checkText } from '../../client/checks.ts'
import { invalid, known } from '../../core/errors.ts'
import { given } from '../../core/given.ts'
import type { CapturesInput } from '../../flows/captures.ts'
import { interruptible, type CommandContext } from '../command-context.ts'
import { findFiles } from '../found-files.ts'
import { addExamples } from '../views/help-texts.ts'
import { parseInteger } from '../options/option-values.ts'
import { addTransferOptions, type SharedOptions } from '../options/options.ts'
import { runUploadCommand } from './upload-command.ts'
import { frameRateOf } from './video.ts'

interface CaptureOptions extends SharedOptions {
  readonly org?: string
  readonly mocapType?: string
  readonly sessionType?: string
  readonly date?: string
  readonly kind?: CaptureKind
  readonly frameRate?: string
  readonly reprocess?: boolean
  readonly rename?: boolean
  readonly session?: string
}

export function addCaptureCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('capture')
    .description('upload motion capture files, in the order in which they are given')
    .argument('<path...>', 'files; a directory means the files in it, in natural order')
    .option('--org <id>', 'id of the organisation (required without --session)')
    .option('--mocap-type <n>', 'id of the mocap type, the source of the captures (required)')
    .option('--session-type <n>', 'id of the session type (required without --session)')
    .option('--date <day>', 'the day of capture, YYYY-MM-DD (required without --session)')
    .addOption(
      new Option('--kind <kind>', 'what the files are (default: .mov and .mp4 are video, others tracking)').choices([
        'video',
        'tracking',
      ]),
    )
    .option('--frame-rate <n>', 'frames per second; needed for video')
    .option('--reprocess', 'send files again whose names the session already has')
    .option('--rename', "put the folder's name before file names that appear twice")
    .option('--session <id>', 'add to a known session')
  addExamples(
    command,
    'Example',
    'mocap-uplink capture ./game-0119 --org org-1a2b3c4d --mocap-type 2 \\',
    '  --session-type 1 --date 2026-11-19',
  )
  addTransferOptions(command).action(async (paths: string[], options: CaptureOptions) => {
    const output = context.begin('capture', options)
    const fields = captureFields(options)
    const files = await interruptible(findFiles(paths, 'any', output), context.interruption)
    const input: CapturesInput = { ...fields, files }
    const code = await runUploadCommand(context, output, options, {
      flow: 'capture',
      files,
      plan: (uplink) => uplink.planCaptures(input),
      start: (uplink) => uplink.uploadCaptures(input),
    })
    context.exitWith(code)
  })
}

type CaptureFields = CapturesInput extends infer T ? (T extends CapturesInput ? Omit<T, 'files'> : never) : never

function captureFields(options: CaptureOptions): CaptureFields {
  requireFields(options)
  const shared = {
    mocapTypeId: parseInteger(known(options.mocapType), '--mocap-type'),
    reprocess: options.reprocess ?? false,
    rename: options.rename ?? false,
    ...given({ kind: options.kind, frameRate: frameRateOf(options.frameRate) }),
  }
  const sessionTypeId =
    options.sessionType === undefined ? undefined : parseInteger(options.sessionType, '--session-type')
  const sessionDate = options.date === undefined ? undefined : checkDate(options.date, '--date')
  if (options.session !== undefined) {
    const sessionId = checkId(options.session, '--session')
    return { ...shared, sessionId, ...given({ orgId: options.org, sessionTypeId, sessionDate }) }
  }
  const orgId = checkText(options.org, '--org')
  return { ...shared, orgId, sessionTypeId: known(sessionTypeId), sessionDate: known(sessionDate) }
}

/**
 * Throws if options are missing, and names all of them: commander would complain of --mocap-type first, and of the rest at the
 * next try.
 */
function requireFields({ org, mocapType, sessionType, date, session }: CaptureOptions): void {
  const ofNewSession = session === undefined ? { '--org': org, '--session-type': sessionType, '--date': date } : {}
  const needed = { '--mocap-type': mocapType, ...ofNewSession }
  const missing = Object.entries(needed).flatMap(([name, value]) => (value === undefined ? [name] : []))
  if (missing.length === 0) return
  const them = missing.length > 1 ? 'are missing: give them' : 'is missing: give it'
  const isOther = missing.some((name) => name in ofNewSession)
  const also = missing.length > 1 && mocapType === undefined ? '--mocap-type and ' : ''
  const or = isOther ? `, or ${also}a known session with --session` : ''
  invalid(`${missing.join(', ')} ${them}${or}. See mocap-uplink help capture.`)
}
