// Our contestant on a line: one process that uploads as a host would, at default settings except for what is named. It
// prints one JSON object: when it began, how long it took and, ten times a second, the bytes sent and the parts in flight.
// On SIGTERM it prints what it has so far and exits with 3.
// our-upload FACE BASE_URL video|capture auto|background|CONCURRENCY FILE…

import { writeSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import type * as face from '../../src/node.ts'

const STOPPED = 3

const [facePath = '', baseUrl = '', flow = '', way = 'auto', ...paths] = process.argv.slice(2)
const { createUplink, fileSource } = (await import(pathToFileURL(facePath).href)) as typeof face
const uplink = createUplink({
  baseUrl,
  credentials: { apiKey: 'bench' },
  isHttpAllowed: true,
  isBackground: way === 'background',
  concurrency: /^\d+$/.test(way) ? Number(way) : 'auto',
})
const startedMs = performance.now()
const common = { sessionDate: '2026-11-20', sessionTypeId: 1 }
const upload =
  flow === 'video'
    ? uplink.uploadVideos({
        ...common,
        movementTypeId: 1,
        playerId: 'p',
        files: paths.map((path) => ({ source: fileSource(path) })),
      })
    : uplink.uploadCaptures({
        ...common,
        orgId: 'o',
        mocapTypeId: 2,
        kind: 'tracking',
        files: paths.map((path) => ({ source: fileSource(path) })),
      })
let sentBytes = 0
upload.on('progress', (progress) => {
  sentBytes = progress.sentBytes
})
const samples: number[][] = []
const sampler = setInterval(() => {
  const { inFlight, cap } = uplink.stats()
  samples.push([Math.round(performance.now() - startedMs), sentBytes, inFlight, cap])
}, 100)
const tell = (status: string): void => {
  const { user, system } = process.cpuUsage()
  const ms = performance.now() - startedMs
  writeSync(
    1,
    JSON.stringify({
      status,
      beganAtMs: performance.timeOrigin + startedMs,
      ms,
      cpuMs: (user + system) / 1000,
      samples,
    }) + '\n',
  )
}
process.once('SIGTERM', () => {
  tell('stopped')
  process.exit(STOPPED)
})
try {
  tell((await upload.done()).status)
} finally {
  clearInterval(sampler)
  await uplink.close()
}
