// Every failure of the engine is an UploadError with a code from one closed list. Match on `code`: it survives JSON, realms and
// two copies of the package. No message holds a signed query or a credential, and of an answer at most words, names and
// codes, shortened. Each is one line, even where it contains a file name.

import { foreignWords, onOneLine } from './redact.ts'

/** The closed list of codes. `docs/errors.md` says for each what happened and what to do; `adviceOn` gives the latter. */
export type UploadErrorCode =
  | 'ERR_UPLOAD_INVALID_ARGUMENT'
  | 'ERR_UPLOAD_INSECURE_URL'
  | 'ERR_UPLOAD_SOURCE_READ'
  | 'ERR_UPLOAD_SOURCE_CHANGED'
  | 'ERR_UPLOAD_NETWORK'
  | 'ERR_UPLOAD_TIMEOUT'
  | 'ERR_UPLOAD_ANSWER_HIDDEN'
  | 'ERR_UPLOAD_HOST_UNREACHABLE'
  | 'ERR_UPLOAD_REDIRECT_REFUSED'
  | 'ERR_UPLOAD_HTTP_STATUS'
  | 'ERR_UPLOAD_ADDRESS_EXPIRED'
  | 'ERR_UPLOAD_ADDRESS_REFUSED'
  | 'ERR_UPLOAD_ETAG_MISSING'
  | 'ERR_UPLOAD_DIGEST_MISMATCH'
  | 'ERR_UPLOAD_RETRIES_EXHAUSTED'
  | 'ERR_UPLOAD_CONFIRM_REFUSED'
  | 'ERR_UPLOAD_CREDENTIALS_REFUSED'
  | 'ERR_UPLOAD_SERVICE_REFUSED'
  | 'ERR_UPLOAD_SERVICE_REPLY'
  | 'ERR_UPLOAD_JOURNAL'
  | 'ERR_UPLOAD_CANCELLED'
  | 'ERR_UPLOAD_CLOSED'
  | 'ERR_UPLOAD_FAILED'
  | 'ERR_UPLOAD_INTERNAL'

/** What an error is made of; `details` holds only what may be shown and stored as JSON. */
export interface UploadErrorOptions {
  readonly cause?: unknown
  /** Whether the same step may succeed when it is tried again. Default false. */
  readonly isRetryable?: boolean | undefined
  /** Facts that help a person: file, part, attempt, status, fields. Never an address or a credential. */
  readonly details?: Readonly<Record<string, unknown>> | undefined
}

/** The base class of all our errors. */
export class UploadError extends Error {
  readonly code: UploadErrorCode
  readonly isRetryable: boolean
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: UploadErrorCode, message: string, options: UploadErrorOptions = {}) {
    super(onOneLine(message), options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'UploadError'
    this.code = code
    this.isRetryable = options.isRetryable ?? false
    this.details = options.details ?? {}
  }
}

/**
 * How an attempt without an answer ended. `neverWhole`: its connection was reset while bytes of the body had not left
 * the process, so the far end cannot have stored it. `doubtful`: the whole body was handed over and no answer came, so
 * it may or may not be stored.
 */
export type AttemptEnding = 'neverWhole' | 'doubtful'

/**
 * A transport's only exception: no answer came. A status, whatever it is, is an answer and never thrown. Its `isRetryable` is true by
 * default.
 */
export class TransportError extends UploadError {
  readonly ending: AttemptEnding
  /**
   * `connect`: no connection was made, so the host has seen nothing of this request. `send`: some of the body had not been handed
   * over. `answer`: all of it had, or there was none.
   */
  readonly phase: 'connect' | 'send' | 'answer'
  /** The host is there, but its answer cannot be read. Such an attempt uses up a try and opens no circuit. */
  readonly isUnreadable: boolean

  constructor(
    code: 'ERR_UPLOAD_NETWORK' | 'ERR_UPLOAD_TIMEOUT' | 'ERR_UPLOAD_ANSWER_HIDDEN' | 'ERR_UPLOAD_REDIRECT_REFUSED',
    message: string,
    options: UploadErrorOptions & {
      readonly ending: AttemptEnding
      readonly phase: 'connect' | 'send' | 'answer'
      /** Default: true for ERR_UPLOAD_ANSWER_HIDDEN, else false. */
      readonly isUnreadable?: boolean | undefined
    },
  ) {
    super(code, message, { ...options, isRetryable: options.isRetryable ?? true })
    this.name = 'TransportError'
    this.ending = options.ending
    this.phase = options.phase
    this.isUnreadable = options.isUnreadable ?? code === 'ERR_UPLOAD_ANSWER_HIDDEN'
  }
}

/** An answer that was not a success. `status` is HTTP's; `serviceCode` is the far end's own word, if it gave one. */
export class HttpStatusError extends UploadError {
  readonly status: number
  readonly serviceCode: string | undefined
  readonly retryAfterMs: number | undefined

