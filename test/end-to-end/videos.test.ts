// Videos against a service that was written from the interface alone: every form that it may answer in, every fault.

import { describe, expect, it } from 'vitest'
import { UploadFailedError } from '../../src/node.ts'
import type { FaultAction, IndependentServiceOptions } from '../helpers/independent-records.ts'
import { expectStored, MIB, sample, startRig, VIDEO } from './rig.ts'

const clips = () => [sample('swing-01.mp4', 12 * MIB, 1), sample('swing-02.mp4', 300_000, 2), sample('empty.mov', 0, 3)]

describe('the forms a service may answer in', () => {
  const forms: Record<string, IndependentServiceOptions> = {
    'string ids, quoted ETags': {},
    'integer ids': { idStyle: 'number' },
    'entries reversed, matched by the echoed number': { entryOrder: 'reversed', echoes: { fileId: true } },
    'entries shuffled, matched by the echoed name': { entryOrder: { shuffledBy: 7 }, echoes: { rawFileName: true } },
    'bare ETags': { etagStyle: 'bare' },
    'weak ETags': { etagStyle: 'weak' },
    'opaque ETags': { etagStyle: 'opaque' },
    'unknown extra fields': { hasUnknownFields: true },
    'empty confirm bodies': { hasEmptyConfirmBodies: true },
  }
  it.each(Object.entries(forms))('%s', async (_name, options) => {
    const rig = await startRig(options)
    const files = clips()

    const report = await rig.uplink.uploadVideos({ ...VIDEO, files }).done()

    expect(report.status).toBe('confirmed')
    expect(
      report.files.map(({ name, bytes, parts, status, verified }) => [name, bytes, parts, status, verified]),
    ).toEqual([
      ['swing-01.mp4', 12 * MIB, 3, 'confirmed', options.etagStyle !== 'opaque'],
      ['swing-02.mp4', 300_000, 1, 'confirmed', options.etagStyle !== 'opaque'],
      ['empty.mov', 0, 1, 'confirmed', options.etagStyle !== 'opaque'],
    ])
    expectStored(rig, files)
    expect(rig.service.storedFiles().every((file) => file.isConfirmed)).toBe(true)
    expect(rig.service.requestsOf('confirm')).toHaveLength(3)
  })
})

describe('faults on the way of a part', () => {
  const faults: Record<string, FaultAction> = {
    'a 500': { status: 500 },
    'a 502 with an HTML page': {
      status: 502,
      headers: { 'content-type': 'text/html' },
      body: '<html>Bad gateway</html>',
    },
    'a 503 with Retry-After': { status: 503, headers: { 'retry-after': '1' } },
    'a 429': { status: 429 },
    'an HTML error page': 'html500',
    'a reset in the middle of the body': 'resetMidBody',
    'a reply lost after the last byte': 'loseReply',
    'an early 503 that closes': { status: 503, early: 'close' },
    'an early 500 that drains': { status: 500, early: 'drain' },
  }
  it.each(Object.entries(faults))('survives %s', async (_name, action) => {
    const rig = await startRig({
      faults: [
        { operation: 'put', nth: 1, fileName: 'swing-01.mp4', partNumber: 2, action },
        { operation: 'put', nth: 1, fileName: 'swing-02.mp4', action },
      ],
    })
    const files = clips()

    const report = await rig.uplink.uploadVideos({ ...VIDEO, files }).done()

    expect(report.status).toBe('confirmed')
    expectStored(rig, files)
    expect(rig.service.requestsOf('confirm').map((call) => call.status)).toEqual([200, 200, 200])
  })

  it('gives up a part that is refused for good, and confirms the other files', async () => {
    const rig = await startRig({
      faults: [{ operation: 'put', nth: 'every', fileName: 'swing-02.mp4', action: { status: 411 } }],
    })

    const report = await rig.uplink.uploadVideos({ ...VIDEO, files: clips() }).done()

    expect(report.status).toBe('partial')
    expect(report.files.map((file) => file.status)).toEqual(['confirmed', 'failed', 'confirmed'])
    expect(report.files[1]?.error).toEqual({
      code: 'ERR_UPLOAD_HTTP_STATUS',
      message: 'swing-02.mp4: The storage refused part 1 (411).',
      ...{ file: 'swing-02.mp4', partNumber: 1, attempt: 1, status: 411 },
    })
  })

  it('says in the details of what done() rejects with which part of which file it was, and the status', async () => {
    const rig = await startRig({ faults: [{ operation: 'put', nth: 'every', action: { status: 411 } }] })

    await expect(rig.uplink.uploadVideos({ ...VIDEO, files: clips().slice(0, 1) }).done()).rejects.toMatchObject({
      code: 'ERR_UPLOAD_HTTP_STATUS',
      details: { file: 'swing-01.mp4', partNumber: 1, attempt: 1, status: 411 },
    })
  })
})

