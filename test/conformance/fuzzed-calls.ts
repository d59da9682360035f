// Fuzzed calls of one organisation, and a count of what was answered as made, to be held against the tables.

import { expect } from 'vitest'

import { sendRaw } from './plain-http.ts'
import { CAPTURE, VIDEO } from './service-calls.ts'

const UUID = '0b6a5e0e-6a53-4f4e-9a55-0a8f0f3f6f10'
export const FILE = { raw_file_name: 'conformance.mp4', file_size_bytes: 11_000_000, number_of_chunks: 3, file_id: 1 }
const SEGMENT = { movement_type_id: 1, dom_hand: 'RHA', org_movement_ids: ['m-1'] }

export interface Said {
  readonly status: number
  readonly text: string
}

export interface Fuzzed {
  readonly orgId: string
  readonly headers: Readonly<Record<string, string>>
  /** The copy that the next call goes to. */
  readonly nextCopy: () => string
}

export function createFuzzedCalls({ orgId, headers, nextCopy }: Fuzzed) {
  const made = { mocap_sessions: 0, player_group_segments: 0, requested_analyses: 0, video_sessions: 0, video_files: 0 }
  /** Names that were answered with an address, each with its session. */
  const named = new Set<string>()
  const videoSessions: string[] = []
  const session = { ...CAPTURE, org_id: orgId }
  const video = { ...VIDEO, files: [{ ...FILE, frame_rate: 240 }] }

  /** Sends the target and the bytes exactly as they are. */
  async function send(method: string, path: string, body: Uint8Array | string = ''): Promise<Said> {
    const all = { ...headers, 'content-type': 'application/json' }
    const said = await sendRaw(nextCopy(), { method, path, headers: all, body })
    if (method === 'POST' && said.status === 200) count(path, body, JSON.parse(said.text) as Record<string, unknown>)
    return said
  }

  function count(path: string, body: Uint8Array | string, json: Record<string, unknown>): void {
    if ('errors' in json) return
    if (path === '/mocap_session') made.mocap_sessions += 1
    if (path === '/player_group_segments') made.player_group_segments += 1
    if (path === '/requested_analyses') made.requested_analyses += 1
    if (path === '/mocap_session_file') {
      const { session_id: id } = JSON.parse(Buffer.from(body as string).toString()) as { session_id: unknown }
      for (const name of Object.keys(json)) named.add(`${String(id)} ${name}`)
    }
    if (path !== '/upload_videos') return
    made.video_sessions += 1
    made.video_files += (json['pre_signed_urls'] as unknown[]).length
    videoSessions.push(String(json['upload_session_id']))
  }

  async function post(path: string, body: object) {
    const said = await send('POST', path, JSON.stringify(body))
    return { ...said, json: JSON.parse(said.text) as Record<string, unknown> }
  }

  /** Right calls to be spoilt. What they speak of is made first, so that some of them are about something that exists. */
  async function prepare() {
    const { id } = (await post('/mocap_session', session)).json
    const { analysis_segment_id: segment } = (await post('/player_group_segments', SEGMENT)).json
    const { json } = await post('/upload_videos', video)
    const [file] = json['pre_signed_urls'] as { session_file_id: number }[]
    const analysis = { name: 'conformance', primary_analysis_segment_id: segment, status: 'draft' }
    const confirm = {
      ...{ upload_session_id: json['upload_session_id'], affected_file_id: file?.session_file_id },
      ...{ file_part_info: [{ etag: 'e', part_number: 1 }], upload_successful: true },
    }
    const { id: analysisId } = (await post('/requested_analyses', analysis)).json
    return [
      ['POST', '/mocap_session', session],
      ['POST', '/mocap_session_file', { session_id: id, filenames: ['a.action', 'b.action'], reprocess: true }],
      ['POST', '/player_group_segments', SEGMENT],
      ['PATCH', `/player_group_segments/${String(segment)}`, SEGMENT],
      ['POST', '/requested_analyses', analysis],
      ['PATCH', `/requested_analyses/${String(analysisId)}`, analysis],
      ['PATCH', `/requested_analyses/${String(analysisId)}/submit`, {}],
      ['POST', '/upload_videos', video],
      ['PATCH', '/upload_videos', confirm],
      ['DELETE', `/upload_videos/${UUID}`, {}],
    ] as const
  }

  /** Holds the tables against what was answered as made; `total` counts the organisation's rows of one. */
  async function expectTablesToHoldWhatWasMade(total: (table: string) => Promise<number>): Promise<void> {
    expect(Object.values(made).every((count) => count > 0)).toBe(true)
    const totals: Record<string, number> = {}
    for (const table of [...Object.keys(made), 'mocap_session_files']) totals[table] = await total(table)
    expect(totals).toEqual({ ...made, mocap_session_files: named.size })
  }

  return { send, post, prepare, session, video, videoSessions, expectTablesToHoldWhatWasMade }
}

/** An answer that is no failure, in a form that a client can read. */
export function expectAnswer({ status, text }: Said): void {
  expect(status).toBeGreaterThanOrEqual(200)
  expect(status, text).toBeLessThan(500)
  expect(text).toMatch(/^[{[<]/)
}
