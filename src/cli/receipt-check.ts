// Proves local files against a receipt: the size, the digest of every part, and the whole file's SHA-256 if the receipt has
// one. It needs only the receipt and the files, and asks no service.

import { createHash, type Hash } from 'node:crypto'
import { open, stat } from 'node:fs/promises'
import * as v from 'valibot'
import { errorCode, fileProblem } from '../adapters/node/file-problem.ts'
import { filesUnder, type FoundFiles } from '../adapters/node/files/directory.ts'
import { invalid, isUploadError } from '../core/errors.ts'
import {
  RECEIPT_FORMAT,
  RECEIPT_VERSION,
  type DeliveredFile,
  type DeliveredPart,
  type DeliveryReceipt,
} from '../flows/receipt.ts'
import { readText } from './options/option-values.ts'

const part = v.looseObject({
  partNumber: v.pipe(v.number(), v.integer(), v.minValue(1)),
  start: v.pipe(v.number(), v.integer(), v.minValue(0)),
  end: v.pipe(v.number(), v.integer(), v.minValue(0)),
  md5: v.optional(v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/))),
})
const file = v.looseObject({
  name: v.string(),
  bytes: v.pipe(v.number(), v.integer(), v.minValue(0)),
  status: v.picklist(['confirmed', 'failed', 'unfinished']),
  sha256: v.optional(v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))),
  parts: v.array(part),
})
const receiptSchema = v.looseObject({
  format: v.literal(RECEIPT_FORMAT),
  version: v.number(),
  key: v.string(),
  files: v.array(file),
})

/** Reads a receipt file. Rejects with ERR_UPLOAD_INVALID_ARGUMENT that says what is wrong with it. */
export async function readReceipt(path: string): Promise<DeliveryReceipt> {
  const text = await readText(path, 'the receipt')
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return invalid(`${path} is not JSON: give a receipt file.`)
  }
  const found = v.safeParse(receiptSchema, json)
  if (!found.success) return invalid(`${path} is not a receipt: ${found.issues[0].message}.`)
  if (found.output.version !== RECEIPT_VERSION) {
    invalid(
      `${path} has version ${String(found.output.version)}; this program reads version ${String(RECEIPT_VERSION)}.`,
    )
  }
  return found.output as unknown as DeliveryReceipt
}

/**
 * The files to prove. Rejects with ERR_UPLOAD_INVALID_ARGUMENT for a path that cannot be read, because the advice that goes with
 * files that cannot be read is to upload them again.
 */
export async function filesToProve(paths: readonly string[]): Promise<FoundFiles> {
  try {
    // Hidden and junk-named files count too: whoever named such a file itself has delivered it.
    return await filesUnder(paths, { isSought: () => true })
  } catch (error) {
    if (!isUploadError(error)) throw error
    return invalid(error.message, error.details)
  }
}

/**
 * The outcome for one file. `proven`: every byte has a digest, and all are equal. `unproven`: no difference was found, but not every
 * byte has a digest or could be read.
 */
export interface FileProof {
  readonly name: string
  readonly path: string | undefined
  readonly outcome: 'proven' | 'unproven' | 'differs' | 'missing' | 'notDelivered'
  readonly reason?: string
}

/** Proves one file of a receipt. `path` is where it is now. */
export async function proveFile(delivered: DeliveredFile, path: string | undefined): Promise<FileProof> {
  const { name, status } = delivered
  if (status !== 'confirmed') return { name, path, outcome: 'notDelivered', reason: `the receipt says ${status}` }
  if (path === undefined) return { name, path, outcome: 'missing', reason: 'no file of this name was given' }
  try {
    return await proveBytes(delivered, path)
  } catch (error) {
    // A file that has gone, or a dying disk, must not keep the other files from being checked.
    if (errorCode(error) === undefined) throw error
    return { name, path, outcome: 'unproven', reason: fileProblem(error, path, 'read').message }
  }
}

async function proveBytes({ name, bytes, parts, sha256 }: DeliveredFile, path: string): Promise<FileProof> {
  const { size } = await stat(path)
  if (size !== bytes)
    return { name, path, outcome: 'differs', reason: `${String(size)} bytes instead of ${String(bytes)}` }
  // Otherwise bytes outside of all parts would be called proven without being read.
  if (!covers(parts, bytes)) return { name, path, outcome: 'unproven', reason: 'its parts are not the whole file' }
  const whole = sha256 === undefined ? undefined : createHash('sha256')
  const wrong = await firstWrongPart(path, parts, whole)
  if (wrong !== undefined)
    return { name, path, outcome: 'differs', reason: `part ${String(wrong)} is not what was sent` }
  if (whole !== undefined && whole.digest('hex') !== sha256) {
    return { name, path, outcome: 'differs', reason: 'its SHA-256 is not what was sent' }
  }
  const isEveryPartDigested = parts.every(({ md5 }) => md5 !== undefined)
  if (isEveryPartDigested || whole !== undefined) return { name, path, outcome: 'proven' }
  return { name, path, outcome: 'unproven', reason: 'the receipt has no digest of some parts' }
}

/** Whether the parts follow one another from the first byte to the last. */
function covers(parts: readonly DeliveredPart[], bytes: number): boolean {
  let at = 0
  for (const { start, end } of parts) {
    if (start !== at || end < start) return false
    at = end
  }
  return at === bytes
}

const READ_BYTES = 1024 * 1024

async function firstWrongPart(
  path: string,
  parts: readonly DeliveredPart[],
  whole: Hash | undefined,
): Promise<number | undefined> {
  const handle = await open(path)
  const window = Buffer.allocUnsafe(READ_BYTES)
  try {
    for (const { partNumber, start, end, md5 } of parts) {
      const hash = createHash('md5')
      for (let at = start; at < end;) {
        const { bytesRead } = await handle.read(window, 0, Math.min(READ_BYTES, end - at), at)
        if (bytesRead === 0) return partNumber
        hash.update(window.subarray(0, bytesRead))
        whole?.update(window.subarray(0, bytesRead))
        at += bytesRead
      }
      if (md5 !== undefined && hash.digest('hex') !== md5) return partNumber
    }
    return undefined
  } finally {
    await handle.close()
  }
}
