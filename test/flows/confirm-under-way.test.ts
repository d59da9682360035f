// A confirmation under way when the upload is paused, cancelled, discarded or let go. The service may refuse a second one, so the
// answer to the first is waited for: a few seconds, and without a further try.

import { describe, expect, it } from 'vitest'

import { bytesSource } from '../../src/adapters/web/bytes-source.ts'
import { memoryJournal } from '../../src/adapters/web/memory-journal.ts'
import type { Source, TransportRequest } from '../../src/core/ports.ts'
import type { Upload } from '../../src/flows/upload.ts'
import { createFarEnd, endOf, goodService, goodStorage, VIDEO, type Answer, type FarEnd } from '../security/far-end.ts'

const source = (): Source => bytesSource('a.mp4', new Uint8Array(7))
const service = goodService(() => 'https://store.example/0')
const isConfirm = ({ method }: TransportRequest): boolean => method === 'PATCH'
const confirmsOf = ({ requests }: FarEnd): number => requests.filter(isConfirm).length

/** An upload whose only confirmation is under way until `answer` is called; every later one is refused. */
async function confirming() {
  const journal = memoryJournal()
  const answers: ((answer: Answer) => void)[] = []
  const rig = createFarEnd({
    storage: goodStorage,
    journal,
    service(request, body) {
      if (!isConfirm(request)) return service(request, body)
      if (answers.length > 0) return { status: 422, body: { message: 'not now' } }
      return new Promise((resolve, reject) => {
        answers.push(resolve)
        request.signal.addEventListener('abort', () => reject(request.signal.reason as Error))
      })
    },
  })
  const upload = rig.uplink.uploadVideos({ ...VIDEO, files: [{ source: source() }] })
  void endOf(upload)
  await rig.clock.advance(0)
  expect(answers).toHaveLength(1)
  return { rig, upload, journal, answer: (answer: Answer) => answers[0]?.(answer) }
}

async function until({ clock }: FarEnd, upload: Upload, state: string): Promise<number> {
  const beganAtMs = clock.monotonicNow()
  await clock.advance(0)
  while (upload.state !== state && clock.pending > 0) await clock.step()
  expect(upload.state).toBe(state)
  return clock.monotonicNow() - beganAtMs
}

/** What is done, the state to which that leads, and the state if the answer was the last one that was missing. */
const VERBS: Readonly<Record<string, readonly [verb: (upload: Upload, rig: FarEnd) => void, ...states: string[]]>> = {
  pause: [(upload) => upload.pause(), 'paused', 'confirmed'],
  cancel: [(upload) => void upload.cancel(), 'cancelled', 'cancelled'],
  discard: [(upload) => void upload.discard(), 'cancelled', 'cancelled'],
  close: [(_, { uplink }) => void uplink.close(), 'closed', 'confirmed'],
}

describe.each(Object.entries(VERBS))('at a %s', (_, [verb, state = '', answered = '']) => {
  it('is answered within seconds, and the answer is kept', async () => {
    const { rig, upload, answer, journal } = await confirming()
    verb(upload, rig)
    await rig.clock.advance(3_000)
    expect(upload.state).not.toBe(state)
    answer({ status: 200 })
    await until(rig, upload, answered)

    expect(upload.snapshot().files).toMatchObject([{ status: 'confirmed' }])
    expect((await journal.read(upload.key)).map(({ type }) => type)).toContain('file.confirmed')
    expect([confirmsOf(rig), rig.clock.pending]).toEqual([1, 0])
  })

  it('is not waited for any longer', async () => {
    const { rig, upload } = await confirming()
    verb(upload, rig)

    expect(await until(rig, upload, state)).toBe(4_000)
    expect(upload.snapshot().files).toMatchObject([{ status: 'unfinished' }])
    expect(rig.clock.pending).toBe(0)
  })

  it('is not tried again, whatever the answer', async () => {
    const { rig, upload, answer } = await confirming()
    verb(upload, rig)
    answer({ status: 500 })

    expect(await until(rig, upload, state)).toBeLessThan(1_000)
    await rig.clock.advance(60_000)
    expect(confirmsOf(rig)).toBe(1)
  })
})

it('is not waited for between two tries', async () => {
  const rig = createFarEnd({
    storage: goodStorage,
    service: (request, body) => (isConfirm(request) ? { status: 503 } : service(request, body)),
  })
  const upload = rig.uplink.uploadVideos({ ...VIDEO, files: [{ source: source() }] })
  await until(rig, upload, 'waiting')
  upload.pause()

  expect(await until(rig, upload, 'paused')).toBe(0)
})
