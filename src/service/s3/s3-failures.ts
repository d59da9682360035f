// What the SDK's errors mean: an absence is an answer, what a store does not have at all is told apart from what fails, and of a
// failure only the call's name and the store's code go on.

import { refuse } from '../http/replies.ts'

const ABSENT = new Set(['NoSuchUpload', 'NoSuchKey', 'NotFound'])
/** Said with a status of the client's fault, or within an answer of status 200. */
const PASSING = new Set(['InternalError', 'SlowDown', 'ServiceUnavailable', 'RequestTimeout', 'TimeoutError'])

/** Makes a call whose failures are named. */
export async function named<T>(what: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    return fail(what, error)
  }
}

/** The same; undefined where what was asked for is not there. */
export async function absentOr<T>(what: string, call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call()
  } catch (error) {
    return ABSENT.has(codeOf(error)) ? undefined : fail(what, error)
  }
}

/** Stores have more or less of what S3 has: what one does not have is told apart from what fails. */
class NotThere extends Error {}

/** What a call gives, or something else where the store has no such call. */
export async function knownOr<T, U>(otherwise: U, call: () => Promise<T>): Promise<T | U> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof NotThere) return otherwise
    throw error
  }
}

/** The SDK's errors hold the request, and with it what was signed: only the code goes on. */
export function fail(what: string, error: unknown): never {
  const code = codeOf(error)
  const status = statusOf(error)
  if (status === 501 || status === 405 || code === 'NotImplemented')
    throw new NotThere(`The object store cannot ${what}: ${code} (${status}).`)
  if (status === undefined || status >= 500 || status === 429 || PASSING.has(code)) {
    refuse(503, 'storage_unavailable', 'The object store does not answer. Try again.')
  }
  throw new Error(`The object store would not ${what}: ${code} (${status}).`)
}

export function codeOf(error: unknown): string {
  return error instanceof Error ? error.name : ''
}

/** Undefined when there was no answer. */
function statusOf(error: unknown): number | undefined {
  const metadata = error instanceof Error && '$metadata' in error ? error.$metadata : undefined
  const status = (metadata as { httpStatusCode?: unknown } | undefined)?.httpStatusCode
  return typeof status === 'number' ? status : undefined
}
