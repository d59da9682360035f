// The uploads of a session are created as one call: what is told of its waits, and what may be left when it is given up.

import { describe, expect, it } from 'vitest'
import type { HostWait } from '../../src/core/ports.ts'
import { createUploads } from '../../src/protocols/s3-creates.ts'
import { readS3Session } from '../../src/protocols/s3-session.ts'
import type { Answer } from '../helpers/scripted-s3.ts'
import { xml } from '../helpers/scripted-s3.ts'
import { NEVER } from './s3-rig.ts'
import { storeOfAnswers, type Asked, type Told } from './s3-rig-of-answers.ts'

const made = (headers: Record<string, string> = {}): Answer => ({
  ...xml('InitiateMultipartUploadResult', '<UploadId>u</UploadId>'),
  headers,
})
const refused: Answer = { status: 403 }
/** It takes nothing now; the pause is longer than asked for by a twentieth, with dice that always show a half. */
const busyFor = (seconds: number, status = 503): Answer => ({ status, headers: { 'retry-after': String(seconds) } })

/** Creates an upload for each key; `answers`: what its creates are told, one after another, and the last one from then on. */
function creating(
  answers: Readonly<Record<string, readonly Told[]>>,
  more: (asked: Asked) => Told = () => ({ status: 204 }),
) {
  const store = storeOfAnswers((asked) => {
    const told = answers[asked.key]!
    return asked.operation === 'create' ? told[Math.min(asked.nth, told.length) - 1]! : more(asked)
  })
  const controller = new AbortController()
  const waits: string[] = []
  const files = Object.keys(answers).map((key, fileIndex) => ({ fileIndex, key }))
  const told = (wait?: HostWait | null): void => {
    const seconds = wait && Math.round((wait.untilMs - store.clock.wallNow()) / 1000)
    const what = wait ? `waits ${String(seconds)} s` : wait === null ? 'answered' : 'on its way'
    waits.push(wait?.isDoubtful === true ? `${what}, doubtful` : what)
  }
  const ended = createUploads(store.ports, files, controller.signal, told).then(
    ({ sessionId, hasPossibleOrphan }) => ({ uploads: readS3Session(sessionId), hasPossibleOrphan }),
    (error: unknown) => error,
  )
  return { ...store, ended, waits, abort: () => controller.abort(new Error('enough')) }
}

describe('what is told of the waits', () => {
  it('is that of the one that is tried next, once all of them wait', async () => {
    const { clock, waits } = creating({ a: [busyFor(300)], b: [busyFor(100)], c: [busyFor(200)] })
    await clock.advance(0)

    expect(waits).toEqual([...Array<string>(5).fill('on its way'), 'waits 105 s'])
  })

  it.each([
    ['b', [busyFor(100, 500)]],
    ['a', [busyFor(100, 500)]],
  ])('is doubtful where one of those that wait may have been heard (%s)', async (key, told) => {
    const { clock, waits } = creating({ a: [busyFor(200)], b: [busyFor(200)], [key]: told })
    await clock.advance(0)

    expect(waits.at(-1)).toBe('waits 105 s, doubtful')
  })

  it('is doubtful from the first upload on that was made: it may be left', async () => {
    const { clock, waits } = creating({ a: [made()], b: [busyFor(100)] })
    await clock.advance(0)

    expect(waits).toEqual(['on its way', 'on its way', 'on its way', 'waits 105 s, doubtful'])
  })

  it('is doubtful where one that was refused may have been heard before', async () => {
    const { clock, waits } = creating({ a: ['lost', refused], b: [busyFor(100)] })
    await clock.advance(1_000)

    expect(waits.at(-1)).toBe('waits 105 s, doubtful')
  })

  it('is nothing but an answer between two of many, and the wait of those that are left after the last one', async () => {
    const { clock, waits } = creating(
      { a: [busyFor(100)], b: ['lost', made()], c: [busyFor(100)], d: [busyFor(100)], e: [made()] },
      () => ({ status: 404 }),
    )
    await clock.advance(1_000)

    expect(waits.slice(0, -3)).toEqual(Array<string>(9).fill('on its way'))
    expect(waits.slice(-3)).toEqual(['answered', 'on its way', 'waits 105 s, doubtful'])
  })

  it('is the wait of the others when one is refused, and nothing once all have ended', async () => {
    const { clock, waits, ended } = creating({ a: [busyFor(100), made()], b: [refused] })
    await clock.advance(0)
    expect(waits).toEqual(['on its way', 'on its way', 'on its way', 'waits 105 s'])
    await clock.advance(200_000)

    expect(waits.slice(4)).toEqual(['on its way'])
    expect(await ended).toMatchObject({ code: 'ERR_UPLOAD_ADDRESS_REFUSED' })
  })
})

