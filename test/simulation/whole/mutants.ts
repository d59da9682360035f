// Bugs that are planted between the client and the world, each a mistake that a program like ours could make. They test
// the simulator: if it does not find one within ten thousand nights, nobody watches that promise.

import type { JournalRecord } from '../../../src/core/journal/journal.ts'
import type { Journal, Source, Transport, TransportRequest } from '../../../src/core/ports.ts'
import { unlessAborted } from '../../../src/core/unless-aborted.ts'
import { digestOf } from './digest.ts'
import type { Mutant } from './night-world.ts'
import { LATE_ARRIVALS, type Night } from './night.ts'

const SLOW_ENDS: Partial<Night> = { settleMs: 400, isSourceQuick: false }

/** Its completions fail with 200 now and then. */
const FAILING_STORE: Partial<Night> = {
  flow: 'store',
  saysAlready: true,
  serviceFaults: ['status500'],
  serviceFaultShare: 0.2,
}

/** By description. Each function makes a new mutant for each night. */
export const MUTANTS: Readonly<Record<string, () => Mutant>> = {
  'drops a receipt from a confirmation': () => ({ transport: droppingReceipt }),
  'drops a receipt from the journal': () => ({ journal: skipping('part.received', 3) }),
  'skips the journal when a session was created': () => ({ journal: skipping('session.created') }),
  'skips the journal when a file was confirmed': () => ({ journal: skipping('file.confirmed') }),
  'skips the journal when an attempt was doubtful': () => ({
    journal: skipping('part.doubtful'),
    night: { flow: 'video', ...LATE_ARRIVALS },
  }),
  'skips the journal when addresses were replaced': () => ({ journal: skipping('session.replaced') }),
  'forgets at a resume what has receipts': () => ({ journal: forgetting('part.received') }),
  'retries before the time that a refusal names': () => ({ transport: hasty }),
  'retries with a stale address': () => ({ transport: stale() }),
  'confirms early': () => ({ transport: early }),
  'reuses a window too soon': () => ({ allocate: sharing }),
  'ends attempts by a signal instead of a reset': () => ({ isAbortSoft: true }),
  'takes an attempt that it gave up for ended': () => ({ transport: hurried, night: SLOW_ENDS }),
  'takes a read that it gave up for ended': () => ({ source: leaving, night: { ...SLOW_ENDS, readMs: 60 } }),
  'confirms a file twice at once': () => ({ transport: confirmingTwice }),
  'ends a session of which a file is being confirmed': () => ({ transport: endingEarly }),
  'takes the names of somebody else for its own': () => ({ transport: overwriting }),
  'keeps a key that has lapsed': () => ({ transport: keepingKey() }),
  'takes every 200 to a completion for a success': () => ({ transport: believing, night: FAILING_STORE }),
}

/** The n-th record of the type, and all later ones, are never written, but the client is told that they were. */
function skipping(type: JournalRecord['type'], from = 1): (journal: Journal) => Journal {
  let count = 0
  const isSkipped = (record: JournalRecord): boolean => record.type === type && (count += 1) >= from
  return (journal) => ({
    ...journal,
    async open(key) {
      const session = await journal.open(key)
      return {
        ...session,
        append(records) {
          const kept = records.filter((record) => !isSkipped(record))
          return kept.length === 0 ? Promise.resolve() : session.append(kept)
        },
      }
    },
  })
}

/** Records of the type are kept, but a later life does not find them. */
function forgetting(type: JournalRecord['type']): (journal: Journal) => Journal {
  return (journal) => ({
    ...journal,
    async open(key) {
      const session = await journal.open(key)
      return { ...session, records: session.records.filter((record) => record.type !== type) }
    },
  })
}

/** Does not see how long it is asked to wait. */
function hasty(transport: Transport): Transport {
  return {
    ...transport,
    async send(request) {
      const { headers, ...reply } = await transport.send(request)
      return {
        ...reply,
        headers: Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'retry-after')),
      }
    },
  }
}

function rewriting(rewrite: (request: TransportRequest) => TransportRequest): (transport: Transport) => Transport {
  return (transport) => {
    const sent = new WeakMap<TransportRequest, TransportRequest>()
    return {
      ...transport,
      send(request) {
        const other = rewrite(request)
        sent.set(request, other)
        return transport.send(other)
      },
      endingOf: (request) => transport.endingOf(sent.get(request) ?? request),
    }
  }
}

