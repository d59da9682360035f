// Watches the body of a PUT on its way to the disk, and ends one that stalls or trickles as S3 does.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { OutgoingHttpHeaders } from 'node:http'

import { bodyPace } from '../http/body-pace.ts'
import { StorageRefusal, storageErrorXml } from '../http/replies.ts'
import type { ServiceSettings } from '../settings.ts'

export interface BodyWatch {
  /** Bytes have come; 0: it is we who keep them waiting. Throws for bytes of a body that was ended: none of it may be stored. */
  onBytes(bytes: number): void
  stop(): void
}

/** Answers 400 RequestTimeout and closes the connection when the body brings nothing for too long, or too little. */
export function watchBody(
  request: FastifyRequest,
  reply: FastifyReply,
  { bodyIdleMs, leastBytesPerSecond }: Pick<ServiceSettings, 'bodyIdleMs' | 'leastBytesPerSecond'>,
): BodyWatch {
  let refusal: StorageRefusal | undefined
  const end = (problem: string): void => {
    stop()
    const ended = new StorageRefusal(400, 'RequestTimeout', problem)
    refusal = ended
    reply.hijack()
    const headers = { ...(reply.getHeaders() as OutgoingHttpHeaders), 'content-type': 'application/xml' }
    reply.raw.writeHead(400, { ...headers, connection: 'close' })
    // Once answered, Node drops a request without ending it, so whoever reads its body would wait forever.
    reply.raw.end(storageErrorXml(ended), () => raw.destroy(ended))
  }
  const { raw } = request
  const timer = setTimeout(() => {
    // A disk that stalls is not the client's fault: what has come is waiting for us.
    if (raw.readableLength > 0 || raw.complete) onBytes(0)
    else end(`The body brought nothing for ${bodyIdleMs} ms.`)
  }, bodyIdleMs)
  const stop = (): void => clearTimeout(timer)
  const pace = bodyPace(leastBytesPerSecond)
  // Writing to disk, recording and answering may take as long as they need.
  raw.once('end', stop)
  const onBytes = (bytes: number): void => {
    if (refusal === undefined) {
      timer.refresh()
      if (!pace.keepsUp(bytes)) end(`The body came more slowly than ${leastBytesPerSecond} bytes a second.`)
    }
    if (refusal !== undefined && bytes > 0) throw refusal
  }
  return { onBytes, stop }
}
