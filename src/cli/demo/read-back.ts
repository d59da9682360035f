// Reads every object that the service has stored, and compares it with the file it came from.

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import type { Uplink } from '../../uplink.ts'

export interface SourceFile {
  readonly kind: 'capture' | 'video'
  readonly name: string
  readonly path: string
}

export interface Comparison {
  /** Stored objects of the demo. */
  readonly objects: number
  readonly identical: number
  /** For a person: what differs, is missing, or should not be there. */
  readonly differences: readonly string[]
}

interface StoredItem {
  readonly kind: string
  readonly session_id: number
  readonly file_name: string
  readonly size_bytes: number
  readonly url: string
}

const PAGE = 200

/** The sessions of the service that have objects, as `compareStored` takes them. Rejects if the service cannot be read. */
export async function storedSessions(uplink: Uplink, signal: AbortSignal): Promise<ReadonlySet<string>> {
  return new Set((await listStored(uplink, signal)).map(sessionOf))
}

/**
 * Compares by SHA-256, one object at a time. `before`: the sessions of an earlier demo in the same folder, which are left out. Rejects
 * if the service cannot be read.
 */
export async function compareStored(
  uplink: Uplink,
  sources: readonly SourceFile[],
  before: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<Comparison> {
  const stored = (await listStored(uplink, signal)).filter((item) => !before.has(sessionOf(item)))
  const differences: string[] = []
  let identical = 0
  for (const source of sources) {
    const found = stored.filter((item) => item.kind === source.kind && item.file_name === source.name)
    const [item] = found
    if (item === undefined || found.length > 1) {
      differences.push(`${source.name} is stored ${found.length} times`)
      continue
    }
    const [theirs, ours] = [await digestOfObject(item.url, signal), await digestOfFile(source.path)]
    if (theirs === ours) identical += 1
    else differences.push(`${source.name} is not what was sent`)
  }
  const known = new Set(sources.map((source) => `${source.kind}/${source.name}`))
  for (const item of stored) {
    if (!known.has(`${item.kind}/${item.file_name}`)) differences.push(`${item.file_name} was never sent`)
  }
  return { objects: stored.length, identical, differences }
}

function sessionOf({ kind, session_id: id }: StoredItem): string {
  return `${kind}/${id}`
}

async function listStored(uplink: Uplink, signal: AbortSignal): Promise<StoredItem[]> {
  const items: StoredItem[] = []
  let after: string | undefined
  do {
    const { data } = await uplink.client.call('GET', '/stored', { query: { limit: PAGE, after }, signal })
    const page = data as { items: StoredItem[]; next: string | null }
    items.push(...page.items)
    after = page.next ?? undefined
  } while (after !== undefined)
  return items
}

async function digestOfObject(url: string, signal: AbortSignal): Promise<string> {
  const reply = await fetch(url, { signal })
  // The address is a secret, so no message contains it.
  if (!reply.ok || reply.body === null) throw new Error(`A stored object answered ${reply.status}.`)
  const hash = createHash('sha256')
  for await (const chunk of reply.body) hash.update(chunk as Uint8Array)
  return hash.digest('hex')
}

async function digestOfFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  return hash.digest('hex')
}
