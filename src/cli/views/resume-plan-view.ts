// What `resume --dry-run` shows: what is missing of each session, and where its files would be taken from.

import { formatBytes } from '../../core/plan.ts'
import type { SoughtFile } from '../../core/ports.ts'
import type { SessionSummary } from '../../flows/sessions.ts'
import type { LookedFor } from '../lost-files.ts'
import type { FoundPlace } from '../moved-files.ts'
import type { Output } from './output.ts'
import { countOf } from './wording.ts'

/** Prints the plan. `lookedFor`: with `--files-in`, the files of each session that are not confirmed, by the session's key. */
export function printResumePlan(
  output: Output,
  sessions: readonly SessionSummary[],
  lookedFor: ReadonlyMap<string, readonly LookedFor[]> = new Map(),
): void {
  const plan = sessions.map(({ key, flow, status, bytes, confirmedBytes, filesTotal, filesConfirmed }) => ({
    key,
    flow: flow ?? null,
    status,
    bytes,
    confirmedBytes,
    filesTotal,
    filesConfirmed,
    files: lookedFor.get(key)?.map(({ file: { name, location }, place }) => ({ name, location, ...place })),
  }))
  output.event('plan', { flow: 'resume', sessions: plan })
  for (const session of sessions) {
    const files = lookedFor.get(session.key) ?? []
    for (const { file, place } of files) output.say(`${file.location}: ${placeInWords(file, place)}`)
    output.answer(`dry run: ${session.key}: ${missingOf(session)}${countsOf(files)}`)
  }
  output.answer(`dry run: ${countOf(sessions.length, 'session')} to resume. Nothing was called.`)
}

function placeInWords({ location }: SoughtFile, place: FoundPlace): string {
  if ('why' in place) return `not found: ${place.why}`
  return place.path === location ? 'where it was' : `found as ${place.path}`
}

function countsOf(files: readonly LookedFor[]): string {
  if (files.length === 0) return ''
  const lost = files.filter(({ place }) => 'why' in place).length
  const there = files.filter(({ file, place }) => 'path' in place && place.path === file.location).length
  const counts = [
    [files.length - lost - there, 'found'],
    [there, 'where they were'],
    [lost, 'not found'],
  ] as const
  const said = counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`)
  return `; of these files ${said.join(', ')}`
}

function missingOf({ error, bytes, confirmedBytes, filesTotal, filesConfirmed }: SessionSummary): string {
  if (error !== undefined) return `cannot be read. ${error.message}`
  if (filesConfirmed === filesTotal) return 'nothing is missing'
  const files = `${filesTotal - filesConfirmed} of ${countOf(filesTotal, 'file')}`
  return `${files} and ${formatBytes(bytes - confirmedBytes)} are missing`
}
