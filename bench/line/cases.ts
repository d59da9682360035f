// The lines on which uploads are measured, and the contestants.

import { join } from 'node:path'
import type { Job } from '../contestants/job.ts'
import type { LineCase, LineContestant, LineSite } from './site.ts'

export const lossy: LineCase = {
  name: '80 ms, 200 Mbit/s, 0.05 % loss',
  about: '512 MiB over a far line with a little loss; the queue holds 80 ms.',
  line: { roundTripMs: 80, megabitsPerSecond: 200, lossPercent: 0.05, queueMs: 80 },
  longestMs: 45_000,
}
export const veryLossy: LineCase = {
  name: '80 ms, 200 Mbit/s, 0.5 % loss',
  about: '512 MiB over a far line with much loss; the queue holds 80 ms.',
  line: { roundTripMs: 80, megabitsPerSecond: 200, lossPercent: 0.5, queueMs: 80 },
  longestMs: 60_000,
}
export const narrow: LineCase = {
  name: '30 ms, 20 Mbit/s, no loss',
  about: '56 MiB over a near, narrow line whose queue holds 250 ms, with a ping beside it.',
  line: { roundTripMs: 30, megabitsPerSecond: 20, lossPercent: 0, queueMs: 250 },
  longestMs: 120_000,
}
export const far: LineCase = {
  name: '200 ms, 50 Mbit/s, no loss',
  about: 'A capture of 300 files of 1.2 MB over a very far line; the queue holds 200 ms.',
  line: { roundTripMs: 200, megabitsPerSecond: 50, lossPercent: 0, queueMs: 200 },
  longestMs: 180_000,
}

/** When the changing line changes, ms since the first body began to arrive. */
export const CHANGES = [
  { atMs: 15_000, megabitsPerSecond: 10 },
  { atMs: 42_000, megabitsPerSecond: 100 },
] as const
const hundred = { roundTripMs: 40, megabitsPerSecond: 100, lossPercent: 0, queueMs: 100 }
export const changing: LineCase = {
  name: '100 → 10 → 100 Mbit/s',
  about:
    '512 MiB over a line of 40 ms that falls to a tenth after 15 s and recovers after 42 s; the queue holds 100 ms.',
  line: hundred,
  longestMs: 90_000,
  meanwhile({ line }) {
    for (const { atMs, megabitsPerSecond } of CHANGES) {
      setTimeout(() => void line.set({ ...hundred, megabitsPerSecond }).catch(() => undefined), atMs).unref()
    }
  },
}

function startTwoCurls({ line, origin, files }: LineSite): void {
  for (const name of ['a', 'b']) {
    line.start('near', 'curl', ['-s', '-T', files[0] ?? '', `${origin}/other/${name}`], { stdio: 'ignore' })
  }
}
export const shared: LineCase = {
  name: '100 Mbit/s with two curls',
  about:
    'A line of 40 ms shared with two other uploads, each one connection of curl, that begin when our first byte arrives.',
  line: hundred,
  longestMs: 55_000,
  meanwhile: startTwoCurls,
}
export const sharedLate: LineCase = {
  name: '100 Mbit/s, full of two curls',
  about:
    'The same, but the curls begin first and have filled the queue: the loss of our first packets and the slow growth of young connections on a full queue are counted in.',
  line: hundred,
  longestMs: 45_000,
  before: startTwoCurls,
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

/** A contestant of the other parts of the benchmark, at its defaults, on this line. */
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
