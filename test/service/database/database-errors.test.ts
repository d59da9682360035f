// Which failures of a database pass by themselves.

import { expect, it } from 'vitest'

import { isDatabaseAway } from '../../../src/service/database/database-errors.ts'

it.each([
  ...['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'EHOSTDOWN', 'EADDRNOTAVAIL'],
  ...['57P03', '53300', '40P01', '55P03', '25006'],
])('%s is one: the database was reached at the start, and will be again', (code) => {
  expect(isDatabaseAway(Object.assign(new Error('It says why.'), { code }))).toBe(true)
})

it.each(['23505', '22P05', '42P01', 'ERR_INVALID_ARG_TYPE'])('%s is none: it would come again', (code) => {
  expect(isDatabaseAway(Object.assign(new Error('It says why.'), { code }))).toBe(false)
})
