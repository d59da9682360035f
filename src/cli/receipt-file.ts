// Writes the receipt of a session to a file: for `receipt show --output` and for `--receipt` of an upload.

import { writeFile } from 'node:fs/promises'
import { fileProblem } from '../adapters/node/file-problem.ts'
import type { Journal } from '../core/ports.ts'
import { makeReceipt, type DeliveryReceipt } from '../flows/receipt.ts'
import { errorLine } from './views/error-line.ts'
import type { Output } from './views/output.ts'

/** What the journal says of the session. Rejects with ERR_UPLOAD_JOURNAL when it cannot be read. */
export async function receiptOf(journal: Journal, key: string): Promise<DeliveryReceipt> {
  return makeReceipt(await journal.read(key))
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
