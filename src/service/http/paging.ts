// Lists in pages: `?limit=N` returns the first N and a cursor, `?after=CURSOR` continues behind it. Every page costs the same, and
// records added meanwhile shift nothing. This is not part of the interface: without either parameter a list is returned whole.

import { malformed } from './replies.ts'

export interface Page {
  readonly limit: number
  /** The values in the cursor; undefined for the first page. */
  readonly after: readonly unknown[] | undefined
}

const BY_DEFAULT = 100

/** The page a query asks for; undefined if it asks for none. Refuses a limit outside 1 to `most`. */
export function pageOf(query: unknown, most: number): Page | undefined {
  const { limit, after } = query as { readonly limit?: unknown; readonly after?: unknown }
  if (limit === undefined && after === undefined) return undefined
  return { limit: limitOf(limit, most), after: after === undefined ? undefined : valuesOf(after) }
}

/** The limit in a query. Refuses anything but digits, and numbers outside 1 to `most`. */
export function limitOf(limit: unknown, most: number): number {
  const count =
    limit === undefined ? BY_DEFAULT : typeof limit === 'string' && /^\d{1,9}$/.test(limit) ? Number(limit) : 0
  if (count < 1 || count > most) malformed('limit', `expected 1 to ${most}`)
  return count
}

/** The first `limit` of `limit + 1` rows, and the cursor behind them; null on the last page. */
export function cutPage<TRow>(
  rows: readonly TRow[],
  { limit }: Page,
  valuesIn: (row: TRow) => readonly unknown[],
): { readonly page: readonly TRow[]; readonly next: string | null } {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { page, next: rows.length > limit && last !== undefined ? cursorOf(valuesIn(last)) : null }
}

/** Throws the refusal of a cursor that is not ours. */
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
    // Refused below, with the same message.
  }
  return refuseCursor()
}
