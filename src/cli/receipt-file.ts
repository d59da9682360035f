// Writes the receipt of a session to a file: for `receipt show --output` and for `--receipt` of an upload.

import { access, constants, open, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileProblem } from '../adapters/node/file-problem.ts'
import { invalid, isUploadError } from '../core/errors.ts'
import type { Journal } from '../core/ports.ts'
import { makeReceipt, type DeliveryReceipt } from '../flows/receipt.ts'
import { errorLine } from './views/error-line.ts'
import type { Output } from './views/output.ts'

/** What the journal says of the session. Rejects with ERR_UPLOAD_JOURNAL when it cannot be read. */
export async function receiptOf(journal: Journal, key: string): Promise<DeliveryReceipt> {
  return makeReceipt(await journal.read(key))
}

/**
 * Refuses a path at which no receipt can be written: at the end of a night it would be late to hear that. Nor is it written over
 * anything but a receipt: where its name is forgotten the first clip stands in its place.
 */
export async function checkReceiptPath(path: string, label: string): Promise<void> {
  if (path === '') invalid(`${label} is empty: name a file.`)
  try {
    const found = await stat(path).catch(() => undefined)
    if (found?.isDirectory() === true) invalid(`${label}: "${path}" is a folder: name a file.`)
    await access(found === undefined ? dirname(path) : path, constants.W_OK)
    if (found?.isFile() !== true || found.size === 0 || (await beginsAsReceipt(path))) return
  } catch (error) {
    throw isUploadError(error) ? error : fileProblem(error, path, 'written')
  }
  invalid(`${label}: "${path}" is there already and is no receipt: it is not written over. Name another file.`)
}

/** As `saveReceipt` and `receipt show` begin one. */
const BEGINNING = /^\{\s*"format":\s*"mocap-uplink-receipt"/
const HEAD_BYTES = 100

async function beginsAsReceipt(path: string): Promise<boolean> {
  const handle = await open(path)
  try {
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(HEAD_BYTES) })
    return BEGINNING.test(buffer.toString('latin1', 0, bytesRead))
  } finally {
    await handle.close()
  }
}

/** Writes it to a file. Rejects with an UploadError that names the file. */
export async function saveReceipt(path: string, receipt: DeliveryReceipt): Promise<void> {
  try {
    await writeFile(path, `${JSON.stringify(receipt, undefined, 2)}\n`)
  } catch (error) {
    throw fileProblem(error, path, 'written')
  }
}

/** A receipt that cannot be written is told and changes nothing of the upload: it can be shown again later. */
export async function writeReceipt(path: string, journal: Journal, key: string, output: Output): Promise<void> {
  try {
    await saveReceipt(path, await receiptOf(journal, key))
    output.say(`receipt: ${path}`)
  } catch (error) {
    output.complain(`warning: no receipt was written: ${errorLine(error).message}`)
  }
}
