// Errors of ours are known by what they are, wherever they were made.

import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'

import {
  HttpStatusError,
  isHttpStatusError,
  isTransportError,
  isUploadError,
  summarize,
  TransportError,
} from '../../src/core/errors.ts'

const inAnotherRealm = (fields: object): unknown =>
  Object.assign(runInNewContext('new Error("the disk is full")') as object, fields)

it('knows an error of another realm by its code, and keeps its words', () => {
  const error = inAnotherRealm({ code: 'ERR_UPLOAD_JOURNAL', details: { file: 'a.mp4' } })

  expect(error instanceof Error).toBe(false)
  expect(isUploadError(error)).toBe(true)
  expect(summarize(error)).toMatchObject({ code: 'ERR_UPLOAD_JOURNAL', message: 'the disk is full', file: 'a.mp4' })
  expect(isTransportError(error)).toBe(false)
})

it.each([
  ['an error without a code', inAnotherRealm({})],
  ['an error with the code of another program', inAnotherRealm({ code: 'ENOSPC' })],
  ['an error whose code is a number', inAnotherRealm({ code: 7 })],
  ['what is no error', { code: 'ERR_UPLOAD_JOURNAL', message: 'no' }],
  ['nothing', undefined],
  ['null', null],
])('takes %s for none of ours', (_what, value) => {
  expect(isUploadError(value)).toBe(false)
})

it('knows a missing answer by how it ended', () => {
  const how = { ending: 'doubtful', phase: 'answer' } as const
  expect(isTransportError(new TransportError('ERR_UPLOAD_NETWORK', 'gone', how))).toBe(true)
  expect(isTransportError(inAnotherRealm({ code: 'ERR_UPLOAD_NETWORK', ...how }))).toBe(true)
  expect(isTransportError(inAnotherRealm({ code: 'ERR_UPLOAD_NETWORK', ending: 'doubtful' }))).toBe(false)
  expect(isHttpStatusError(new HttpStatusError('ERR_UPLOAD_HTTP_STATUS', 'no', { status: 404 }))).toBe(true)
  expect(isHttpStatusError(inAnotherRealm({ code: 'ERR_UPLOAD_HTTP_STATUS', status: 404 }))).toBe(true)
  expect(isHttpStatusError(inAnotherRealm({ code: 'ERR_UPLOAD_NETWORK' }))).toBe(false)
})

it.each([
  ['a text', 'no start', 'no start'],
  ['an error whose message is an object', Object.assign(new Error(), { message: { code: 7 } }), '[object Object]'],
  ['an error without a message', Object.assign(new Error(), { message: undefined }), 'undefined'],
  ['an object that does not turn into a text', Object.create(null) as unknown, 'object'],
  ['an error whose message ends with its line', new Error('no start\nline\n'), 'no start line'],
])('has words for %s, which plain JavaScript may throw', (_what, error, message) => {
  expect(summarize(error)).toEqual({ code: 'ERR_UPLOAD_INTERNAL', message })
})

it('is worth another try where no answer came, unless it says no: what is left undefined is not said', () => {
  const how = { ending: 'doubtful', phase: 'answer' } as const
  const isRetryable = (said?: boolean): boolean =>
    new TransportError('ERR_UPLOAD_NETWORK', 'gone', { ...how, isRetryable: said }).isRetryable

  expect([isRetryable(), isRetryable(true), isRetryable(false)]).toEqual([true, true, false])
})
