// A session that the service opened and whose addresses cannot be used: nobody will upload to it, so the service is told, now
// or by a later life.

import { describe, expect, it } from 'vitest'

import { bytesSource } from '../../src/adapters/web/bytes-source.ts'
import { memoryJournal } from '../../src/adapters/web/memory-journal.ts'
import { createFarEnd, endOf, expiredStorage, goodStorage, VIDEO, type Answer } from '../security/far-end.ts'

const GOOD = 'https://store.example/k'
const files = [{ source: bytesSource('a.mp4', new Uint8Array([1, 2, 3])) }]

/** A service whose sessions, in order, come with these entries, and that answers so to the end of one. */
function serviceOf(sessions: readonly unknown[], toEnd: () => number = () => 200, prefix = 's') {
  const told: string[] = []
  let asked = 0
  const service = ({ url, method }: { readonly url: string; readonly method: string }): Answer | undefined => {
    if (method === 'DELETE') {
      told.push(url.slice(url.lastIndexOf('/') + 1))
      return { status: toEnd() }
    }
    if (method !== 'POST') return { status: 200 }
    const entries = sessions[Math.min(asked++, sessions.length - 1)]
    if (entries === undefined) return undefined
    return { status: 200, body: { upload_session_id: `${prefix}${String(asked)}`, pre_signed_urls: entries } }
  }
  return { service, told }
}

const at = (...urls: unknown[]) => [{ session_file_id: 'f', info: urls.map((url) => ({ url })) }]

