// A model of the service and its storage: sessions, addresses with deadlines, parts with ETags, confirmations. It answers
// only what has arrived completely, and knows nothing of lines, faults or lives. It reports what no correct client does.

import { digestOf } from './digest.ts'
import type { Night } from './night.ts'
import { createStore, type Store } from './store.ts'

export const SERVICE_URL = 'https://service.test'
export const API_KEY = 'key-7d0c41b2'
export const SIGNATURE = '5ec4e7c0de'
/** The session of somebody else to which captures are added. */
export const GIVEN_SESSION = 's1'
const THEIR_BYTES = 'what somebody else has captured'

export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** JSON, or XML from the storage. */
  readonly body?: string
}

/** Where an address leads. */
export interface Target {
  readonly sessionId: string
  readonly fileName: string
  readonly partNumber: number
  deadlineMs: number
}

interface StoredPart {
  readonly bytes: Uint8Array
  readonly etag: string
  readonly isDoubted: boolean
}

export interface FarFile {
  readonly fileId: number
  readonly name: string
  readonly partCount: number
  readonly parts: Map<number, StoredPart>
  isConfirmed: boolean
}

export interface FarSession {
  readonly id: string
  readonly files: Map<string, FarFile>
  isCancelled: boolean
  /** Ended by nobody's call. */
  isSwept?: boolean
}

export interface ServiceCallBody {
  readonly [field: string]: unknown
}

export interface FarEnd {
  /** The newest key of the service. It takes the one before as well, so that each lives for a while when it is given out. */
  key(): string
  takesKey(key: string | undefined): boolean
  /** What takes the calls of an upload that has no service. Its parts are put as any others. */
  readonly store: Store
  targetOf(url: string): Target | undefined
  /** A new address of a part. */
  sign(sessionId: string, fileName: string, partNumber: number): string
  /** A call of the service. `isUnheard`: the client gave the call up before it arrived, and may know better by now. */
  call(method: string, path: string, body: ServiceCallBody, isUnheard: boolean): Answer
  /** Bytes that have arrived completely. `isDoubted`: the client has not learnt, and will not learn, what became of them. */
  put(target: Target, bytes: Uint8Array, isDoubted: boolean): Answer
  /** The newest bytes of a part in a session. */
  part(sessionId: string, fileName: string, partNumber: number): StoredPart | undefined
  /** The stored bytes of a confirmed video or of a capture that was put. Undefined if there are none. */
  stored(fileName: string): Uint8Array | undefined
  /** Whether a call has ended it. */
  isCancelled(sessionId: string | number): boolean
  hasConfirmed(sessionId: string): boolean
  sessionCount(): number
  /** Sessions that nobody has cancelled. An upload of a store is none any more once it is complete. */
  openSessionIds(): readonly string[]
  /** Makes the storage refuse all addresses given so far. */
  expire(): void
  /** Makes new addresses outlive everything. */
  calm(): void
}

