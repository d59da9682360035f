// What `resume --dry-run` shows: what is missing of each session, and where its files would be taken from.

import { formatBytes } from '../../core/plan.ts'
import type { SoughtFile } from '../../core/ports.ts'
import type { SessionSummary } from '../../flows/sessions.ts'
import type { LookedFor, LookedForBySession } from '../lost-files.ts'
import type { FoundPlace } from '../moved-files.ts'
import type { Output } from './output.ts'
import { countOf } from './wording.ts'

/**
 * Prints the plan. `lookedFor`: the files of each session that are not confirmed, by the session's key. If they were looked for below a
 * folder, each is named, else only those that are not where and as they were. `isReadWhole`: all of a file is read before its
 * confirmation, so it must be found although nothing of it is left to send.
 */
export function printResumePlan(
  output: Output,
  sessions: readonly SessionSummary[],
  lookedFor: LookedForBySession,
  { isBelowFolder, isReadWhole }: { readonly isBelowFolder: boolean; readonly isReadWhole: boolean },
): void {
  const looked = sessions.map((session) => {
    const files = (lookedFor.get(session.key) ?? []).filter((one) => isReadWhole || isMissed(one))
    // Receipts of what a file no longer is prove nothing: the resume stops it, and all of it has to be sent anew.
    const voidBytes = files.reduce((sum, { place, receivedBytes }) => sum + (isChanged(place) ? receivedBytes : 0), 0)
    return { session: { ...session, confirmedBytes: session.confirmedBytes - voidBytes }, files }
  })
  const plan = looked.map(({ session, files }) => {
    const { key, flow, status, bytes, confirmedBytes, filesTotal, filesConfirmed } = session
    return {
      key,
      flow: flow ?? null,
      status,
      bytes,
      confirmedBytes,
      filesTotal,
      filesConfirmed,
      files: files.map(({ file: { name, location }, place }) => ({ name, location, ...place })),
    }
  })
  output.event('plan', { flow: 'resume', sessions: plan })
  for (const { session, files } of looked) {
    const named = isBelowFolder ? files : files.filter(({ place }) => 'why' in place)
    for (const { file, place } of named) output.say(`${file.location}: ${placeInWords(file, place)}`)
    const counts = isBelowFolder ? countsOf(files) : troublesOf(files)
    output.answer(`dry run: ${session.key}: ${missingOf(session)}${counts}`)
  }
  output.answer(`dry run: ${countOf(sessions.length, 'session')} to resume. Nothing was called.`)
}

/** False for a file that is gone and whose bytes are all stored: its confirmation needs nothing of it. */
function isMissed({ file, place, receivedBytes }: LookedFor): boolean {
  return 'path' in place || isChanged(place) || receivedBytes < file.sizeBytes
}

function isChanged(place: FoundPlace): boolean {
  return 'why' in place && place.isChanged === true
}

function placeInWords({ location }: SoughtFile, place: FoundPlace): string {
  if ('why' in place) return isChanged(place) ? place.why : `not found: ${place.why}`
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

function troublesOf(files: readonly LookedFor[]): string {
  const changed = files.filter(({ place }) => isChanged(place)).length
  const gone = files.filter(({ place }) => 'why' in place).length - changed
  const counts = [
    [changed, 'changed, to be uploaded as a new session'],
    [gone, 'not found, see --files-in'],
  ] as const
  const said = counts.filter(([count]) => count > 0).map(([count, what]) => `; ${count} ${what}`)
  return said.join('')
}

function missingOf({ error, bytes, confirmedBytes, filesTotal, filesConfirmed }: SessionSummary): string {
  if (error !== undefined) return `cannot be read. ${error.message}`
  if (filesConfirmed === filesTotal) return 'nothing is missing'
  const files = `${filesTotal - filesConfirmed} of ${countOf(filesTotal, 'file')}`
  return `${files} and ${formatBytes(bytes - confirmedBytes)} are missing`
}
