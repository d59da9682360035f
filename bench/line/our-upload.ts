// Our contestant on a line: one process that uploads as a host would, with default settings but for what is named, and
// prints one JSON object: how long it took and, ten times a second, how much was sent and how many parts were in flight.
// our-upload BASE_URL video|capture CONCURRENCY|auto FILE…

import { createUplink, fileSource } from '../../src/node.ts'

const [baseUrl = '', flow = '', concurrency = 'auto', ...paths] = process.argv.slice(2)
const uplink = createUplink({
  baseUrl,
  credentials: { apiKey: 'bench' },
  isHttpAllowed: true,
  concurrency: concurrency === 'auto' ? 'auto' : Number(concurrency),
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
try {
  const report = await upload.done()
  const { user, system } = process.cpuUsage()
  const ms = performance.now() - startedMs
  process.stdout.write(JSON.stringify({ status: report.status, ms, cpuMs: (user + system) / 1000, samples }) + '\n')
} finally {
  clearInterval(sampler)
  await uplink.close()
}
