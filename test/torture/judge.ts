// What must be true of a torture: judged from the journals, from what the witness saw, and from the stored bytes.

import { createHash } from 'node:crypto'
import type { FoldedJournal } from '../../src/core/journal/fold-journal.ts'
import { isReceived } from '../../src/core/journal/ledger.ts'
import type { SampleFile } from './sample-files.ts'
import { unitOf, type PutSeen, type Witness } from './witness.ts'

/** A receipt that was on its way to the journal when the process died, ms. */
const JOURNAL_WITHIN_MS = 1_000
const TWICE_AT_MOST = 0.05

export interface Judge {
  /** A process is over, killed at `killedAtMs` or by itself; the journals are as it left them. */
  lifeOver(life: number, killedAtMs: number | undefined, journals: readonly FoldedJournal[]): void
  readonly breaches: string[]
  /** What was sent of parts in flight at the kills: that may be sent again. */
  inFlightBytes(): number
  /** Everything is confirmed: what was sent in all, and how much of it more than once. */
  sent(sourceBytes: number): { readonly sentBytes: number; readonly twiceBytes: number }
}

export function createJudge(witness: Witness): Judge {
  const breaches: string[] = []
  const confirmedBefore = new Set<string>()
  const inFlight: PutSeen[] = []
  // Summed at the end: what the dead process had handed to the system still arrives for a moment.
  const inFlightBytes = () => inFlight.reduce((sum, put) => sum + put.forwardedBytes, 0)
  return {
    breaches,
    inFlightBytes,
    lifeOver(life, killedAtMs, journals) {
      const again = witness.confirms.filter((confirm) => confirm.life === life && confirmedBefore.has(confirm.fileId))
      for (const { fileId } of again) breaches.push(`life ${life} confirmed file ${fileId} again`)
      for (const id of journals.flatMap(confirmedIds)) confirmedBefore.add(id)
      const received = new Set(journals.flatMap(receivedUnits))
      for (const put of witness.puts.filter(({ life: of }) => of === life)) {
        const { unit, answer } = put
        if (received.has(unit)) continue
        const ageMs = answer === undefined || killedAtMs === undefined ? 0 : killedAtMs - answer.atMs
        if (killedAtMs !== undefined && ageMs < JOURNAL_WITHIN_MS) inFlight.push(put)
        // Whatever else was answered well must be in the journal.
        else if (answer?.status === 200) breaches.push(`life ${life} lost the receipt of ${unit}`)
      }
    },
    sent(sourceBytes) {
      const sentBytes = witness.puts.reduce((sum, put) => sum + put.forwardedBytes, 0)
      const twiceBytes = sentBytes - sourceBytes
      const most = Math.floor(TWICE_AT_MOST * sourceBytes) + inFlightBytes()
      if (twiceBytes < 0) breaches.push(`only ${sentBytes} of ${sourceBytes} bytes were seen`)
      if (twiceBytes > most) breaches.push(`${twiceBytes} bytes were sent twice; at most ${most} may be`)
      return { sentBytes, twiceBytes }
    },
  }
}

function confirmedIds({ flow, ledger }: FoldedJournal): string[] {
  if (flow !== 'video') return []
  return ledger.files.filter((file) => file.state === 'confirmed').map((file) => String(file.serverFileId))
}

function receivedUnits({ ledger }: FoldedJournal): string[] {
  return ledger.files.flatMap((file) =>
    file.parts.filter(isReceived).map((part) => unitOf(file.addresses[part.partNumber - 1] ?? '')),
  )
}

/** Compares every stored object with its source, and counts them; each name must be stored `rounds` times. */
export async function compareStored(
  serviceUrl: string,
  apiKey: string,
  sources: readonly SampleFile[],
  rounds: number,
): Promise<{ readonly objects: number; readonly breaches: readonly string[] }> {
  const breaches: string[] = []
  const counts = new Map(sources.map((source) => [`${source.kind}/${source.name}`, 0]))
  let objects = 0
  for (let after = ''; ;) {
    const reply = await fetch(`${serviceUrl}/stored?limit=200${after}`, { headers: { 'x-api-key': apiKey } })
    const page = (await reply.json()) as StoredPage
    for (const item of page.items) {
      const label = `${item.kind}/${item.file_name}`
      const source = sources.find(({ kind, name }) => `${kind}/${name}` === label)
      counts.set(label, (counts.get(label) ?? 0) + 1)
      objects += 1
      if ((await digestOf(item.url)) !== source?.sha256) breaches.push(`${label} is stored with wrong bytes`)
    }
    if (page.next === null) break
    after = `&after=${page.next}`
  }
  for (const [label, count] of counts) {
    if (count !== rounds) breaches.push(`${label} is stored ${count} times instead of ${rounds}`)
  }
  return { objects, breaches }
}

interface StoredPage {
  readonly items: readonly { readonly kind: string; readonly file_name: string; readonly url: string }[]
  readonly next: string | null
}

async function digestOf(url: string): Promise<string> {
  const reply = await fetch(url)
  const hash = createHash('sha256')
  if (reply.body !== null) for await (const piece of reply.body) hash.update(piece as Uint8Array)
  return hash.digest('hex')
}
