// A small fake of the whole service and its object store over plain node:http. It is written from the interface
// document alone, so that the product's client and service cannot share a mistake with it. It records all that it sees
// and fails by script. The storage listens on a second port, which is another origin. Stored bytes are kept in memory.

import { createHash, randomBytes } from 'node:crypto'

import { createAnalysisCalls } from './independent-analyses.ts'
import { createCaptureCalls } from './independent-captures.ts'
import { createCallDoor, createPutDoor } from './independent-doors.ts'
import type { Fields } from './independent-doors.ts'
import { createFaultScript, listen } from './independent-exchange.ts'
import type { Answer } from './independent-exchange.ts'
import type {
  Fault,
  IndependentServiceOptions,
  Operation,
  Records,
  RequestRecord,
  StoredFile,
} from './independent-records.ts'
import { createStorage } from './independent-storage.ts'
import type { StoredObject } from './independent-storage.ts'
import { createVideoCalls } from './independent-videos.ts'

export interface IndependentService {
  /** The service's base address, without a trailing slash. */
  readonly url: string
  readonly storageUrl: string
  /** Both credentials are valid for every call. */
  readonly apiKey: string
  readonly token: string
  readonly records: Records
  /** The requests of one operation, in order of arrival. */
  requestsOf(operation: Operation): RequestRecord[]
  /** What the storage holds now, over all sessions, including files without any part. */
  storedFiles(): StoredFile[]
  /** The bytes of the only stored file with this name. Throws if there is none or more than one. */
  contentOf(fileName: string): Buffer
  /** Script lines that no request has matched yet. */
  pendingFaults(): readonly Fault[]
  /** Lets servers that an `outage` took away accept connections again, on their old ports. */
  endOutage(): Promise<void>
  /** Ends every connection and every delay. */
  close(): Promise<void>
}

/** A stored object and how it is shown. */
interface Entry {
  readonly object: StoredObject
  readonly flow: 'video' | 'capture'
  readonly sessionId: string
  readonly isConfirmed: boolean | undefined
}

/** Starts one instance on two free loopback ports. Instances share nothing. */
export async function startIndependentService(options: IndependentServiceOptions = {}): Promise<IndependentService> {
  const records: Records = { requests: [], maxPutsInFlight: 0, credentialLeaks: [], cancelledSessionIds: [] }
  const apiKey = `key-${randomBytes(12).toString('hex')}`
  const token = `token-${randomBytes(12).toString('hex')}`
  const script = createFaultScript(options.faults ?? [])
  const closing = new AbortController()
  const doorSetting = { records, script, closing: closing.signal, now: options.now ?? Date.now, apiKey, token }

  const storage = createStorage(options)
  const away = new Set<{ comeBack(): Promise<void> }>()
  const leave = (server: Awaited<ReturnType<typeof listen>>): void => {
    away.add(server)
    server.goAway()
  }
  const storageServer = await listen(createPutDoor({ ...doorSetting, goAway: () => leave(storageServer), storage }))
  const arrange = arranger(options.entryOrder)
  const callSetting = { options, storage, storageOrigin: storageServer.origin, records, arrange }
  const videos = createVideoCalls(callSetting)
  const captures = createCaptureCalls(callSetting)
  const answer = answerer(videos, captures, createAnalysisCalls(options))
  const bearerHeader = options.bearerHeader ?? 'authorization'
  const serviceServer = await listen(
    createCallDoor({ ...doorSetting, goAway: () => leave(serviceServer), bearerHeader, answer }),
  )

  function entries(): Entry[] {
    const ofVideos = [...videos.sessions.values()].flatMap(({ id: sessionId, files }) =>
      files.map(({ object, isConfirmed }): Entry => ({ object, flow: 'video', sessionId, isConfirmed })),
    )
    const ofCaptures = [...captures.sessions.values()].flatMap(({ id: sessionId, files }) =>
      [...files.values()].map((object): Entry => ({ object, flow: 'capture', sessionId, isConfirmed: undefined })),
    )
    return [...ofVideos, ...ofCaptures]
  }

  return {
    url: serviceServer.origin,
    storageUrl: storageServer.origin,
    apiKey,
    token,
    records,
    requestsOf: (operation) => records.requests.filter((request) => request.operation === operation),
    storedFiles: () => entries().map(describe),
    contentOf(fileName) {
      const found = entries().filter(({ object }) => object.fileName === fileName && object.parts.size > 0)
      if (found.length !== 1) throw new Error(`${found.length} stored files have the name ${fileName}`)
      return Buffer.concat(partsInOrder(found[0]!.object).flatMap(({ pieces }) => pieces))
    },
    pendingFaults: () => script.pending(),
    async endOutage() {
      await Promise.all([...away].map((server) => server.comeBack()))
      away.clear()
    },
    async close() {
      closing.abort()
      await Promise.all([serviceServer.close(), storageServer.close()])
    },
  }
}

function answerer(
  videos: ReturnType<typeof createVideoCalls>,
  captures: ReturnType<typeof createCaptureCalls>,
  analyses: ReturnType<typeof createAnalysisCalls>,
) {
  const calls: Partial<Record<Operation, (id: string, body: Fields) => Answer>> = {
    create: (_, body) => videos.create(body),
    confirm: (_, body) => videos.confirm(body),
    cancel: (id) => videos.cancel(id),
    createCapture: (_, body) => captures.create(body),
    register: (_, body) => captures.register(body),
    createSegment: (_, body) => analyses.createSegment(body),
    updateSegment: (id, body) => analyses.updateSegment(id, body),
    createAnalysis: (_, body) => analyses.create(body),
    listAnalyses: () => analyses.list(),
    getAnalysis: (id) => analyses.get(id),
    updateAnalysis: (id, body) => analyses.update(id, body),
    submitAnalysis: (id) => analyses.submit(id),
  }
  return (operation: Operation, id: string, body: Fields): Answer =>
    calls[operation]?.(id, body) ?? { status: 404, body: { message: 'not in the interface' } }
}

function describe({ object, flow, sessionId, isConfirmed }: Entry): StoredFile {
  const hash = createHash('sha256')
  const parts = partsInOrder(object).map(({ pieces, ...part }) => {
    for (const piece of pieces) hash.update(piece)
    return part
  })
  const sizeBytes = parts.reduce((sum, part) => sum + part.sizeBytes, 0)
  return { flow, sessionId, fileName: object.fileName, isConfirmed, sizeBytes, sha256: hash.digest('hex'), parts }
}

function partsInOrder(object: StoredObject) {
  return [...object.parts.values()].sort((a, b) => a.partNumber - b.partNumber)
}

/** Returns a function that orders the entries of a reply as the options say. */
function arranger(order: IndependentServiceOptions['entryOrder'] = 'asSent'): <T>(entries: readonly T[]) => T[] {
  if (order === 'asSent') return (entries) => [...entries]
  if (order === 'reversed') return (entries) => [...entries].reverse()
  const rank = (index: number): string => createHash('md5').update(`${order.shuffledBy}/${index}`).digest('hex')
  return (entries) =>
    entries
      .map((entry, index) => ({ entry, rank: rank(index) }))
      .sort((a, b) => (a.rank < b.rank ? -1 : 1))
      .map(({ entry }) => entry)
}
