// What the live view shows, as lines of text. Pure, and never wider or higher than it is told.

import { formatBytes } from '../../core/plan.ts'
import type { Outage, UploadFileStatus, UploadProgress, UploadState } from '../../flows/upload.ts'
import { onOneLine } from '../../core/redact.ts'
import { clip, columnsOf, fitColumns } from './text-width.ts'
import { countOf, formatRate, formatTime, percentOf } from './wording.ts'

export interface ProgressPicture {
  readonly state: UploadState
  readonly progress: UploadProgress
  readonly files: readonly UploadFileStatus[]
  readonly columns: number
  readonly rows: number
  /** Attempts that were repeated so far. */
  readonly retries?: number
  /** How long `host` has been out of reach, and when it is tried again, both in ms from now. */
  readonly outage?: Pick<Outage, 'host' | 'reason'> & { readonly forMs: number; readonly nextTryInMs: number }
}

const MIN_COLUMNS_FOR_BAR = 60
const BAR_COLUMNS = 20
const NAME_COLUMNS_AT_LEAST = 8

/** One line per file in flight, for as many as there is room, and one for the whole. */
export function progressLines(picture: ProgressPicture): string[] {
  // A line that fills the last column wraps on some terminals.
  const columns = Math.max(10, picture.columns - 1)
  const inFlight = picture.files.filter((file) => file.state === 'uploading' || file.state === 'confirming')
  const room = Math.max(0, picture.rows - 3)
  const shown = inFlight.length > room ? inFlight.slice(0, Math.max(0, room - 1)) : inFlight
  const hidden = inFlight.length - shown.length
  return [
    ...shown.map((file) => fileLine(file, columns)),
    ...(hidden > 0 && room > 0 ? [clip(`  and ${countOf(hidden, 'more file')} in flight`, columns)] : []),
    wholeLine(picture, columns),
  ]
}

function fileLine(file: UploadFileStatus, columns: number): string {
  // A file shows sent bytes and the whole shows confirmed ones, because a file of one part has nothing confirmed until its end.
  const percent = `${String(percentOf(file.sentBytes, file.bytes)).padStart(3)} %`
  const word = file.state === 'confirming' ? 'confirming' : `of ${formatBytes(file.bytes)}`
  const right = columns >= MIN_COLUMNS_FOR_BAR ? `${bar(file)} ${percent} ${word.padEnd(13)}` : percent
  const nameColumns = columns - columnsOf(right) - 3
  if (nameColumns < NAME_COLUMNS_AT_LEAST) return clip(`  ${percent}`, columns)
  return `  ${fitColumns(onOneLine(file.name), nameColumns)} ${right}`.trimEnd()
}

function bar(file: UploadFileStatus): string {
  const filled = file.bytes === 0 ? BAR_COLUMNS : Math.floor((file.sentBytes / file.bytes) * BAR_COLUMNS)
  const full = Math.max(0, Math.min(BAR_COLUMNS, filled))
  return '█'.repeat(full) + '░'.repeat(BAR_COLUMNS - full)
}

function wholeLine({ state, progress, retries = 0, outage }: ProgressPicture, columns: number): string {
  const { confirmedBytes, sentBytes, totalBytes, bytesPerSecond, remainingMs } = progress
  const { filesConfirmed, filesFailed, filesTotal } = progress
  if (filesTotal === 0) return clip(`${state} …`, columns)
  // The most important come first, because what does not fit is left out at the end.
  const items = [
    ...(state === 'uploading' ? [] : [state === 'waiting' && outage !== undefined ? waitingWords(outage) : state]),
    `${percentOf(confirmedBytes, totalBytes)} % confirmed`,
    ...(bytesPerSecond > 0 && state === 'uploading' ? [formatRate(bytesPerSecond)] : []),
    // Once everything is sent, nobody knows how long the answers take.
    ...(remainingMs && state === 'uploading' ? [`${formatTime(remainingMs)} left`] : []),
    ...(filesFailed > 0 ? [`${filesFailed} failed`] : []),
    `${filesConfirmed} of ${countOf(filesTotal, 'file')}`,
    ...(retries > 0 ? [retries === 1 ? '1 retry' : `${retries} retries`] : []),
    `${formatBytes(sentBytes)} of ${formatBytes(totalBytes)} sent`,
  ]
  let line = ''
  for (const item of items) {
    const longer = line === '' ? item : `${line} · ${item}`
    if (columnsOf(longer) > columns) break
    line = longer
  }
  return clip(line === '' ? (items[0] ?? '') : line, columns)
}

function waitingWords({ forMs, nextTryInMs, host, reason }: NonNullable<ProgressPicture['outage']>): string {
  const next = nextTryInMs > 0 ? `, next try in ${formatTime(nextTryInMs)}` : ', trying now'
  const why = reason ?? 'no connection'
  return `waiting for ${host} (${why}) for ${formatTime(forMs)}${next}`
}
