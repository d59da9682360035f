// What the command says of an upload that it follows, whenever that ends.

import { expect, it } from 'vitest'

import { followUpload } from '../../src/cli/run-upload.ts'
import type { Interruption } from '../../src/cli/signals.ts'
import type { Output } from '../../src/cli/views/output.ts'
import type { Upload, UploadFileStatus, UploadReport } from '../../src/flows/upload.ts'

type Listener = (payload: unknown) => void

/** An upload that does what the test says, and what the command prints of it. */
function followed(files: UploadFileStatus[], mode: Output['mode'] = 'lines') {
  const listeners: [string, Listener][] = []
  const printed: string[] = []
  const fieldsOf: Record<string, unknown> = {}
  const output = {
    mode,
    event(event: string, fields: unknown) {
      printed.push(event)
      fieldsOf[event] = fields
    },
    ...{
      say: () => undefined,
      draw: () => undefined,
      setLive: () => undefined,
      size: () => ({ columns: 80, rows: 24 }),
    },
  } as unknown as Output
  const cleanUps = new Set<() => void>()
  let end: (report: UploadReport) => void = () => undefined
  let stop: () => void = () => undefined
  const upload = {
    key: 'k',
    state: 'uploading',
    files: () => files,
    progress: () => ({ confirmedBytes: files.reduce((sum, file) => sum + file.confirmedBytes, 0) }),
    done: () => new Promise<UploadReport>((resolve) => (end = resolve)),
    on: (event: string, listener: Listener) => void listeners.push([event, listener]),
  } as unknown as Upload
  const interruption = {
    happened: new Promise<string>((resolve) => (stop = () => resolve('SIGINT'))),
    atOnce(cleanUp: () => void) {
      cleanUps.add(cleanUp)
      return () => cleanUps.delete(cleanUp)
    },
  } as unknown as Interruption
  const follow = followUpload(upload, { uplink: { close: () => Promise.resolve() }, output, interruption })
  const emit = (name: string, payload: unknown = {}): void => {
    for (const [event, listener] of listeners) if (event === name) listener(payload)
  }
  return {
    ...follow,
    emit,
    printed,
    fieldsOf,
    cleanUps,
    end: (report: object) => end(report as UploadReport),
    stop: () => stop(),
  }
}

function file(fileIndex: number, fields: Partial<UploadFileStatus>): UploadFileStatus {
  return {
    fileIndex,
    name: `${fileIndex}`,
    bytes: 9,
    sentBytes: 0,
    confirmedBytes: 0,
    parts: 1,
    state: 'pending',
    ...fields,
  }
}

it('counts as there before only bytes of files that are confirmed, without those that a new session sent again', async () => {
  const files = [
    file(0, { confirmedBytes: 9, state: 'confirmed' }),
    file(1, { confirmedBytes: 6 }),
    file(2, { confirmedBytes: 5 }),
    file(3, { confirmedBytes: 3 }),
  ]
  const upload = followed(files)
  files[1] = file(1, { confirmedBytes: 0 })
  upload.emit('session.replaced')
  for (const index of [1, 3]) files[index] = file(index, { confirmedBytes: 9, state: 'confirmed' })
  files[2] = file(2, { confirmedBytes: 5, state: 'failed' })
  upload.end({ status: 'partial', files: [] })
  await upload.result

  expect(upload.bytesBefore()).toBe(9 + 3)
})

it('warns in JSON lines in the words of the command, as on stderr', () => {
  const upload = followed([file(0, {})], 'json')

  upload.emit('warning', { code: 'ERR_UPLOAD_NETWORK', message: 'No answer to videoUploads.cancel.' })

  const message = 'No answer to the cancellation of the session.'
  expect(upload.fieldsOf['warning']).toMatchObject({ code: 'ERR_UPLOAD_NETWORK', message })
})

it('prints nothing more of an upload, with --json, once its result is known', async () => {
  const upload = followed([file(0, {})], 'json')
  upload.end({ status: 'confirmed', files: [] })
  await upload.result
  upload.printed.length = 0

  upload.emit('state', { state: 'closed' })
  upload.emit('file', file(0, {}))
  upload.emit('warning', { message: 'Late.' })

  expect(upload.printed).toEqual([])
})

it('leaves no clean-up of a terminal behind an upload that has ended, which would keep it in memory', async () => {
  const upload = followed([file(0, {})], 'terminal')
  expect(upload.cleanUps.size).toBe(1)

  upload.end({ status: 'confirmed', files: [] })
  await upload.result

  expect(upload.cleanUps.size).toBe(0)
})
