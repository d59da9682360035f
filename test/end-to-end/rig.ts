// What the end-to-end tests share: an Uplink for Node against the independent service, sources of known bytes, and the
// checks that hold for every run.

import { createHash } from 'node:crypto'
import { expect, onTestFinished } from 'vitest'
import { bytesSource, createUplink, type NodeUplinkOptions, type Uplink, type UploadFile } from '../../src/node.ts'
import { hastyClock } from '../../src/testing/hasty-clock.ts'
import { startIndependentService, type IndependentService } from '../helpers/independent-service.ts'
import type { IndependentServiceOptions } from '../helpers/independent-records.ts'

export const MIB = 1024 * 1024

/** Bytes that differ at every position and for every seed. */
export function bytesOf(sizeBytes: number, seed: number): Uint8Array {
  const bytes = new Uint8Array(sizeBytes)
  const words = new Uint32Array(bytes.buffer, 0, Math.floor(sizeBytes / 4))
  let state = (seed + 1) * 2_654_435_761
  for (let index = 0; index < words.length; index += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    words[index] = state
  }
  for (let index = words.length * 4; index < sizeBytes; index += 1) bytes[index] = (seed * 31 + index) & 255
  return bytes
}

export interface Sample extends UploadFile {
  readonly sha256: string
}

export function sample(name: string, sizeBytes: number, seed = name.length): Sample {
  const bytes = bytesOf(sizeBytes, seed)
  return { source: bytesSource(name, bytes), sha256: createHash('sha256').update(bytes).digest('hex') }
}

export interface Rig {
  readonly service: IndependentService
  readonly uplink: Uplink
}

/** Both are closed when the test is over. */
export async function startRig(
  service: IndependentServiceOptions = {},
  options: Partial<NodeUplinkOptions> = {},
): Promise<Rig> {
  const started = await startIndependentService({ minPartBytes: 5 * MIB, ...service })
  const uplink = createUplink({
    baseUrl: started.url,
    credentials: { apiKey: started.apiKey },
    clock: hastyClock(),
    ...options,
  })
  onTestFinished(async () => {
    await uplink.close()
    await started.close()
  })
  return { service: started, uplink }
}

export const VIDEO = { movementTypeId: 1, playerId: 'p-17', sessionDate: '2026-11-20', sessionTypeId: 2 }
export const CAPTURE = { orgId: 'org-1a2b3c4d', mocapTypeId: 2, sessionTypeId: 1, sessionDate: '2026-11-19' }

/** What must be true of every finished run, whatever went wrong in it. */
export function expectStored({ service }: Rig, samples: readonly Sample[]): void {
  const stored = new Map(service.storedFiles().map((file) => [file.fileName, file.sha256]))
  expect(stored).toEqual(new Map(samples.map((file) => [file.source.name, file.sha256])))
  expect(service.records.credentialLeaks).toEqual([])
  expect(service.pendingFaults()).toEqual([])
}
