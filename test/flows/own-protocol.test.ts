// A protocol of the host that does not do as the port says: calls that ignore their signal, never end, or throw at once.

import { describe, expect, it } from 'vitest'

import { bytesSource } from '../../src/adapters/web/bytes-source.ts'
import { UploadError } from '../../src/core/errors.ts'
import type { CreatedSession, OnWaiting, Protocol } from '../../src/core/ports.ts'
import type { Upload, UploadState } from '../../src/flows/upload.ts'
import { createFarEnd, endOf, goodStorage } from '../security/far-end.ts'

const files = [{ source: bytesSource('a.mp4', new Uint8Array(3)) }]
const never = (): Promise<never> => new Promise(() => undefined)
const addressed = [{ fileIndex: 0, addresses: ['https://store.example/k'] }]

/** One that does all that it is asked, but for what is given. */
function protocolWith(own: Partial<Protocol>, addressing: 'session' | 'batches' = 'session'): Protocol {
  return {
    traits: {
      units: { minBytes: 1, maxBytes: 1_000, maxCount: 10, multipleOfBytes: 1 },
      ...{ order: 'any', addressing, batchSize: 10 },
    },
    create: () => Promise.resolve({ sessionId: 7, ...(addressing === 'session' && { files: addressed }) }),
    register: () => Promise.resolve(addressed),
    request: () => ({ method: 'PUT', headers: {} }),
    judge: (_, { end }) => ({ kind: 'received', acceptedEnd: end }),
    ...own,
  }
}

/** An upload whose call in question is under way. */
async function waitingFor(call: 'create' | 'register' | 'confirm') {
  let isCalled = false
  const rig = createFarEnd({ service: goodStorage, storage: goodStorage })
  const hang = (): Promise<never> => {
    isCalled = true
    return never()
  }
  const protocol = protocolWith({ [call]: hang }, call === 'register' ? 'batches' : 'session')
  const upload = rig.uplink.upload({ protocol, files })
  await rig.clock.advance(0)
  expect(isCalled).toBe(true)
  return { ...rig, upload }
}

/** Settles when the upload has come to this state. */
function reached(upload: Upload, wanted: UploadState): Promise<void> {
  return new Promise((resolve) => upload.on('state', ({ state }) => state === wanted && resolve()))
}

describe.each(['create', 'register', 'confirm'] as const)('a %s of the host’s protocol that never ends', (call) => {
  it('does not hold up a cancel for ever, and says what may be left behind', async () => {
    const { upload, settled, clock } = await waitingFor(call)
    const beganAtMs = clock.monotonicNow()
    const report = await settled(upload.cancel())

    expect(report).toMatchObject({ status: 'cancelled', hasPossibleOrphan: call === 'create' })
    expect(clock.monotonicNow() - beganAtMs).toBeLessThanOrEqual(90_000)
    expect(clock.pending).toBe(0)
  })

  it('does not hold up a close for ever, and is as open to a later life as after a kill', async () => {
    const { upload, uplink, settled, clock } = await waitingFor(call)
    const beganAtMs = clock.monotonicNow()
    const ended = endOf(upload)
    await settled(uplink.close())

    expect((await ended).error).toMatchObject({
      ...{ code: 'ERR_UPLOAD_CLOSED', report: { hasPossibleOrphan: call === 'create' } },
    })
    expect(clock.monotonicNow() - beganAtMs).toBeLessThanOrEqual(90_000)
    expect(clock.pending).toBe(0)
    expect((await uplink.sessions()).map(({ status }) => status)).toEqual(['open'])
  })

  it('does not hold up a pause for ever, and is called again when the upload goes on', async () => {
    const { upload, settled, clock } = await waitingFor(call)
    const paused = reached(upload, 'paused')
    upload.pause()
    await settled(paused)
    expect(clock.pending).toBe(0)
    upload.resume()
    await clock.advance(0)

    expect(upload.state).toBe(call === 'create' ? 'creating' : 'uploading')
    expect((await settled(upload.cancel())).files[0]?.error).toBeUndefined()
    expect(clock.pending).toBe(0)
  })

  it('fails in the end where nobody stops it, with words that say what did not answer', async () => {
    const { upload, settled, clock } = await waitingFor(call)
    const { error } = await settled(endOf(upload))

    expect(error).toMatchObject({
      ...{
        code: 'ERR_UPLOAD_TIMEOUT',
        message: expect.stringContaining('The protocol gave no answer for 1 h') as string,
      },
      report: { status: 'failed' },
    })
    expect(clock.pending).toBe(0)
  })
})

