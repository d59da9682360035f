// A source, a transport or a hasher of the host that hangs, whatever signal it was given: a pause, a cancel and a close come to their
// end all the same, and so does an upload whose bytes have all arrived.

import { describe, expect, it } from 'vitest'

import { bytesSource } from '../../src/adapters/web/bytes-source.ts'
import { memoryJournal } from '../../src/adapters/web/memory-journal.ts'
import type { BodyHash, Hasher, Reader, Source } from '../../src/core/ports.ts'
import type { Upload } from '../../src/flows/upload.ts'
import { createUplink } from '../../src/index.ts'
import { createSimulatedClock } from '../helpers/simulated-clock.ts'
import {
  createFarEnd,
  endOf,
  goodService,
  goodStorage,
  VIDEO,
  type FarEnd,
  type FarEndOptions,
} from '../security/far-end.ts'

const never = (): Promise<never> => new Promise(() => undefined)
const service = goodService((fileIndex) => `https://store.example/${String(fileIndex)}`)
const good: FarEndOptions = { service, storage: goodStorage }
const source = bytesSource('a.mp4', new Uint8Array(7))
const hashing = (own: Partial<BodyHash>): Hasher => ({
  start: () => ({ update: () => undefined, digest: () => '9e107d9d372bb6826bd81d3542a419d6', ...own }),
})

function sourceWith(own: Partial<Reader>): Source {
  return {
    ...source,
    async open(expected) {
      return { ...(await source.open(expected)), ...own }
    },
  }
}

interface Case {
  readonly rig?: Partial<FarEndOptions>
  readonly source?: Source
  /** An earlier life has sent the file and was not told that it is confirmed. */
  readonly isResumed?: boolean
  /** How long it holds up a verb at most, s. Default 15. */
  readonly forS?: number
}

const CASES: Readonly<Record<string, Case>> = {
  // A pause lets a create come to its end, and this is its first step.
  'a first look at a source': { source: { ...source, describe: never }, forS: 60 },
  'a read': { source: sourceWith({ read: never }) },
  'a last look at a source': { source: sourceWith({ verify: never }) },
  'the close of a source': { source: sourceWith({ close: never }) },
  'a read, and then the end of its source': { source: { ...sourceWith({ read: never }), dispose: never }, forS: 30 },
  'a transport that sends a part': { rig: { storage: never } },
  'a transport that sends a call': { rig: { service: never }, forS: 90 },
  'a hash': { rig: { hasher: hashing({ update: never }) } },
  'a digest': { rig: { hasher: hashing({ digest: never }) } },
  'a read of what was sent': { source: sourceWith({ read: never }), isResumed: true },
  'a look at what was sent': { source: sourceWith({ verify: never }), isResumed: true },
  'a hash of what was sent': { rig: { hasher: hashing({ update: never }) }, isResumed: true },
  'a read of the whole': {
    ...{ source: sourceWith({ read: never }), isResumed: true },
    rig: { verify: 'full', hasher: hashing({}), contentHasher: hashing({}) },
  },
  'a digest of the whole': { rig: { verify: 'full', contentHasher: hashing({ digest: never }) } },
}

/** An upload that hangs. */
async function hanging({ rig: own, source: given = source, isResumed }: Case): Promise<FarEnd & { upload: Upload }> {
  const journal = memoryJournal()
  let key = ''
  if (isResumed) {
    const earlier = createFarEnd({
      ...{ journal, storage: goodStorage, hasher: hashing({}) },
      service: (request, body) => (request.method === 'PATCH' ? { status: 401 } : service(request, body)),
    })
    const upload = earlier.uplink.uploadVideos({ ...VIDEO, files: [{ source }] })
    await earlier.settled(endOf(upload))
    key = upload.key
  }
  const rig = createFarEnd({ ...good, hasher: hashing({}), ...own, journal })
  const upload = isResumed
    ? await rig.uplink.resume(key, { source: () => given })
    : rig.uplink.uploadVideos({ ...VIDEO, files: [{ source: given }] })
  await rig.clock.advance(0)
  return { ...rig, upload }
}

const VERBS = [
  ['pause', 'paused'],
  ['cancel', 'cancelled'],
  ['close', 'closed'],
] as const

describe.each(Object.entries(CASES))('%s that hangs', (_, hangingCase) => {
  it.each(VERBS)('holds up a %s for its time at most', async (verb, state) => {
    const { upload, uplink, clock } = await hanging(hangingCase)
    expect(['creating', 'uploading']).toContain(upload.state)

    if (verb === 'close') void uplink.close()
    else void upload[verb]()
    // Not until it is there: where it never is, timers may be set for ever.
    await clock.advance((hangingCase.forS ?? 15) * 1_000)

    expect(upload.state).toBe(state)
    expect(uplink.stats().inFlight).toBe(0)
    await clock.advance(86_400_000)
    expect(clock.pending).toBe(0)
  })
})

it('a source that never closes holds up its upload for a quarter of a minute: its bytes have arrived', async () => {
  const { clock, settled, upload, uplink } = await hanging({ source: sourceWith({ close: never }) })

  await clock.advance(15_000)

  expect(await settled(endOf(upload))).toMatchObject({ report: { status: 'confirmed' } })
  expect(uplink.stats().inFlight).toBe(0)
  expect(clock.pending).toBe(0)
})

it('a transport that never closes holds up the close of an Uplink for a quarter of a minute', async () => {
  const clock = createSimulatedClock()
  const transport = { send: never, endingOf: () => 'neverWhole' as const, close: never }
  const ports = { transport, clock, random: () => 0.5, journal: memoryJournal() }
  const uplink = createUplink(
    { baseUrl: 'https://service.example', credentials: { apiKey: 'k' }, concurrency: 1 },
    ports,
  )
  let isClosed = false
  void uplink.close().then(() => (isClosed = true))

  await clock.advance(15_000)

  expect(isClosed).toBe(true)
})
