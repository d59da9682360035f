// Converts an error of the page to JSON with everything that it shows, and back to an error in the test.

import { TransportError, UploadError, type AttemptEnding, type UploadErrorCode } from '../../../src/core/errors.ts'

export interface ErrorJson {
  readonly name: string
  readonly message: string
  readonly stack: string
  readonly code?: UploadErrorCode
  readonly isRetryable?: boolean
  readonly details?: Readonly<Record<string, unknown>>
  readonly ending?: AttemptEnding
  readonly phase?: 'connect' | 'send' | 'answer'
  readonly cause?: ErrorJson
}

export function errorToJson(error: unknown): ErrorJson {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), stack: '' }
  const { name, message, stack = '', cause } = error
  const own = Object.fromEntries(Object.entries(error).filter(([key]) => key !== 'cause'))
  return { ...own, name, message, stack, ...(cause === undefined ? {} : { cause: errorToJson(cause) }) }
}

export function errorFromJson(json: ErrorJson): Error {
  const { code, message, isRetryable = false, details = {}, ending, phase } = json
  const cause = json.cause === undefined ? {} : { cause: errorFromJson(json.cause) }
  const options = { isRetryable, details, ...cause }
  const error =
    code === undefined
      ? new Error(message, cause)
      : ending === undefined || phase === undefined
        ? new UploadError(code, message, options)
        : new TransportError(code as 'ERR_UPLOAD_NETWORK', message, { ...options, ending, phase })
  if (code === undefined) error.name = json.name
  error.stack = json.stack
  return error
}