export function createFarEnd(night: Night, serverNow: () => number, violate: (what: string) => void): FarEnd {
  const sessions = new Map<string, FarSession>()
  /** Indexed by the mark at the end of every address. As keys of a map, thousands of long texts would have to be hashed. */
  const targets: (Target & { readonly url: string })[] = []
  let putCount = 0
  let fileCount = 100
  let isCalm = false
  let date = { ofMs: NaN, text: '' }

  let lastKeyNumber = 0
  const keyNumber = (): number =>
    (lastKeyNumber = isCalm ? lastKeyNumber : Math.floor(serverNow() / (night.keys?.lifeMs ?? Infinity)))
  const keyOf = (number: number): string => (night.keys === undefined ? API_KEY : `${API_KEY}-${String(number)}`)
  const mint = (sessionId: string, fileName: string, partNumber: number): string => {
    const signedAtMs = Math.floor(serverNow() / 1_000) * 1_000
    const lifeMs = isCalm ? 604_800_000 : Math.ceil(night.addressLifeMs / 1_000) * 1_000
    if (signedAtMs !== date.ofMs) date = { ofMs: signedAtMs, text: basicTime(signedAtMs) }
    const mark = String(targets.length)
    const url = `https://store.test/${sessionId}/${fileName}/${mark}?partNumber=${String(partNumber)}&X-Amz-Date=${date.text}&X-Amz-Expires=${String(lifeMs / 1_000)}&X-Amz-Signature=${SIGNATURE}${mark}`
    targets.push({ url, sessionId, fileName, partNumber, deadlineMs: signedAtMs + lifeMs })
    return url
  }
  const begin = (): FarSession => {
    const session: FarSession = { id: `s${String(sessions.size + 1)}`, files: new Map(), isCancelled: false }
    sessions.set(session.id, session)
    return session
  }
  const createVideos = (body: ServiceCallBody): Answer => {
    const session = begin()
    const asked = body['files'] as { raw_file_name: string; number_of_chunks: number; file_id: number }[]
    const entries = asked.map(({ raw_file_name: name, number_of_chunks: partCount, file_id }) => {
      const fileId = (fileCount += 1)
      session.files.set(name, { fileId, name, partCount, parts: new Map(), isConfirmed: false })
      const info = Array.from({ length: partCount }, (_, part) => ({ url: mint(session.id, name, part + 1) }))
      const echo = night.echoesFileIds ? { file_id } : { raw_file_name: name }
      return { session_file_id: fileId, info, ...echo }
    })
    return json(200, { upload_session_id: session.id, pre_signed_urls: entries })
  }
  const confirm = (body: ServiceCallBody, isUnheard: boolean): Answer => {
    const session = sessions.get(String(body['upload_session_id']))
    const file = [...(session?.files.values() ?? [])].find((one) => one.fileId === body['affected_file_id'])
    if (session === undefined || file === undefined || session.isCancelled)
      return json(404, { message: 'no such upload' })
    if (file.isConfirmed)
      return night.saysAlready ? json(409, { message: 'the file is already confirmed' }) : json(200, {})
    const listed = body['file_part_info'] as { etag: string; part_number: number }[]
    const isComplete = listed.length === file.partCount && listed.every((one, index) => one.part_number === index + 1)
    if (!isComplete) {
      violate(`${file.name} is confirmed without all its parts in order`)
      return json(400, { message: 'parts are missing' })
    }
    for (const { etag, part_number: partNumber } of listed) {
      const part = file.parts.get(partNumber)
      if (part?.etag === etag) continue
      // A call that was given up and arrives late names what was true when it was made. It is simply refused.
      if (part?.isDoubted !== true && !isUnheard)
        violate(`${file.name} is confirmed with an ETag that part ${String(partNumber)} does not have`)
      return json(400, { message: `the etag of part ${String(partNumber)} is not the stored one` })
    }
    file.isConfirmed = true
    return json(200, {})
  }
  const register = (body: ServiceCallBody): Answer => {
    const session = sessions.get(String(body['session_id']))
    if (session === undefined) return json(404, { message: 'no such session' })
    const names = body['filenames'] as string[]
    if (body['reprocess'] !== true && names.some((name) => session.files.has(name)))
      return json(409, { message: 'a file of that name exists' })
    for (const name of names) {
      const parts = session.files.get(name)?.parts ?? new Map<number, StoredPart>()
      session.files.set(name, { fileId: 0, name, partCount: 1, parts, isConfirmed: false })
    }
    return json(200, Object.fromEntries(names.map((name) => [name, mint(session.id, name, 1)])))
  }
  const cancel = (sessionId: string): Answer => {
    const session = sessions.get(sessionId)
    if (session === undefined || session.isCancelled) return json(404, { message: 'no such upload' })
    session.isCancelled = true
    return json(200, {})
  }
  const contentOf = (file: FarFile): Uint8Array =>
    Buffer.concat(
      Array.from({ length: file.partCount }, (_, index) => file.parts.get(index + 1)?.bytes ?? Buffer.alloc(0)),
    )

  if (night.given !== undefined) {
    const { files } = begin()
    for (const name of night.given.theirs) {
      const part = { bytes: new TextEncoder().encode(THEIR_BYTES), etag: '"theirs"', isDoubted: false }
      files.set(name, { fileId: 0, name, partCount: 1, parts: new Map([[1, part]]), isConfirmed: false })
    }
  }
  const store = createStore({ night, serverNow, violate, sessions, begin, signPart: mint })
  const isOpen = ({ isCancelled, files }: FarSession): boolean =>
    !isCancelled && !(night.flow === 'store' && [...files.values()].some((file) => file.isConfirmed))

  return {
    store,
    key: () => keyOf(keyNumber()),
    takesKey: (key) => key === keyOf(keyNumber()) || key === keyOf(keyNumber() - 1),
    sign: mint,
    targetOf(url) {
      const target = targets[Number(url.slice(url.lastIndexOf(SIGNATURE) + SIGNATURE.length))]
      return target?.url === url ? target : undefined
    },
    call(method, path, body, isUnheard) {
      if (method === 'POST' && path === '/upload_videos') return createVideos(body)
      if (method === 'PATCH' && path === '/upload_videos') return confirm(body, isUnheard)
      if (method === 'DELETE' && path.startsWith('/upload_videos/')) return cancel(path.slice(15))
      if (method === 'POST' && path === '/mocap_session') {
        const { id } = begin()
        return json(200, { id, session_id: id, status: 'pending' })
      }
      if (method === 'POST' && path === '/mocap_session_file') return register(body)
      // The call of a client that waits for the service during a create.
      if (method === 'GET' && path === '/requested_analyses') return json(200, [])
      violate(`a call that the interface does not have: ${method} ${path}`)
      return json(404, {})
    },
    put({ sessionId, fileName, partNumber, deadlineMs }, bytes, isDoubted) {
      if (serverNow() > deadlineMs) return storageError(403, 'AccessDenied', 'Request has expired')
      const session = sessions.get(sessionId)
      const file = session?.files.get(fileName)
      if (session === undefined || file === undefined || session.isCancelled || file.isConfirmed)
        return storageError(404, 'NoSuchUpload', 'The upload does not exist')
      putCount += 1
      const etag = night.isOpaque ? `"${digestOf(bytes).slice(0, 12)}-${String(putCount)}"` : `"${digestOf(bytes)}"`
      file.parts.set(partNumber, { bytes, etag, isDoubted })
      return { status: 200, headers: { etag } }
    },
    part: (sessionId, fileName, partNumber) => sessions.get(sessionId)?.files.get(fileName)?.parts.get(partNumber),
    stored(name) {
      const files = [...sessions.values()].flatMap((session) => session.files.get(name) ?? [])
      const file =
        night.flow === 'capture' ? files.find((one) => one.parts.size > 0) : files.find((one) => one.isConfirmed)
      return file && contentOf(file)
    },
    isCancelled(sessionId) {
      const session = sessions.get(String(sessionId))
      return session?.isCancelled === true && session.isSwept !== true
    },
    hasConfirmed: (id) => [...(sessions.get(id)?.files.values() ?? [])].some((file) => file.isConfirmed),
    sessionCount: () => sessions.size,
    openSessionIds: () => [...sessions.values()].filter(isOpen).map(({ id }) => id),
    expire() {
      for (const target of targets) target.deadlineMs = Math.min(target.deadlineMs, serverNow() - 1)
    },
    calm() {
      isCalm = true
    },
  }
}

/** 20261120T183000Z */
function basicTime(ms: number): string {
  return new Date(ms).toISOString().replace(/[-:]|\.\d+/g, '')
}

export function storageError(status: number, code: string, message: string): Answer {
  return { status, body: `<Error><Code>${code}</Code><Message>${message}</Message></Error>` }
}

function json(status: number, body: object): Answer {
  return { status, body: JSON.stringify(body) }
}
