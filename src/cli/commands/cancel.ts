// `mocap-uplink cancel`: gives up a session of the journal, and tells the service if it has a call for that.

import type { Command } from 'commander'
import type { SessionSummary } from '../../flows/sessions.ts'
import type { UploadReport } from '../../flows/upload.ts'
import { foldJournal, sessionsOf } from '../../core/journal/fold-journal.ts'
import { invalid } from '../../core/errors.ts'
import { interruptible, type CommandContext } from '../command-context.ts'
import { inWords } from '../views/operation-words.ts'
import { EXIT } from '../exit-codes.ts'
import { askPerson, hasPerson } from '../question.ts'
import { addBelow } from '../views/help-texts.ts'
import { commandLine, forgetLine } from '../views/command-line.ts'
import { isNotFound, sayHowToForget, WHY_UNKNOWN } from '../views/how-to-go-on.ts'
import { keptSessions, readableSession, type KeptSessions } from '../kept-sessions.ts'
import { addServiceOptions, addStateOption, type SharedOptions } from '../options/options.ts'
import type { Output } from '../views/output.ts'
import { printCalls } from '../views/plan-view.ts'
import { isOfProgram, isToldLater, OF_PROGRAM } from '../views/sessions-view.ts'
import { uplinkFromOptions } from '../options/uplink-from-options.ts'
import { resultOf } from '../upload-result.ts'
import { countOf, staysConfirmed } from '../views/wording.ts'

const HELP =
  'Gives the whole upload up, confirmed files too, unless --keep-confirmed lets these stay. Asks first where files are confirmed or may be, unless --yes or --json is given or there is no terminal to ask at; whoever says no ends it with 1. Ends with 0 when the service was told, or has nothing to be told: it has no call that ends a capture ' +
  'session. Ends with 1 when it could not be told; the same command tells it later. Without --keep-confirmed, ends with 2 where everything is confirmed: then there is nothing to give up.'

type SessionIds = SessionSummary['sessionIds']

interface CancelOptions extends SharedOptions {
  readonly keepConfirmed?: boolean
  readonly yes?: boolean
}

export function addCancelCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('cancel')
    .description('give a session up and tell the service')
    .argument('<key>', 'a session, as `mocap-uplink sessions` lists it')
    .option('--keep-confirmed', 'keep confirmed files and give up only the rest')
    .option('--yes', 'give up confirmed files without asking')
  addBelow(command, HELP)
  addStateOption(command)
  addServiceOptions(command).action(async (key: string, options: CancelOptions) => {
    const output = context.begin('cancel', options)
    const kept = keptSessions(options, context)
    const isKeeping = options.keepConfirmed === true
    const forget = forgetLine(key, options, context.env)
    const session = await readableSession(kept, key, () => sayHowToForget(output, key, options, context.env))
    if (session.status === 'confirmed' && !isKeeping) {
      invalid(`${key} is confirmed as a whole, so there is nothing to give up. Its files stay with the service.`)
    }
    if (isOfProgram(session)) invalid(`${key} ${OF_PROGRAM}. To forget it on this machine: ${forget}`)
    const uplink = await uplinkFromOptions(options, context, kept.journal)
    const isMore = session.keepsConfirmed === true && !isKeeping
    const { sessionIds, unanswered } = await whatEnds(kept, session, isKeeping)
    if (options.dryRun === true) {
      // No call for a capture, and none for what is over already.
      const isOver = session.status === 'confirmed' || (session.isServiceTold === true && !isMore)
      const ended = session.flow === 'video' && !isOver ? sessionIds : []
      const calls = ended.map((id) => `cancel of session ${id}`)
      printCalls(output, 'cancel', calls)
      return
    }
    if (session.status === 'cancelled' && !isToldLater(session) && !isMore) {
      tellAgain(output, session)
      return
    }
    const isMissed = session.filesConfirmed + unanswered > 0 && isGivingUpWhole(session, isKeeping, isMore)
    if (isMissed && isToBeAsked(options)) {
      const what = stored(session, unanswered)
      output.complain(`${what}, and would be given up too; with --keep-confirmed what is confirmed stays.`)
      if (!(await askPerson('Give the whole upload up?', context.interruption.signal))) {
        output.answer(`nothing was changed: ${key}`)
        context.exitWith(EXIT.failed)
        return
      }
    }
    const again = commandLine(isKeeping ? 'cancel --keep-confirmed' : 'cancel', key, options, context.env)
    try {
      const report = await interruptible(
        uplink[isKeeping ? 'discardSession' : 'cancelSession'](key),
        context.interruption,
      )
      context.exitWith(tellCancelled(output, report, sessionIds, { again, forget }))
    } catch (error) {
      if (context.interruption.reason !== undefined) {
        output.complain(`It is not known whether the cancel was completed. To repeat it: ${again}`)
      }
      throw error
    }
  })
}

