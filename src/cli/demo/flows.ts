// What the demo asks of the service: the samples in two uploads, and one analysis.

import { basename } from 'node:path'
import type { Analysis } from '../../flows/analysis.ts'
import type { Upload } from '../../flows/upload.ts'
import { fileSource } from '../../node.ts'
import type { Uplink } from '../../uplink.ts'
import type { SourceFile } from './read-back.ts'
import { SAMPLE_SESSION_DATE, type Samples } from './samples.ts'

const ASK_EVERY_MS = 500
const ANALYSIS_WITHIN_MS = 30_000
const FRAME_RATE = 240

export function uploadCaptures(uplink: Uplink, samples: Samples): Upload {
  return uplink.uploadCaptures({
    orgId: 'demo-org',
    mocapTypeId: 2,
    sessionTypeId: 1,
    sessionDate: SAMPLE_SESSION_DATE,
    kind: 'tracking',
    files: samples.captures.map((path) => ({ source: fileSource(path) })),
  })
}

export function uploadVideos(uplink: Uplink, samples: Samples): Upload {
  return uplink.uploadVideos({
    movementTypeId: 1,
    playerId: 'p-17',
    sessionDate: SAMPLE_SESSION_DATE,
    sessionTypeId: 2,
    frameRate: FRAME_RATE,
    files: samples.videos.map((path) => ({ source: fileSource(path) })),
  })
}

export function requestAnalysis(uplink: Uplink): Analysis {
  const criteria = { movementTypeId: 1, domHand: 'RHA' } as const
  return uplink.requestAnalysis({
    name: `Demo of ${SAMPLE_SESSION_DATE}`,
    primary: criteria,
    population: criteria,
    pollDelaysMs: [ASK_EVERY_MS],
    deadlineMs: ANALYSIS_WITHIN_MS,
  })
}

/** The samples as what was uploaded, to be compared with what is stored. */
export function sourcesOf({ captures, videos }: Samples): SourceFile[] {
  return [
    ...captures.map((path) => ({ kind: 'capture' as const, name: basename(path), path })),
    ...videos.map((path) => ({ kind: 'video' as const, name: basename(path), path })),
  ]
}
