// Writes the receipt of a session to a file, for `receipt show --output` and for `--receipt` of an upload.

import { randomBytes } from 'node:crypto'
import { access, chmod, chown, constants, lstat, open, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errorCode, fileProblem } from '../adapters/node/file-problem.ts'
import { invalid } from '../core/errors.ts'
import type { Journal } from '../core/ports.ts'
import { unlessAborted } from '../core/unless-aborted.ts'
import { makeReceipt, RECEIPT_FORMAT, type DeliveryReceipt } from '../flows/receipt.ts'
import type { SharedOptions } from './options/options.ts'
import type { Interruption } from './signals.ts'
import { receiptLine } from './views/command-line.ts'
import { errorLine } from './views/error-line.ts'
import type { SessionAt } from './views/how-to-go-on.ts'
import type { Output } from './views/output.ts'

/** The receipt of a session, from its journal. Rejects with ERR_UPLOAD_JOURNAL if that cannot be read. */
export async function receiptOf(journal: Pick<Journal, 'read'>, key: string): Promise<DeliveryReceipt> {
  return makeReceipt(await journal.read(key))
}

/**
 * Rejects if no receipt can be written at this path. To hear of it at the end of a night would be too late. Only a receipt is written
 * over: if the option's file name was forgotten, the path is that of the first clip.
 */
export async function checkReceiptPath(path: string, label: string): Promise<void> {
  if (path === '') invalid(`${label} is empty: name a file.`)
  const found = await stat(path).catch(() => undefined)
  if (found?.isDirectory() === true) invalid(`${label}: "${path}" is a folder: name a file.`)
  // Of a new file, it is the folder that may be missing or closed.
  const place = found === undefined ? dirname(path) : path
  try {
    await access(place, constants.W_OK)
    if (found?.isFile() !== true || found.size === 0 || (await beginsAsReceipt(path))) return
  } catch (error) {
    invalid(`${label}: ${fileProblem(error, place, 'written').message}`)
  }
  invalid(`${label}: "${path}" already exists and is not a receipt, so it is not overwritten. Name another file.`)
}

/**
 * The options for one of the sessions that are resumed. If there are several, its receipt goes to FILE.KEY, also when a later command
 * finishes this one alone: in FILE, each would be written over the one before.
 */
export function ofOne(options: SharedOptions, key: string, sessionCount: number): SharedOptions {
  const { receipt } = options
  return receipt === undefined || sessionCount === 1 ? options : { ...options, receipt: `${receipt}.${key}` }
}

/** The beginning of a receipt, as `saveReceipt` and `receipt show` write it. */
const BEGINNING = new RegExp(`^\\{\\s*"format":\\s*"${RECEIPT_FORMAT}"`)
const HEAD_BYTES = 100

export async function beginsAsReceipt(path: string): Promise<boolean> {
  const handle = await open(path)
  try {
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(HEAD_BYTES) })
    return BEGINNING.test(buffer.toString('latin1', 0, bytesRead))
  } finally {
    await handle.close()
  }
}

/**
 * Writes a receipt to a file. Rejects with ERR_UPLOAD_INVALID_ARGUMENT that names the file, because the advice that goes with files
 * that cannot be read is to upload them again. If it fails or is killed, an older receipt is still there and whole.
 */
export async function saveReceipt(path: string, receipt: DeliveryReceipt): Promise<void> {
  const text = `${JSON.stringify(receipt, undefined, 2)}\n`
  try {
    if (!(await replaceFile(path, text))) await writeFile(path, text)
  } catch (error) {
    invalid(fileProblem(error, path, 'written').message)
  }
}

/** The folder, the owner or a mount may forbid that another file takes the place of one that may be written to. */
const NOT_REPLACEABLE = new Set(['EACCES', 'EPERM', 'EROFS', 'EBUSY', 'ENAMETOOLONG'])

/** Writes the text beside the file and renames it. False if this path can only be written to as it is, such as a pipe. */
async function replaceFile(path: string, text: string): Promise<boolean> {
  const facts = await stat(path).catch(() => undefined)
  const isFree = facts === undefined && (await lstat(path).catch(() => undefined)) === undefined
  if (!isFree && facts?.isFile() !== true) return false
  // A link stays one: what it leads to is replaced.
  const target = isFree ? path : await realpath(path)
  const aside = `${target}.${randomBytes(4).toString('hex')}.tmp`
  try {
    await writeFile(aside, text, { flag: 'wx', flush: true, ...(facts === undefined ? {} : { mode: facts.mode }) })
    if (facts !== undefined) {
      await chown(aside, facts.uid, facts.gid)
      await chmod(aside, facts.mode)
    }
    await rename(aside, target)
    return true
  } catch (error) {
    await rm(aside, { force: true }).catch(() => undefined)
    if (NOT_REPLACEABLE.has(errorCode(error) ?? '')) return false
    throw error
  }
}

/**
 * Writes the receipt of an upload. If that fails, it warns and leaves the upload's result alone. It says how to write the receipt
 * later, since whoever began the upload anew for that would deliver everything twice. A signal that comes meanwhile ends it: a drive
 * that is gone, or a pipe that nobody reads, may never take it.
 */
export async function writeReceipt(
  path: string,
  key: string,
  output: Output,
  { journal, options, env }: SessionAt,
  { signal }: Interruption,
): Promise<void> {
  // An upload that was stopped gets its receipt, too.
  const wasStopped = signal.aborted
  const writing = receiptOf(journal, key).then((receipt) => saveReceipt(path, receipt))
  try {
    await (wasStopped ? writing : unlessAborted(writing, signal))
    output.say(`receipt: ${path}`)
  } catch (error) {
    const isStopped = signal.aborted && !wasStopped
    output.complain(
      isStopped
        ? `warning: stopped waiting for the receipt to be written: ${path}`
        : `warning: no receipt was written: ${errorLine(error).message}`,
    )
    output.complain(`To write it later: ${receiptLine(key, options, env)}`)
  }
}
