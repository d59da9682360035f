// What the SDK's errors mean. An absence is an answer. A call that a store does not have is told apart from a failure. Of a
// failure, only the call's name and the store's code are passed on.

import { Refusal } from '../http/replies.ts'

const ABSENT = new Set(['NoSuchUpload', 'NoSuchKey', 'NotFound'])
/** Transient errors that stores send with a 4xx status, or inside an answer with status 200. */
const PASSING = new Set([
  'InternalError',
  'OperationAborted',
  'RequestTimeout',
  'ServiceUnavailable',
  'SlowDown',
  'TimeoutError',
])

/** Makes a call and names it in its failures. */
export async function named<T>(what: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    return fail(what, error)
  }
}

/** The same, but returns undefined if the thing asked for is absent. */
export async function absentOr<T>(what: string, call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call()
  } catch (error) {
    return ABSENT.has(codeOf(error)) ? undefined : fail(what, error)
  }
}

/** The store does not have this call: not all stores have everything that S3 has. */
class NotThere extends Error {}

/** The call's result, or `otherwise` if the store has no such call. */
export async function knownOr<T, U>(otherwise: U, call: () => Promise<T>): Promise<T | U> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof NotThere) return otherwise
    throw error
  }
}

/** Passes on the code only, because the SDK's errors hold the request and with it what was signed. */
export function fail(what: string, error: unknown): never {
  const code = codeOf(error)
  const status = statusOf(error)
  if (status === 501 || status === 405 || code === 'NotImplemented')
    throw new NotThere(`The object store cannot ${what}: ${code} (${status}).`)
  if (status === undefined || status >= 500 || status === 429 || PASSING.has(code)) {
    const reason = status === undefined ? `${systemCodeOf(error) ?? code} (no answer)` : `${code} (${status})`
    const cause = new Error(`The object store did not ${what}: ${reason}.`)
    throw new Refusal(503, 'storage_unavailable', 'The object store does not answer. Try again.', {}, cause)
  }
  throw new Error(`The object store would not ${what}: ${code} (${status}).`)
}

export function codeOf(error: unknown): string {
  return error instanceof Error ? error.name : ''
}

/** Such as ECONNREFUSED. */
function systemCodeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** Undefined if there was no answer. */
function statusOf(error: unknown): number | undefined {
  const metadata = error instanceof Error && '$metadata' in error ? error.$metadata : undefined
  const status = (metadata as { httpStatusCode?: unknown } | undefined)?.httpStatusCode
  return typeof status === 'number' ? status : undefined
}
