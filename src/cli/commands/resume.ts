// `mocap-uplink resume`: finishes sessions of the journal.

import type { Command } from 'commander'
import { hostOf } from '../../core/address/address.ts'
import { invalid } from '../../core/errors.ts'
import { given } from '../../core/given.ts'
import type { SessionSummary } from '../../flows/sessions.ts'
import { interruptible, type CommandContext } from '../command-context.ts'
import { begunElsewhere } from '../begun-elsewhere.ts'
import { givenAgain } from '../given-again.ts'
import { addBelow } from '../views/help-texts.ts'
import { commandLine, sessionsLine } from '../views/command-line.ts'
import { keptSessions, knownSession, type KeptSessions } from '../kept-sessions.ts'
import { addTransferOptions, type SharedOptions } from '../options/options.ts'
import { filesWhereTheyWere, lostFiles } from '../lost-files.ts'
import { slowDrive } from '../slow-drive.ts'
import type { Output } from '../views/output.ts'
import { checkReceiptPath, ofOne } from '../receipt-file.ts'
import { resumeAll } from '../resume-all.ts'
import { printResumePlan } from '../views/resume-plan-view.ts'
import { isOfProgram, isResumable, OF_PROGRAM } from '../views/sessions-view.ts'
import { baseUrlOf, uplinkFromOptions } from '../options/uplink-from-options.ts'
import { exitCodeOf, jointStatus, type UploadResult } from '../upload-result.ts'
import { countOf } from '../views/wording.ts'

const NONE: ReadonlyMap<string, string> = new Map()
const NAMED_AT_MOST = 5

const HELP =
  'Without a key every session that is not confirmed or cancelled is taken up, one after another; one that waits for a ' +
  'host that is out of reach lets the next ones go on meanwhile. Files that had failed are tried once more. With --json ' +
  "each of several sessions ends with an event 'ended', and the result has all their files. What never began, while " +
  'its files went on in another session, is left out, and so is what was begun at another service, or by a program with a ' +
  'protocol of its own.'

export function addResumeCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('resume')
    .description('finish uploads that were interrupted or failed')
    .argument('[key...]', 'sessions, as `mocap-uplink sessions` lists them (default: all that are not finished)')
  addBelow(command, HELP)
  command
    .optionsGroup('Upload:')
    .option('--files-in <dir>', 'look in this folder and its subfolders for files that were moved')
  addTransferOptions(command).action(async (keys: string[], options: SharedOptions) => {
    const output = context.begin('resume', options)
    const kept = keptSessions(options, context)
    const all = await kept.summaries()
    const again = keys.length > 0 ? NONE : await givenAgain(all, kept.journal)
    const chosen = choose(all, keys, kept).filter(({ key }) => !again.has(key))
    // Where there is nothing to resume, address and credentials are missed as little as in a dry run.
    const isIdle = chosen.length === 0
    const uplink = await uplinkFromOptions(isIdle ? { ...options, dryRun: true } : options, context, kept.journal)
    const listAll = `To list all: ${sessionsLine([], options, context.env)}`
    const givenLater = [...again].map(([key, later]) => {
      const forget = commandLine('cancel', key, options, context.env)
      const why = `never began, and its files were given again as ${later}. To forget it: ${forget}`
      return { key, fields: { givenAgainAs: later }, why }
    })
    const prune = sessionsLine(['--prune'], options, context.env)
    tellLeftOut(output, givenLater, `To remove those whose files are confirmed: ${prune}`)
    const foreign = keys.length > 0 ? [] : all.filter((session) => isResumable(session) && isOfProgram(session))
    const ofProgram = foreign.map(({ key, flow }) => ({ key, fields: { flow }, why: `${OF_PROGRAM}.` }))
    tellLeftOut(output, ofProgram, listAll)
    const asked = baseUrlOf(options, context.env)
    const elsewhere = keys.length > 0 ? NONE : await begunElsewhere(chosen, kept.journal, asked)
    const ofOthers = chosen.flatMap(({ key, sessionIds }) => {
      const begunAt = elsewhere.get(key)
      if (begunAt === undefined) return []
      const resume = commandLine('resume', key, ofOne(options, key, chosen.length), context.env)
      const both = `was begun at ${begunAt}, and this is ${hostOf(asked ?? '')}. If both are the same service`
      if (sessionIds.length > 0) return { key, fields: { begunAt }, why: `${both}: ${resume}` }
      // A login page may have answered the create. What has no id is ended without a call, so with this address and key too.
      const cancel = commandLine('cancel', key, options, context.env)
      const why = `${both}, or that address was wrong: ${resume}. If its files were given again since: ${cancel}`
      return { key, fields: { begunAt }, why }
    })
    tellLeftOut(output, ofOthers, listAll)
    const sessions = chosen.filter(({ key }) => !elsewhere.has(key))
    const { filesIn, receipt } = options
    if (receipt !== undefined) {
      const paths = sessions.map(({ key }) => ofOne(options, key, sessions.length).receipt ?? receipt)
      for (const path of paths.length > 0 && receipt !== '' ? paths : [receipt])
        await interruptible(checkReceiptPath(path, '--receipt'), context.interruption)
    }
    const wait = slowDrive(output)
    // Interruptible, because it takes minutes to look through a large drive.
    const lost =
      filesIn === undefined
        ? undefined
        : await interruptible(
            wait(`through "${filesIn}"`, lostFiles(filesIn, sessions, kept.journal)),
            context.interruption,
          )
    if (options.dryRun === true) {
      const looking = lost === undefined ? filesWhereTheyWere(sessions, kept.journal) : lost.look()
      const lookedFor = await interruptible(wait('for the files', looking), context.interruption)
      const isReadWhole = options.verify === 'full'
      printResumePlan(output, sessions, lookedFor, { isBelowFolder: lost !== undefined, isReadWhole })
      return
    }
    const isOneOfMany = sessions.length !== 1 || elsewhere.size > 0
    const task = { sessions, isOneOfMany, kept, uplink, options, ...given({ source: lost?.source }) }
    const beganAtMs = performance.now()
    const results = await resumeAll(context, output, task)
    const durationMs = Math.round(performance.now() - beganAtMs)
    const left = sessions.length - results.length
    // Whoever moved a service must not hear that all is delivered.
    const status = jointStatus(results, { isLeft: left > 0, areSomeElsewhere: elsewhere.size > 0 })
    if (isOneOfMany || left > 0) {
      printJoint(output, results, { status, left, elsewhere: elsewhere.size, folder: kept.folder, durationMs })
    }
    context.exitWith(exitCodeOf(status, results, context.interruption.reason))
  })
}

