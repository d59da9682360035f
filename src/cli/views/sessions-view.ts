// The sessions of the journal as a table for people. Pure.

import { basename, dirname, join } from 'node:path'

import { formatBytes } from '../../core/plan.ts'
import type { SessionSummary } from '../../flows/sessions.ts'
import { columnsOf, shortenMiddle } from './text-width.ts'
import { formatTime } from './wording.ts'

const HEAD = ['KEY', 'FLOW', 'STATUS', 'FILES', 'BYTES', 'AGE']

/** What is left out of a table that is too wide, in this order. Keys begin with the flow, and files say how far a session is. */
const LEFT_OUT = [[], ['FLOW'], ['FLOW', 'BYTES']] as const
const FILE_HEAD = 'FIRST FILE'
/** In so many columns, most people know their own file. */
const ENOUGH_OF_A_FILE = 20
const GAP = '  '

/** A session, and whether another process drives it now. */
export type ListedSession = SessionSummary & { readonly isInUse?: boolean }

/**
 * One line per session under a head. `nowMs` is wall time. Bytes are those with a receipt, of all bytes. The first file comes with
 * the folder that it lies in, shortened to what is left of `columns`. Where that is too little, the flow is left out, then the
 * bytes, then the file.
 */
export function sessionLines(sessions: readonly ListedSession[], nowMs: number, columns = Infinity): string[] {
  const rows = [HEAD, ...sessions.map((session) => cells(session, nowMs))]
  const tables = LEFT_OUT.map((heads: readonly string[]) =>
    aligned(rows.map((row) => row.filter((_, column) => !heads.includes(HEAD[column] ?? '')))),
  )
  const files = [FILE_HEAD, ...sessions.map(fileOf)]
  const leftBeside = (lines: readonly string[]): number => columns - columnsOf(lines[0] ?? '') - GAP.length
  const wanted = Math.min(ENOUGH_OF_A_FILE, Math.max(...files.map(columnsOf)))
  const table = tables.find((lines) => leftBeside(lines) >= wanted)
  if (table)
    return table.map((line, row) => (line + GAP + shortenMiddle(files[row] ?? '', leftBeside(table))).trimEnd())
  return (tables.find((lines) => leftBeside(lines) >= -GAP.length) ?? tables.at(-1) ?? []).map((line) => line.trimEnd())
}

/** Each row as a line, all of the same width. */
function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => columnsOf(row[column] ?? ''))))
  return rows.map((row) =>
    row.map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - columnsOf(cell))).join(GAP),
  )
}

function fileOf({ firstFile }: SessionSummary): string {
  return firstFile === undefined ? '?' : join(basename(dirname(firstFile)), basename(firstFile))
}

function cells(session: ListedSession, nowMs: number): string[] {
  const { key, flow = '?', bytes, confirmedBytes, filesConfirmed, filesTotal, beganAtMs } = session
  const age = beganAtMs === undefined ? '?' : formatTime(nowMs - beganAtMs)
  if (session.error !== undefined) return [key, flow, 'unreadable', '?', '?', age]
  const files = `${filesConfirmed} of ${filesTotal}`
  return [key, flow, wordOf(session), files, `${formatBytes(confirmedBytes)} of ${formatBytes(bytes)}`, age]
}

function wordOf(session: ListedSession): string {
  if (session.isInUse === true) return `${session.status}, in use`
  return isToldLater(session) || hasLeftOver(session) ? `${session.status}, service not told` : session.status
}

/** True if the session is cancelled and the service, which has a call for that, could not be told yet. */
export function isToldLater({ status, flow, sessionIds, isServiceTold }: SessionSummary): boolean {
  return status === 'cancelled' && flow === 'video' && sessionIds.length > 0 && isServiceTold !== true
}

/** True if the session is confirmed and the service could not be told yet of a session that was left empty on the way. */
function hasLeftOver({ status, leftSessionIds }: SessionSummary): boolean {
  return status === 'confirmed' && leftSessionIds.length > 0
}

/** True if nothing is left to do, so that nobody will miss its journal. */
export function isFinished(session: SessionSummary): boolean {
  if (session.error !== undefined) return false
  if (session.status === 'confirmed') return !hasLeftOver(session)
  return session.status === 'cancelled' && !isToldLater(session)
}

/** Whether a program has begun it with a protocol of its own, which nobody else speaks. */
export function isOfProgram({ flow }: SessionSummary): boolean {
  return flow === 'custom'
}

/** Completes "KEY …", of such a session. */
export const OF_PROGRAM =
  'was begun by a program with a protocol of its own, and only that program can resume or cancel it'

/** Whether something is left to resume. A journal that cannot be read counts, so that this is reported. */
export function isResumable(session: SessionSummary): boolean {
  const { status } = session
  return status === 'open' || status === 'partial' || status === 'failed' || hasLeftOver(session)
}
