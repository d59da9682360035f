// Pages of a list, as a query asks for them.

import { expect, it } from 'vitest'

import { cutPage, pageOf } from '../../../src/service/http/paging.ts'

it('has a hundred records where a query has only a cursor, and begins behind the last one', () => {
  const { page, next } = cutPage(['a', 'b', 'c'], { limit: 2, after: undefined }, (row) => [row])

  expect(page).toEqual(['a', 'b'])
  expect(pageOf({ after: next }, 1_000)).toEqual({ limit: 100, after: ['b'] })
})

it('is known to be the last one though it is full, and where there is nothing at all', () => {
  for (const rows of [['a', 'b'], []]) {
    expect(cutPage(rows, { limit: 2, after: undefined }, (row) => [row])).toEqual({ page: rows, next: null })
  }
})
