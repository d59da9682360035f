// Writes the receipt of a session to a file: for `receipt show --output` and for `--receipt` of an upload.

import { writeFile } from 'node:fs/promises'
import type { Journal } from '../core/ports.ts'
import { makeReceipt, type DeliveryReceipt } from '../flows/receipt.ts'
import { errorLine } from './views/error-line.ts'
import type { Output } from './views/output.ts'

/** What the journal says of the session. Rejects with ERR_UPLOAD_JOURNAL when it cannot be read. */
export async function receiptOf(journal: Journal, key: string): Promise<DeliveryReceipt> {
  return makeReceipt(await journal.read(key))
}

/** A receipt that cannot be written is told and changes nothing of the upload: it can be shown again later. */
export async function writeReceipt(path: string, journal: Journal, key: string, output: Output): Promise<void> {
  try {
    await writeFile(path, `${JSON.stringify(await receiptOf(journal, key), undefined, 2)}\n`)
    output.say(`receipt: ${path}`)
  } catch (error) {
    output.complain(`warning: no receipt was written to ${path}: ${errorLine(error).message}`)
  }
}
