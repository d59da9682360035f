// A folder that an option names and that the command writes to: made before anything begins.

import { access, constants } from 'node:fs/promises'
import { tmpdir } from 'node:os'

import { errorCode, fileProblem } from '../../adapters/node/file-problem.ts'
import { makeFolders } from '../../adapters/node/journal/durable-file.ts'
import { checkText } from '../../client/checks.ts'
import { invalid } from '../../core/errors.ts'

/** Makes the folder of an option. Rejects with ERR_UPLOAD_INVALID_ARGUMENT if it cannot be made or written to. */
export async function makeFolderOf(path: string, label: string): Promise<void> {
  checkText(path, label)
  try {
    await makeFolders(path)
    await access(path, constants.W_OK | constants.X_OK)
  } catch (error) {
    const code = errorCode(error)
    if (code === 'EEXIST') invalid(`${label}: "${path}" is there and is not a folder. Name another place.`)
    if (code === 'ENOENT') invalid(`${label}: no folder can be made at "${path}". Name another place.`)
    invalid(`${label}: ${fileProblem(error, path, 'written').message}`)
  }
}

/** The same for an option that may be absent: then of the place for temporary files, which TMPDIR names. */
export function makeFolderOrTemporary(path: string | undefined, label: string): Promise<void> {
  return path === undefined ? makeFolderOf(tmpdir(), 'TMPDIR') : makeFolderOf(path, label)
}