describe('a session with addresses that cannot be used', () => {
  it.each([
    ['of plain HTTP', at('http://store.example/k'), 'ERR_UPLOAD_INSECURE_URL'],
    ['of a host that the policy refuses', at('https://10.0.0.1/k'), 'ERR_UPLOAD_INSECURE_URL'],
    ['of another scheme', at('ftp://store.example/k'), 'ERR_UPLOAD_SERVICE_REPLY'],
    ['of more parts than there are', at(GOOD, `${GOOD}2`), 'ERR_UPLOAD_SERVICE_REPLY'],
    ['of no file', [], 'ERR_UPLOAD_SERVICE_REPLY'],
    ['that are no list', 'none', 'ERR_UPLOAD_SERVICE_REPLY'],
  ])('%s is ended at the service, and the upload can be tried again', async (_, entries, code) => {
    const { service, told } = serviceOf([entries, at(GOOD)])
    const { uplink, settled } = createFarEnd({ service, storage: goodStorage, addressPolicy: 'public' })
    const upload = uplink.uploadVideos({ ...VIDEO, files })

    const { error } = await settled(endOf(upload))

    expect(error).toMatchObject({ code, report: { sessionId: undefined, hasPossibleOrphan: false } })
    expect(told).toEqual(['s1'])
    expect(await uplink.sessions()).toMatchObject([{ status: 'open', sessionIds: [], leftSessionIds: [] }])
    const again = await settled(uplink.resume(upload.key, { source: () => files[0]!.source }))
    expect(await settled(again.done())).toMatchObject({ status: 'confirmed', sessionId: 's2' })
    expect(told).toEqual(['s1'])
  })

  it('that could not be told is warned of and kept, and told by a resume', async () => {
    let status = 409
    const { service, told } = serviceOf([at('ftp://x/k'), at(GOOD)], () => status)
    const { uplink, settled } = createFarEnd({ service, storage: goodStorage })
    const warnings: string[] = []
    const upload = uplink.uploadVideos({ ...VIDEO, files })
    upload.on('warning', ({ message }) => warnings.push(message))
    await settled(endOf(upload))

    expect(warnings).toEqual([expect.stringContaining('could not be told that session s1')])
    expect(await uplink.sessions()).toMatchObject([{ status: 'open', sessionIds: ['s1'], leftSessionIds: ['s1'] }])
    status = 200
    const again = await settled(uplink.resume(upload.key, { source: () => files[0]!.source }))
    expect(await settled(again.done())).toMatchObject({ status: 'confirmed', sessionId: 's2' })
    expect(told).toEqual(['s1', 's1'])
    expect(await uplink.sessions()).toMatchObject([{ status: 'confirmed', leftSessionIds: [] }])
  })

  it('that came after a cancel is ended by that cancel', async () => {
    const { service, told } = serviceOf([at('ftp://x/k')])
    let answer: () => void = () => undefined
    const asked = new Promise<void>((resolve) => (answer = resolve))
    const { uplink, settled, clock } = createFarEnd({
      storage: goodStorage,
      async service(request) {
        if (request.method === 'POST') await asked
        return service(request) ?? new Error('No test here loses an answer.')
      },
    })
    const upload = uplink.uploadVideos({ ...VIDEO, files })
    await clock.advance(0)
    const cancelled = upload.cancel()
    answer()

    expect(await settled(cancelled)).toMatchObject({ status: 'cancelled', sessionId: undefined })
    expect(told).toEqual(['s1'])
    expect(await uplink.sessions()).toMatchObject([{ leftSessionIds: [] }])
  })

  it('that could not be told is told by a cancel', async () => {
    let status = 409
    const { service, told } = serviceOf([at('ftp://x/k')], () => status)
    const { uplink, settled } = createFarEnd({ service, storage: goodStorage })
    const { key, ...upload } = uplink.uploadVideos({ ...VIDEO, files })
    await settled(endOf({ key, ...upload }))

    status = 200
    const report = await settled(uplink.cancelSession(key))

    expect(report).toMatchObject({ status: 'cancelled', isServiceTold: true })
    expect(told).toEqual(['s1', 's1'])
    expect(await uplink.sessions()).toMatchObject([{ status: 'cancelled', leftSessionIds: [] }])
  })

  it('is told once by a cancel, also where that is refused', async () => {
    const { service, told } = serviceOf([at('ftp://x/k')], () => 409)
    const { uplink, settled } = createFarEnd({ service, storage: goodStorage })
    const upload = uplink.uploadVideos({ ...VIDEO, files })
    await settled(endOf(upload))

    const report = await settled(uplink.cancelSession(upload.key))

    expect(report).toMatchObject({ status: 'cancelled', isServiceTold: false })
    expect(told).toEqual(['s1', 's1'])
  })

  it('is no answer to an earlier try that had none: that one may have made a session, too', async () => {
    const { service, told } = serviceOf([undefined, at('ftp://x/k')])
    const { uplink, settled } = createFarEnd({ service, storage: goodStorage })

    const { error } = await settled(endOf(uplink.uploadVideos({ ...VIDEO, files })))

    expect(error).toMatchObject({ code: 'ERR_UPLOAD_SERVICE_REPLY', report: { hasPossibleOrphan: true } })
    expect(told).toEqual(['s2'])
  })

  it('is ended too where it was to take over from one whose addresses died', async () => {
    const { service, told } = serviceOf([at(`${GOOD}?X-Amz-Date=19700101T000000Z&X-Amz-Expires=1`), at('ftp://x/k')])
    const { uplink, settled } = createFarEnd({ service, storage: expiredStorage })
    const upload = uplink.uploadVideos({ ...VIDEO, files })

    const { error } = await settled(endOf(upload))

    expect(error).toMatchObject({ code: 'ERR_UPLOAD_SERVICE_REPLY', report: { sessionId: 's1' } })
    expect(told).toEqual(['s2'])
    expect(await uplink.sessions()).toMatchObject([{ sessionIds: ['s1'], leftSessionIds: [] }])
  })

  it.each([
    ['gives an address that may not be used', 'http://store.example/k', {}, 'ERR_UPLOAD_INSECURE_URL'],
    [
      'breaks when it is asked what a request of it says',
      GOOD,
      {
        request: () => {
          throw new TypeError('no such field')
        },
      },
      'ERR_UPLOAD_INTERNAL',
    ],
  ])('is ended of a protocol of the host as well, that %s', async (_, address, own, code) => {
    const ended: unknown[] = []
    const { uplink, settled } = createFarEnd({ service: () => ({ status: 200 }), storage: goodStorage })
    const units = { minBytes: 1, maxBytes: 1_000, maxCount: 10, multipleOfBytes: 1 }
    const upload = uplink.upload({
      files,
      protocol: {
        traits: { units, order: 'any', addressing: 'session', batchSize: 0 },
        create: () => Promise.resolve({ sessionId: 7, files: [{ fileIndex: 0, addresses: [address] }] }),
        request: () => ({ method: 'PUT', headers: {} }),
        judge: (_reply, { end }) => ({ kind: 'received', acceptedEnd: end }),
        cancel: (sessionId) => Promise.resolve(void ended.push(sessionId)),
        ...own,
      },
    })

    expect(await settled(endOf(upload))).toMatchObject({ error: { code, report: { hasPossibleOrphan: false } } })
    expect(ended).toEqual([7])
  })
})

it('outlives the process: the next one finds it in the journal', async () => {
  const journal = memoryJournal()
  const bad = serviceOf([at('ftp://x/k')], () => 409, 'bad-')
  const first = createFarEnd({ service: bad.service, storage: goodStorage, journal })
  const { key, ...upload } = first.uplink.uploadVideos({ ...VIDEO, files })
  await first.settled(endOf({ key, ...upload }))
  const good = serviceOf([at(GOOD)])
  const second = createFarEnd({ service: good.service, storage: goodStorage, journal })

  const again = await second.settled(second.uplink.resume(key, { source: () => files[0]!.source }))
  await second.settled(again.done())

  expect(good.told).toEqual(['bad-1'])
})
