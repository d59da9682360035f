// Turns what the file system says into an UploadError that names the path and says what to do about it.

import { UploadError } from '../../core/errors.ts'

interface Explanation {
  readonly text: string
  readonly isRetryable?: boolean
}

const AWAY: Explanation = { text: 'its drive does not answer. Check that it is connected', isRetryable: true }

const EXPLANATIONS: ReadonlyMap<string, Explanation> = new Map([
  ['ENOENT', { text: 'there is nothing at this path. Check the path' }],
  ['ENOTDIR', { text: 'a part of this path is not a folder. Check the path' }],
  ['ELOOP', { text: 'its links lead in a circle. Name the file itself' }],
  ['ENAMETOOLONG', { text: 'the path is longer than the system allows. Shorten it' }],
  ['EACCES', { text: 'this user may not VERB it. Give VERB permission' }],
  ['EPERM', { text: 'this user may not VERB it. Give VERB permission' }],
  ['EISDIR', { text: 'it is a folder. Name the files in it' }],
  ['EMFILE', { text: 'too many files are open. Raise the limit of open files', isRetryable: true }],
  ['ENFILE', { text: 'the system has too many files open. Close other programs', isRetryable: true }],
  ['EBUSY', { text: 'another program holds it. Close that program', isRetryable: true }],
  ['ENOSPC', { text: 'the disk is full. Free some space or name another folder' }],
  ['EDQUOT', { text: 'the disk quota is used up. Free some space or name another folder' }],
  ['EROFS', { text: 'the disk is read-only. Name another folder' }],
  ['EIO', { text: 'the disk or the network drive failed. Check the device', isRetryable: true }],
  // The server of the drive was restarted. A file that is opened anew is there again.
  ['ESTALE', { text: 'the network drive lost it. Check that the drive is connected', isRetryable: true }],
  // A network drive, or one in user space, that does not answer, or a drive that was unplugged. On Windows, a network drive that is
  // away is often an unknown error.
  ...[
    ...['ETIMEDOUT', 'EHOSTDOWN', 'EHOSTUNREACH', 'ENETUNREACH', 'ENETDOWN', 'ENOTCONN', 'ECONNRESET', 'ECONNABORTED'],
    ...['EREMOTEIO', 'ENXIO', 'ENODEV', 'EAGAIN', 'UNKNOWN'],
  ].map((code) => [code, AWAY] as const),
])

/** `action` completes "cannot be …": read, opened, listed, spooled, written. The system's own error is the cause. */
export function fileProblem(error: unknown, path: string, action: string): UploadError {
  const code = errorCode(error)
  const known = code === undefined ? undefined : EXPLANATIONS.get(code)
  const verb = action === 'written' ? 'write' : 'read'
  const why =
    known?.text.replaceAll('VERB', verb) ?? `the system says ${code ?? 'nothing more'}. Check the file and its disk`
  return new UploadError('ERR_UPLOAD_SOURCE_READ', `"${path}" cannot be ${action}: ${why}.`, {
    cause: error,
    isRetryable: known?.isRetryable ?? false,
    details: { path, ...(code === undefined ? {} : { systemCode: code }) },
  })
}

/**
 * The error for a file that was there when its upload began. It has not changed, and may come back as it was, here or
 * elsewhere. `isWithDrive`: its drive is gone, too, and may be back in a moment.
 */
export function fileGone(cause: UploadError, path: string, isWithDrive: boolean): UploadError {
  const { code, details } = cause
  const message = isWithDrive
    ? `"${path}" is gone with its drive. Put that back.`
    : `"${path}" is gone: it was moved or deleted, or its drive was taken out. Bring it back, then resume the session.`
  return new UploadError(code, message, { cause, isRetryable: isWithDrive, details })
}

/**
 * The error for a file that looks unchanged but lies on another drive, as far as the system knows: it may well be the same file.
 * `isKnowable`: opened anew, it may be known again.
 */
export function driveChanged(path: string, isKnowable: boolean): UploadError {
  const message = `"${path}" is on another drive, or its drive was taken out and put back. Resume the session: it goes on if it is the same file.`
  return new UploadError('ERR_UPLOAD_SOURCE_READ', message, { isRetryable: isKnowable, details: { path } })
}

/** The error for a path to something that cannot be uploaded as a file. */
export function notAFile(path: string, kind: string): UploadError {
  return new UploadError('ERR_UPLOAD_SOURCE_READ', `"${path}" cannot be read: it is ${kind}, not a regular file.`, {
    details: { path },
  })
}

/** The error for a file that says it has no bytes and has some, as in /proc: it would be taken for sent with none of them. */
export function sizeUnknown(path: string): UploadError {
  const message = `"${path}" cannot be read: its file system does not say how long it is. Copy it to a disk, or pass it as a stream.`
  return new UploadError('ERR_UPLOAD_SOURCE_READ', message, { details: { path } })
}

/**
 * The system's code of an error, such as ENOENT. Read by shape, because under Jest the system's errors are of another
 * realm.
 */
export function errorCode(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { readonly code?: unknown }
  return typeof code === 'string' ? code : undefined
}
