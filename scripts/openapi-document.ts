// The service's OpenAPI document, generated from the contract: paths and methods from its routes, bodies from its schemas.
// Operations outside the interface are written by hand beside it.

import { toJsonSchema, type JsonSchema } from '@valibot/to-json-schema'
import type * as v from 'valibot'

import { operations, type Operation } from '../src/client/contract.ts'
import { mocapSessionFileReply } from '../src/client/contract/capture-schemas.ts'
import { isAddress } from '../src/client/contract/captures.ts'
import { isFileName, isIdText } from '../src/client/contract/fields.ts'
import { BESIDE, pagingUpTo } from './openapi-beside.ts'
import { ERROR, refusals, type Json } from './openapi-refusals.ts'

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
        'of UTF-8, and no id of a type or segment is above 2,147,483,647. Operations tagged “beside” are not part of the interface.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    // Relative to the document, which a proxy may have below a path.
    servers: [{ url: './' }],
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
  const ofBody = method === 'GET' ? [] : method === 'DELETE' ? ['413', '415'] : ['413', '415', '422']
  const ofRecord = ids.length > 0 || OF_A_SESSION.has(name) ? ['404'] : []
  const ofState = MAY_CONFLICT.has(name) ? ['409'] : []
  return {
    operationId: name,
    tags: [group],
    description: name === 'mocapSessionFiles.register' ? REGISTERED_AGAIN : REPETITION[kind],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(request === undefined ? {} : { requestBody: { required: true, ...bodyOf(request, 'Request') } }),
    responses: {
      200: { description: 'Done.', ...bodyOf(reply, 'Reply') },
      // The interface shows 401 for the video flow and 403 for the others.
      ...refusals(
        group === 'videoUploads' ? '401' : '403',
        ...ofRecord,
        ...ofState,
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

/** To the client it is repeatable, as it then sets `reprocess`. */
const REGISTERED_AGAIN = 'A repetition is refused with 409 (`duplicate_file`), unless `reprocess` is true.'

/** Operations that name a session in their body. */
const OF_A_SESSION: ReadonlySet<string> = new Set(['videoUploads.confirm', 'mocapSessionFiles.register'])
const MAY_CONFLICT: ReadonlySet<string> = new Set([
  'mocapSessionFiles.register',
  'playerGroupSegments.update',
  'requestedAnalyses.update',
  'videoUploads.create',
  'videoUploads.confirm',
])
/**
 * Operations that answer a malformed request with 200 by default: the interface shows only that such a reply lacks what was asked for.
 */
const ANSWER_MALFORMED = new Set(['playerGroupSegments.create', 'videoUploads.create'])
const MALFORMED = {
  type: 'object',
  required: ['message', 'errors'],
  properties: {
    message: { type: 'string', description: 'The problems in words: at most twenty.' },
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
