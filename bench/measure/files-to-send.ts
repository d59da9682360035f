// Makes files for the contestants: real ones, already written back to the disk, so that no write-back disturbs the
// runs, and still in the page cache, so that the disk is not measured.

import { execFile } from 'node:child_process'
import { randomFillSync } from 'node:crypto'
import { mkdir, open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { stamp, stampAll } from './stamps.ts'

const BLOCK_BYTES = 16 << 20

/** Writes a file of exactly `bytes` bytes. But for its stamps it repeats one random block, which is fine because no contestant compresses. */
export async function writeFileToSend(path: string, bytes: number): Promise<string> {
  const block = randomFillSync(Buffer.allocUnsafe(Math.min(bytes, BLOCK_BYTES)))
  const file = await open(path, 'w')
  try {
    for (let at = 0; at < bytes; at += block.length) {
      stampAll(block, 0, at)
      await file.write(block, 0, Math.min(block.length, bytes - at), at)
    }
    await file.sync()
  } finally {
    await file.close()
  }
  return path
}

/** A folder of small files named like tracking captures. */
export async function writeFolderToSend(folder: string, files: number, bytesEach: number): Promise<string> {
  await mkdir(folder)
  const content = randomFillSync(Buffer.allocUnsafe(bytesEach))
  for (let index = 0; index < files; index += 1) {
    stamp(content, index, 0)
    await writeFile(join(folder, `swing-${String(index).padStart(5, '0')}.action`), content)
  }
  // A sync of the folder would write back only the names, and one for each file would take minutes.
  await promisify(execFile)('sync')
  return folder
}
