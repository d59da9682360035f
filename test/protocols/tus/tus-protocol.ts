// tus 1.0 as a Protocol: one upload per file, whose address all of its units share; the next unit goes where the server
// says that it stands. It proves that the port holds offset streams; the product does not ship it.

import { UploadError } from '../../../src/core/errors.ts'
import type { Protocol, Transport, TransportReply, Unit, Verdict } from '../../../src/core/ports.ts'
import { classifyStorageFailure } from '../../../src/core/attempt/storage-failure.ts'

export interface TusOptions {
  /** Where uploads are created. */
  readonly endpoint: string
  readonly transport: Transport
}

const VERSION = { 'tus-resumable': '1.0.0' }

export function tusProtocol({ endpoint, transport }: TusOptions): Protocol {
  return {
    traits: {
      units: { minBytes: 1, maxBytes: 2 ** 40, maxCount: 10_000, multipleOfBytes: 1 },
      ...{ order: 'next', addressing: 'session', batchSize: 0 },
    },
    async create(files, signal) {
      const addressed = []
      for (const { fileIndex, name, sizeBytes, partCount } of files) {
        const metadata = `filename ${Buffer.from(name).toString('base64')}`
        const headers = { ...VERSION, 'upload-length': String(sizeBytes), 'upload-metadata': metadata }
        const body = { kind: 'bytes', bytes: new Uint8Array() } as const
        const reply = await transport.send({ method: 'POST', url: endpoint, headers, body, signal })
        const location = reply.headers['location']
        if (reply.status !== 201 || location === undefined) throw refusal(`${name} was not created`, reply)
        const addresses = new Array<string>(partCount).fill(new URL(location, endpoint).href)
        addressed.push({ fileIndex, addresses })
      }
      return { sessionId: JSON.stringify(addressed.map(({ addresses }) => addresses[0])), files: addressed }
    },
    request: (unit) => ({
      method: 'PATCH',
      headers: { ...VERSION, 'upload-offset': String(unit.start), 'content-type': 'application/offset+octet-stream' },
    }),
    judge,
    async cancel(sessionId, signal) {
      for (const url of JSON.parse(String(sessionId)) as string[]) {
        const reply = await transport.send({ method: 'DELETE', url, headers: VERSION, signal })
        if (![204, 404, 410].includes(reply.status)) throw refusal('An upload was not ended', reply)
      }
    },
  }
}

/** A success says how far the server has come, which may be less than the unit. */
function judge(reply: TransportReply, unit: Unit): Verdict {
  const offset = reply.headers['upload-offset'] ?? ''
  const isSuccess = reply.status >= 200 && reply.status < 300
  if (isSuccess && /^\d{1,15}$/.test(offset)) return { kind: 'received', acceptedEnd: Number(offset) }
  // 409: another offset; 423: another request holds the upload. Both pass.
  const isRetried = isSuccess || reply.status === 409 || reply.status === 423
  if (!isRetried) return classifyStorageFailure(reply, unit)
  return { kind: 'retry', error: refusal('A unit was not taken', reply) }
}

function refusal(what: string, { status }: TransportReply): UploadError {
  return new UploadError('ERR_UPLOAD_HTTP_STATUS', `${what} (${String(status)}).`, { isRetryable: true })
}