  constructor(
    code: UploadErrorCode,
    message: string,
    options: UploadErrorOptions & {
      readonly status: number
      readonly serviceCode?: string | undefined
      readonly retryAfterMs?: number | undefined
    },
  ) {
    super(code, message, { ...options, details: { status: options.status, ...options.details } })
    this.name = 'HttpStatusError'
    this.status = options.status
    this.serviceCode = options.serviceCode
    this.retryAfterMs = options.retryAfterMs
  }
}

/** The same error with more details. A foreign error becomes ERR_UPLOAD_INTERNAL, worded as by `summarize`. */
export function withDetails(error: unknown, details: UploadError['details']): UploadError {
  const { code, message } = summarize(error)
  const { isRetryable = false, details: known } = isUploadError(error) ? error : {}
  return new UploadError(code, message, { cause: error, isRetryable, details: Object.assign({}, known, details) })
}

/** True for an UploadError of this or any other copy of the package, in this realm or another: its class does not matter. */
export function isUploadError(value: unknown): value is UploadError {
  const isError = Object.prototype.toString.call(value) === '[object Error]'
  const { code } = (isError ? value : {}) as { readonly code?: unknown }
  return typeof code === 'string' && code.startsWith('ERR_UPLOAD_')
}

/** The same for a TransportError: a host's own transport may come with its own copy of the package. */
export function isTransportError(error: unknown): error is TransportError {
  return isUploadError(error) && 'ending' in error && 'phase' in error
}

/** The same for an HttpStatusError: a host's own protocol or client may come with one too. */
export function isHttpStatusError(error: unknown): error is HttpStatusError {
  return isUploadError(error) && 'status' in error
}

/** Whether a store said that the upload of a part is gone: completed, ended or swept away there. */
export function isUploadGone(error: Partial<HttpStatusError>): boolean {
  return error.serviceCode === 'NoSuchUpload'
}

/**
 * Returns an error of ours as it is. A foreign one is wrapped under `code`: the message is `what` and its own words, redacted
 * and on one line.
 */
export function asOurs(error: unknown, code: UploadErrorCode, what: string): UploadError {
  return isUploadError(error) ? error : new UploadError(code, `${what}: ${foreignWords(error)}`, { cause: error })
}

/** The plain form of an error for journals, reports and `--json`: what happened, and where, as far as that is known. */
export interface ErrorSummary {
  readonly code: UploadErrorCode
  readonly message: string
  /** The name of the file. */
  readonly file?: string | undefined
  /** The number of the part, from 1. */
  readonly partNumber?: number | undefined
  /** The number of the attempt at the part or the call, from 1. */
  readonly attempt?: number | undefined
  /** The HTTP status of the answer that caused it. */
  readonly status?: number | undefined
  /** Nobody at the base URL speaks the interface: the URL may be misspelt. */
  readonly isBaseUrlDoubtful?: true | undefined
}

/** Makes the plain form. A foreign error becomes ERR_UPLOAD_INTERNAL with its own words, redacted and on one line. */
export function summarize(error: unknown): ErrorSummary {
  if (!isUploadError(error)) return { code: 'ERR_UPLOAD_INTERNAL', message: foreignWords(error) }
  const { code, message, details } = error
  // An error that only looks like one of ours may have no details.
  const {
    file,
    partNumber,
    attempts,
    attempt = attempts,
    status,
    isBaseUrlDoubtful,
  } = { ...details } as Record<string, never>
  return { code, message, file, partNumber, attempt, status, isBaseUrlDoubtful }
}

/** True when the far end may have done what was asked although no answer came: `details.isDoubtful` of an error. */
export function wasDoubtful(error: unknown): boolean {
  return detailsOf(error)['isDoubtful'] === true
}

/** True when what was asked has changed nothing: the far end said no, or nobody can have heard of it. */
export function wasInVain(error: unknown): boolean {
  return detailsOf(error)['isDoubtful'] === false
}

/** The details of an error of ours. Those of another are none, and so are those of one that only looks like ours. */
export function detailsOf(error: unknown): UploadError['details'] {
  return isUploadError(error) ? { ...error.details } : {}
}

/** Throws ERR_UPLOAD_INVALID_ARGUMENT for bad input, before any call is made. The message says what is wrong, where, and what to do. */
export function invalid(message: string, details: Readonly<Record<string, unknown>> = {}): never {
  throw new UploadError('ERR_UPLOAD_INVALID_ARGUMENT', message, { details })
}

/** Throws ERR_UPLOAD_INTERNAL for a mistake of ours or of a host's program; never for the world's failures. */
export function invariant(condition: boolean, message: string): asserts condition {
  if (!condition) throw new UploadError('ERR_UPLOAD_INTERNAL', `Broken invariant: ${message}`)
}

/** A value that must be there by now: without it, the program that asks is wrong. */
export function known<T>(value: T | null | undefined): T {
  invariant(value !== null && value !== undefined, 'what is used is known')
  return value
}
