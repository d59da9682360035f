// `mocap-uplink sessions`: lists what the journal holds, also of sessions that another process drives.

import { Option, type Command } from 'commander'
import { invalid } from '../../core/errors.ts'
import type { SessionSummary } from '../../flows/sessions.ts'
import type { CommandContext } from '../command-context.ts'
import { errorLine } from '../views/error-line.ts'
import { EXIT } from '../exit-codes.ts'
import { givenAgain } from '../given-again.ts'
import { keptSessions, knownSession, type KeptSessions } from '../kept-sessions.ts'
import { addOutputOptions, addStateOption, type SharedOptions } from '../options/options.ts'
import type { Output } from '../views/output.ts'
import { addBelow } from '../views/help-texts.ts'
import { isFinished, isOfProgram, sessionLines, type ListedSession } from '../views/sessions-view.ts'
import { countOf, staysConfirmed } from '../views/wording.ts'

interface SessionsOptions extends Pick<SharedOptions, 'stateDir' | 'json' | 'quiet'> {
  readonly prune?: boolean
  readonly forget?: readonly string[]
}

const HELP =
  'FILES are those that are confirmed, BYTES those that the storage has acknowledged. Whether a file has changed since, so that its ' +
  'bytes no longer count, is not looked at here: mocap-uplink resume --dry-run looks.'

export function addSessionsCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('sessions')
    .description("list the sessions on this machine; with --json an event 'session' for each")
    .option(
      '--prune',
      'remove the sessions that are confirmed, or cancelled with the service told, and failed starts of the same files',
    )
    .addOption(
      new Option(
        '--forget <keys...>',
        'remove these, which are confirmed, cancelled or cannot be read, or are of a program with a protocol of its own, and failed starts of the same files; the service is not told',
      ).conflicts('prune'),
    )
  addBelow(command, HELP)
  addStateOption(command)
  addOutputOptions(command).action(async (options: SessionsOptions) => {
    const output = context.begin('sessions', options)
    const kept = keptSessions(options, context)
    const sessions = await kept.summaries()
    if (options.prune === true || options.forget !== undefined) {
      const { forget } = options
      const over = forget === undefined ? sessions.filter(isFinished) : chosen(sessions, kept, forget)
      const unwanted = await withFailedStarts(over, sessions, kept)
      const removed = await remove(unwanted, kept, output, options)
      const [isDone, left] = [removed === unwanted.length, sessions.length - removed]
      const status = isDone ? 'completed' : 'failed'
      output.event('result', { flow: 'sessions', status, sessions: left, removed })
      if (forget === undefined)
        output.answer(`removed ${countOf(removed, 'finished session')}, ${countOf(left, 'other')} kept`)
      context.exitWith(isDone ? EXIT.done : EXIT.failed)
      return
    }
    const listed = sessions.map(async (session) => Object.assign({ isInUse: await kept.isInUse(session.key) }, session))
    list(await Promise.all(listed), kept, output)
  })
}

function list(sessions: readonly ListedSession[], { folder }: KeptSessions, output: Output): void {
  for (const session of sessions) {
    const { beganAtMs, sessionId, flow, firstFile, ...rest } = session
    const began = beganAtMs === undefined ? null : new Date(beganAtMs).toISOString()
    const known = { flow: flow ?? null, sessionId: sessionId ?? null, began, firstFile: firstFile ?? null }
    output.event('session', { ...rest, ...known })
  }
  output.event('result', { flow: 'sessions', status: 'completed', sessions: sessions.length, removed: 0 })
  if (sessions.length === 0) output.answer(`There is no session in ${folder}`)
  else {
    const columns = output.mode === 'terminal' ? output.size().columns : Infinity
    for (const line of sessionLines(sessions, Date.now(), columns)) output.answer(line)
  }
  for (const { key, error } of sessions) if (error !== undefined) output.complain(`warning: ${key}: ${error.message}`)
}

/**
 * These sessions and the failed starts of the same files, oldest first. Without what was given again in the end, the failed starts
 * before it would look like uploads that are still to be made: they go with it, unless another process is about to make one after
 * all.
 */
async function withFailedStarts(
  over: readonly SessionSummary[],
  sessions: readonly SessionSummary[],
  kept: KeptSessions,
): Promise<readonly SessionSummary[]> {
  const keys = new Set(over.map(({ key }) => key))
  for (const [key, later] of await givenAgain(sessions, kept.journal)) {
    if (keys.has(later) && !(await kept.isInUse(key))) keys.add(key)
  }
  return sessions.filter(({ key }) => keys.has(key))
}

/** The sessions to forget. Throws ERR_UPLOAD_INVALID_ARGUMENT for a key that is unknown, or whose session is not over. */
function chosen(sessions: readonly SessionSummary[], kept: KeptSessions, keys: readonly string[]) {
  return [...new Set(keys)].map((key) => {
    const session = knownSession(sessions, key, kept)
    const { error, status, filesConfirmed } = session
    if (error !== undefined || status === 'cancelled' || status === 'confirmed' || isOfProgram(session)) return session
    const keeping =
      filesConfirmed > 0 ? `; cancel --keep-confirmed lets ${countOf(filesConfirmed, 'file')} stay confirmed` : ''
    return invalid(`${key} is not over: cancel it first, so that the service is told${keeping}.`)
  })
}

async function remove(
  sessions: readonly SessionSummary[],
  { journal }: KeptSessions,
  output: Output,
  { forget }: SessionsOptions,
): Promise<number> {
  let removed = 0
  for (const session of sessions) {
    const { key } = session
    try {
      await journal.remove(key)
      removed += 1
      output.event('removed', { key })
      if (forget !== undefined) output.answer(`removed ${key}; ${whatStays(session)}no service was told`)
    } catch (error) {
      output.complain(`error: ${errorLine(error).message}`)
    }
  }
  return removed
}

function whatStays({ status, keepsConfirmed, filesConfirmed }: SessionSummary): string {
  return filesConfirmed > 0 && (status === 'confirmed' || keepsConfirmed === true)
    ? `${staysConfirmed(filesConfirmed)}; `
    : ''
}
