// Uploads to a service that is away for a while.

import { expect } from 'vitest'
import { bytesSource } from '../../src/adapters/web/bytes-source.ts'
import { TransportError } from '../../src/core/errors.ts'
import type { Upload, UploadEvents } from '../../src/flows/upload.ts'
import type { createFarEnd } from '../security/far-end.ts'
import { type Answer, type FarEnd } from '../security/far-end.ts'

export const source = bytesSource('a.mp4', new Uint8Array([1, 2, 3]))
export const files = [{ source }]
export const SESSION: Answer = {
  status: 200,
  body: {
    upload_session_id: 's1',
    pre_signed_urls: [{ session_file_id: 'f', info: [{ url: 'https://store.example/k' }] }],
  },
}

/** What the line does while it is down. */
export const noWay = (): Error => noWayBy('EAI_AGAIN')
export const noWayBy = (code: string): Error =>
  new TransportError('ERR_UPLOAD_NETWORK', 'No connection', {
    ...{ phase: 'connect', ending: 'neverWhole', cause: Object.assign(new Error('no'), { code }) },
  })

type Calls = (operation: 'create' | 'register' | 'confirm' | 'cancel') => Answer | Error | undefined

/** A service that answers what `calls` says, or as it should where that is nothing. */
export function serviceOf(calls: Calls): {
  readonly service: Parameters<typeof createFarEnd>[0]['service']
  readonly asked: string[]
} {
  const asked: string[] = []
  const service = ({ url, method }: { readonly url: string; readonly method: string }): Answer | Error => {
    const isVideo = url.includes('video')
    const operation =
      method === 'DELETE' ? 'cancel' : method === 'PATCH' ? 'confirm' : url.endsWith('_file') ? 'register' : 'create'
    asked.push(operation)
    const answer = calls(operation)
    if (answer !== undefined) return answer
    if (operation === 'register') return { status: 200, body: { 'a.action': 'https://store.example/k' } }
    return isVideo ? (operation === 'create' ? SESSION : { status: 200 }) : { status: 200, body: { session_id: 's1' } }
  }
  return { service, asked }
}

interface Watched {
  readonly states: string[]
  readonly waits: UploadEvents['waiting'][]
}

export function watch(upload: Upload): Watched {
  const watched: Watched = { states: [], waits: [] }
  upload.on('state', ({ state }) => watched.states.push(state))
  upload.on('waiting', (wait) => watched.waits.push(wait))
  return watched
}

/** Lets time pass until the upload is in that state. */
export async function until({ clock }: FarEnd, upload: Upload, state: string): Promise<void> {
  // What has just been called has set its timers by then: the first to fire must not be one that waits far longer.
  await clock.advance(0)
  for (let turn = 0; turn < 100_000 && upload.state !== state; turn += 1) await clock.advance(clock.nextDueInMs ?? 0)
  expect(upload.state).toBe(state)
}
