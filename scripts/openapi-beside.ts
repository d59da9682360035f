// The operations outside the interface in the service's OpenAPI document (sample lists, what is stored, health and readiness), written by
// hand and tagged `beside`.

import { refusals, type Json } from './openapi-refusals.ts'

/** Operations that the interface names without showing them, and operations that only this service has. */
export const BESIDE = {
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
  '/readyz': {
    get: {
      operationId: 'readiness',
      tags: ['beside'],
      security: [],
      responses: { 200: { description: 'It takes calls.' }, 503: { description: 'It should be sent none now.' } },
    },
  },
}

/** The parameters of a list that is read in pages. */
export function pagingUpTo(most: number): Json[] {
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
