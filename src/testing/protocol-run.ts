// Runs a protocol with the real engine, as a flow does but without the flow: plan, create, addresses, parts, confirm.
// The journal is in memory, so that a test can inspect it or continue from it.

import { hastyClock } from './hasty-clock.ts'
import { createEngine } from '../core/adaptive-engine.ts'
import type { EngineOptions } from '../core/engine.ts'
import { md5Hasher } from '../adapters/node/hash/md5-hasher.ts'
import { checkAddressed } from '../flows/check-addressed.ts'
import { createSessionJob } from '../flows/session-job.ts'
import { createSessionRecord, type SessionRecord } from '../flows/session-record.ts'
import { memoryJournal } from '../adapters/web/memory-journal.ts'
import { JOURNAL_VERSION } from '../core/journal/journal.ts'
import { planFile } from '../core/plan.ts'
import type { PlannedFile, Protocol, Source, Transport } from '../core/ports.ts'
import type { TransferEvent } from '../core/transfer/transfer-job.ts'
import type { TransferResult } from '../core/transfer/transfer.ts'

export interface ProtocolRun {
  readonly sessionId: string | number
  readonly plans: readonly PlannedFile[]
  readonly record: SessionRecord
  readonly events: readonly TransferEvent[]
  readonly result: TransferResult
}

export interface ProtocolRunOptions extends Partial<EngineOptions> {
  readonly protocol: Protocol
  readonly sources: readonly Source[]
  readonly transport: Transport
  readonly partSizeBytes?: number
  readonly signal?: AbortSignal
  /** Called with each event as it comes, before the run is over. */
  readonly onEvent?: (event: TransferEvent, sessionId: string | number) => void
}

/** Rejects as the engine does; everything else is in the record. Randomness is fixed so that waits are short. */
export async function runProtocol(options: ProtocolRunOptions): Promise<ProtocolRun> {
  const { protocol, sources, transport, partSizeBytes, signal = new AbortController().signal } = options
  const clock = options.clock ?? hastyClock()
  const plans = await Promise.all(
    sources.map(async (source, fileIndex): Promise<PlannedFile> => {
      const { sizeBytes } = await source.describe()
      const limits = protocol.traits.units
      const asked = limits.maxCount === 1 ? undefined : partSizeBytes
      const plan = planFile({ name: source.name, sizeBytes, limits, partSizeBytes: asked })
      return { fileIndex, name: source.name, sizeBytes, ...plan }
    }),
  )
  const record = createSessionRecord(memoryJournal(), clock, 'run')
  await record.write({
    type: 'session.begun',
    version: JOURNAL_VERSION,
    key: 'run',
    flow: 'video',
    params: {},
    files: plans,
    locations: plans.map(({ name }) => name),
  })
  const created = await protocol.create(plans, signal)
  if (protocol.traits.addressing === 'session')
    checkAddressed(plans, created.files ?? [], protocol, { isHttpAllowed: true })
  await record.write({ type: 'session.created', ...created })
  const events: TransferEvent[] = []
  const job = createSessionJob({
    record,
    protocol,
    clock,
    bytesPerSecond: () => 0,
    onReplaced: () => undefined,
    source: (fileIndex) => sources[fileIndex]!,
    report(event) {
      events.push(event)
      options.onEvent?.(event, created.sessionId)
    },
  })
  const engine = createEngine({
    transport,
    clock,
    random: options.random ?? (() => 0.01),
    hasher: options.hasher ?? md5Hasher(),
    concurrency: options.concurrency ?? 4,
    ...(options.retries === undefined ? {} : { retries: options.retries }),
    ...(options.timeouts === undefined ? {} : { timeouts: options.timeouts }),
  })
  const result = await engine.run(job, signal)
  return { sessionId: created.sessionId, plans, record, events, result }
}

/** Pseudo-random bytes that differ for every seed. */
export function bytesOfSeed(sizeBytes: number, seed: number): Uint8Array {
  const bytes = new Uint8Array(sizeBytes)
  let state = (seed + 1) * 2_654_435_761
  for (let index = 0; index < sizeBytes; index += 1) {
    if (index % 4 === 0) state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    bytes[index] = state >>> (8 * (index % 4))
  }
  return bytes
}
