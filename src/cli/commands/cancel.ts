// `mocap-uplink cancel`: gives a session of the journal up, and tells the service where it has a call for that.

import type { Command } from 'commander'
import type { SessionSummary } from '../../flows/sessions.ts'
import type { UploadReport } from '../../flows/upload.ts'
import { interruptible, type CommandContext } from '../command-context.ts'
import { inWords } from '../views/operation-words.ts'
import { EXIT } from '../exit-codes.ts'
import { addBelow } from '../views/help-texts.ts'
import { commandLine, forgetLine, sayHowToForget } from '../views/how-to-go-on.ts'
import { keptSessions, readableSession } from '../kept-sessions.ts'
import { addServiceOptions, addStateOption, type SharedOptions } from '../options/options.ts'
import type { Output } from '../views/output.ts'
import { printCalls } from '../views/plan-view.ts'
import { isToldLater } from '../views/sessions-view.ts'
import { uplinkFromOptions } from '../options/uplink-from-options.ts'
import { resultOf } from '../upload-result.ts'
import { countOf } from '../views/wording.ts'

const HELP =
  'Ends with 0 when the service was told, or has nothing to be told: it has no call that ends a capture ' +
  'session. Ends with 1 when it could not be told; the same command tells it later.'

export function addCancelCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('cancel')
    .description('give a session up and tell the service')
    .argument('<key>', 'a session, as `mocap-uplink sessions` lists it')
  addBelow(command, HELP)
  addStateOption(command)
  addServiceOptions(command).action(async (key: string, options: SharedOptions) => {
    const output = context.begin('cancel', options)
    const kept = keptSessions(options, context.env)
    const uplink = await uplinkFromOptions(options, context.env, kept.journal)
    const forget = forgetLine(key, options, context.env)
    const session = await readableSession(kept, key, () => sayHowToForget(output, key, options, context.env))
    if (options.dryRun === true) {
      printCalls(output, 'cancel', callsOf(session))
      return
    }
    if (session.status === 'cancelled' && !isToldLater(session)) {
      context.exitWith(tellAgain(output, session))
      return
    }
    const again = commandLine('cancel', key, options, context.env)
    try {
      const report = await interruptible(uplink.cancelSession(key), context.interruption)
      context.exitWith(tellCancelled(output, report, session.sessionIds, { again, forget }))
    } catch (error) {
      if (context.interruption.reason !== undefined) {
        output.complain(`The cancel is not known to be over. To repeat it: ${again}`)
      }
      throw error
    }
  })
}

/** None for a capture, and for what is cancelled already. */
function callsOf({ flow, status, sessionIds, isServiceTold }: SessionSummary): readonly string[] {
  const isOver = flow !== 'video' || status === 'confirmed' || isServiceTold === true
  return isOver ? [] : sessionIds.map((id) => `cancel of session ${id}`)
}

function tellCancelled(
  output: Output,
  report: UploadReport,
  sessionIds: SessionSummary['sessionIds'],
  { again, forget }: { readonly again: string; readonly forget: string },
): number {
  const { flow, key, files, isServiceTold = false } = report
  const isNothingToTell = flow === 'capture' || sessionIds.length === 0
  const named = `${sessionIds.length > 1 ? 'sessions' : 'session'} ${sessionIds.join(', ')}`
  output.event('result', { ...resultOf(report), sessionIds, isServiceTold })
  if (report.hasPossibleOrphan) {
    output.complain('warning: a create had no clear answer, so the service may hold a session that nobody uses.')
  }
  if (isServiceTold) {
    output.answer(`cancelled: ${key}; the service was told to end ${named}`)
    return EXIT.done
  }
  if (isNothingToTell) {
    const stored = files.filter((file) => file.status === 'confirmed').length
    const left =
      flow === 'capture'
        ? `the service has no call that ends a capture session, and keeps the ${countOf(stored, 'file')} stored in it`
        : 'the service has no session of it that is known here'
    output.answer(`cancelled: ${key}; ${left}`)
    return EXIT.done
  }
  // What to do stands in the next line: the advice that goes with the code is for uploads.
  const { code, message } = report.error ?? {}
  if (message !== undefined) output.complain(`error: ${inWords(message)} (${code})`)
  if (code === 'ERR_UPLOAD_SERVICE_REFUSED') {
    output.complain(`The service was told and refused. To tell it once more: ${again}`)
    output.complain(`If it stays so, nothing more can be done here. To forget it here: ${forget}`)
  } else output.complain(`The service could not be told. To tell it: ${again}`)
  output.answer(`cancelled: ${key}; the service may still hold ${named}`)
  return EXIT.failed
}

/** Nothing is left to do; the service is not asked to end what it has ended. */
function tellAgain(output: Output, session: SessionSummary): number {
  const { key, flow, sessionId, sessionIds, bytes, isServiceTold } = session
  output.event('result', {
    flow: flow ?? null,
    status: 'cancelled',
    key,
    sessionId: sessionId ?? null,
    bytes,
    durationMs: 0,
    files: [],
    sessionIds,
    isServiceTold: isServiceTold ?? false,
  })
  output.answer(`cancelled: ${key} was cancelled before`)
  return EXIT.done
}