const droppingReceipt = rewriting((request) => {
  if (request.method !== 'PATCH' || request.body?.kind !== 'bytes') return request
  const call = JSON.parse(new TextDecoder().decode(request.body.bytes)) as { file_part_info: unknown[] }
  const bytes = new TextEncoder().encode(JSON.stringify({ ...call, file_part_info: call.file_part_info.slice(1) }))
  return { ...request, body: { kind: 'bytes', bytes } }
})

const overwriting = rewriting((request) => {
  if (!request.url.endsWith('/mocap_session_file') || request.body?.kind !== 'bytes') return request
  const call = JSON.parse(new TextDecoder().decode(request.body.bytes)) as object
  const bytes = new TextEncoder().encode(JSON.stringify({ ...call, reprocess: true }))
  return { ...request, body: { kind: 'bytes', bytes } }
})

function keepingKey(): (transport: Transport) => Transport {
  let first: string | undefined
  return rewriting((request) => {
    const { 'x-api-key': key } = request.headers
    if (key === undefined) return request
    first ??= key
    return { ...request, headers: { ...request.headers, 'x-api-key': first } }
  })
}

/** Keeps using the first address of each part. */
function stale(): (transport: Transport) => Transport {
  const first = new Map<string, string>()
  return rewriting((request) => {
    const [, fileName, partNumber] = /\/([^/]+)\/\d+\?partNumber=(\d+)/.exec(request.url) ?? []
    if (fileName === undefined || partNumber === undefined) return request
    const part = `${fileName}/${partNumber}`
    const url = first.get(part) ?? request.url
    first.set(part, url)
    return { ...request, url }
  })
}

/** Reports a part as stored as soon as its bytes are on the line. */
function early(transport: Transport): Transport {
  return {
    ...transport,
    async send(request) {
      const { body } = request
      if (request.method !== 'PUT' || body === undefined || body.kind === 'blob') return transport.send(request)
      const lengthBytes = body.kind === 'bytes' ? body.bytes.byteLength : body.lengthBytes
      const pieces: Uint8Array[] = []
      const windows = async function* (): AsyncIterable<Uint8Array> {
        for await (const window of body.kind === 'bytes' ? [body.bytes] : body.windows()) {
          pieces.push(window.slice())
          yield window
        }
      }
      let isOut = (): void => undefined
      const out = new Promise<void>((resolve) => (isOut = resolve))
      const onSent = (bytes: number): void => {
        request.onSent?.(bytes)
        if (bytes === lengthBytes) isOut()
      }
      const answer = transport.send({ ...request, onSent, body: { kind: 'windows', lengthBytes, windows } })
      answer.catch(() => undefined)
      await Promise.race([answer, out])
      const etag = `"${digestOf(Buffer.concat(pieces))}"`
      return { status: 200, headers: { etag }, body: new Uint8Array(), isBodyCut: false }
    },
  }
}

/** All parts in flight share the same memory. */
function sharing(allocate: (bytes: number) => Uint8Array): (bytes: number) => Uint8Array {
  let window: Uint8Array | undefined
  return (bytes) => (window ??= allocate(bytes))
}

function hurried(transport: Transport): Transport {
  return { ...transport, send: (request) => unlessAborted(transport.send(request), request.signal) }
}

function leaving(source: Source): Source {
  return {
    ...source,
    async open(expected) {
      const reader = await source.open(expected)
      return {
        ...reader,
        read: (into, at, signal) =>
          signal ? unlessAborted(reader.read(into, at, signal), signal) : reader.read(into, at, signal),
      }
    },
  }
}

function confirmingTwice(transport: Transport): Transport {
  return {
    ...transport,
    send(request) {
      if (request.method === 'PATCH') transport.send({ ...request }).catch(() => undefined)
      return transport.send(request)
    },
  }
}

function endingEarly(transport: Transport): Transport {
  return {
    ...transport,
    send(request) {
      const answer = transport.send(request)
      if (request.method === 'PATCH' && request.body?.kind === 'bytes') {
        const call = JSON.parse(new TextDecoder().decode(request.body.bytes)) as { upload_session_id: string }
        const url = `${request.url}/${call.upload_session_id}`
        const { headers, signal } = request
        transport.send({ method: 'DELETE', url, headers, signal }).catch(() => undefined)
      }
      return answer
    },
  }
}

function believing(transport: Transport): Transport {
  return {
    ...transport,
    async send(request) {
      const reply = await transport.send(request)
      const isFailure = reply.status === 200 && new TextDecoder().decode(reply.body).startsWith('<Error>')
      const body = new TextEncoder().encode('<CompleteMultipartUploadResult></CompleteMultipartUploadResult>')
      return isFailure ? { ...reply, body } : reply
    },
  }
}
