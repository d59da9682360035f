// The protocol of the simulation: addresses name file and part, receipts have an ETag or not, and a storage may accept
// only a part of what it is sent.

import { UploadError } from '../../src/core/errors.ts'
import type { AddressedFile, PlannedFile, Protocol, UnitLimits, Verdict } from '../../src/core/ports.ts'
import { classifyStorageFailure } from '../../src/core/attempt/storage-failure.ts'

export interface TestProtocolOptions {
  readonly order?: 'any' | 'next'
  readonly addressing?: 'session' | 'batches'
  readonly batchSize?: number
  /** Whether a receipt is an ETag. Default true. */
  readonly needsEtag?: boolean
}

export const SMALL_LIMITS: UnitLimits = { minBytes: 1, maxBytes: 1_000_000, maxCount: 10_000, multipleOfBytes: 1 }

export function testProtocol(options: TestProtocolOptions = {}): Pick<Protocol, 'traits' | 'request' | 'judge'> {
  const { order = 'any', addressing = 'session', batchSize = 50, needsEtag = true } = options
  return {
    traits: { units: SMALL_LIMITS, order, addressing, batchSize },
    request: ({ start, end }) => ({ method: 'PUT', headers: { 'x-range': `${String(start)}-${String(end)}` } }),
    judge(reply, unit): Verdict {
      if (reply.status > 299) return classifyStorageFailure(reply, unit)
      const etag = reply.headers['etag']
      if (etag === undefined && needsEtag) {
        const message = `The storage sent no ETag for part ${String(unit.partNumber)}.`
        return { kind: 'final', error: new UploadError('ERR_UPLOAD_ETAG_MISSING', message) }
      }
      const accepted = reply.headers['x-accepted-end']
      const acceptedEnd = accepted === undefined ? unit.end : Number(accepted)
      return { kind: 'received', acceptedEnd, ...(etag === undefined ? {} : { etag }) }
    },
  }
}

/** An address for every part. `generation` distinguishes renewed addresses from the first. */
export function addressesOf(plan: PlannedFile, generation = 1): AddressedFile {
  const addresses = Array.from(
    { length: plan.partCount },
    (_, index) =>
      `https://store.test/${String(plan.fileIndex)}/${String(index + 1)}?g=${String(generation)}&X-Amz-Signature=5ec4e7`,
  )
  return { fileIndex: plan.fileIndex, serverFileId: `id-${String(plan.fileIndex)}`, addresses }
}

/** The file, part and generation that an address names. */
export function placeOf(url: string): { fileIndex: number; partNumber: number; generation: number } {
  const [, file, part] = new URL(url).pathname.split('/')
  return {
    fileIndex: Number(file),
    partNumber: Number(part),
    generation: Number(new URL(url).searchParams.get('g')),
  }
}
