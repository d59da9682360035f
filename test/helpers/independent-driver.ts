// Drives the independent service as a plain client would: no retries, no checks, every reply as it is.

import { createHash } from 'node:crypto'
import { request } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import { expect } from 'vitest'

import type { IndependentServiceOptions } from './independent-records.ts'
import { startIndependentService } from './independent-service.ts'
import type { IndependentService } from './independent-service.ts'

/** A valid file entry: three bytes in one part. */
export const VIDEO_FILE = { raw_file_name: 'swing.mp4', file_size_bytes: 3, number_of_chunks: 1 }
/** The valid fields of a video session, without files. */
export const VIDEO = { movement_type_id: 1, player_id: 'p-17', session_date: '2026-11-20', session_type_id: 2 }

/** An entry of pre_signed_urls. */
export interface VideoEntry {
  session_file_id: string | number
  raw_file_name?: string
  info: { url: string }[]
}

/** Holds one running service at a time. `start` ends the previous one. */
export function createDriver() {
  let service: IndependentService | undefined

  async function start(options: IndependentServiceOptions = {}): Promise<void> {
    await service?.close()
    service = await startIndependentService(options)
  }

  async function close(): Promise<void> {
    await service?.close()
  }

  /** Throws if no service has been started. */
  function running(): IndependentService {
    if (service === undefined) throw new Error('The service was not started.')
    return service
  }

  function call(method: string, path: string, body?: object): Promise<Response> {
    return fetch(running().url + path, {
      method,
      headers: { 'x-api-key': running().apiKey, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  }

  async function createVideos(files: object[]): Promise<{ sessionId: string; entries: VideoEntry[] }> {
    const reply = await call('POST', '/upload_videos', { ...VIDEO, files })
    const body = (await reply.json()) as { upload_session_id: string; pre_signed_urls: VideoEntry[] }
    return { sessionId: body.upload_session_id, entries: body.pre_signed_urls }
  }

  async function createCaptureSession(mocap_type_id: number): Promise<string> {
    const fields = { org_id: 'org-1', mocap_type_id, session_type_id: 1, session_date: '2026-11-20' }
    const body = (await json(call('POST', '/mocap_session', fields))) as { id: string; status: string }
    expect(body).toMatchObject({ ...fields, session_id: body.id, status: 'pending', num_movements: 0, num_players: 0 })
    return body.id
  }

  function confirm(
    sessionId: string,
    fileId: string | number,
    etags: readonly (string | null | undefined)[],
    partNumbers = etags.map((_, index) => index + 1),
  ): Promise<Response> {
    return call('PATCH', '/upload_videos', {
      upload_session_id: sessionId,
      affected_file_id: fileId,
      file_part_info: etags.map((etag, index) => ({ etag, part_number: partNumbers[index] })),
      upload_successful: true,
    })
  }

  return {
    get service() {
      return running()
    },
    start,
    close,
    call,
    createVideos,
    createCaptureSession,
    confirm,
  }
}

/** One PUT with fetch. */
export function put(url: string, body: string | Buffer<ArrayBuffer>): Promise<Response> {
  return fetch(url, { method: 'PUT', body })
}

/** A PUT that announces its length and sends its body piece by piece. */
export function openPut(url: string, lengthBytes: number) {
  const outgoing = request(url, { method: 'PUT', headers: { 'content-length': String(lengthBytes) } })
  const answer = new Promise<{ status: number | undefined; headers: IncomingHttpHeaders }>((resolve) => {
    outgoing.once('response', ({ statusCode, headers }) => resolve({ status: statusCode, headers }))
  })
  outgoing.on('error', () => {})
  return { write: (text: string) => outgoing.write(text), destroy: () => outgoing.destroy(), answer }
}

/** The status of a pending reply. */
export async function statusOf(reply: Promise<Response>): Promise<number> {
  return (await reply).status
}

/** The parsed body of a pending reply. */
export async function json(reply: Promise<Response>): Promise<unknown> {
  return (await reply).json()
}

/** Hex digest of a text. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
