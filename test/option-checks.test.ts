// What createUplink refuses of a program in plain JavaScript. Each of these was once taken for something else, or found out late.

import { describe, expect, it } from 'vitest'

import { memoryJournal, systemClock } from '../src/index.ts'
import { createUplink as createPortable } from '../src/index.ts'
import {
  createUplink,
  diskJournal,
  fileSource,
  filesUnder,
  s3Multipart,
  streamSource,
  undiciTransport,
} from '../src/node.ts'
import type { DiskJournalOptions, FileSourceOptions, FilesUnderOptions, NodeUplinkOptions } from '../src/node.ts'
import type { ProxyOptions, S3MultipartOptions, StreamSourceOptions } from '../src/node.ts'
import type { UndiciTransportOptions, WorkerHasherOptions } from '../src/node.ts'
import type { BrowserResumeOptions, BrowserUplinkOptions, IndexedDbJournalOptions } from '../src/browser.ts'
import type { StartHashersOptions } from '../src/browser-hasher.ts'
import type { UploadStoreOptions } from '../src/react/upload-store.ts'
import type {
  AnalysisInput,
  AnalysisRequestInput,
  AnalysisSegment,
  CallOptions,
  CapturesInput,
  ConfirmFileInput,
  CustomInput,
  EngineOptions,
  FetchTransportOptions,
  FixedEngineOptions,
  FreeCallOptions,
  LettingGo,
  MocapSessionInput,
  PlanFileOptions,
  PollingOptions,
  RegisterFilesInput,
  ResumeOptions,
  SegmentInput,
  ServiceClientOptions,
  Source,
  UploadErrorOptions,
  UploadFile,
  VideoFileInput,
  VideosInput,
  VideoUploadInput,
  WindowBodiesOptions,
} from '../src/index.ts'
import type {
  FaultPlan,
  JwtOptions,
  KeyRingOptions,
  S3Options,
  ServiceLimits,
  ServiceOptions,
} from '../src/service/index.ts'
import { bytesSource } from '../src/adapters/web/bytes-source.ts'

const baseUrl = 'https://service.example'
const credentials = { apiKey: 'key-of-the-tests' }
const wrong = (value: unknown) => value as never
const refusal = (message: string) => expect.objectContaining({ code: 'ERR_UPLOAD_INVALID_ARGUMENT', message }) as Error

/** Options that may be left out, but are refused by their types where a host hands on what it does not know. */
type Refusing<T> = T extends unknown
  ? { [K in keyof T]-?: object extends Pick<T, K> ? (undefined extends Required<T>[K] ? never : K) : never }[keyof T]
  : never

describe('options that are present but undefined', () => {
  it('count as absent, for the types as well', () => {
    type Refused = Refusing<
      | (NodeUplinkOptions | BrowserUplinkOptions)
      | (VideosInput | CapturesInput | CustomInput | AnalysisRequestInput | AnalysisSegment | UploadFile)
      | (ResumeOptions | BrowserResumeOptions | FileSourceOptions | StreamSourceOptions | FilesUnderOptions)
      | (EngineOptions | FixedEngineOptions | NonNullable<EngineOptions['timeouts']> | WindowBodiesOptions)
      | (UndiciTransportOptions | ProxyOptions | FetchTransportOptions | ServiceClientOptions | S3MultipartOptions)
      | (DiskJournalOptions | IndexedDbJournalOptions | WorkerHasherOptions | StartHashersOptions | UploadStoreOptions)
      | (UploadErrorOptions | PlanFileOptions | PollingOptions | CallOptions | FreeCallOptions | LettingGo)
      | (VideoUploadInput | VideoFileInput | MocapSessionInput | RegisterFilesInput | AnalysisInput | SegmentInput)
      | (ServiceOptions | S3Options | JwtOptions | ServiceLimits | KeyRingOptions | FaultPlan)
      | FaultPlan['rules'][number]
      | (ConfirmFileInput | Omit<Source, 'dispose'>)
    >
    // Where one refuses, the compiler names it here.
    const refused: [Refused] extends [never] ? 'none' : Refused = 'none'

    expect(refused).toBe('none')
    const absent = { journal: undefined, limitRate: undefined, hasher: undefined, partSizeBytes: undefined }
    expect(createUplink({ baseUrl, credentials, ...absent }).stats().inFlight).toBe(0)
  })
})

