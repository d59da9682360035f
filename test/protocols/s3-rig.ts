// What the tests of the S3 protocol share: a scripted store, a transport, and the protocol over both.

import { expect, onTestFinished } from 'vitest'
import { md5Hasher } from '../../src/adapters/node/hash/md5-hasher.ts'
import { undiciTransport } from '../../src/adapters/node/http/undici-transport.ts'
import { bytesSource } from '../../src/adapters/web/bytes-source.ts'
import type { PlannedFile, Protocol, Source, Transport, UnitLimits } from '../../src/core/ports.ts'
import { s3Multipart, type S3MultipartOptions } from '../../src/protocols/s3-multipart.ts'
import { bytesOfSeed, runProtocol, type ProtocolRun, type ProtocolRunOptions } from '../../src/testing/protocol-run.ts'
import { hastyClock } from '../../src/testing/hasty-clock.ts'
import { startScriptedS3, type ScriptedS3, type ScriptedS3Options } from '../helpers/scripted-s3.ts'

/** Small parts, so that a test of many is quick. */
export const SMALL: UnitLimits = { minBytes: 1, maxBytes: 2 ** 30, maxCount: 10_000, multipleOfBytes: 1 }
export const NEVER = new AbortController().signal

export interface S3Rig {
  readonly s3: ScriptedS3
  readonly transport: Transport
  readonly options: S3MultipartOptions
  readonly protocol: Protocol
  run(sources: readonly Source[], options?: Partial<ProtocolRunOptions>): Promise<ProtocolRun>
}

/** Both ends are closed when the test is over. */
export async function startS3Rig(store: ScriptedS3Options = {}, own: Partial<S3MultipartOptions> = {}): Promise<S3Rig> {
  const s3 = await startScriptedS3(store)
  const transport = undiciTransport()
  onTestFinished(async () => {
    await transport.close()
    await s3.close()
  })
  const options: S3MultipartOptions = {
    ...{ transport, clock: hastyClock(), random: () => 0.01, unitLimits: SMALL, hasher: md5Hasher() },
    sign: (request) => Promise.resolve(s3.sign(request)),
    ...own,
  }
  const protocol = s3Multipart(options)
  return {
    ...{ s3, transport, options, protocol },
    run: (sources, more = {}) => runProtocol({ protocol, transport, sources, partSizeBytes: 1_000, ...more }),
  }
}

export function sourceOf(name: string, sizeBytes: number): Source {
  return bytesSource(name, bytesOfSeed(sizeBytes, name.length))
}

export function expectObject(s3: ScriptedS3, name: string, sizeBytes: number): void {
  expect(s3.objects.get(name)?.bytes.equals(bytesOfSeed(sizeBytes, name.length))).toBe(true)
}

export function plan(fileIndex: number, name: string, partCount = 1): PlannedFile {
  return { fileIndex, name, sizeBytes: partCount * 1_000, partCount, partSizeBytes: 1_000 }
}
