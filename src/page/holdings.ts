// What this service holds, read with the project's own client: stored files, the sessions that they belong to, and analyses.

import type { RequestedAnalysis } from '../client/contract.ts'
import type { ServiceClient } from '../client/operations.ts'

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

/** Each in the order in which it came. */
export interface Holdings {
  readonly files: readonly StoredFile[]
  readonly sessions: readonly StoredSession[]
  readonly analyses: readonly RequestedAnalysis[]
  /** True if there are more files than were read. */
  readonly isCut: boolean
}

/** How many pages of 1,000 files are read at most. */
const MOST_PAGES = 10

interface StoredPage {
  readonly items: readonly {
    readonly kind: string
    readonly session_id: string
    readonly file_name: string
    readonly size_bytes: number
  }[]
  readonly next: string | null
}

export async function readHoldings(client: ServiceClient): Promise<Holdings> {
  const files: StoredFile[] = []
  let cursor: string | null | undefined
  for (let page = 0; page < MOST_PAGES && cursor !== null; page += 1) {
    const query = { limit: 1_000, ...(cursor === undefined ? {} : { after: cursor }) }
    const { data }: { readonly data: unknown } = await client.call('GET', '/stored', { query })
    const { items, next } = data as StoredPage
    for (const { kind, session_id: sessionId, file_name: name, size_bytes: bytes } of items)
      files.push({ kind, sessionId, name, bytes })
    cursor = next
  }
  const { items: analyses } = await client.requestedAnalyses.list()
  // The service lists analyses with the newest first, and files with the oldest first.
  return { files, sessions: sessionsOf(files), analyses: analyses.toReversed(), isCut: cursor !== null }
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