describe('when it is given up', () => {
  const whole = { code: 'ERR_UPLOAD_CANCELLED' }

  it('while all of them wait and none was heard, nothing is left', async () => {
    const { clock, ended, abort } = creating({ a: [busyFor(100)], b: [busyFor(100)] })
    await clock.advance(0)
    abort()

    expect(await ended).toMatchObject({ ...whole, details: { isDoubtful: false } })
    expect(((await ended) as { details: object }).details).not.toHaveProperty('sessionId')
  })

  it.each([
    ['one is on its way', { a: [busyFor(100)], b: ['never'] }],
    ['one that waits may have been heard', { a: [busyFor(100, 500)], b: [busyFor(100)] }],
    ['one that is made had been asked for twice', { a: ['lost', made()], b: [busyFor(100)] }],
  ] as const)('while %s it says no more than that', async (_, answers) => {
    const { clock, ended, abort } = creating(answers)
    await clock.advance(2_000)
    abort()

    expect(await ended).toEqual(new Error('enough'))
  })

  it.each([
    ['while the others wait', { a: [made()], b: [busyFor(100)] }, false],
    ['while others wait, and it had been asked for twice,', { a: ['lost', made()], b: [busyFor(100)] }, true],
    ['while another is on its way', { a: [made()], b: ['never'] }, true],
  ] as const)('%s it names what is made and was not ended', async (_, answers, isDoubtful) => {
    const { clock, ended, abort } = creating(answers, ({ operation }) =>
      operation === 'abort' ? refused : { status: 404 },
    )
    await clock.advance(2_000)
    abort()

    expect(await ended).toMatchObject({ ...whole, details: { isDoubtful, sessionId: '[[0,"a","u",null]]' } })
  })
})

describe('what may be left behind', () => {
  it('stays so, whatever comes of the others', async () => {
    const { clock, ended } = creating({ a: ['lost', made()], b: [busyFor(100), made()] })
    await clock.advance(200_000)

    expect(await ended).toMatchObject({ hasPossibleOrphan: true })
  })

  it.each([
    ['may', ['lost', 'no connection'], true],
    ['may not', ['no connection'], false],
  ] as const)('%s be an upload, as the first create that failed says', async (_, first, isDoubtful) => {
    const { clock, ended } = creating({ a: first, b: ['no connection'] }, ({ operation }) =>
      operation === 'head' ? 'no connection' : { status: 204 },
    )
    await clock.advance(2 * 3_600_000)

    expect(await ended).toMatchObject({ code: 'ERR_UPLOAD_HOST_UNREACHABLE', details: { isDoubtful } })
  })

  it.each([
    ['is told and does not end it', { status: 500 }],
    ['cannot be reached', 'no connection'],
  ] as const)('is named after one try where the store %s', async (_, toAbort) => {
    const { clock, ended, operations } = creating({ a: [made()], b: [made()], c: [refused] }, () => toAbort)
    await clock.advance(0)

    expect(await ended).toMatchObject({ details: { sessionId: '[[0,"a","u",null],[1,"b","u",null]]' } })
    expect(operations().filter((operation) => operation === 'abort')).toHaveLength(2)
    expect(clock.pending).toBe(0)
  })

  it('is named also when a transport of the host fails as none should', async () => {
    const { ports } = storeOfAnswers(({ operation }) => (operation === 'create' ? made() : refused))
    const transport = {
      ...ports.transport,
      send: (request: Parameters<typeof ports.transport.send>[0]) =>
        request.url.includes('/b?') ? Promise.reject(new TypeError('no such field')) : ports.transport.send(request),
    }
    const files = ['a', 'b'].map((key, fileIndex) => ({ fileIndex, key }))

    await expect(createUploads({ ...ports, transport }, files, NEVER)).rejects.toMatchObject({
      ...{ code: 'ERR_UPLOAD_INTERNAL', message: 'no such field' },
      details: { isDoubtful: false, sessionId: '[[0,"a","u",null]]' },
    })
  })
})

it('an upload remembers when it was created, by the store’s own clock, where that says so', async () => {
  const date = 'Fri, 20 Nov 2026 20:00:00 GMT'
  const { ended } = creating({ a: [made({ date })], b: [made({ date: 'yesterday' })], c: [made()] })

  expect(await ended).toMatchObject({
    uploads: [
      { fileIndex: 0, key: 'a', uploadId: 'u', createdAtMs: Date.parse(date) },
      { fileIndex: 1, key: 'b', uploadId: 'u' },
      { fileIndex: 2, key: 'c', uploadId: 'u' },
    ],
  })
})

it.each([
  ['', false],
  ['k', true],
  ['k'.repeat(1_024), true],
  ['k'.repeat(1_025), false],
  ['é'.repeat(512), true],
  ['é'.repeat(513), false],
])('a key of 1 to 1,024 bytes is taken, and another one refused before any call (%#)', async (key, isTaken) => {
  const { ports, asked } = storeOfAnswers(() => made())
  const ended = createUploads(ports, [{ fileIndex: 0, key }], NEVER)

  if (isTaken) expect(await ended).toMatchObject({ hasPossibleOrphan: false })
  else await expect(ended).rejects.toMatchObject({ code: 'ERR_UPLOAD_INVALID_ARGUMENT', message: /1 to 1,024 bytes/ })
  expect(asked).toHaveLength(isTaken ? 1 : 0)
})
