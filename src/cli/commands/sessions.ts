// `mocap-uplink sessions`: what the journal holds, also of sessions that another process drives.

import type { Command } from 'commander'
import type { SessionSummary } from '../../flows/sessions.ts'
import type { CommandContext } from '../command-context.ts'
import { errorLine } from '../views/error-line.ts'
import { EXIT } from '../exit-codes.ts'
import { keptSessions, type KeptSessions } from '../kept-sessions.ts'
import { addOutputOptions, addStateOption, type SharedOptions } from '../options/options.ts'
import type { Output } from '../views/output.ts'
import { isFinished, sessionLines, type ListedSession } from '../views/sessions-view.ts'
import { countOf } from '../views/wording.ts'

interface SessionsOptions extends Pick<SharedOptions, 'stateDir' | 'json' | 'quiet'> {
  readonly prune?: boolean
}

export function addSessionsCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('sessions')
    .description("list the sessions on this machine; with --json an event 'session' for each")
    .option('--prune', 'remove the sessions that are confirmed, or cancelled with the service told')
  addStateOption(command)
  addOutputOptions(command).action(async (options: SessionsOptions) => {
    const output = context.begin('sessions', options)
    const kept = keptSessions(options, context.env)
    const sessions = await kept.summaries()
    if (options.prune === true) {
      context.exitWith(await prune(sessions, kept, output))
      return
    }
    const listed = sessions.map(async (session) => Object.assign({ isInUse: await kept.isInUse(session.key) }, session))
    context.exitWith(list(await Promise.all(listed), kept, output))
  })
}

function list(sessions: readonly ListedSession[], { folder }: KeptSessions, output: Output): number {
  for (const session of sessions) {
    const { beganAtMs, sessionId, flow, ...rest } = session
    const began = beganAtMs === undefined ? null : new Date(beganAtMs).toISOString()
    output.event('session', { ...rest, flow: flow ?? null, sessionId: sessionId ?? null, began })
  }
  output.event('result', { flow: 'sessions', status: 'completed', sessions: sessions.length, removed: 0 })
  if (sessions.length === 0) output.answer(`There is no session in ${folder}`)
  else {
    const columns = output.mode === 'terminal' ? output.size().columns : Infinity
    for (const line of sessionLines(sessions, Date.now(), columns)) output.answer(line)
  }
  for (const { key, error } of sessions) if (error !== undefined) output.complain(`warning: ${key}: ${error.message}`)
  return EXIT.done
}

async function prune(sessions: readonly SessionSummary[], { journal }: KeptSessions, output: Output): Promise<number> {
  const finished = sessions.filter(isFinished)
  let removed = 0
  for (const { key } of finished) {
    try {
      await journal.remove(key)
      removed += 1
      output.event('removed', { key })
    } catch (error) {
      output.complain(`error: ${errorLine(error).message}`)
    }
  }
  const status = removed === finished.length ? 'completed' : 'failed'
  output.event('result', { flow: 'sessions', status, sessions: sessions.length - removed, removed })
  output.answer(`removed ${countOf(removed, 'finished session')}, ${countOf(sessions.length - removed, 'other')} kept`)
  return removed === finished.length ? EXIT.done : EXIT.failed
}
