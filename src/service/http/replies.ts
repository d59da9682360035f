// How the service refuses: with JSON for its own calls, and with S3-style XML for object addresses.

/** When to retry after a full disk, which takes a person to free. */
export const DISK_FULL_RETRY_SECONDS = 60

/** One problem of a request: the field's path, empty for the body as a whole, and the rule it breaks. */
export interface FieldProblem {
  readonly field: string
  readonly problem: string
}

/** Every error code of a service call. */
export const ERROR_CODES = [
  'already_confirmed',
  'already_requested',
  'analysis_not_found',
  'body_too_large',
  'credentials_refused',
  'duplicate_file',
  'etag_mismatch',
  'file_not_found',
  'internal',
  'invalid_request',
  'missing_part',
  'not_found',
  'organisation_refused',
  'part_not_stored',
  'part_too_small',
  'rate_limited',
  'repeated_part',
  'segment_in_use',
  'segment_not_found',
  'segments_disagree',
  'session_cancelled',
  'session_expired',
  'session_not_found',
  'size_mismatch',
  'storage_unavailable',
  'too_many_files',
  'too_many_names',
  'too_many_open_sessions',
  'unavailable',
  'unknown_part',
  'unknown_segment',
  'upload_lost',
  'wrong_file_kind',
  'wrong_method',
] as const
export type ErrorCode = (typeof ERROR_CODES)[number]

/** A refusal of a service call. `facts` are added to the error object; the cause is for the log alone. */
export class Refusal extends Error {
  readonly status: number
  readonly code: ErrorCode
  readonly facts: Readonly<Record<string, unknown>>

  constructor(
    status: number,
    code: ErrorCode,
    message: string,
    facts: Readonly<Record<string, unknown>> = {},
    cause?: unknown,
  ) {
    super(message, { cause })
    this.name = 'Refusal'
    this.status = status
    this.code = code
    this.facts = facts
  }
}

/** How many problems of one request are reported. */
export const MAX_PROBLEMS = 20

/**
 * A request with a wrong shape or wrong values, and its first problems. Answered 422, or in the interface's own way for the
 * two creating calls that have one.
 */
export class MalformedRequest extends Refusal {
  readonly problems: readonly FieldProblem[]

  constructor(found: readonly FieldProblem[]) {
    const problems = found.slice(0, MAX_PROBLEMS)
    const list = problems.map(({ field, problem }) => (field === '' ? problem : `${field}: ${problem}`)).join('; ')
    super(422, 'invalid_request', `The request is malformed: ${list}`, { fields: problems })
    this.name = 'MalformedRequest'
    this.problems = problems
  }
}

/** Throws a refusal. */
export function refuse(
  status: number,
  code: ErrorCode,
  message: string,
  facts?: Readonly<Record<string, unknown>>,
): never {
  throw new Refusal(status, code, message, facts)
}

/** Throws for one wrong field. */
export function malformed(field: string, problem: string): never {
  throw new MalformedRequest([{ field, problem }])
}

/** The JSON body of a refusal. */
export function errorBody(code: ErrorCode, message: string, facts: Readonly<Record<string, unknown>> = {}): object {
  return { error: { code, message, ...facts } }
}

/** A refusal at an object address. `facts` become elements of the XML; `closes` if the rest of the body is not read. */
export class StorageRefusal extends Error {
  readonly status: number
  readonly code: string
  readonly facts: Readonly<Record<string, string | number>>
  readonly closes: boolean

  constructor(
    status: number,
    code: string,
    message: string,
    options: { readonly facts?: Readonly<Record<string, string | number>>; readonly closes?: boolean } = {},
  ) {
    super(message)
    this.name = 'StorageRefusal'
    this.status = status
    this.code = code
    this.facts = options.facts ?? {}
    this.closes = options.closes ?? false
  }
}

/** Refuses a signed address whose life is over, at this time. Times are ms since 1970. */
export function requestExpired(lifeSeconds: number, expiredAt: number, now: number): StorageRefusal {
  return new StorageRefusal(403, 'AccessDenied', 'Request has expired', {
    facts: { 'X-Amz-Expires': lifeSeconds, Expires: isoSeconds(expiredAt), ServerTime: isoSeconds(now) },
  })
}

/** A time, ms since 1970, as stores write it. */
export function isoSeconds(time: number): string {
  return new Date(time).toISOString().replace(/\.\d{3}/, '')
}

/** The XML document of a storage refusal. */
export function storageErrorXml(refusal: StorageRefusal): string {
  const elements: [string, string | number][] = [
    ['Code', refusal.code],
    ['Message', refusal.message],
    ...Object.entries(refusal.facts),
  ]
  const inner = elements.map(([name, value]) => `<${name}>${escapeMarkup(String(value))}</${name}>`).join('')
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Error>${inner}</Error>`
}

/** A text as it stands in XML or HTML. */
export function escapeMarkup(text: string): string {
  return text.replace(/[<>&"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