describe('faults on the way of a call', () => {
  const faults: Record<string, FaultAction> = {
    'a 500': { status: 500 },
    'a 503 with Retry-After': { status: 503, headers: { 'retry-after': '1' } },
    'a 429': { status: 429 },
    'an HTML error page': 'html500',
    'a lost reply': 'loseReply',
  }
  it.each(Object.entries(faults))('survives %s of create and confirm', async (_name, action) => {
    const rig = await startRig({
      faults: [
        { operation: 'create', nth: 1, action },
        { operation: 'confirm', nth: 1, action },
      ],
    })
    const files = [sample('swing-02.mp4', 300_000, 2)]

    const report = await rig.uplink.uploadVideos({ ...VIDEO, files }).done()

    expect(report.status).toBe('confirmed')
    expect(report.files[0]?.verified).toBe(true)
    const answered = rig.service
      .requestsOf('confirm')
      .filter((call) => call.ending === 'answered' && call.status === 200)
    expect(answered).toHaveLength(1)
    expect(rig.service.records.credentialLeaks).toEqual([])
    expect(rig.service.pendingFaults()).toEqual([])
  })

  it('says that a create without a clear answer may have left a session behind', async () => {
    const rig = await startRig({ faults: [{ operation: 'create', nth: 1, action: 'loseReply' }] })
    const warnings: string[] = []
    const upload = rig.uplink.uploadVideos({ ...VIDEO, files: [sample('a.mp4', 1_000)] })
    upload.on('warning', (warning) => warnings.push(warning.message))

    const report = await upload.done()

    expect(report.hasPossibleOrphan).toBe(true)
    expect(warnings).toEqual(['A create had no clear answer: the service may hold an unused session.'])
  })

  it('takes a refusal that the host knows to mean "already confirmed" for success', async () => {
    const rig = await startRig({
      repeatedConfirmStatus: 409,
      faults: [{ operation: 'confirm', nth: 1, action: 'loseReply' }],
    })

    const files = [sample('a.mp4', 1_000)]
    const isAlreadyConfirmed = (error: { readonly status: number }) => error.status === 409
    const report = await rig.uplink.uploadVideos({ ...VIDEO, files, isAlreadyConfirmed }).done()

    expect(report.status).toBe('confirmed')
  })

  it('sends exactly the doubtful parts again when a confirmation is refused', async () => {
    const rig = await startRig({
      faults: [
        { operation: 'put', nth: 1, fileName: 'a.mp4', partNumber: 2, action: 'loseReply' },
        { operation: 'confirm', nth: 1, action: { status: 422, body: { error: 'part 2: wrong etag' } } },
      ],
    })
    const files = [sample('a.mp4', 15 * MIB)]

    const report = await rig.uplink.uploadVideos({ ...VIDEO, files }).done()

    expect(report.status).toBe('confirmed')
    expectStored(rig, files)
    expect(
      rig.service
        .requestsOf('put')
        .map((put) => put.partNumber)
        .toSorted(),
    ).toEqual([1, 2, 2, 2, 3])
    expect(rig.service.requestsOf('confirm').map((call) => call.status)).toEqual([422, 200])
  })
})

