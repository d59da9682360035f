// Short ways to call the service that is judged. Whatever is made has a name that says where it comes from, and video
// sessions are cancelled when a file of tests has ended.

import { createHash } from 'node:crypto'

import { inject } from 'vitest'

import { callAt, put, type Answer } from './plain-http.ts'
import type { Target } from './target.ts'

const given = inject('target')
/** For `describe.skipIf`: the engine cannot be started here, which its setup has said loudly. */
export const isAbsent = given === undefined

/** What is judged; only for tests that run. */
export function target(): Target {
  if (given === undefined) throw new Error('There is nothing to judge.')
  return given
}

let turn = 0

/** The copy that the next call goes to, as behind a balancer. */
export function nextCopy(): string {
  const { baseUrls } = target()
  turn += 1
  return baseUrls[turn % baseUrls.length] ?? ''
}

/** A call with the suite's credential, or with these headers instead. */
export function call(
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = target().headers,
): Promise<Answer> {
  return callAt(nextCopy() + path, method, headers, body)
}

export const CAPTURE = { mocap_type_id: 2, session_date: '2026-11-20', session_type_id: 1 }
export const VIDEO = { movement_type_id: 1, player_id: 'conformance', session_date: '2026-11-20', session_type_id: 2 }

/** Opens a capture session and gives its id. Type 67 is plain video. */
export async function openCapture(mocapTypeId = 2): Promise<string> {
  const session = { ...CAPTURE, org_id: target().orgId, mocap_type_id: mocapTypeId }
  return ((await call('POST', '/mocap_session', session)).json as { id: string }).id
}

/** Registers names that must be accepted; the addresses by name. */
export async function register(
  sessionId: string,
  filenames: readonly string[],
  extra: object = {},
): Promise<Record<string, string>> {
  const answer = await call('POST', '/mocap_session_file', { session_id: sessionId, filenames, ...extra })
  if (answer.status !== 200) throw new Error(`not registered: ${answer.text}`)
  return answer.json as Record<string, string>
}

/** The least that a store takes as a part which is not the last. */
export const PART_BYTES = 5 * 1024 ** 2

export interface VideoFile {
  readonly sessionId: string
  readonly id: number
  readonly urls: readonly string[]
}

const opened = new Set<string>()

export async function cancelOpened(): Promise<void> {
  for (const id of opened) await call('DELETE', `/upload_videos/${id}`)
  opened.clear()
}

/** Opens a video session for files of these sizes and numbers of chunks. */
export async function openVideo(
  ...sizes: readonly { readonly bytes: number; readonly chunks: number }[]
): Promise<VideoFile[]> {
  const files = sizes.map(({ bytes, chunks }, index) => ({
    ...{ raw_file_name: `conformance-${index + 1}.mp4`, file_size_bytes: bytes, number_of_chunks: chunks },
  }))
  const answer = await call('POST', '/upload_videos', { ...VIDEO, files })
  const reply = answer.json as {
    upload_session_id: string
    pre_signed_urls?: { session_file_id: number; info: { url: string }[] }[]
  }
  if (reply.pre_signed_urls === undefined) throw new Error(`not opened: ${answer.text}`)
  const sessionId = cancelLater(reply.upload_session_id)
  return reply.pre_signed_urls.map(({ session_file_id: id, info }) => ({
    ...{ sessionId, id, urls: info.map(({ url }) => url) },
  }))
}

/** Has the session cancelled when the tests of this file have ended. */
export function cancelLater(sessionId: string): string {
  opened.add(sessionId)
  return sessionId
}

export function confirm(
  { sessionId, id }: Pick<VideoFile, 'sessionId' | 'id'>,
  etags: readonly (readonly [partNumber: number, etag: string])[],
  extra: object = {},
): Promise<Answer> {
  return call('PATCH', '/upload_videos', {
    upload_session_id: sessionId,
    affected_file_id: id,
    file_part_info: etags.map(([part_number, etag]) => ({ etag, part_number })),
    upload_successful: true,
    ...extra,
  })
}

export function bytesOf(sizeBytes: number, fill: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(sizeBytes).fill(fill)
}

export function md5(bytes: Uint8Array | string): string {
  return createHash('md5').update(bytes).digest('hex')
}

/** A file in two chunks, both of them PUT. */
export async function putBoth() {
  const [first, last] = [bytesOf(PART_BYTES, 1), bytesOf(6, 2)]
  const [file] = await openVideo({ bytes: PART_BYTES + 6, chunks: 2 })
  if (file === undefined) throw new Error('no file')
  const answers = [await put(file.urls[0] ?? '', first), await put(file.urls[1] ?? '', last)]
  const etags = [
    [1, md5(first)],
    [2, md5(last)],
  ] as const
  return { file, answers, etags, first, last }
}

export interface StoredItem {
  readonly kind: string
  readonly session_id: string
  readonly file_name: string
  readonly size_bytes: number
  readonly url: string
}

/** What the service says it holds of a session, page after page. */
export async function storedOf(sessionId: string, kind: 'capture' | 'video'): Promise<StoredItem[]> {
  const found: StoredItem[] = []
  for (let after: string | null = `${kind}-0`; after !== null;) {
    const { json } = await call('GET', `/stored?limit=1000&after=${after}`)
    const page = json as { items: StoredItem[]; next: string | null }
    found.push(...page.items.filter((item) => item.session_id === sessionId && item.kind === kind))
    after = page.next
  }
  return found
}