interface LeftOut {
  readonly key: string
  readonly fields: Readonly<Record<string, unknown>>
  /** Completes "KEY is left out: it …". */
  readonly why: string
}

/** Says of the first sessions that are left out why, and counts the others: a script may have failed every minute of a night. */
function tellLeftOut(output: Output, left: readonly LeftOut[], rest: string): void {
  for (const { key, fields } of left) output.event('leftOut', { key, ...fields })
  for (const { key, why } of left.slice(0, NAMED_AT_MOST)) output.complain(`${key} is left out: it ${why}`)
  const more = left.length - NAMED_AT_MOST
  if (more > 0) output.complain(`${countOf(more, 'more session')} left out for the same reason. ${rest}`)
}

/** The sessions to resume, in the order given. The key of a session that is not there, or of another program's, is wrong use. */
function choose(
  sessions: readonly SessionSummary[],
  keys: readonly string[],
  kept: KeptSessions,
): readonly SessionSummary[] {
  if (keys.length === 0) return sessions.filter((session) => isResumable(session) && !isOfProgram(session))
  return [...new Set(keys)].map((key) => {
    const session = knownSession(sessions, key, kept)
    return isOfProgram(session) ? invalid(`${key} ${OF_PROGRAM}.`) : session
  })
}

/** The status of all, how many sessions a signal left untouched, how many another service has, where all are kept, and how long it took. */
interface Joint {
  readonly status: UploadResult['status']
  readonly left: number
  readonly elsewhere: number
  readonly folder: string
  /** Less than the sessions took together: some wait at the same time. */
  readonly durationMs: number
}

/** Prints the result of several sessions together, of none, or of one beside others. */
function printJoint(output: Output, results: readonly UploadResult[], joint: Joint): void {
  const { status, left, elsewhere, folder, durationMs } = joint
  output.event('result', {
    flow: 'resume',
    status,
    key: null,
    sessionId: null,
    bytes: results.reduce((sum, result) => sum + result.bytes, 0),
    durationMs,
    files: results.flatMap((result) => result.files),
    ...(results.some((result) => result.hasPossibleOrphan) ? { hasPossibleOrphan: true } : {}),
    sessions: results.map(({ key, flow, status: word, sessionId }) => ({ key, flow, status: word, sessionId })),
  })
  const count = results.length + left + elsewhere
  if (count === elsewhere) output.answer(`There is nothing ${elsewhere > 0 ? 'else ' : ''}to resume in ${folder}`)
  else {
    const confirmed = results.filter((result) => result.status === 'confirmed').length
    output.answer(`${status}: ${confirmed} of ${countOf(count, 'session')} confirmed`)
  }
}