describe('the time of a create that never ends', () => {
  it('runs on when a resume comes after the cancel: a cancel is never taken back', async () => {
    const { upload, settled, clock } = await waitingFor('create')
    const beganAtMs = clock.monotonicNow()
    const cancelled = upload.cancel()
    upload.resume()

    expect(await settled(cancelled)).toMatchObject({ status: 'cancelled', hasPossibleOrphan: true })
    expect(clock.monotonicNow() - beganAtMs).toBeLessThanOrEqual(90_000)
    expect(clock.pending).toBe(0)
  })

  it('does not begin again with each pause', async () => {
    const { upload, clock } = await waitingFor('create')
    for (let time = 0; time < 10; time += 1) {
      upload.pause()
      await clock.advance(10_000)
    }
    expect(upload.state).toBe('paused')
    expect(clock.pending).toBe(0)
  })

  it('is over with a resume, and begins anew with the next pause', async () => {
    const { upload, clock } = await waitingFor('create')
    upload.pause()
    await clock.advance(59_999)
    upload.resume()
    await clock.advance(600_000)
    expect(upload.state).toBe('creating')
    upload.pause()
    await clock.advance(59_999)
    expect(upload.state).toBe('creating')
    await clock.advance(30_001)
    expect(upload.state).toBe('paused')
    expect(clock.pending).toBe(0)
  })
})

it('a call that was left in a pause is not the cause of what fails after it', async () => {
  const rig = createFarEnd({ service: goodStorage, storage: goodStorage })
  let calls = 0
  const create = () => ((calls += 1) === 1 ? never() : Promise.resolve({ sessionId: 7 }))
  const register = () => Promise.reject(new UploadError('ERR_UPLOAD_SERVICE_REFUSED', 'No such name.'))
  const upload = rig.uplink.upload({ protocol: protocolWith({ create, register }, 'batches'), files })
  await rig.clock.advance(0)
  const paused = reached(upload, 'paused')
  upload.pause()
  await rig.settled(paused)
  upload.resume()
  const { error } = await rig.settled(endOf(upload))

  expect(error).toMatchObject({ message: expect.stringContaining('No such name.') as string })
  expect((error as Error).cause).toBeUndefined()
})

it('a create that was left in a pause may have made a session: whoever resumes is warned of it', async () => {
  const rig = createFarEnd({ service: goodStorage, storage: goodStorage })
  let calls = 0
  const create = () => ((calls += 1) === 1 ? never() : Promise.resolve({ sessionId: 7, files: addressed }))
  const upload = rig.uplink.upload({ protocol: protocolWith({ create }), files })
  const warnings: string[] = []
  upload.on('warning', ({ message }) => warnings.push(message))
  await rig.clock.advance(0)
  const paused = reached(upload, 'paused')
  upload.pause()
  await rig.settled(paused)
  upload.resume()

  expect(await rig.settled(upload.done())).toMatchObject({ status: 'confirmed', hasPossibleOrphan: true })
  expect(warnings).toEqual([expect.stringMatching(/had no clear answer: the service may hold an unused session/)])
})

it('a call of the host’s protocol that tells of its waits may take as long as it likes', async () => {
  const rig = createFarEnd({ service: goodStorage, storage: goodStorage })
  const { clock } = rig
  const create = async (_files: unknown, signal: AbortSignal, onWaiting?: OnWaiting): Promise<never> => {
    for (let hour = 0; hour < 12; hour += 1) {
      const nowMs = clock.wallNow()
      onWaiting?.({
        ...{ host: 'own.example', operation: 'create', reason: 'asleep', sinceMs: nowMs, untilMs: nowMs + 3_000_000 },
        ...{ giveUpAtMs: undefined, isDoubtful: false },
      })
      await new Promise((resolve) => clock.setTimeout(() => resolve(undefined), 3_000_000))
      signal.throwIfAborted()
    }
    throw new Error('as it likes')
  }
  const { error } = await rig.settled(endOf(rig.uplink.upload({ protocol: protocolWith({ create }), files })))

  expect(error).toMatchObject({ message: expect.stringContaining('as it likes') as string })
})

it('a wait that the host’s protocol tells with fields of its own is a wait for its call, and over with it', async () => {
  const { uplink, settled, clock } = createFarEnd({ service: goodStorage, storage: goodStorage })
  const create: Protocol['create'] = async (_files, _signal, onWaiting) => {
    const nowMs = clock.wallNow()
    const own = { type: 'received', call: {} }
    onWaiting?.({
      ...{ host: 'own.example', operation: 'create', reason: 'asleep', sinceMs: nowMs, untilMs: nowMs + 60_000 },
      ...{ giveUpAtMs: undefined, isDoubtful: false, ...own },
    })
    await new Promise((resolve) => clock.setTimeout(() => resolve(undefined), 60_000))
    return { sessionId: 7, files: addressed }
  }
  const upload = uplink.upload({ protocol: protocolWith({ create }), files })
  const states: UploadState[] = []
  upload.on('state', ({ state }) => states.push(state))

  expect(await settled(upload.done())).toMatchObject({ status: 'confirmed' })
  expect(states).toEqual(['waiting', 'creating', 'uploading', 'settling', 'confirmed'])
})

