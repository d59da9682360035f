// The service's OpenAPI document, generated from the contract: paths and methods from its routes, bodies from its schemas.
// Operations outside the interface (sample lists, what is stored, the health check) are added by hand and tagged `beside`.

import { toJsonSchema, type JsonSchema } from '@valibot/to-json-schema'
import type * as v from 'valibot'

import { operations, type Operation } from '../src/client/contract.ts'
import { mocapSessionFileReply } from '../src/client/contract/capture-schemas.ts'
import { isAddress } from '../src/client/contract/captures.ts'
import { isFileName, isIdText } from '../src/client/contract/fields.ts'
import { ERROR_CODES } from '../src/service/http/replies.ts'

type Json = Readonly<Record<string, unknown>>

/** The whole document, OpenAPI 3.1. */
export function openApiDocument(version: string): Json {
  const schemas: Record<string, unknown> = { Error: ERROR, Malformed: MALFORMED }
  const paths: Record<string, Record<string, Json>> = {}
  for (const [name, operation] of Object.entries(operations) as [string, Operation][]) {
    const path = (paths[operation.path] ??= {})
    path[operation.method.toLowerCase()] = describe(name, operation, schemas)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Motion capture, video upload and requested analysis',
      version,
      description:
        'Three flows: motion capture upload, single-camera video upload, requested analysis. The bytes of files go to the ' +
        'addresses that the service hands out, with PUT and without credentials. No text of a body has more than 1,024 bytes ' +
        'of UTF-8. Operations tagged “beside” are not part of the interface.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }, { bearer: [] }, { bearerInAuthentication: [] }],
    paths: { ...paths, ...BESIDE },
    components: { schemas, securitySchemes: SECURITY },
  }
}

function describe(
  name: string,
  { method, path, request, reply, kind }: Operation,
  schemas: Record<string, unknown>,
): Json {
  const [group = name] = name.split('.')
  const bodyOf = (schema: v.GenericSchema, part: 'Request' | 'Reply') => {
    const title = name.replace(/(?:^|\.)(.)/g, (_, first: string) => first.toUpperCase()) + part
    schemas[title] = jsonSchemaOf(schema)
    const ref = { $ref: `#/components/schemas/${title}` }
    const isEither = part === 'Reply' && ANSWER_MALFORMED.has(name)
    const either = { anyOf: [ref, { $ref: '#/components/schemas/Malformed' }] }
    return { content: { 'application/json': { schema: isEither ? either : ref } } }
  }
  const ids = [...path.matchAll(/\{([^}]*)\}/g)].map(([, id]) => ({
    ...{ name: id, in: 'path', required: true },
    schema: { type: 'string', minLength: 1, maxLength: 1_024 },
  }))
  const paging = name === 'requestedAnalyses.list' ? pagingUpTo(10_000) : []
  const parameters = [...ids, ...paging]
  const ofBody = method === 'GET' ? [] : ['409', '413', '415', '422']
  const ofRecord = ids.length > 0 || OF_A_SESSION.has(name) ? ['404'] : []
  return {
    operationId: name,
    tags: [group],
    description: REPETITION[kind],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(request === undefined ? {} : { requestBody: { required: true, ...bodyOf(request, 'Request') } }),
    responses: {
      200: { description: 'Done.', ...bodyOf(reply, 'Reply') },
      // The interface shows 401 for the video flow and 403 for the others.
      ...refusals(
        group === 'videoUploads' ? '401' : '403',
        ...ofRecord,
        ...ofBody,
        ...(paging.length === 0 ? [] : ['422']),
      ),
    },
  }
}

/** Leaves out the checks that JSON Schema cannot express. The service makes them all the same. */
function jsonSchemaOf(schema: v.GenericSchema): JsonSchema {
  const whole = schema.type === 'optional' && 'wrapped' in schema ? (schema.wrapped as v.GenericSchema) : schema
  // `$schema` is deleted below, because the document as a whole declares its dialect.
  const json = toJsonSchema(whole, {
    target: 'draft-2020-12',
    typeMode: 'input',
    overrideSchema: ({ valibotSchema }) => {
      if (valibotSchema === mocapSessionFileReply) {
        return { type: 'object', additionalProperties: { type: 'string', format: 'uri' } }
      }
      return valibotSchema.type === 'custom' ? { type: 'object' } : undefined
    },
    overrideAction: ({ valibotAction, jsonSchema }) => {
      const rule = 'requirement' in valibotAction ? valibotAction.requirement : undefined
      if (valibotAction.type === 'finite') return jsonSchema
      if (valibotAction.type !== 'check') return undefined
      if (rule === isFileName) return { ...jsonSchema, minLength: 1, pattern: '^[^/\\\\\\u0000]+$' }
      if (rule === isIdText) return { ...jsonSchema, minLength: 1, maxLength: 1_024 }
      return rule === isAddress ? { ...jsonSchema, format: 'uri' } : jsonSchema
    },
  })
  delete json.$schema
  return json
}

