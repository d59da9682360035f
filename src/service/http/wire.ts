// Reads a request's body by the contract's schemas, plus what a database can hold: the one place where a body is judged.

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

/** The update bodies are not shown by the interface. An assumption: any of the creation's fields. */
export const segmentUpdate = v.partial(segmentRequest)
export const analysisUpdate = v.partial(analysisRequest)

/**
 * What a body may cost: sixteen megabytes of tiny values are gigabytes once they are objects, and as many complaints about
 * them are more. Bodies of the interface have four levels, and a create of the hundred thousand files that a limit may
 * allow at most has six hundred thousand values.
 */
const BODY_BOUNDS: JsonBounds = { levels: 32, values: 1_000_000 }
/** The largest id of a type, a segment or an analysis: 32 bits in the database. */
export const MAX_DATABASE_INTEGER = 2_147_483_647
/** In UTF-8. A list answers thousands of records at once, and the database's index takes no name of more than 2,704. */
const MAX_TEXT_BYTES = 1_024

/**
 * The JSON in a body; undefined when it is empty. Throws MalformedRequest for what is not UTF-8 (a name must not be stored
 * with its letters replaced), not JSON, or beyond the bounds of depth and number.
 */
export function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  const passed = boundPassed(bytes, BODY_BOUNDS)
  if (passed === 'levels') refuseBody(`nested more than ${BODY_BOUNDS.levels} levels deep`)
  if (passed === 'values') refuseBody(`more than ${BODY_BOUNDS.values} values`)
  try {
    // `__proto__` is an ordinary key to JSON.parse, and the contract's schemas read own fields only.
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    return refuseBody(error instanceof SyntaxError ? 'the body is not JSON' : 'the body is not UTF-8')
  }
}

/** The body as the schema sees it. Throws MalformedRequest that names every field with a problem, at most 20. */
export function readBody<TSchema extends v.GenericSchema>(schema: TSchema, body: unknown): v.InferOutput<TSchema> {
  if (body === undefined) refuseBody('a JSON body is needed')
  // Stops at the first problem: to find all of them in a million wrong values takes more memory than there is.
  const parsed = v.safeParse(schema, body, { abortEarly: true })
  if (!parsed.success) {
    const problems = new Map<string, FieldProblem>()
    const all = v.safeParse(schema, withShortLists(body)).issues ?? parsed.issues
    for (const issue of all) {
      const field = v.getDotPath(issue) ?? ''
      // A field that breaks one rule mostly breaks the next as well: the first says it.
      if (!problems.has(field)) problems.set(field, { field, problem: problemOf(issue) })
    }
    throw new MalformedRequest([...problems.values()])
  }
  const unstorable = [...findUnstorable(body, '')]
  if (unstorable.length > 0) throw new MalformedRequest(unstorable)
  return parsed.output
}

function refuseBody(problem: string): never {
  throw new MalformedRequest([{ field: '', problem }])
}

/** A body whose lists end where no further problem would be told: a later entry's is found by itself. */
function withShortLists(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  const shorten = (value: unknown): unknown => (Array.isArray(value) ? value.slice(0, MAX_PROBLEMS) : value)
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, shorten(value)]))
}

/** Valibot's own message quotes what was received; what was expected is enough and quotes nothing. */
function problemOf(issue: v.BaseIssue<unknown>): string {
  if (issue.received === 'undefined') return 'is missing'
  if (issue.type === 'non_empty') return 'must not be empty'
  if (issue.expected !== null) return `expected ${issue.expected}`
  return issue.type === 'check' ? issue.message : `breaks the rule ${issue.type}`
}

/** Text without bound, NUL and halves of surrogate pairs are none for the database; ids of types and segments are 32-bit there. */
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
