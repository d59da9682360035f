// What this service holds, read with the project's own client: stored files, the sessions that they belong to, and analyses.

import type { RequestedAnalysis } from '../client/contract.ts'
import type { ServiceClient } from '../client/operations.ts'
import type { OnWaiting } from '../core/ports.ts'

export interface StoredFile {
  readonly name: string
  readonly kind: string
  readonly sessionId: string
  readonly bytes: number
}

export interface StoredSession {
  readonly sessionId: string
  readonly kind: string
  readonly files: number
  readonly bytes: number
}

/** The newest of each first. */
export interface Holdings {
  readonly files: readonly StoredFile[]
  readonly sessions: readonly StoredSession[]
  readonly analyses: readonly RequestedAnalysis[]
  /** True if there are older files than were read, and perhaps sessions of which no file was read. */
  readonly hasOlderFiles: boolean
  readonly hasOlderAnalyses: boolean
}

/** How many pages of 1,000 files are read at most. */
export const MOST_PAGES = 100

interface StoredPage {
  readonly items: readonly {
    readonly kind: string
    readonly session_id: string
    readonly file_name: string
    readonly size_bytes: number
    /** ISO 8601, so that the order of the texts is the order of the times. */
    readonly created_at: string
  }[]
  readonly next: string | null
}

/** Who hears on the way of each answer, and of each wait for one. */
export interface Hearing {
  onAnswer(): void
  readonly onWaiting: OnWaiting
}

/** Reads the newest analyses and this many pages of the newest files. */
export async function readHoldings(
  client: ServiceClient,
  mostPages: number,
  { onAnswer, onWaiting }: Hearing,
): Promise<Holdings> {
  const items: StoredPage['items'][number][] = []
  let cursor: string | null | undefined
  for (let page = 0; page < mostPages && cursor !== null; page += 1) {
    const query = { order: 'newest', limit: 1_000, ...(cursor === undefined ? {} : { after: cursor }) }
    const { data }: { readonly data: unknown } = await client.call('GET', '/stored', { query, onWaiting })
    const stored = data as StoredPage
    onAnswer()
    items.push(...stored.items)
    cursor = stored.next
  }
  // Videos come before captures. Whatever began at the same time keeps its order.
  items.sort((a, b) => (a.created_at < b.created_at ? 1 : a.created_at > b.created_at ? -1 : 0))
  const files = items.map((item): StoredFile => ({
    kind: item.kind,
    sessionId: item.session_id,
    name: item.file_name,
    bytes: item.size_bytes,
  }))
  const { items: analyses, raw } = await client.requestedAnalyses.list({ query: { limit: 1_000 } }, { onWaiting })
  return {
    files,
    sessions: sessionsOf(files),
    analyses,
    hasOlderFiles: cursor !== null,
    hasOlderAnalyses: (raw as { readonly next?: string | null }).next != null,
  }
}

function sessionsOf(files: readonly StoredFile[]): StoredSession[] {
  const sessions = new Map<string, StoredSession>()
  for (const { kind, sessionId, bytes } of files) {
    const id = `${kind} ${sessionId}`
    const known = sessions.get(id) ?? { kind, sessionId, files: 0, bytes: 0 }
    sessions.set(id, { ...known, files: known.files + 1, bytes: known.bytes + bytes })
  }
  return [...sessions.values()]
}
