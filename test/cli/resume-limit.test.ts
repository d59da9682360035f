// `resume` without a key: so many sessions wait at a time and no more, each with its ledger in memory.

import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'

import type { CommandContext } from '../../src/cli/command-context.ts'
import type { KeptSessions } from '../../src/cli/kept-sessions.ts'
import { resumeAll } from '../../src/cli/resume-all.ts'
import { createOutput } from '../../src/cli/views/output.ts'
import { loudEmitter } from '../helpers/loud-emitter.ts'
import type { SessionSummary } from '../../src/flows/sessions.ts'
import type { Upload, UploadReport } from '../../src/flows/upload.ts'
import type { Uplink } from '../../src/uplink.ts'

const MOST = 64

const STORAGE = { who: 'storage', host: 'store.example:443', giveUpAtMs: 43_200_000 } as const

/** An Uplink whose sessions all wait for a host that is out of reach, until they are ended. */
function waitingUplink() {
  const ends = new Map<string, () => void>()
  const resume = (key: string): Promise<Upload> => {
    const emitter = loudEmitter()
    const report = { flow: 'video', status: 'confirmed', key, bytes: 0, durationMs: 0, files: [] } as const
    const done = new Promise<UploadReport>((settle) => ends.set(key, () => settle(report as unknown as UploadReport)))
    setImmediate(() => emitter.emit('waiting', { ...STORAGE, sinceMs: 0, untilMs: undefined }))
    const progress = () => ({ confirmedBytes: 0, totalBytes: 1, filesTotal: 1 })
    const upload = { key, flow: 'video', state: 'waiting', on: emitter.on, files: () => [], progress, done: () => done }
    return Promise.resolve(upload as unknown as Upload)
  }
  return { uplink: { resume } as unknown as Uplink, ends }
}

/** Lets everything run that waits for nothing but its turn. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20 * MOST; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

it('takes up 64 sessions of a dead host, and the next one when one of them has ended', async () => {
  const { uplink, ends } = waitingUplink()
  const streams = { stdout: new PassThrough().resume(), stderr: new PassThrough().resume() }
  const output = createOutput({
    ...{ isJson: false, isQuiet: true, env: {} },
    ...(streams as unknown as { stdout: NodeJS.WriteStream; stderr: NodeJS.WriteStream }),
  })
  const { signal } = new AbortController()
  const interruption = { signal, reason: undefined, happened: new Promise(() => undefined), atOnce: () => undefined }
  const context = { env: {}, interruption } as unknown as CommandContext
  const sessions = Array.from({ length: MOST + 2 }, (_, index) => ({ key: `video-${index}`, confirmedBytes: 0 }))
  const kept = { close: () => Promise.resolve() } as unknown as KeptSessions
  const task = { sessions: sessions as unknown as SessionSummary[], isOneOfMany: true, kept, uplink, options: {} }

  const results = resumeAll(context, output, task)
  await settled()
  expect(ends.size).toBe(MOST)
  ends.get('video-7')!()
  await settled()
  expect(ends.size).toBe(MOST + 1)
  ends.get('video-0')!()
  await settled()
  for (const end of ends.values()) end()

  expect((await results).map(({ key, status }) => [key, status])).toEqual(sessions.map(({ key }) => [key, 'confirmed']))
})