describe('limits', () => {
  it('keeps parts in flight at or below the cap, over two uploads', async () => {
    // So slowly that a part is still on its way when the last connection opens, however busy the machine is.
    const rig = await startRig({}, { concurrency: 3, limitRate: 1_000_000 })
    const uploads = [sample('a.mp4', 30 * MIB, 1), sample('b.mp4', 30 * MIB, 2)].map((file) =>
      rig.uplink.uploadVideos({ ...VIDEO, files: [file] }),
    )

    await expect.poll(() => rig.service.records.maxPutsInFlight).toBe(3)
    rig.uplink.limitRate('off')
    await Promise.all(uploads.map((upload) => upload.done()))

    expect(rig.service.records.maxPutsInFlight).toBe(3)
  })

  it('sends no credential of the service to the storage, with a bearer token either', async () => {
    const rig = await startRig({ bearerHeader: 'authentication' })
    const { uplink } = await startRigWithToken(rig.service)

    const report = await uplink.uploadVideos({ ...VIDEO, files: [sample('a.mp4', 1_000)] }).done()

    expect(report.status).toBe('confirmed')
    expect(rig.service.records.credentialLeaks).toEqual([])
  })
})

describe('pause, resume and cancel', () => {
  it('pauses with nothing in flight, and resumes to the same bytes', async () => {
    const rig = await startRig({}, { concurrency: 2, limitRate: MIB })
    const files = [sample('a.mp4', 30 * MIB, 1)]
    const upload = rig.uplink.uploadVideos({ ...VIDEO, files })
    const onTheLine = () => rig.service.requestsOf('put').filter(({ ending }) => ending === 'open').length
    await expect.poll(onTheLine).toBe(2)

    upload.pause()
    await once(upload, 'paused')
    expect(rig.uplink.stats().inFlight).toBe(0)
    // The service sees it as soon as it reads the reset.
    await expect.poll(onTheLine).toBe(0)
    rig.uplink.limitRate('off')
    upload.resume()
    const report = await upload.done()

    expect(report.status).toBe('confirmed')
    expectStored(rig, files)
  })

  it('tells the service of a cancel, and says so', async () => {
    const rig = await startRig({}, { concurrency: 2, limitRate: 20 * MIB })
    const upload = rig.uplink.uploadVideos({ ...VIDEO, files: [sample('a.mp4', 30 * MIB, 1)] })
    await once(upload, 'uploading')

    const report = await upload.cancel()

    expect([report.status, report.isServiceTold]).toEqual(['cancelled', true])
    expect(rig.service.records.cancelledSessionIds).toEqual([String(report.sessionId)])
    await expect(upload.done()).rejects.toMatchObject({ code: 'ERR_UPLOAD_CANCELLED', report: { status: 'cancelled' } })
  })
})

describe('what ends an upload', () => {
  it('refuses bad input before any call', async () => {
    const rig = await startRig()
    const start = (change: object) => () =>
      rig.uplink.uploadVideos({ ...VIDEO, files: [sample('a.mp4', 1)], ...change })

    expect(start({ sessionDate: '2026-02-30' })).toThrow(/sessionDate.*2026-02-30/)
    expect(start({ playerId: '' })).toThrow(/playerId/)
    expect(start({ movementTypeId: 1.5 })).toThrow(/movementTypeId/)
    expect(start({ files: [] })).toThrow(/files is empty/)
    expect(start({ frameRate: 0 })).toThrow(/frameRate/)
    expect(rig.service.records.requests).toEqual([])
  })

  it('ends with the refusal of the credentials when the key is wrong', async () => {
    const rig = await startRig({}, { credentials: { apiKey: 'wrong-key-0123456789' } })

    const failure = await rig.uplink
      .uploadVideos({ ...VIDEO, files: [sample('a.mp4', 1)] })
      .done()
      .catch((error: unknown) => error)

    expect(failure).toBeInstanceOf(UploadFailedError)
    expect(failure).toMatchObject({ code: 'ERR_UPLOAD_CREDENTIALS_REFUSED', report: { status: 'failed' } })
    expect((failure as Error).message).not.toContain('wrong-key')
  })
})

async function startRigWithToken(service: { url: string; token: string }) {
  const { createUplink } = await import('../../src/node.ts')
  const uplink = createUplink({
    baseUrl: service.url,
    credentials: { accessToken: () => Promise.resolve(service.token) },
    bearerHeader: 'Authentication',
  })
  return { uplink }
}

function once(
  upload: ReturnType<Awaited<ReturnType<typeof startRig>>['uplink']['uploadVideos']>,
  state: string,
): Promise<void> {
  return new Promise((resolve) => {
    if (upload.state === state) resolve()
    upload.on('state', (event) => {
      if (event.state === state) resolve()
    })
  })
}
