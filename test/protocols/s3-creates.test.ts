// What a session of an S3 store that did not come about leaves behind, where the store does not listen any more.

import { expect, it } from 'vitest'
import type { Transport } from '../../src/core/ports.ts'
import { s3Multipart } from '../../src/protocols/s3-multipart.ts'
import { createSimulatedClock } from '../helpers/simulated-clock.ts'
import { xml } from '../helpers/scripted-s3.ts'
import { NEVER, SMALL, plan } from './s3-rig.ts'

type Answer = { readonly status: number; readonly body?: string } | 'never'

/** A store that makes some uploads and refuses the next, and answers the end of each as it is told. */
function storeThatRefusesAfter(made: number, abortOf: (uploadId: string) => Answer) {
  const clock = createSimulatedClock()
  const state = { created: 0, aborts: [] as string[], atOnce: 0, most: 0 }
  const transport: Transport = {
    async send({ url, signal }) {
      const asked = new URL(url).searchParams
      if (asked.get('do') === 'create') {
        state.created += 1
        const upload = xml('InitiateMultipartUploadResult', `<UploadId>u${String(state.created)}</UploadId>`)
        return replyOf(state.created > made ? { status: 403 } : upload)
      }
      const uploadId = asked.get('upload')!
      state.aborts.push(uploadId)
      state.atOnce += 1
      state.most = Math.max(state.most, state.atOnce)
      try {
        const answer = abortOf(uploadId)
        if (answer === 'never')
          await new Promise((_, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason as Error))
          })
        else {
          await new Promise<void>((resolve) => void clock.setTimeout(resolve, 100))
          return replyOf(answer)
        }
      } finally {
        state.atOnce -= 1
      }
      throw new Error('unreachable')
    },
    endingOf: () => 'doubtful',
    close: () => Promise.resolve(),
  }
  const protocol = s3Multipart({
    ...{ transport, clock, random: () => 0.5, unitLimits: SMALL },
    sign({ operation, key, ...more }) {
      const upload = 'uploadId' in more ? `&upload=${more.uploadId}` : ''
      return Promise.resolve({ url: `https://bucket.example/${key}?do=${operation}${upload}` })
    },
  })
  const files = Array.from({ length: made + 1 }, (_, index) => plan(index, `clip-${String(index)}`))
  const failure = protocol.create(files, NEVER).then(
    () => expect.unreachable(),
    (error: unknown) => error,
  )
  return { clock, state, failure }
}

function replyOf({ status, body = '' }: Exclude<Answer, 'never'>) {
  return { status, headers: {}, body: new TextEncoder().encode(body), isBodyCut: false }
}

/** The ids of the uploads that the error names as left. */
function leftIn(error: unknown): string[] {
  const { sessionId = '[]' } = (error as { details: { sessionId?: string } }).details
  return (JSON.parse(sessionId) as [number, string, string][]).map(([, , uploadId]) => uploadId)
}

it('ends what was made four at once', async () => {
  const { clock, state, failure } = storeThatRefusesAfter(40, () => ({ status: 204 }))
  await clock.advance(1_000)

  expect(await failure).toMatchObject({ code: 'ERR_UPLOAD_ADDRESS_REFUSED', details: { isDoubtful: false } })
  expect(leftIn(await failure)).toEqual([])
  expect(new Set(state.aborts).size).toBe(40)
  expect([state.most, clock.pending]).toEqual([4, 0])
})

it('names what the store could not be told of in 15 s, so that it is ended later', async () => {
  const { clock, state, failure } = storeThatRefusesAfter(8, (id) => (id === 'u1' ? { status: 204 } : 'never'))
  await clock.advance(15_000)

  expect(await failure).toMatchObject({ code: 'ERR_UPLOAD_ADDRESS_REFUSED', details: { isDoubtful: false } })
  expect(leftIn(await failure)).toEqual(['u2', 'u3', 'u4', 'u5', 'u6', 'u7', 'u8'])
  expect([state.most, clock.pending]).toEqual([4, 0])
})

it('names what the store would not end, and what it knows no more is ended', async () => {
  const answers: Record<string, Answer> = { u1: { status: 403 }, u2: { status: 404 } }
  const { clock, failure } = storeThatRefusesAfter(3, (id) => answers[id] ?? { status: 204 })
  await clock.advance(1_000)

  expect(leftIn(await failure)).toEqual(['u1'])
})
