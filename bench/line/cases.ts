// The lines on which uploads are measured, and who takes part on each.

import { join } from 'node:path'
import type { Job } from '../contestants/job.ts'
import type { Line } from './line.ts'
import type { LineCase, LineContestant } from './site.ts'

export const lossy: LineCase = {
  name: '80 ms, 200 Mbit/s, 0.05 % loss',
  about: '512 MiB over a far line with a little loss; the queue holds 80 ms.',
  line: { roundTripMs: 80, megabitsPerSecond: 200, lossPercent: 0.05, queueMs: 80 },
  longestMs: 60_000,
}
export const veryLossy: LineCase = {
  name: '80 ms, 200 Mbit/s, 0.5 % loss',
  about: '512 MiB over a far line with much loss; the queue holds 80 ms.',
  line: { roundTripMs: 80, megabitsPerSecond: 200, lossPercent: 0.5, queueMs: 80 },
  longestMs: 120_000,
}
export const narrow: LineCase = {
  name: '30 ms, 20 Mbit/s, no loss',
  about: '96 MiB over a near, narrow line whose queue holds 250 ms, with a ping beside it.',
  line: { roundTripMs: 30, megabitsPerSecond: 20, lossPercent: 0, queueMs: 250 },
  longestMs: 120_000,
}
export const far: LineCase = {
  name: '200 ms, 50 Mbit/s, no loss',
  about: 'A capture of 300 files of 1.2 MB over a very far line; the queue holds 200 ms.',
  line: { roundTripMs: 200, megabitsPerSecond: 50, lossPercent: 0, queueMs: 200 },
  longestMs: 180_000,
}

/** When the changing line changes, ms since its start. */
export const CHANGES = [
  { atMs: 15_000, megabitsPerSecond: 10 },
  { atMs: 50_000, megabitsPerSecond: 100 },
] as const
const hundred = { roundTripMs: 40, megabitsPerSecond: 100, lossPercent: 0, queueMs: 100 }
export const changing: LineCase = {
  name: '100 → 10 → 100 Mbit/s',
  about:
    '512 MiB over a line of 40 ms that falls to a tenth after 15 s and recovers after 50 s; the queue holds 100 ms.',
  line: hundred,
  longestMs: 95_000,
  meanwhile(line: Line) {
    for (const { atMs, megabitsPerSecond } of CHANGES) {
      setTimeout(() => void line.set({ ...hundred, megabitsPerSecond }).catch(() => undefined), atMs).unref()
    }
  },
}
export const shared: LineCase = {
  name: '100 Mbit/s with two curls',
  about: 'As long as two other uploads, each one connection of curl, share a line of 40 ms.',
  line: hundred,
  longestMs: 60_000,
  meanwhile(line, origin, files) {
    for (const name of ['a', 'b']) {
      const words = ['-s', '-T', files[0] ?? '', `${origin}/other/${name}`]
      line.start('near', 'curl', words, { stdio: 'ignore' })
    }
  },
}

export function ours(name: string, flow: 'video' | 'capture', way: string): LineContestant {
  return {
    name,
    command: ({ origin, setting, files }) => [
      process.execPath,
      join(setting.programs, 'line', 'our-upload.js'),
      join(setting.dist, 'node.js'),
      origin,
      flow,
      way,
      ...files,
    ],
  }
}

export const curl: LineContestant = {
  name: 'curl -T',
  command: ({ origin, files }) => ['curl', '-s', '-T', files[0] ?? '', `${origin}/storage/curl`],
}

/** A rival of the other parts, at its defaults, on this line. */
export function rival(name: string, program: string): LineContestant {
  return {
    name,
    command: ({ origin, setting, files }) => {
      const job: Job = {
        ...{ file: files[0] ?? '', storageOrigin: origin, serviceOrigin: origin, face: '' },
        rivals: join(setting.root, 'bench', 'package.json'),
      }
      return [process.execPath, join(setting.programs, 'contestants', `${program}.js`), JSON.stringify(job)]
    },
  }
}