it('a pause while sources are looked at that tell nothing comes to its end, and they are looked at again', async () => {
  const { uplink, settled, clock } = createFarEnd({ service: goodStorage, storage: goodStorage })
  let looks = 0
  const { source } = files[0]!
  const slow = {
    ...source,
    describe: (signal?: AbortSignal) => ((looks += 1) === 1 ? never() : source.describe(signal)),
  }
  const upload = uplink.upload({ protocol: protocolWith({}), files: [{ source: slow }] })
  const paused = reached(upload, 'paused')
  upload.pause()
  await settled(paused)
  upload.resume()

  expect(await settled(upload.done())).toMatchObject({ status: 'confirmed', hasPossibleOrphan: false })
  expect(clock.pending).toBe(0)
})

it.each([
  ['ignores its signal', never],
  [
    'throws at once',
    () => {
      throw new Error('no such thing')
    },
  ],
])(
  'a cancel of the host’s protocol that %s is waited for its time, and the upload is cancelled',
  async (_what, cancel) => {
    const { uplink, settled, clock } = createFarEnd({
      service: goodStorage,
      storage: never,
    })
    const upload = uplink.upload({ protocol: protocolWith({ cancel }), files })
    upload.pause()
    await clock.advance(0)

    expect(upload.state).toBe('paused')
    expect(await settled(upload.cancel())).toMatchObject({ status: 'cancelled', isServiceTold: false })
    expect(clock.pending).toBe(0)
  },
)

it('may answer a create with all that its service has said: only what is known of is kept of it', async () => {
  const { uplink, settled, clock } = createFarEnd({ service: goodStorage, storage: goodStorage })
  const created = { sessionId: 7, files: addressed, type: 'multipart', at: 'noon', begunAt: new Date(0) }
  const upload = uplink.upload({ protocol: protocolWith({ create: () => Promise.resolve(created) }), files })

  expect(await settled(upload.done())).toMatchObject({ status: 'confirmed', sessionId: 7 })
  expect(await uplink.sessions()).toMatchObject([{ status: 'confirmed', sessionId: 7, beganAtMs: clock.wallNow() }])
})

it.each([
  ['null for a file’s id', { sessionId: 7, files: addressed.map((file) => ({ ...file, serverFileId: null })) }, [7]],
  ['a number that is no id', { sessionId: 7, files: addressed.map((file) => ({ ...file, serverFileId: NaN })) }, [7]],
  ['no id of the session', { files: addressed }, []],
  ['an empty id of the session', { sessionId: '', files: addressed }, []],
])('that gives %s is refused, and a session that it names is ended', async (_, created, named) => {
  const { uplink, settled, requests } = createFarEnd({ service: goodStorage, storage: goodStorage })
  const ended: unknown[] = []
  const protocol = protocolWith({
    create: () => Promise.resolve(created as unknown as CreatedSession),
    cancel: (sessionId) => Promise.resolve(void ended.push(sessionId)),
  })

  const { error } = await settled(endOf(uplink.upload({ protocol, files })))

  expect(error).toMatchObject({
    code: 'ERR_UPLOAD_SERVICE_REPLY',
    message: expect.stringContaining('gave no id') as string,
    report: { hasPossibleOrphan: named.length === 0 },
  })
  expect(await uplink.sessions()).toMatchObject([{ status: 'open', bytes: 3 }])
  expect(ended).toEqual(named)
  expect(requests).toEqual([])
})

it.each([
  ['null for the id of a session', { sessionId: null }],
  ['a number that is no id', { sessionId: NaN }],
  ['an empty id', { sessionId: '' }],
  ['an object for an id', { sessionId: {} }],
  ['no details', undefined],
])('an error of its create that has %s costs neither its words nor the journal', async (_, details) => {
  const { uplink, settled } = createFarEnd({ service: goodStorage, storage: goodStorage })
  let isFull = true
  const full = Object.assign(new Error('The store is full.'), { code: 'ERR_UPLOAD_SERVICE_REFUSED', details })
  const created: CreatedSession = { sessionId: 7, files: addressed }
  const ended: unknown[] = []
  const protocol = protocolWith({
    create: () => (isFull ? Promise.reject(full) : Promise.resolve(created)),
    cancel: (sessionId) => Promise.resolve(void ended.push(sessionId)),
  })
  const upload = uplink.upload({ protocol, files })

  expect((await settled(endOf(upload))).error).toMatchObject({
    ...{ code: 'ERR_UPLOAD_SERVICE_REFUSED', message: 'The store is full.', report: { hasPossibleOrphan: true } },
  })
  expect(await uplink.sessions()).toMatchObject([{ status: 'open', leftSessionIds: [] }])
  expect(ended).toEqual([])
  isFull = false
  const again = await settled(uplink.resume(upload.key, { protocol, source: () => files[0]!.source }))
  expect(await settled(again.done())).toMatchObject({ status: 'confirmed', sessionId: 7 })
})

it('goes on with the files that it was given, whatever its host does with the list', async () => {
  const { uplink, settled } = createFarEnd({ service: goodStorage, storage: goodStorage })
  const given = [...files]
  const upload = uplink.upload({ protocol: protocolWith({}), files: given })
  given.length = 0

  expect(await settled(upload.done())).toMatchObject({ status: 'confirmed', files: [{ name: 'a.mp4' }] })
})
