// The capture calls of the independent service, as the interface shows them: create a session, register names.

import { randomUUID } from 'node:crypto'

import type { Answer } from './independent-exchange.ts'
import type { IndependentServiceOptions } from './independent-records.ts'
import type { Storage, StoredObject } from './independent-storage.ts'

export interface CaptureSession {
  readonly id: string
  readonly mocapTypeId: number
  /** In the order of registration. */
  readonly files: Map<string, StoredObject>
}

type Fields = Readonly<Record<string, unknown>>

export interface CaptureCalls {
  readonly sessions: ReadonlyMap<string, CaptureSession>
  create(body: Fields): Answer
  register(body: Fields): Answer
}

export function createCaptureCalls(setting: {
  readonly options: IndependentServiceOptions
  readonly storage: Storage
  readonly storageOrigin: string
  readonly arrange: <T>(entries: readonly T[]) => T[]
}): CaptureCalls {
  const { options, storage, storageOrigin, arrange } = setting
  const sessions = new Map<string, CaptureSession>()
  const videoTypeId = options.plainVideoTypeId ?? 67

  function isDuplicate(session: CaptureSession, name: string): boolean {
    const object = session.files.get(name)
    return object !== undefined && (options.duplicateMeans !== 'stored' || object.parts.size > 0)
  }

  function wrongInNames(session: CaptureSession, body: Fields): string | undefined {
    const names = body['filenames']
    if (!Array.isArray(names) || names.length === 0) return 'filenames is not an array with entries'
    const isVideo = session.mocapTypeId === videoTypeId
    for (const name of names as unknown[]) {
      if (typeof name !== 'string' || name === '') return 'a filename is not a string'
      if (/\.(mov|mp4)$/i.test(name) !== isVideo) return 'the file kind does not match the mocap type'
    }
    if (isVideo && typeof body['video_framerate'] !== 'number') return 'video_framerate is missing'
    if ('reprocess' in body && typeof body['reprocess'] !== 'boolean') return 'reprocess is not a boolean'
    return undefined
  }

  return {
    sessions,

    create(body) {
      for (const field of ['mocap_type_id', 'session_type_id']) {
        if (!Number.isInteger(body[field])) return refusal(400, `${field} is not an integer`)
      }
      if (typeof body['org_id'] !== 'string' || body['org_id'] === '') return refusal(400, 'org_id is not a string')
      if (!/^\d{4}-\d{2}-\d{2}$/.test(String(body['session_date'])))
        return refusal(400, 'session_date is not YYYY-MM-DD')
      const id = randomUUID()
      sessions.set(id, { id, mocapTypeId: body['mocap_type_id'] as number, files: new Map() })
      const now = new Date().toISOString()
      const { org_id, mocap_type_id, session_type_id, session_date } = body
      return {
        status: 200,
        body: {
          ...{ id, session_id: id, org_id, mocap_type_id, session_type_id, session_date },
          ...{ num_movements: 0, num_players: 0, status: 'pending', created_at: now, updated_at: now },
          ...(options.hasUnknownFields === true ? { region: 'home' } : {}),
        },
      }
    },

    register(body) {
      const session = sessions.get(body['session_id'] as string)
      if (session === undefined) return refusal(404, 'no such session_id')
      const wrong = wrongInNames(session, body)
      if (wrong !== undefined) return refusal(400, wrong)
      const names = body['filenames'] as string[]
      if (new Set(names).size < names.length) return refusal(options.duplicateStatus ?? 409, 'a name is there twice')
      if (body['reprocess'] !== true && names.some((name) => isDuplicate(session, name))) {
        return refusal(options.duplicateStatus ?? 409, 'a file already exists for the session')
      }
      const entries = names.map((name): readonly [string, string] => {
        const object = session.files.get(name) ?? storage.createObject(name, 1)
        session.files.set(name, object)
        return [name, storageOrigin + storage.sign(object, 1)]
      })
      // `fromEntries` makes own properties even of names such as __proto__.
      return { status: 200, body: Object.fromEntries(arrange(entries)) }
    },
  }
}

function refusal(status: number, message: string): Answer {
  return { status, body: { message } }
}
