// An error as one line for a person, with what the network itself said if the error says only that it failed.

import { isCertificateCode } from '../../adapters/node/http/network-failure.ts'
import { adviceOn } from '../../core/advice.ts'
import { redactText } from '../../core/redact.ts'
import { isUploadError, summarize, TransportError, type ErrorSummary } from '../../core/errors.ts'
import { inWords } from './operation-words.ts'
import { countOf } from './wording.ts'

const DEEPEST = 5
/** What to do about a 413. Whoever sets such a limit answers with the status alone, or with a page. */
const TOO_LARGE =
  'A proxy in front of that host may take no request so large (nginx: client_max_body_size, 1 MB by default). ' +
  'Ask those who run it to raise that limit, then try again.'
/** What to do about a proxy that could not be reached. One that refuses says why. */
const PROXY_AWAY = 'Check the proxy in HTTPS_PROXY or HTTP_PROXY; a host in NO_PROXY is reached without it.'
/** System codes that the outer errors already put in words of their own. */
const SAID: readonly unknown[] = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', undefined]

/** The code and the words of an error. A network failure behind it, such as a refused certificate, is named. */
export function errorLine(error: unknown): ErrorSummary {
  const summary = summarize(error)
  const said = (words: string): ErrorSummary => ({ ...summary, message: redactText(words) })
  const { message, attempt = 1, isBaseUrlDoubtful } = summary
  const failure = networkFailureOf(error)
  if (failure === undefined || message.includes(failure.message)) return said(message)
  const { host, systemCode } = failure.details
  if (isBaseUrlDoubtful === true && (isOfProxy(failure) || isUntrusted(systemCode))) {
    const advice = isProxyAway(failure) ? ` ${PROXY_AWAY}` : ''
    const words = `Could not reach ${String(host)} in ${countOf(attempt, 'attempt')}. ${failure.message}.${advice}`
    return { ...said(words), isBaseUrlDoubtful: undefined }
  }
  return said(SAID.includes(systemCode) ? message : `${message} ${failure.message}.`)
}

/**
 * The words, what to do, and the code. If the messages of a code end in advice of their own, which knows more of the case,
 * none is added.
 */
export function fullLine(error: ErrorSummary): string {
  return `${withAdvice(error)} (${error.code})`
}

/** The words and what to do, without the code. */
export function withAdvice(error: ErrorSummary): string {
  const { code, message } = error
  const end = /[.!?]$/.test(message) ? '' : '.'
  return inWords(UNADVISED.has(code) ? `${message}${end} ${adviceFor(error)}` : message)
}

/** What to do about an error. That a service does not know what was asked for may mean that it is not the service. */
export function adviceFor({ code, status, file }: Pick<ErrorSummary, 'code' | 'status' | 'file'>): string {
  if (isNameTaken({ code, status, file }))
    return `${adviceOn(code)} If the session has the file already, --reprocess sends it once more.`
  if (status === 413) return TOO_LARGE
  const isRefused = code === 'ERR_UPLOAD_SERVICE_REFUSED' && (status === 404 || status === 405)
  // A server that knows no POST or PATCH, such as one for files alone. The codes are those of a call, and of a part.
  const isUnable = code === 'ERR_UPLOAD_HTTP_STATUS' && status === 501 && file === undefined
  if (!isRefused && !isUnable) return adviceOn(code)
  const doubt = file === undefined ? 'names nothing of yours, check' : 'does not mean this file, check the session and'
  return `${adviceOn(code)} If it ${doubt} the base URL.`
}

/** True if the service refused the name of a file. */
export function isNameRefused({ code, file }: Pick<ErrorSummary, 'code' | 'file'>): boolean {
  return code === 'ERR_UPLOAD_SERVICE_REFUSED' && file !== undefined
}

/** True if it did so as with what a capture session has already. */
export function isNameTaken({ code, status, file }: Pick<ErrorSummary, 'code' | 'status' | 'file'>): boolean {
  return isNameRefused({ code, file }) && status === 409
}

interface FailedFile {
  readonly name: string
  readonly error?: ErrorSummary
}

/** Why a file failed, without its name. Most errors of a file begin with it, and the line that shows them says it already. */
export function reasonOf({ name, error }: FailedFile): string {
  if (error === undefined) return 'no reason given'
  const { message } = error
  return inWords(message.startsWith(`${name}: `) ? message.slice(name.length + 2) : message)
}

/**
 * Says why each of many files failed. A reason in which only the file's name differs is not repeated from one file to the next:
 * whoever refuses one name often refuses all, and the same three lines twenty times would hide everything else.
 */
export function tellingOnce(reason: (file: FailedFile) => string): (file: FailedFile) => string {
  let before: string | undefined
  return (file) => {
    const words = reason(file)
    const nameless = words.replaceAll(file.name, '')
    const isSame = nameless === before
    before = nameless
    return isSame ? 'for the same reason' : words
  }
}

/** Codes whose messages say only what happened, in the words of the far end or the system. */
const UNADVISED: ReadonlySet<ErrorSummary['code']> = new Set([
  'ERR_UPLOAD_NETWORK',
  'ERR_UPLOAD_TIMEOUT',
  'ERR_UPLOAD_REDIRECT_REFUSED',
  'ERR_UPLOAD_HTTP_STATUS',
  'ERR_UPLOAD_ADDRESS_REFUSED',
  'ERR_UPLOAD_RETRIES_EXHAUSTED',
  'ERR_UPLOAD_CONFIRM_REFUSED',
  'ERR_UPLOAD_SERVICE_REFUSED',
  'ERR_UPLOAD_FAILED',
  'ERR_UPLOAD_INTERNAL',
])

/** What the transport said, found among the causes of an error. */
function networkFailureOf(error: unknown): TransportError | undefined {
  let cause = error instanceof Error ? error.cause : undefined
  for (let depth = 0; depth < DEEPEST && isUploadError(cause); depth += 1) {
    if (cause instanceof TransportError) return cause
    cause = cause.cause
  }
  return undefined
}

/**
 * True if it was the proxy that could not be reached or that refused, so that nothing is known of the host behind it. One that
 * answers 5xx may not have found that host.
 */
function isOfProxy({ details }: TransportError): boolean {
  return details['proxy'] !== undefined && !String(details['systemCode']).startsWith('ERR_PROXY_ANSWERED_5')
}

/** True if the proxy gave no answer. */
function isProxyAway({ details }: TransportError): boolean {
  return details['proxy'] !== undefined && !String(details['systemCode']).startsWith('ERR_PROXY_ANSWERED_')
}

/** True if the host answered there with its certificate, and only that is not accepted. One for another name may be another host's. */
function isUntrusted(systemCode: unknown): boolean {
  return (
    typeof systemCode === 'string' && isCertificateCode(systemCode) && systemCode !== 'ERR_TLS_CERT_ALTNAME_INVALID'
  )
}
