// A real tus server with a store on disk, behind a proxy that cuts units short, loses answers and resets connections.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, request as httpRequest, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FileStore } from '@tus/file-store'
import { Server as TusServer } from '@tus/server'

/** `takeBytes`: the server gets only so many bytes of the unit; then its answer is passed on, or the connection reset. */
export interface TusFault {
  /** Of the PATCH requests, from 1. */
  readonly nth: number | 'every'
  readonly takeBytes?: number
  readonly then: 'answer' | 'reset'
}

export interface TusFarEnd {
  /** Where uploads are created, through the proxy. */
  readonly endpoint: string
  /** Offset and length of each PATCH that came to the proxy. */
  readonly patches: readonly { readonly offset: number; readonly lengthBytes: number }[]
  /** The bytes of an upload that is finished, by the file's name. */
  stored(name: string): Promise<Uint8Array | undefined>
  /** Uploads that the server knows, finished or not. */
  uploadCount(): Promise<number>
  close(): Promise<void>
}

// Its folder is there. Made by the constructor, which nobody can wait for, it threw where a quick test had removed it again.
Object.defineProperty(FileStore.prototype, 'checkOrCreateDirectory', { value: () => undefined })

export async function startTusFarEnd(faults: readonly TusFault[] = []): Promise<TusFarEnd> {
  const directory = await mkdtemp(join(tmpdir(), 'tus-'))
  const datastore = new FileStore({ directory })
  const tus = new TusServer({ path: '/files', datastore, relativeLocation: true })
  const server = createServer((request, response) => void tus.handle(request, response))
  const port = await listen(server)
  const patches: { offset: number; lengthBytes: number }[] = []

  const proxy = createServer((request, response) => {
    request.on('error', () => undefined)
    response.on('error', () => undefined)
    const isPatch = request.method === 'PATCH'
    if (isPatch) {
      const { 'upload-offset': offset, 'content-length': length } = request.headers
      patches.push({ offset: Number(offset), lengthBytes: Number(length) })
    }
    const fault = isPatch ? faults.find(({ nth }) => nth === 'every' || nth === patches.length) : undefined
    void readAll(request).then((body) => forward(port, request, response, { body, fault }))
  })
  const proxyPort = await listen(proxy)
  const known = async () => {
    const ids = (await datastore.configstore.list?.()) ?? []
    return Promise.all(ids.map((id) => datastore.getUpload(id)))
  }

  return {
    endpoint: `http://127.0.0.1:${String(proxyPort)}/files`,
    patches,
    async stored(name) {
      const upload = (await known()).find(({ metadata }) => metadata?.['filename'] === name)
      if (upload === undefined || upload.offset !== upload.size) return undefined
      return readFile(join(directory, upload.id))
    },
    uploadCount: async () => (await known()).length,
    async close() {
      for (const one of [proxy, server]) {
        one.closeAllConnections()
        await new Promise((resolve) => one.close(resolve))
      }
      await rm(directory, { recursive: true })
    },
  }
}

async function forward(
  port: number,
  request: IncomingMessage,
  response: ServerResponse,
  { body, fault }: { readonly body: Buffer; readonly fault: TusFault | undefined },
): Promise<void> {
  const sent = body.subarray(0, fault?.takeBytes ?? body.length)
  const headers = { ...request.headers, ...(request.method === 'PATCH' ? { 'content-length': sent.length } : {}) }
  const answer = await new Promise<{ head: IncomingMessage; body: Buffer } | undefined>((resolve) => {
    const { method, url: path } = request
    const inner = httpRequest({ host: '127.0.0.1', port, method, path, headers, agent: false }, (head) => {
      void readAll(head).then((bytes) => resolve({ head, body: bytes }))
    })
    inner.on('error', () => resolve(undefined))
    inner.end(sent)
  })
  if (answer === undefined || fault?.then === 'reset') {
    request.socket.resetAndDestroy()
    return
  }
  response.writeHead(answer.head.statusCode ?? 502, answer.head.headers).end(answer.body)
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

async function readAll(stream: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = []
  try {
    for await (const piece of stream) pieces.push(piece as Buffer)
  } catch {
    // A client that went away has said all it had to say.
  }
  return Buffer.concat(pieces)
}
