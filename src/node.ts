// The entry point for Node: the engine with files, streams, undici and a memory journal wired in.

import { isAbsolute } from 'node:path'
import { createEngine as createPortableEngine } from './core/adaptive-engine.ts'
import { adaptiveTuning } from './core/adaptive-tuning.ts'
import type { Engine, EngineOptions } from './core/engine.ts'
import { isPublicHost } from './core/address/public-host.ts'
import { lineHearing } from './core/line/hearing.ts'
import { wholeBodies } from './core/attempt/whole-body.ts'
import { sha256Hasher } from './adapters/node/hash/md5-hasher.ts'
import { fileSource } from './adapters/node/files/file-source.ts'
import { explainFailure } from './adapters/node/http/explain-failure.ts'
import { proxyFromEnvironment } from './adapters/node/http/proxy.ts'
import { undiciTransport, type UndiciTransportOptions } from './adapters/node/http/undici-transport.ts'
import { windowMemory } from './adapters/node/window-memory.ts'
import { workerHasher } from './adapters/node/hash/worker-hasher.ts'
import { memoryJournal } from './adapters/web/memory-journal.ts'
import { systemClock } from './adapters/web/system-clock.ts'
import { checkOptions, checkPorts } from './option-checks.ts'
import type { OwnPorts } from './uplink-options.ts'
import { createUplink as createPortableUplink, type Uplink, type UplinkOptions } from './uplink.ts'

export * from './index-names.ts'
export * from './s3.ts'
export { adviceOn } from './core/advice.ts'
export { isPublicHost } from './core/address/public-host.ts'
export { withHeaders } from './adapters/web/with-headers.ts'
export {
  filesUnder,
  type FilesUnderOptions,
  type FoundFile,
  type FoundFiles,
  type SkippedEntry,
} from './adapters/node/files/directory.ts'
export { fileSource, type FileSourceOptions } from './adapters/node/files/file-source.ts'
export { diskJournal, type DiskJournalOptions } from './adapters/node/journal/disk-journal.ts'
export { stateFolder } from './adapters/node/journal/state-folder.ts'
export { workerHasher, type WorkerHasher, type WorkerHasherOptions } from './adapters/node/hash/worker-hasher.ts'
export { md5Hasher, sha256Hasher } from './adapters/node/hash/md5-hasher.ts'
export { proxyFromEnvironment, type ProxyOptions } from './adapters/node/http/proxy.ts'
export { streamSource, type StreamSourceOptions } from './adapters/node/files/stream-source.ts'
export type { StreamInput } from './adapters/node/files/stream-pull.ts'
export { undiciTransport, type UndiciTransportOptions } from './adapters/node/http/undici-transport.ts'

/** Options of createUplink in Node: the Uplink's own, the transport's, and any port you want to replace. */
export interface NodeUplinkOptions extends UplinkOptions, OwnPorts {
  /** Certificates to trust in addition to the system's, PEM. Default: none. */
  readonly caPem?: UndiciTransportOptions['caPem'] | undefined
  /** The proxy. Default: HTTPS_PROXY, HTTP_PROXY and NO_PROXY from the environment; `null` for no proxy. */
  readonly proxy?: UndiciTransportOptions['proxy'] | null | undefined
}

/** The engine alone. It listens to the line by default. Throws ERR_UPLOAD_INVALID_ARGUMENT for an invalid option. */
export function createEngine(options: EngineOptions): Engine {
  return createPortableEngine({ ...options, hearing: options.hearing ?? lineHearing() })
}

/** Creates an Uplink for Node. Throws ERR_UPLOAD_INVALID_ARGUMENT or ERR_UPLOAD_INSECURE_URL. Makes no call. */
export function createUplink(options: NodeUplinkOptions): Uplink {
  checkOptions(options)
  checkPorts(options)
  const {
    caPem,
    proxy = proxyFromEnvironment(process.env),
    transport,
    storageTransport,
    journal,
    clock,
    random,
    hasher,
    ...own
  } = options
  const {
    sourceAt,
    allocate,
    contentHasher,
    wholeBodies: bodies,
    hearing,
    tuning,
    explain,
    isPublicHost: isPublic,
    ...uplinkOptions
  } = own
  const transportOptions: UndiciTransportOptions = { caPem, proxy: proxy ?? undefined }
  // A second transport, because the service may live on a private host even though the storage must not.
  const isStorageApart = !transport && options.addressPolicy === 'public'
  const threads = !hasher && options.verify !== 'off' ? workerHasher() : undefined
  const uplink = createPortableUplink(uplinkOptions, {
    transport: transport ?? undiciTransport(transportOptions),
    storageTransport:
      storageTransport ??
      (isStorageApart ? undiciTransport({ ...transportOptions, addressPolicy: 'public' }) : undefined),
    journal: journal ?? memoryJournal(),
    clock: clock ?? systemClock(),
    random: random ?? Math.random,
    contentHasher: contentHasher ?? sha256Hasher(),
    // What came from no path, such as a stream, has only its name there. A file of that name may be another one.
    sourceAt: sourceAt ?? (({ name, location }) => (isAbsolute(location) ? fileSource(location, { name }) : undefined)),
    hasher: hasher ?? threads,
    wholeBodies: bodies ?? wholeBodies(),
    hearing: hearing ?? lineHearing(),
    tuning: tuning ?? adaptiveTuning,
    isPublicHost: isPublic ?? isPublicHost,
    explain: explain ?? explainFailure,
    // Memory that the hashing threads can read in place. A host's own transport might not accept shared memory.
    allocate: allocate ?? ((storageTransport ?? transport) ? undefined : threads?.allocate) ?? windowMemory,
  })
  const close = async (): Promise<void> => {
    await uplink.close()
    await threads?.close()
  }
  return { ...uplink, close }
}