describe('createUplink', () => {
  it.each([
    [{ memoryBytes: NaN }, 'memoryBytes is NaN: give an integer of 0 or more.'],
    [{ retries: '5' }, 'retries is "5": give an integer of 1 or more.'],
    [{ retries: 0 }, 'retries is 0: give an integer of 1 or more.'],
    [{ partSizeBytes: '16MiB' }, 'partSizeBytes is "16MiB": give an integer of 1 or more.'],
    [{ timeouts: 5 }, 'timeouts is 5: give { connectMs, stallMs, answerMs }.'],
    [{ timeouts: { stalMs: 5 } }, 'timeouts has no stalMs: give connectMs, stallMs or answerMs.'],
    [{ timeouts: { stallMs: '5' } }, 'timeouts.stallMs is "5": give an integer of 0 or more.'],
    [{ isBackground: 'false' }, 'isBackground is "false": give true or false.'],
    [{ isFirstContactAwaited: 1 }, 'isFirstContactAwaited is 1: give true or false.'],
    [{ isHttpAllowed: 'false' }, 'isHttpAllowed is "false": give true or false.'],
    [{ transport: { send: () => undefined } }, 'transport has no method endingOf, close: give it.'],
    [{ journal: 'sessions' }, 'journal has no method open, read, list, remove: give it.'],
    [{ clock: Date }, 'clock has no method wallNow, monotonicNow, setTimeout, clearTimeout: give it.'],
    [{ hasher: {} }, 'hasher has no method start: give it.'],
    [{ random: 0.5 }, 'random is 0.5: give a function.'],
    [{ proxy: 'http://proxy.example:3128' }, 'proxy must be an object: give { https, http, no }.'],
    [
      { caPem: '/etc/ssl/own.pem' },
      'caPem has no certificate: give the text of a PEM file (-----BEGIN CERTIFICATE-----), not its path.',
    ],
    [
      { caPem: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----' },
      'caPem has no certificate: give the text of a PEM file (-----BEGIN CERTIFICATE-----), not its path.',
    ],
  ])('refuses %o in Node', (options, message) => {
    expect(() => createUplink({ baseUrl, credentials, ...(wrong(options) as object) })).toThrow(refusal(message))
  })

  it('refuses no options', () => {
    expect(() => createUplink(wrong(undefined))).toThrow(refusal('options is missing: give it.'))
    expect(() => createPortable(wrong(null), wrong({}))).toThrow(refusal('options is missing: give it.'))
  })

  it('takes options that are undefined, and ports that are undefined or null, for absent ones', async () => {
    const absent = { memoryBytes: undefined, retries: undefined, transport: null, journal: null }
    for (const timeouts of [undefined, { stallMs: undefined, answerMs: 5 }])
      await createUplink({ baseUrl, credentials, timeouts }).close()

    const uplink = createUplink({ baseUrl, credentials, ...(wrong(absent) as object) })

    await uplink.close()
  })

  it('takes ports whose methods are inherited', async () => {
    const journal = Object.create(memoryJournal()) as ReturnType<typeof memoryJournal>

    const uplink = createUplink({ baseUrl, credentials, journal })

    await uplink.close()
  })

  it('refuses a missing port where the host brings all of them', () => {
    const ports = { transport: undiciTransport(), journal: memoryJournal(), clock: systemClock(), random: Math.random }
    for (const name of ['transport', 'journal', 'clock', 'random'] as const) {
      const create = () => createPortable({ baseUrl, credentials }, { ...ports, [name]: wrong(undefined) })

      expect(create).toThrow(refusal(`${name} is missing: give it.`))
    }
    expect(() => createPortable({ baseUrl, credentials }, wrong(undefined))).toThrow(
      refusal('ports is missing: give it.'),
    )
  })
})

describe('what an upload is made of', () => {
  it.each([
    ['fileSource', () => fileSource(wrong(new URL('file:///a.mp4'))), /^fileSource: .+ Pass the path of a file\.$/],
    ['filesUnder', () => filesUnder(wrong(5)), /^filesUnder: .+ Give paths\.$/],
    ['diskJournal', () => diskJournal({ folder: '' }), /^diskJournal: .+ Give a path\.$/],
    ['bytesSource', () => bytesSource('a', wrong('text')), /^bytesSource: pass a name and a Uint8Array\.$/],
    ['streamSource', () => streamSource('a', wrong(5)), /^streamSource: this is no stream\. /],
    [
      'streamSource',
      () => streamSource(wrong([new Uint8Array(1)]), wrong(undefined)),
      /^streamSource: this is no stream\. /,
    ],
    ['s3Multipart', () => s3Multipart(wrong({})), /^sign is missing: give it\.$/],
    ['s3Multipart', () => s3Multipart(wrong({ sign: () => undefined })), /^transport is missing: give it\.$/],
  ])('is refused by %s where it is made', async (_name, make, message) => {
    await expect(async () => make()).rejects.toMatchObject({
      code: 'ERR_UPLOAD_INVALID_ARGUMENT',
      message: expect.stringMatching(message) as string,
    })
  })
})
