// What an error asks of the person in front of the page.

import { expect, it } from 'vitest'
import { problemOf } from '../../src/element/problems.ts'

it.each([
  // It ends a file only where a new address did not help: they live too short for this line, which trying again does not change.
  ['ERR_UPLOAD_ADDRESS_EXPIRED', 'setup'],
  ['ERR_UPLOAD_INTERNAL', 'setup'],
  ['ERR_UPLOAD_RETRIES_EXHAUSTED', 'again'],
  ['ERR_UPLOAD_SOURCE_READ', 'choose'],
] as const)('%s is for whoever can mend it: %s', (code, problem) => {
  expect(problemOf({ code, message: '' })).toBe(problem)
})

it.each([
  [404, 'setup'],
  // So may a registration of captures end, which is not repeated where nobody knows whether it was heard.
  [408, 'again'],
  [413, 'setup'],
  [500, 'again'],
  // The request itself is not understood, which no waiting changes.
  [501, 'setup'],
  [503, 'again'],
  [505, 'setup'],
  [507, 'again'],
] as const)('what is answered %i: %s', (status, problem) => {
  expect(problemOf({ code: 'ERR_UPLOAD_HTTP_STATUS', message: '', status })).toBe(problem)
})
