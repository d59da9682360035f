// The five ready-made nights, each lived through by the real library against the real service: what ends confirmed is
// stored byte for byte, and what does not says why. Client and service share one clock that runs twenty times too fast.

import { createHash } from 'node:crypto'
import { openAsBlob } from 'node:fs'
import { describe, expect, inject, it, onTestFinished } from 'vitest'

import { createUplink, type Upload, type UploadReport } from '../../src/node.ts'
import type { NIGHTS } from '../../src/service/faults/nights.ts'
import { startService, type RunningService } from '../../src/service/index.ts'
import { fastClock } from '../helpers/fast-clock.ts'
import { withKeptDatabases } from '../helpers/kept-database.ts'
import { CAPTURE, MIB, sample, VIDEO, type Sample } from './rig.ts'

const SPEED = 20
const API_KEY = 'night-key-71c4'

interface Night {
  readonly videos: UploadReport
  readonly captures: UploadReport
  /** SHA-256 by name, of what the service gives back. */
  readonly stored: ReadonlyMap<string, string>
  /** Kinds of faults that struck, sorted, each once. */
  readonly struck: readonly string[]
}

const clips = (): Sample[] => [
  sample('swing-01.mp4', 12 * MIB, 1),
  sample('swing-02.mp4', 6 * MIB, 2),
  sample('swing-03.mov', 300_000, 3),
]
const actions = (): Sample[] =>
  Array.from({ length: 10 }, (_, index) => sample(`play-${index}.action`, 150_000 + index * 40_000, 10 + index))

async function live(faults: `night:${keyof typeof NIGHTS}`): Promise<Night> {
  const clock = fastClock(SPEED)
  // The night's own time stands still until both sessions are open, and goes on where the first outage begins.
  let openedAtMs: number | undefined
  const dusk = clock.wallNow()
  const struck = new Set<string>()
  const preparedDatabase = await openAsBlob(inject('preparedDatabase'))
  const service = await withKeptDatabases(() =>
    startService({
      port: 0,
      now: () => (openedAtMs === undefined ? dusk : dusk + 30_000 + clock.monotonicNow() - openedAtMs),
      credentials: { apiKeys: [API_KEY], accessTokens: [] },
      preparedDatabase,
      faults,
      log: {
        write(line) {
          const { msg, fault = [] } = JSON.parse(line) as { msg: string; fault?: readonly string[] }
          if (msg === 'a fault strikes') for (const kind of fault) struck.add(kind)
        },
      },
    }),
  )
  // Drawn from a list, so that a night is as long as it was the last time.
  let draws = 0
  const random = () => ((draws += 1) * 0.618_034) % 1
  const uplink = createUplink({ baseUrl: service.url, credentials: { apiKey: API_KEY }, clock, random })
  onTestFinished(async () => {
    await uplink.close()
    await service.close()
  })
  const uploads = [
    uplink.uploadVideos({ ...VIDEO, files: clips() }),
    uplink.uploadCaptures({ ...CAPTURE, files: actions() }),
  ] as const
  const waiting = new Set<unknown>(uploads)
  for (const upload of uploads) {
    upload.on('state', ({ state }) => {
      if (state === 'uploading') waiting.delete(upload)
      if (waiting.size === 0) openedAtMs ??= clock.monotonicNow()
    })
  }
  const [videos, captures] = await Promise.all(uploads.map(reportOf))
  return { videos: videos!, captures: captures!, stored: await readBack(service), struck: [...struck].sort() }
}

function reportOf(upload: Upload): Promise<UploadReport> {
  return upload.done().catch((error: unknown) => (error as { report: UploadReport }).report)
}

/** Everything that the service holds; asked again when the night is not over. */
async function readBack(service: RunningService): Promise<Map<string, string>> {
  const answer = await fetch(`${service.url}/stored?limit=1000`, { headers: { 'x-api-key': API_KEY } })
  const { items } = (await answer.json()) as { items: { file_name: string; url: string }[] }
  const found = new Map<string, string>()
  for (const { file_name: name, url } of items) found.set(name, sha256(await bytesAt(url)))
  return found
}

async function bytesAt(url: string): Promise<Uint8Array> {
  for (let attempt = 1; ; attempt += 1) {
    const bytes = await fetch(url).then(
      async (reply) => (reply.ok ? new Uint8Array(await reply.arrayBuffer()) : undefined),
      () => undefined,
    )
    if (bytes !== undefined) return bytes
    if (attempt === 200) throw new Error('A stored file could not be read back.')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const digestsOf = (files: readonly Sample[]) => new Map(files.map((file) => [file.source.name, file.sha256]))

const unverified = ({ videos, captures }: Night) =>
  [...videos.files, ...captures.files].filter((file) => !file.verified).map((file) => file.name)

describe('a night that ends well', () => {
  it.each([
    ['flaky-line', ['loseReply', 'reset', 'slowLine', 'stall']],
    ['overloaded-storage', ['body', 'delayMs', 'earlyAnswer', 'headers', 'status']],
    ['short-outages', ['body', 'headers', 'reset', 'status']],
  ] as const)('%s: everything is confirmed, verified and stored byte for byte', async (name, kinds) => {
    const night = await live(`night:${name}`)

    expect([night.videos.status, night.captures.status]).toEqual(['confirmed', 'confirmed'])
    expect(night.stored).toEqual(digestsOf([...actions(), ...clips()]))
    expect(unverified(night)).toEqual([])
    expect(night.struck).toEqual(kinds)
  })

  it('lying-storage: everything is confirmed and stored byte for byte, verified where the ETag could be compared', async () => {
    const night = await live('night:lying-storage')

    expect([night.videos.status, night.captures.status]).toEqual(['confirmed', 'confirmed'])
    expect(night.stored).toEqual(digestsOf([...actions(), ...clips()]))
    expect(unverified(night)).toEqual(['play-0.action', 'play-2.action', 'play-6.action', 'play-9.action'])
    expect(night.struck).toEqual(['corrupt', 'etag', 'lateDeliveryMs', 'loseReply'])
  })
})

describe('expiring-addresses', () => {
  it('confirms everything: captures are registered again, videos doubt a wrong refusal or move to a new session', async () => {
    const { videos, captures, stored } = await live('night:expiring-addresses')

    expect([videos.status, captures.status]).toEqual(['confirmed', 'confirmed'])
    for (const { source, sha256: digest } of [...actions(), ...clips()]) expect(stored.get(source.name)).toBe(digest)
  })
})
