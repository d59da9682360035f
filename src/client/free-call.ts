// A call of the service whose path the interface does not show: with the client's credentials, below the base address.

import { invalid } from '../core/errors.ts'
import type { BaseUrl } from './base-url.ts'
import type { OperationKind } from './contract.ts'
import { ownField } from './contract/fields.ts'
import { readJson } from './reply.ts'
import type { Caller } from './caller.ts'
import type { ServiceClient } from './operations.ts'

const METHODS: Readonly<Record<string, OperationKind>> = {
  GET: 'read',
  POST: 'once',
  PUT: 'repeatable',
  PATCH: 'repeatable',
  DELETE: 'repeatable',
}

/** Makes the function that makes such calls. The method of a call decides when it may be repeated. */
export function createFreeCall(baseUrl: BaseUrl, caller: Caller): ServiceClient['call'] {
  return async (named, path, options = {}) => {
    const method = typeof named === 'string' ? named.toUpperCase() : ''
    const kind = ownField(METHODS, method) as OperationKind | undefined
    if (kind === undefined) return invalid(`The method is unknown: give one of ${Object.keys(METHODS).join(', ')}.`)
    const url = baseUrl.resolve(path, options.query)
    const operation = `${method} ${path}`
    if (method === 'GET' && options.data !== undefined) invalid('A GET has no body: give data as query.')
    const body = options.data !== undefined && { body: bytesOf(options.data) }
    const call = { operation, words: operation, kind, method, url, ...body }
    const { reply } = await caller(call, options)
    // A success that cannot be read says all the same that it was heard.
    const asked = { ...call, isDoubtful: kind !== 'read' }
    return { status: reply.status, data: reply.body.length === 0 ? undefined : readJson(reply, asked, true) }
  }
}

/** A JSON body. Throws ERR_UPLOAD_INVALID_ARGUMENT for what JSON cannot express. */
export function bytesOf(data: unknown): Uint8Array {
  let text: string | undefined
  try {
    text = JSON.stringify(data)
  } catch {
    // A cycle or a bigint. It gets the same advice as a function or a symbol, which JSON leaves out without a word.
  }
  if (text === undefined) invalid('data cannot be written as JSON: give a JSON value.', { field: 'data' })
  return new TextEncoder().encode(text)
}
