// What the two uploading commands share: plan, show the plan or upload, and print the result.

import { hostOf } from '../../core/address/address.ts'
import type { PlannedFile, Source } from '../../core/ports.ts'
import type { Upload } from '../../flows/upload.ts'
import type { UploadPlan } from '../../flows/plan-upload.ts'
import type { Uplink } from '../../uplink.ts'
import { interruptible, type CommandContext } from '../command-context.ts'
import { EXIT } from '../exit-codes.ts'
import { checkReceiptPath, writeReceipt } from '../receipt-file.ts'
import { commandLine } from '../views/command-line.ts'
import { sayHowToGoOn } from '../views/how-to-go-on.ts'
import { givenBefore } from '../given-before.ts'
import { keptSessions, type KeptSessions } from '../kept-sessions.ts'
import type { SharedOptions } from '../options/options.ts'
import type { Output } from '../views/output.ts'
import { printPlan } from '../views/plan-view.ts'
import { followUpload } from '../run-upload.ts'
import { baseUrlOf, uplinkFromOptions } from '../options/uplink-from-options.ts'
import { exitCodeOf, printResult } from '../upload-result.ts'

/** What a command asks of an Uplink. `plan` and `start` get the same input. */
export interface UploadRequest {
  readonly flow: 'video' | 'capture'
  readonly files: readonly { readonly source: Source }[]
  plan(uplink: Uplink): Promise<UploadPlan>
  start(uplink: Uplink): Upload
}

/** Printed if there is no session to resume, because its record could not even be begun. */
const NOT_BEGUN = 'Missing: everything. Nothing was begun: run the command again when this is fixed.'

/** Runs the upload and resolves with its exit code. Rejects with what is found wrong before any call. */
export async function runUploadCommand(
  context: CommandContext,
  output: Output,
  options: SharedOptions,
  request: UploadRequest,
): Promise<number> {
  if (options.receipt !== undefined)
    await interruptible(checkReceiptPath(options.receipt, '--receipt'), context.interruption)
  const kept = keptSessions(options, context)
  const uplink = await uplinkFromOptions(options, context, kept.journal)
  // Planned first, so that whatever is wrong with a file is found before any call, and counts as wrong use.
  const plan = await interruptible(request.plan(uplink), context.interruption)
  if (options.dryRun === true) {
    printPlan(output, request.flow, plan)
    return EXIT.done
  }
  const given = new Map(request.files.map(({ source }, index) => [source.location, plan.files[index] as PlannedFile]))
  const warning = warnOfUnfinished(given, kept, { output, options, env: context.env })
  await interruptible(warning, context.interruption).catch((error: unknown) => {
    // A journal that cannot be listed cannot be begun either, and the upload says so itself.
    if (context.interruption.reason !== undefined) throw error
  })
  const upload = request.start(uplink)
  output.event('start', { flow: request.flow, key: upload.key, files: plan.files.length, bytes: plan.bytes })
  const result = await followUpload(upload, { output, uplink, interruption: context.interruption }).result
  const stoppedBy = context.interruption.reason
  printResult(output, result)
  const at = { options, env: context.env, journal: kept.journal }
  await sayHowToGoOn(output, result, at)
  if (result.status === 'failed' && result.files.length === 0) output.complain(NOT_BEGUN)
  if (options.receipt !== undefined) await writeReceipt(options.receipt, upload.key, output, at, context.interruption)
  if (result.status === 'interrupted') await kept.close()
  return exitCodeOf(result.status, [result], stoppedBy)
}

interface Told {
  readonly output: Output
  readonly options: SharedOptions
  readonly env: CommandContext['env']
}

/** Says that another session has some of the files, since nobody means to deliver them twice. */
async function warnOfUnfinished(
  given: ReadonlyMap<string | undefined, PlannedFile>,
  kept: KeptSessions,
  { output, options, env }: Told,
): Promise<void> {
  const before = await givenBefore(given, kept, hostOf(baseUrlOf(options, env) ?? ''))
  if (before === undefined) return
  const { key, count } = before
  const message =
    `${key} is not finished and has ${count} of these files, which a later resume would deliver a second time. ` +
    `To finish that one instead, end this, then: ${commandLine('resume', key, options, env)}. ` +
    `To give up what it has not delivered: ${commandLine('cancel --keep-confirmed', key, options, env)}`
  output.event('warning', { message })
  output.complain(`warning: ${message}`)
}
