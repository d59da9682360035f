// Object storage behind signed addresses: a PUT stores one body whole or not at all, a GET reads an object back. It answers like
// S3, with errors in XML and the MD5 of the bytes as ETag, and never accepts a service credential.

import type { FastifyInstance, FastifyRequest } from 'fastify'

import { carriesCredential } from '../access/credentials.ts'
import type { ServiceContext } from '../context.ts'
import { isDatabaseAway, isDiskFull } from '../database/database-errors.ts'
import { inviteBody } from '../http/expected-bodies.ts'
import { DISK_FULL_RETRY_SECONDS, requestExpired, StorageRefusal, storageErrorXml } from '../http/replies.ts'
import { endIfStalled } from '../http/stalled-bodies.ts'
import { watchBody } from './body-watch.ts'
import { keyOfPath, type ObjectKey } from './object-keys.ts'
import { MAX_PUT_BYTES } from './object-storage.ts'
import { readObject } from './object-reading.ts'
import { checkTarget, storePart } from './object-writing.ts'
import { checkPlainPut, isKnownToReader } from './preconditions.ts'

/** When to try again, by status. */
const RETRY_SECONDS = new Map([
  [503, 1],
  [507, DISK_FULL_RETRY_SECONDS],
])

export function objectRoutes(app: FastifyInstance, context: ServiceContext): void {
  // Bodies are passed on as they come and are never buffered, whatever their type.
  app.removeAllContentTypeParsers()
  app.addHook('onRequest', (request, _reply, done) => {
    // The content type is ignored, because it may be one that cannot be parsed.
    delete request.raw.headers['content-type']
    done()
  })
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))

  app.setErrorHandler((error, request, reply) => {
    if (reply.raw.headersSent || request.raw.socket.destroyed) return reply.hijack()
    const refusal = asRefusal(error)
    if (refusal.status >= 500) request.log.error({ err: error }, 'an object could not be stored or read')
    if (refusal.closes) reply.header('connection', 'close')
    const waitSeconds = RETRY_SECONDS.get(refusal.status)
    if (waitSeconds !== undefined) reply.header('retry-after', waitSeconds)
    const { raw } = request
    if (!raw.complete) {
      // Node discards the rest only if nobody has begun to read it. Otherwise a client that sent everything would wait forever for
      // its next answer on this connection.
      raw.resume()
      endIfStalled(raw, context.settings)
    }
    return reply.code(refusal.status).type('application/xml').send(storageErrorXml(refusal))
  })

  app.put('/objects/*', { config: { watchesBody: true } }, async (request, reply) => {
    const { key, partNumber } = checkAddress(context, request)
    // Stored whole, such a piece would stand for the object (RFC 9110, 14.5).
    if (request.headers['content-range'] !== undefined)
      throw new StorageRefusal(400, 'InvalidArgument', 'A PUT stores a whole body: send no Content-Range.')
    checkPlainPut(request.headers)
    const sizeBytes = announcedLength(request)
    const contentMd5 = announcedMd5(request)
    await checkTarget(context.db, key)
    const expected = await context.room?.forBody(sizeBytes)
    const watch = watchBody(request, reply, context.settings)
    inviteBody(reply.raw)
    try {
      const stored = await context.store.receive(request.raw, sizeBytes, (bytes) => {
        watch.onBytes(bytes)
        return expected?.arrived(bytes)
      })
      await storePart(context, { key, partNumber, stored, contentMd5 })
      return await reply.header('etag', `"${stored.md5}"`).send()
    } finally {
      expected?.end()
      watch.stop()
    }
  })

  app.get('/objects/*', async (request, reply) => {
    const { key } = checkAddress(context, request)
    // Each turn needs one more PUT that ends just now.
    for (;;) {
      const object = await readObject(context, key)
      if (object === undefined) throw new StorageRefusal(404, 'NoSuchKey', 'The specified key does not exist.')
      void reply.header('etag', object.etag)
      if (isKnownToReader(request.headers, object.etag)) return reply.code(304).send()
      const bytes = await object.open()
      if (bytes === undefined) continue
      // What is sent as an answer that is over would stay open.
      if (reply.raw.destroyed) {
        bytes.destroy()
        return reply.hijack()
      }
      void reply.header('content-length', object.sizeBytes)
      return reply.type('application/octet-stream').send(bytes)
    }
  })
}

/** The object that an address names. Throws unless the address is unchanged, alive and came without a credential. */
function checkAddress(context: ServiceContext, request: FastifyRequest): { key: ObjectKey; partNumber: number } {
  if (carriesCredential(context.settings, request)) {
    throw new StorageRefusal(400, 'InvalidArgument', 'An address carries its own permission: send no credential.')
  }
  const { url = '', method = '' } = request.raw
  const verdict = context.signer.verify(method, url)
  if (verdict.kind === 'unsigned') throw new StorageRefusal(403, 'AccessDenied', 'Access Denied')
  if (verdict.kind === 'expired') throw requestExpired(verdict.lifeSeconds, verdict.expiredAt, context.settings.now())
  if (verdict.kind === 'mismatch') {
    throw new StorageRefusal(403, 'SignatureDoesNotMatch', 'The signature does not match the request.')
  }
  const [path = '', query = ''] = url.split('?')
  const key = keyOfPath(path)
  if (key === undefined) throw new StorageRefusal(404, 'NoSuchKey', 'The specified key does not exist.')
  // The signature was right, so this service wrote the number.
  return { key, partNumber: Number(new URLSearchParams(query).get('partNumber') ?? 1) }
}

function announcedLength(request: FastifyRequest): number {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  if (encoding !== undefined || length === undefined) {
    throw new StorageRefusal(411, 'MissingContentLength', 'You must provide the Content-Length HTTP header.', {
      closes: true,
    })
  }
  if (Number(length) > MAX_PUT_BYTES) {
    throw new StorageRefusal(400, 'EntityTooLarge', 'Your proposed upload exceeds the maximum allowed size.', {
      facts: { ProposedSize: length, MaxSizeAllowed: MAX_PUT_BYTES },
      closes: true,
    })
  }
  return Number(length)
}

function announcedMd5(request: FastifyRequest): string | undefined {
  const header = request.headers['content-md5']
  if (header === undefined) return undefined
  const digest = Buffer.from(String(header), 'base64')
  if (digest.length !== 16)
    throw new StorageRefusal(400, 'InvalidDigest', 'The Content-MD5 you specified is not valid.')
  return digest.toString('hex')
}

function asRefusal(error: unknown): StorageRefusal {
  if (error instanceof StorageRefusal) return error
  if (isDiskFull(error)) return new StorageRefusal(507, 'InsufficientStorage', 'There is no room left on the disk.')
  if (isDatabaseAway(error)) return new StorageRefusal(503, 'SlowDown', 'Please reduce your request rate.')
  return new StorageRefusal(500, 'InternalError', 'We encountered an internal error. Please try again.')
}
