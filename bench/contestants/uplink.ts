// mocap-uplink as a host embeds it: the built library at default settings except those that the job names, with a progress listener.

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as face from '../../src/node.ts'
import { stamp } from '../measure/stamps.ts'
import { contest, needed, type Findings, type Job } from './job.ts'

type Face = typeof face
type Upload = ReturnType<ReturnType<Face['createUplink']>['uploadVideos']>

await contest(async (job) => {
  const built = (await import(pathToFileURL(job.face).href)) as Face
  const uplink = built.createUplink({
    baseUrl: job.serviceOrigin,
    credentials: { apiKey: 'bench' },
    ...(job.verify === undefined ? {} : { verify: job.verify }),
    ...(job.concurrency === undefined ? {} : { concurrency: job.concurrency }),
    ...(job.partBytes === undefined ? {} : { partSizeBytes: job.partBytes }),
  })
  const upload =
    job.folder === undefined ? uploadClip(built, uplink, job) : await uploadFolder(built, uplink, job.folder)
  let progressEvents = 0
  upload.on('progress', () => (progressEvents += 1))
  const report = await upload.done()
  if (report.status !== 'confirmed') throw new Error(`The upload ended ${report.status}.`)
  const audit = job.isAudit === true ? await hashedParts(uplink, report.key) : {}
  await uplink.close()
  return { progressEvents, ...audit }
})

async function hashedParts(uplink: ReturnType<Face['createUplink']>, key: string): Promise<Findings> {
  const parts = (await uplink.receipt(key)).files.flatMap((file) => file.parts)
  return { parts: parts.length, hashedParts: parts.filter(({ md5 }) => md5 !== undefined).length }
}

function uploadClip({ fileSource }: Face, uplink: ReturnType<Face['createUplink']>, job: Job): Upload {
  const source =
    job.syntheticBytes === undefined ? fileSource(needed(job.file, 'file')) : syntheticSource(job.syntheticBytes)
  return uplink.uploadVideos({
    files: [{ source, frameRate: 240 }],
    ...{ movementTypeId: 1, playerId: 'p-17', sessionDate: '2026-11-20', sessionTypeId: 2 },
  })
}

async function uploadFolder(
  { fileSource }: Face,
  uplink: ReturnType<Face['createUplink']>,
  folder: string,
): Promise<Upload> {
  const names = (await readdir(folder)).toSorted()
  return uplink.uploadCaptures({
    files: names.map((name) => ({ source: fileSource(join(folder, name)) })),
    ...{ orgId: 'org-1', mocapTypeId: 2, sessionTypeId: 1, sessionDate: '2026-11-19' },
  })
}

/**
 * A source whose bytes, each read with its stamp, cost one copy from memory, as a read from the page cache does, but no disk access. V8 copies
 * into shared memory byte by byte unless source and target have the same offset within a word. A real read has no such
 * cost, so there is one pattern for each offset.
 */
function syntheticSource(sizeBytes: number): ReturnType<Face['fileSource']> {
  const [patternBytes, wordBytes] = [1 << 20, 8]
  const patterns: Uint8Array[] = []
  const patternFrom = (shift: number): Uint8Array =>
    (patterns[shift] ??= new Uint8Array(patternBytes).map((_, index) => ((index + shift) * 2_654_435_761) >>> 24))
  return {
    name: 'synthetic.mp4',
    describe: () => Promise.resolve({ sizeBytes }),
    open: () =>
      Promise.resolve({
        read(into, at) {
          const shift = at % wordBytes
          const pattern = patternFrom(shift)
          for (let done = 0; done < into.length;) {
            const piece = pattern.subarray((at - shift + done) % patternBytes).subarray(0, into.length - done)
            into.set(piece, done)
            done += piece.length
          }
          stamp(into, 0, at)
          return Promise.resolve()
        },
        verify: () => Promise.resolve(),
        close: () => Promise.resolve(),
      }),
  }
}
