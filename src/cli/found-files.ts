// Finds the files that the paths of a command mean, and reports what is left out.

import { resolve } from 'node:path'

import { isVideoName } from '../client/capture-kind.ts'
import { isFileName } from '../client/contract/fields.ts'
import { invalid } from '../core/errors.ts'
import type { Source } from '../core/ports.ts'
import { inBatches } from '../flows/in-batches.ts'
import { filesUnder, type FoundFile, type SkippedEntry } from '../adapters/node/files/directory.ts'
import { plannedSource } from './planned-source.ts'
import { beginsAsReceipt } from './receipt-file.ts'
import { slowDrive } from './slow-drive.ts'
import type { Output } from './views/output.ts'
import { countOf } from './views/wording.ts'

/** What the files must be. For `video`, names end in .mov or .mp4. The kind of a capture's files is checked by its flow. */
export type WantedFiles = 'video' | 'any'

const NAMED_AT_MOST = 5

/**
 * The files to upload. A file that is empty or of another kind is skipped in a folder, and refused if it is named itself.
 * Rejects with ERR_UPLOAD_INVALID_ARGUMENT for that and if no file is left, and with ERR_UPLOAD_SOURCE_READ for what cannot
 * be read.
 */
export async function findFiles(
  paths: readonly string[],
  wanted: WantedFiles,
  output: Output,
): Promise<readonly { readonly source: Source }[]> {
  const wait = slowDrive(output)
  const places = firstOf(
    paths.map((path) => `"${path}"`),
    'path',
  )
  const found = await wait(`for files in ${places}`, filesUnder(paths))
  for (const entry of found.skipped) tellSkipped(output, entry)
  const files = onceEach(found.files, output).map(({ path, name }) => ({
    path,
    name,
    source: plannedSource(path, wait),
  }))
  // A folder that is given too may have it under another spelling, such as take.mp4 and ./take.mp4.
  const named = new Set(paths.map((path) => resolve(path)))
  const isNamed = (path: string): boolean => named.has(resolve(path))
  const reasons = await inBatches(files, (file) => reasonAgainst(file, wanted, isNamed(file.path)))
  const unwanted = files.flatMap(({ path }, index) => {
    const reason = reasons[index]
    return reason === undefined ? [] : [{ path, reason }]
  })
  refuseNamed(unwanted.filter(({ path }) => isNamed(path)))
  if (unwanted.length === files.length)
    invalid(`There is no file to upload in ${places}. Skipped: ${listed(unwanted)}.`)
  for (const entry of unwanted) tellSkipped(output, entry)
  const taken = files.filter((_, index) => reasons[index] === undefined)
  const path = taken.find(({ name }) => !isFileName(name))?.path
  if (path !== undefined)
    invalid(`"${path}" cannot be uploaded: its name has a \\ in it, which is a path on other systems. Rename it.`)
  return taken
}

const EMPTY = 'empty'

async function reasonAgainst(
  { path, name, source }: { readonly path: string; readonly name: string; readonly source: Source },
  wanted: WantedFiles,
  isNamed: boolean,
): Promise<string | undefined> {
  if (wanted === 'video' && !isVideoName(name)) return 'not a .mov or .mp4 file'
  // A file that cannot be looked at is not left out here: the plan says what is wrong with it.
  const { sizeBytes } = await source.describe().catch(() => ({ sizeBytes: undefined }))
  if (sizeBytes === 0) return EMPTY
  return !isNamed && (await isReceipt(path, name)) ? 'a receipt' : undefined
}

/** Whether an upload left it here. It would go to the service as a tracking file. Files of any other name are not opened for that. */
async function isReceipt(path: string, name: string): Promise<boolean> {
  return /\.json|receipt/i.test(name) && (await beginsAsReceipt(path).catch(() => false))
}

/** Refuses files that were named themselves. Whoever names a file means it, and must know before anything is sent that it is not taken. */
function refuseNamed(named: readonly SkippedEntry[]): void {
  if (named.length === 0) return
  const [verb, them] = named.length === 1 ? ['This file', 'it'] : ['These files', 'them']
  invalid(`${verb} cannot be uploaded: ${listed(named)}. Leave ${them} out of the command.`)
}

function listed(entries: readonly SkippedEntry[]): string {
  return firstOf(
    entries.map(({ path, reason }) => `${path} (${reason})`),
    'file',
  )
}

/** The first of them, and how many more there are: a shell makes thousands of *.mp4. */
export function firstOf(things: readonly string[], noun: string): string {
  const first = things.slice(0, NAMED_AT_MOST).join(', ')
  const more = things.length - NAMED_AT_MOST
  return more > 0 ? `${first} and ${countOf(more, `more ${noun}`)}` : first
}

/** Each file once, even if its path is given twice or it lies in a folder that is given too. */
function onceEach(files: readonly FoundFile[], output: Output): readonly FoundFile[] {
  const known = new Set<string>()
  return files.filter(({ path }) => {
    const place = resolve(path)
    const isNew = !known.has(place)
    known.add(place)
    if (!isNew) tellSkipped(output, { path, reason: 'given twice' })
    return isNew
  })
}

/** Reports a skipped file. An empty one is reported with `--quiet` too, because a recording that holds nothing went wrong. */
export function tellSkipped(output: Output, { path, reason }: SkippedEntry): void {
  output.event('skipped', { path, reason })
  if (output.mode === 'lines' || output.mode === 'terminal' || (output.mode === 'quiet' && reason === EMPTY))
    output.complain(`skipped ${path}, because it is ${reason}`)
}
