// Reads a request's body by the contract's schemas, and checks that the database can hold it. No other place judges a body.

import * as v from 'valibot'

import { analysisRequest, segmentRequest } from '../../client/contract.ts'
import { boundPassed, type JsonBounds } from '../../client/contract/json-bounds.ts'
import { MalformedRequest, MAX_PROBLEMS, type FieldProblem } from './replies.ts'

export {
  analysisRequest,
  mocapSessionFileRequest,
  mocapSessionRequest,
  segmentRequest,
  videoConfirmRequest,
  videoUploadRequest,
} from '../../client/contract.ts'

/** The interface does not show the update bodies. Assumption: any of the fields that creating calls take. */
export const segmentUpdate = v.partial(segmentRequest)
const { comparison_analysis_segment_id: segmentId } = analysisRequest.entries
/** A record that was read can be sent back: null stands for no segment, and a completed one says so. */
export const analysisUpdate = v.object({
  ...v.partial(analysisRequest).entries,
  status: v.optional(v.picklist(['draft', 'requested', 'completed'])),
  comparison_analysis_segment_id: v.nullish(segmentId),
  population_analysis_segment_id: v.nullish(segmentId),
})

/**
 * Limits what a body may cost: 16 MB of tiny values are gigabytes once they are objects, and as many error messages are even more.
 * Bodies of the interface have four levels. A create of 100,000 files, the highest limit that can be set, has 600,000 values.
 */
const BODY_BOUNDS: JsonBounds = { levels: 32, values: 1_000_000 }
/** The largest id of a type, a segment or an analysis: 32 bits in the database. */
export const MAX_DATABASE_INTEGER = 2_147_483_647
/** In UTF-8. One list returns thousands of records, and the database's index takes no name above 2,704 bytes. */
const MAX_TEXT_BYTES = 1_024

/**
 * Parses the JSON of a body; undefined if it is empty. Throws MalformedRequest if it is not UTF-8 (a name must not be stored with
 * replaced letters), not JSON, or beyond the bounds of depth and number.
 */
export function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  const passed = boundPassed(bytes, BODY_BOUNDS)
  if (passed === 'levels') refuseBody(`nested more than ${BODY_BOUNDS.levels} levels deep`)
  if (passed === 'values') refuseBody(`more than ${BODY_BOUNDS.values} values`)
  try {
    // JSON.parse makes `__proto__` an ordinary key, and the contract's schemas read own fields only.
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    return refuseBody(error instanceof SyntaxError ? 'the body is not JSON' : 'the body is not UTF-8')
  }
}

type BodySchema = v.ObjectSchema<v.ObjectEntries, undefined>

/**
 * Reads a body by its schema. Throws MalformedRequest with every field that has a problem, at most 20. Takes the body out of the
 * request, because what the schema does not know may be most of it, and would be kept until the answer.
 */
export function readBody<TSchema extends BodySchema>(
  schema: TSchema,
  request: { body?: unknown },
): v.InferOutput<TSchema> {
  const { body } = request
  delete request.body
  if (body === undefined) refuseBody('a JSON body is needed, with the content type application/json')
  // Valibot takes a list for an object without fields, and one whose fields are all optional for an empty update.
  if (typeof body !== 'object' || body === null || Array.isArray(body)) refuseBody('expected a JSON object')
  // Stops at the first problem, because finding all of them in a million wrong values takes more memory than there is.
  const parsed = v.safeParse(schema, body, { abortEarly: true })
  if (!parsed.success) {
    const problems = new Map<string, FieldProblem>()
    const all = v.safeParse(schema, withShortLists(body, schema)).issues ?? parsed.issues
    for (const issue of all) {
      const field = v.getDotPath(issue) ?? ''
      // A field that breaks one rule usually breaks the next as well, so only its first problem is reported.
      if (!problems.has(field)) problems.set(field, { field, problem: problemOf(issue) })
    }
    throw new MalformedRequest([...problems.values()])
  }
  const unstorable: FieldProblem[] = []
  for (const problem of findUnstorable(parsed.output, '')) {
    // A body may have a million of them.
    if (unstorable.push(problem) === MAX_PROBLEMS) break
  }
  if (unstorable.length > 0) throw new MalformedRequest(unstorable)
  return parsed.output
}

function refuseBody(problem: string): never {
  throw new MalformedRequest([{ field: '', problem }])
}

/**
 * The body's fields that the schema knows, their lists cut where no further problem would be reported. If only a later entry is
 * wrong, its own issue is used. A body may have a million other fields: listing those takes a second and 200 MB.
 */
function withShortLists(body: object, { entries }: BodySchema): object {
  const given = body as Readonly<Record<string, unknown>>
  const known = Object.keys(entries).filter((name) => Object.hasOwn(given, name))
  const shorten = (value: unknown): unknown => (Array.isArray(value) ? value.slice(0, MAX_PROBLEMS) : value)
  return Object.fromEntries(known.map((name) => [name, shorten(given[name])]))
}

/** Valibot's own message quotes what was received. What was expected is enough and quotes nothing. */
function problemOf(issue: v.BaseIssue<unknown>): string {
  if (issue.received === 'undefined') return 'is missing'
  if (issue.type === 'non_empty') return 'must not be empty'
  if (issue.type === 'iso_date') return 'expected a date such as 2026-11-20'
  if (issue.type === 'safe_integer') return 'expected an integer, at most 2^53 - 1'
  if (issue.expected !== null) return `expected ${issue.expected}`
  return issue.type === 'check' ? issue.message : `breaks the rule ${issue.type}`
}

/** Finds what the database cannot store: text that is too long or holds NUL or half a surrogate pair, and ids above 32 bits. */
function* findUnstorable(value: unknown, path: string): Generator<FieldProblem> {
  if (typeof value === 'string' && /\0|\p{Surrogate}/u.test(value)) {
    yield { field: path, problem: 'text must not hold NUL or half of a surrogate pair' }
  } else if (typeof value === 'string' && Buffer.byteLength(value) > MAX_TEXT_BYTES) {
    yield { field: path, problem: `expected at most ${MAX_TEXT_BYTES} bytes of UTF-8` }
  } else if (typeof value === 'number' && /(?:type|segment)_id$/.test(path) && value > MAX_DATABASE_INTEGER) {
    yield { field: path, problem: `expected at most ${MAX_DATABASE_INTEGER}` }
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value))
      yield* findUnstorable(inner, path === '' ? name : `${path}.${name}`)
  }
}
