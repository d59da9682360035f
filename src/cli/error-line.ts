// An error as one line for a person, with what the network itself said where the error only says that it failed.

import { redactText } from '../core/redact.ts'
import { isUploadError, summarize, TransportError, type ErrorSummary } from '../core/errors.ts'

const DEEPEST = 5
/** What the errors above the transport's say in their own words. */
const SAID: readonly unknown[] = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', undefined]

/** The code and the words of an error; a refused connection or certificate behind it is named. */
export function errorLine(error: unknown): ErrorSummary {
  const { code, message } = summarize(error)
  const reason = networkReason(error)
  const words = reason === undefined || message.includes(reason) ? message : `${message} ${reason}.`
  return { code, message: onOneLine(redactText(words)) }
}

/** What the transport said, from the causes of an error. */
function networkReason(error: unknown): string | undefined {
  let cause = error instanceof Error ? error.cause : undefined
  for (let depth = 0; depth < DEEPEST && isUploadError(cause); depth += 1) {
    if (cause instanceof TransportError) return SAID.includes(cause.details['systemCode']) ? undefined : cause.message
    cause = cause.cause
  }
  return undefined
}

function onOneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ').trim()
}