/** Whether confirmed files would be given up. A capture's files stay stored in any case, and what was given up before needs no question. */
function isGivingUpWhole({ flow, status }: SessionSummary, isKeeping: boolean, isMore: boolean): boolean {
  const isOver = status === 'confirmed' || (status.startsWith('cancel') && !isMore)
  return flow !== 'capture' && !isKeeping && !isOver
}

function isToBeAsked({ yes, json }: CancelOptions): boolean {
  return yes !== true && json !== true && hasPerson()
}

/** How many files are confirmed, or may be: a confirmation that was not answered may have been accepted. */
function stored({ filesConfirmed, filesTotal }: SessionSummary, unanswered: number): string {
  const all = countOf(filesTotal, 'file')
  const confirmed = `${filesConfirmed} of ${all} ${filesConfirmed === 1 ? 'is' : 'are'} confirmed`
  if (unanswered === 0) return confirmed
  const doubt = 'since no answer came'
  return filesConfirmed === 0
    ? `${unanswered} of ${all} may be confirmed, ${doubt}`
    : `${confirmed} and ${unanswered} may be, ${doubt}`
}

/**
 * The sessions of the service that this command ends: all of them or, if confirmed files are kept, those without a file that is or
 * may be confirmed. `unanswered` counts the files that may be.
 */
async function whatEnds(
  { journal }: KeptSessions,
  { key, status, keepsConfirmed, filesConfirmed }: SessionSummary,
  isKeeping: boolean,
): Promise<{ readonly sessionIds: SessionIds; readonly unanswered: number }> {
  const wasGivenUp = status === 'cancelling' || status === 'cancelled'
  const keeps = isKeeping && (keepsConfirmed === true || !wasGivenUp)
  const records = await journal.read(key)
  const folded = foldJournal([...records, { type: 'session.cancelling', at: Date.now(), keepsConfirmed: keeps }])
  const mayBeConfirmed = folded.ledger.files.filter((file) => file.mayBeConfirmed).length
  return { sessionIds: sessionsOf(folded), unanswered: mayBeConfirmed - filesConfirmed }
}

function tellCancelled(
  output: Output,
  report: UploadReport,
  sessionIds: SessionIds,
  { again, forget }: { readonly again: string; readonly forget: string },
): number {
  const { flow, key, status, files, isServiceTold = false, keepsConfirmed = false } = report
  const isNothingToTell = flow === 'capture' || sessionIds.length === 0
  const named = `${sessionIds.length > 1 ? 'sessions' : 'session'} ${sessionIds.join(', ')}`
  const stored = files.filter((file) => file.status === 'confirmed').length
  const keeps = stored > 0 ? staysConfirmed(stored) : 'a confirmation was not answered, so its session stays'
  const kept = keepsConfirmed ? `; ${keeps}` : ''
  output.event('result', { ...resultOf(report), sessionIds, isServiceTold, keepsConfirmed })
  if (report.hasPossibleOrphan) {
    output.complain('warning: a create had no clear answer, so the service may hold a session that nobody uses.')
  }
  if (status === 'confirmed') {
    output.answer(`confirmed: ${key} as a whole; there is nothing to give up`)
    return EXIT.done
  }
  if (isServiceTold) {
    output.answer(`cancelled: ${key}${kept}; the service has ended ${named}`)
    return EXIT.done
  }
  if (isNothingToTell) {
    const left =
      flow === 'capture'
        ? `; the service has no call that ends a capture session, and keeps the ${countOf(stored, 'file')} stored in it`
        : kept || '; the service has no session of it that is known here'
    output.answer(`cancelled: ${key}${left}`)
    return EXIT.done
  }
  // The next line says what to do, because the advice that goes with the code is for uploads.
  const { code, message } = report.error ?? {}
  if (message !== undefined) output.complain(`error: ${inWords(message)} (${code})`)
  if (isNotFound(report.error)) {
    output.complain(`It may have ended ${named} before; if not, ${WHY_UNKNOWN}.`)
    output.complain(`If it says the same again, the session counts as ended: ${again}`)
  } else if (code === 'ERR_UPLOAD_SERVICE_REFUSED') {
    output.complain(`The service was told and refused. To tell it once more: ${again}`)
    output.complain(
      `If it keeps refusing, nothing more can be done here. To forget the session on this machine: ${forget}`,
    )
  } else output.complain(`The service could not be told. To tell it: ${again}`)
  output.answer(`cancelled: ${key}${kept}; the service may still hold ${named}`)
  return EXIT.failed
}

/** Reports a session that was cancelled before. The service is not asked again to end what it has ended. */
function tellAgain(output: Output, session: SessionSummary): void {
  const { key, flow, sessionId, sessionIds, bytes, isServiceTold = false, keepsConfirmed = false } = session
  output.event('result', {
    flow: flow ?? null,
    status: 'cancelled',
    key,
    sessionId: sessionId ?? null,
    bytes,
    durationMs: 0,
    files: [],
    sessionIds,
    isServiceTold,
    keepsConfirmed,
  })
  output.answer(`cancelled: ${key} was cancelled before`)
}
