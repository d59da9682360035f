// Turns what the file system says about a journal into ERR_UPLOAD_JOURNAL, with the path and what to do about it.

import { UploadError } from '../../../core/errors.ts'
import { errorCode } from '../file-problem.ts'

const EXPLANATIONS: ReadonlyMap<string, string> = new Map([
  ['ENOSPC', 'the disk is full. Free some space, then go on'],
  ['EDQUOT', 'the disk quota is used up. Free some space, then go on'],
  ['EFBIG', 'the file would be larger than this disk allows. Choose another state folder'],
  ['EIO', 'the disk failed. Check the device, then go on'],
  ['ESTALE', 'the network drive lost it. Check that the drive is connected, then go on'],
  ['EROFS', 'the disk is read-only. Choose another state folder'],
  ['EACCES', 'this user may not use it. Give read and write permission, or choose another state folder'],
  ['EPERM', 'this user may not use it. Give read and write permission, or choose another state folder'],
  ['ENOTDIR', 'a part of this path is not a folder. Choose another state folder'],
  ['EISDIR', 'there is a folder where the file should be. Move it away'],
  ['EMFILE', 'too many files are open. Raise the limit of open files'],
  ['ENFILE', 'the system has too many files open. Close other programs'],
  ['EEXIST', 'there is a file where the folder should be. Move it away, or choose another state folder'],
  ['ENOENT', 'it is gone. Whatever cleans this folder must leave the journals of unfinished sessions alone'],
])

const NO_PLACE = 'no folder can be made there. Choose another state folder'

/** `action` completes "cannot be …": made, written, read, locked. The system's own error is the cause. */
export function journalProblem(error: unknown, path: string, action: string): UploadError {
  const code = errorCode(error)
  const known = action === 'made' && code === 'ENOENT' ? NO_PLACE : EXPLANATIONS.get(code ?? '')
  const why = known ?? `the system says ${code ?? 'nothing more'}. Check the file and its disk`
  return new UploadError('ERR_UPLOAD_JOURNAL', `The journal "${path}" cannot be ${action}: ${why}.`, {
    cause: error,
    details: { path, ...(code === undefined ? {} : { systemCode: code }) },
  })
}

/** Runs `work`. What the file system refuses is reported as `journalProblem` does; an UploadError passes unchanged. */
export async function explained<T>(path: string, action: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof UploadError ? error : journalProblem(error, path, action)
  }
}
