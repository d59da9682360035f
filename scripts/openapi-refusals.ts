// The refusals of the service's operations in its OpenAPI document: what each status means, and the body that says why.

import { ERROR_CODES } from '../src/service/http/replies.ts'

export type Json = Readonly<Record<string, unknown>>

/** The body of every refusal, the schema `Error`. */
export const ERROR = {
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

const MEANINGS: Readonly<Record<string, string>> = {
  401: 'Credentials missing or improper.',
  403: 'No valid access token or API key.',
  404: 'There is no such record.',
  409: 'What is there already does not allow it.',
  413: 'The body is larger than `error.limit` bytes.',
  415: 'The body has a Content-Encoding, or a Content-Type that cannot be read.',
  422: 'The request is malformed; `error.fields` says where. Or it asks for more than `error.limit` at once.',
  429: 'Too many calls: nothing was done, try again after the seconds in Retry-After.',
  500: 'The service failed. What was asked for may have been done.',
  503: 'Busy: nothing was done, try again after the seconds in Retry-After.',
}

/** The responses of these statuses, and of those that any operation may have. */
export function refusals(...statuses: readonly string[]): Json {
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
