// The calls of a night that are measured, with everything that must exist before they can be made.

import { createHash } from 'node:crypto'

import type { Call } from './load.ts'
import { API_KEY } from './site.ts'

export const FILES = 20
export const PARTS = 4
export const NAMES = 100
const PAGE = 100
const PART = 'x'.repeat(1_000)
const ETAG = createHash('md5').update(PART).digest('hex')
const MOTION = { org_id: 'org-4', mocap_type_id: 2, session_date: '2026-11-20', session_type_id: 1 }
const VIDEO = { movement_type_id: 1, player_id: 'p-17', session_date: '2026-11-20', session_type_id: 2 }

/** Makes one call. Rejects unless it is answered with 200. */
export async function callOnce<T>(url: string, method: string, path: string, body?: object): Promise<T> {
  const reply = await fetch(url + path, {
    method,
    headers: { 'x-api-key': API_KEY, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (reply.status !== 200) throw new Error(`${method} ${path.split('?')[0] ?? ''} was answered ${reply.status}`)
  return (await reply.json()) as T
}

/** POST /upload_videos: a night's 20 videos in 4 parts each, 80 addresses. */
export function creates(files = FILES, parts = PARTS): Call {
  const entries = Array.from({ length: files }, (_, index) => ({
    raw_file_name: `swing-${index}.mp4`,
    file_size_bytes: parts * PART.length,
    number_of_chunks: parts,
    file_id: index,
  }))
  const body = JSON.stringify({ ...VIDEO, files: entries })
  return { method: 'POST', next: () => ({ path: '/upload_videos', body }) }
}

/** POST /mocap_session_file: 100 new names for one of `count` sessions, one for each connection by default. */
export async function registrations(url: string, count = 16): Promise<Call> {
  const ids: string[] = []
  while (ids.length < count) ids.push((await callOnce<{ id: string }>(url, 'POST', '/mocap_session', MOTION)).id)
  let turn = 0
  return {
    method: 'POST',
    next() {
      turn += 1
      const filenames = Array.from({ length: NAMES }, (_, index) => `swing-${turn}-${index}.action`)
      return { path: '/mocap_session_file', body: JSON.stringify({ session_id: ids[turn % count], filenames }) }
    },
  }
}

interface Created {
  readonly upload_session_id: string
  readonly pre_signed_urls: readonly {
    readonly session_file_id: number
    readonly info: readonly { readonly url: string }[]
  }[]
}

/** The PUTs of `count` files of one part, in sessions of 20, and their confirmations. */
export async function putsAndConfirmations(url: string, count: number): Promise<{ puts: Call; confirmations: Call }> {
  const files: { sessionId: string; fileId: number; path: string }[] = []
  const create = creates(FILES, 1).next()
  const sessions: Created[] = []
  for (let made = 0; made < count; made += FILES)
    sessions.push(await callOnce<Created>(url, 'POST', create.path, JSON.parse(create.body ?? '') as object))
  // Takes one file of each session in turn, because confirmations of the same session wait for each other under its lock.
  for (let index = 0; index < FILES; index += 1) {
    for (const { upload_session_id: sessionId, pre_signed_urls: urls } of sessions) {
      const { session_file_id: fileId, info } = urls[index] ?? { session_file_id: 0, info: [] }
      const { pathname, search } = new URL(info[0]?.url ?? '')
      files.push({ sessionId, fileId, path: pathname + search })
    }
  }
  const inTurn = () => {
    let turn = 0
    return () => files[turn++ % files.length]!
  }
  const [putting, confirming] = [inTurn(), inTurn()]
  return {
    puts: { method: 'PUT', next: () => ({ path: putting().path, body: PART, isStorage: true }) },
    confirmations: {
      method: 'PATCH',
      next() {
        const { sessionId, fileId } = confirming()
        return { path: '/upload_videos', body: confirmationOf(sessionId, fileId, ETAG) }
      },
    },
  }
}

/** The body of PATCH /upload_videos for a file of one part. */
export function confirmationOf(sessionId: string, fileId: number, etag: string): string {
  return JSON.stringify({
    ...{ upload_session_id: sessionId, affected_file_id: fileId, upload_successful: true },
    file_part_info: [{ etag, part_number: 1 }],
  })
}

/** A page of 100 analyses, and one analysis: what a host asks for while it waits for reports. */
export async function listsAndReads(url: string): Promise<{ lists: Call; reads: Call }> {
  const segment = await callOnce<{ analysis_segment_id: number }>(url, 'POST', '/player_group_segments', {
    ...{ movement_type_id: 1, dom_hand: 'RHA' },
  })
  const primary_analysis_segment_id = segment.analysis_segment_id
  let id = 0
  for (let made = 0; made < 2 * PAGE; made += 1) {
    const body = { name: `Night ${made}`, primary_analysis_segment_id }
    id = (await callOnce<{ id: number }>(url, 'POST', '/requested_analyses', body)).id
  }
  return {
    lists: { method: 'GET', next: () => ({ path: `/requested_analyses?limit=${PAGE}` }) },
    reads: { method: 'GET', next: () => ({ path: `/requested_analyses/${id}` }) },
  }
}
