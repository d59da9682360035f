// Lists in pages: `?limit=N` gives the first N and a cursor, `?after=CURSOR` goes on behind it. A page costs the same
// wherever it is, and what is added meanwhile moves nothing. Not part of the interface: without either, a list is whole.

import { malformed } from './replies.ts'

export interface Page {
  readonly limit: number
  /** What the cursor holds; undefined for the first page. */
  readonly after: readonly unknown[] | undefined
}

const BY_DEFAULT = 100

/** The page that a query asks for; undefined when it asks for none. Refuses a limit that is not 1 to `most`. */
export function pageOf(query: unknown, most: number): Page | undefined {
  const { limit, after } = query as { readonly limit?: unknown; readonly after?: unknown }
  if (limit === undefined && after === undefined) return undefined
  const count =
    limit === undefined ? BY_DEFAULT : typeof limit === 'string' && /^\d{1,9}$/.test(limit) ? Number(limit) : 0
  if (count < 1 || count > most) malformed('limit', `expected 1 to ${most}`)
  return { limit: count, after: after === undefined ? undefined : valuesOf(after) }
}

/** The first `limit` of one row more, and the cursor behind them: null on the last page. */
export function cutPage<TRow>(
  rows: readonly TRow[],
  { limit }: Page,
  valuesIn: (row: TRow) => readonly unknown[],
): { readonly page: readonly TRow[]; readonly next: string | null } {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { page, next: rows.length > limit && last !== undefined ? cursorOf(valuesIn(last)) : null }
}

/** Throws as for a cursor that is not ours. */
export function refuseCursor(): never {
  malformed('after', 'expected a cursor that this service gave')
}

function cursorOf(values: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url')
}

function valuesOf(cursor: unknown): readonly unknown[] {
  if (typeof cursor !== 'string' || cursor.length > 1_000) refuseCursor()
  try {
    const values: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (Array.isArray(values)) return values
  } catch {
    // Refused below, in the same words.
  }
  return refuseCursor()
}