const REPETITION = {
  read: 'Changes nothing.',
  repeatable: 'A repetition does the same again: it may be sent twice.',
  create: 'A repetition makes another one.',
  once: 'A repetition makes another one, which costs: look it up before it is sent again.',
} as const

const ERROR = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: { code: { type: 'string', enum: [...ERROR_CODES] }, message: { type: 'string' } },
      additionalProperties: true,
    },
  },
}

/**
 * Operations that answer a malformed request with 200 by default: the interface shows only that such a reply lacks what was asked for.
 */
/** Operations that name a session in their body. */
const OF_A_SESSION: ReadonlySet<string> = new Set(['videoUploads.confirm', 'mocapSessionFiles.register'])
const ANSWER_MALFORMED = new Set(['playerGroupSegments.create', 'videoUploads.create'])
const MALFORMED = {
  type: 'object',
  required: ['errors'],
  properties: {
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['field', 'problem'],
        properties: { field: { type: 'string' }, problem: { type: 'string' } },
      },
    },
  },
}

const MEANINGS: Readonly<Record<string, string>> = {
  401: 'Credentials missing or improper.',
  403: 'No valid access token or API key.',
  404: 'There is no such record.',
  409: 'The state of the record does not allow it.',
  413: 'The body is larger than `error.limit` bytes.',
  415: 'The body has a Content-Encoding.',
  422: 'The request is malformed; `error.fields` says where. Or it asks for more than `error.limit` at once.',
  429: 'Too many calls: nothing was done, try again after the seconds in Retry-After.',
  500: 'The service failed. What was asked for may have been done.',
  503: 'Busy: nothing was done, try again after the seconds in Retry-After.',
}

function refusals(...statuses: readonly string[]): Json {
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } }
  const waiting = { 'Retry-After': { description: 'Seconds.', schema: { type: 'integer', minimum: 1 } } }
  return Object.fromEntries(
    [...statuses, '429', '500', '503'].map((status) => [
      status,
      {
        description: MEANINGS[status] ?? '',
        ...(status === '429' || status === '503' ? { headers: waiting } : {}),
        content,
      },
    ]),
  )
}

const SECURITY = {
  apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
  bearer: { type: 'http', scheme: 'bearer' },
  bearerInAuthentication: {
    type: 'apiKey',
    in: 'header',
    name: 'Authentication',
    description: 'Bearer and the token.',
  },
}

function pagingUpTo(most: number): Json[] {
  return [
    {
      name: 'limit',
      in: 'query',
      description: 'A page of so many.',
      schema: { type: 'integer', minimum: 1, maximum: most },
    },
    { name: 'after', in: 'query', description: 'The cursor `next` of the page before.', schema: { type: 'string' } },
  ]
}

function listBeside(operationId: string, name: string, parameters: readonly Json[] = []): Json {
  const schema = {
    type: 'object',
    required: [name],
    properties: { [name]: { type: 'array', items: { type: 'object' } }, next: { type: ['string', 'null'] } },
  }
  const responses = {
    200: { description: 'The list.', content: { 'application/json': { schema } } },
    ...refusals('403', ...(parameters.length === 0 ? [] : ['422'])),
  }
  return { get: { operationId, tags: ['beside'], ...(parameters.length === 0 ? {} : { parameters }), responses } }
}

/** Operations that the interface names without showing them, and operations that only this service has. */
const BESIDE = {
  '/movement_types': listBeside('movementTypes.list', 'movement_types'),
  '/players': listBeside('players.list', 'players'),
  '/session_types': listBeside('sessionTypes.list', 'session_types'),
  '/mocap_types': listBeside('mocapTypes.list', 'mocap_types'),
  '/sessions': listBeside('sessions.list', 'sessions', pagingUpTo(1_000)),
  '/stored': listBeside('stored.list', 'items', [
    ...pagingUpTo(1_000),
    {
      name: 'order',
      in: 'query',
      description:
        'The newest first, with videos before captures. To be repeated with each cursor. Default: the oldest first.',
      schema: { enum: ['newest'] },
    },
  ]),
  '/healthz': {
    get: { operationId: 'health', tags: ['beside'], security: [], responses: { 200: { description: 'It is alive.' } } },
  },
}
