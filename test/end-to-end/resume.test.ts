// Sessions that go on: in a new life from their journal, and in a new session when their addresses have died.

import { statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  bytesSource,
  createUplink,
  memoryJournal,
  type SessionReplaced,
  type Uplink,
  type Upload,
  type UploadError,
} from '../../src/node.ts'
import type { Fault } from '../helpers/independent-records.ts'
import { fastClock } from '../helpers/fast-clock.ts'
import { hastyClock } from '../../src/testing/hasty-clock.ts'
import { bytesOf, CAPTURE, expectStored, MIB, sample, startRig, VIDEO, type Rig, type Sample } from './rig.ts'

const EXPIRED = {
  status: 403,
  body: '<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>',
} as const

/** An Uplink of a second life over the same journal, which finds the samples again by their names. */
/** Its own part size is another: a file that was begun keeps that of its session. */
function secondLife({ service }: Rig, journal: ReturnType<typeof memoryJournal>, files: readonly Sample[]): Uplink {
  return createUplink({
    ...{ baseUrl: service.url, credentials: { apiKey: service.apiKey }, clock: hastyClock(), journal },
    partSizeBytes: 6 * MIB,
    sourceAt: ({ name }) => files.find((file) => file.source.name === name)?.source ?? bytesSource(name, bytesOf(1, 0)),
  })
}

describe('a new life', () => {
  it('confirms what the first one could not, and sends no part that has a receipt again', async () => {
    const journal = memoryJournal()
    const rig = await startRig({ faults: [{ operation: 'confirm', nth: 1, action: { status: 401 } }] }, { journal })
    const files = [sample('a.mp4', 12 * MIB, 1)]
    const first = rig.uplink.uploadVideos({ ...VIDEO, files })
    await expect(first.done()).rejects.toMatchObject({ code: 'ERR_UPLOAD_CREDENTIALS_REFUSED' })

    const second = secondLife(rig, journal, files)
    expect(await second.sessions()).toMatchObject([
      { key: first.key, status: 'open', confirmedBytes: 12 * MIB, filesConfirmed: 0 },
    ])
    const report = await (await second.resume(first.key)).done()

    expect(report.status).toBe('confirmed')
    expect(rig.service.requestsOf('create')).toHaveLength(1)
    expect(rig.service.requestsOf('put')).toHaveLength(3)
    expectStored(rig, files)
    expect(await second.sessions()).toMatchObject([{ status: 'confirmed', filesConfirmed: 1 }])
    await second.close()
  })

  it('sends of a file that was begun what is missing, and no part that has a receipt', async () => {
    const journal = memoryJournal()
    const refused: Fault = { operation: 'put', nth: 1, fileName: 'a.mp4', partNumber: 2, action: { status: 411 } }
    const rig = await startRig({ faults: [refused] }, { journal, concurrency: 1 })
    const files = [sample('a.mp4', 12 * MIB, 1)]
    const first = rig.uplink.uploadVideos({ ...VIDEO, files })
    await expect(first.done()).rejects.toMatchObject({ code: 'ERR_UPLOAD_HTTP_STATUS' })

    const second = secondLife(rig, journal, files)
    const report = await (await second.resume(first.key)).done()

    expect(report.status).toBe('confirmed')
    const puts = rig.service.requestsOf('put').map(({ partNumber, status }) => [partNumber, status])
    expect(puts.slice(0, 2)).toEqual([
      [1, 200],
      [2, 411],
    ])
    expect(
      puts
        .slice(2)
        .map(([partNumber]) => partNumber)
        .toSorted(),
    ).toEqual([2, 3])
    expectStored(rig, files)
    await second.close()
  })

  it('does not take a file of the working folder for what came from no path, even if name and size are the same', async () => {
    const journal = memoryJournal()
    const { size } = statSync('package.json')
    const refused: Fault = {
      operation: 'put',
      nth: 1,
      fileName: 'package.json',
      partNumber: 1,
      action: { status: 411 },
    }
    const rig = await startRig({ faults: [refused] }, { journal })
    const first = rig.uplink.uploadVideos({ ...VIDEO, files: [sample('package.json', size)] })
    await expect(first.done()).rejects.toMatchObject({ code: 'ERR_UPLOAD_HTTP_STATUS' })

    const upload = await rig.uplink.resume(first.key)

    await expect(upload.done()).rejects.toMatchObject({
      code: 'ERR_UPLOAD_SOURCE_READ',
      message: expect.stringContaining('package.json has to be given again') as string,
    })
    expect(rig.service.requestsOf('put')).toHaveLength(1)
  })

  it('takes what the host says of a repeated confirmation, in the new life too', async () => {
    const journal = memoryJournal()
    const faults: Fault[] = [
      { operation: 'confirm', nth: 1, action: 'loseReply' },
      { operation: 'confirm', nth: 2, action: { status: 401 } },
    ]
    const rig = await startRig({ faults, repeatedConfirmStatus: 409 }, { journal })
    const files = [sample('a.mp4', 1_000, 1)]
    const first = rig.uplink.uploadVideos({ ...VIDEO, files })
    await expect(first.done()).rejects.toMatchObject({ code: 'ERR_UPLOAD_CREDENTIALS_REFUSED' })

    const second = secondLife(rig, journal, files)
    const isAlreadyConfirmed = (error: { readonly status: number }) => error.status === 409
    const report = await (await second.resume(first.key, { isAlreadyConfirmed })).done()

    expect(report.status).toBe('confirmed')
    await second.close()
  })

  it.each([
    { refusals: 2, end: 'confirmed' },
    { refusals: 3, end: 'ERR_UPLOAD_CONFIRM_REFUSED' },
  ])('sends a file again, and once only, whose confirmation stays refused ($refusals times)', async (night) => {
    const journal = memoryJournal()
    const faults = Array.from({ length: night.refusals }, (_, index): Fault => {
      return { operation: 'confirm', nth: index + 1, action: { status: 400 } }
    })
    const rig = await startRig({ faults }, { journal })
    const files = [sample('a.mp4', 12 * MIB, 1)]
    const first = rig.uplink.uploadVideos({ ...VIDEO, files })
    await expect(first.done()).rejects.toMatchObject({ code: 'ERR_UPLOAD_CONFIRM_REFUSED' })
    expect(rig.service.requestsOf('put')).toHaveLength(3)

    const second = secondLife(rig, journal, files)
    const upload = await second.resume(first.key)
    const end = await statusOrCode(upload)

    expect(end).toBe(night.end)
    expect(rig.service.requestsOf('put')).toHaveLength(6)
    expect(rig.service.requestsOf('confirm')).toHaveLength(3)
    await second.close()
  })

  it.each([
    { isMended: true, end: 'confirmed' },
    { isMended: false, end: 'ERR_UPLOAD_ADDRESS_REFUSED' },
  ])('asks once for other addresses where those it has stay refused (mended: $isMended)', async (night) => {
    const journal = memoryJournal()
    const body = '<Error><Code>SignatureDoesNotMatch</Code></Error>'
    const faults = Array.from({ length: night.isMended ? 2 : 5 }, (_, index): Fault => {
      return { operation: 'put', nth: index + 1, action: { status: 403, body } }
    })
    const rig = await startRig({ faults }, { journal })
    const files = [sample('a.mp4', 1_000, 1)]
    const first = rig.uplink.uploadVideos({ ...VIDEO, files })
    await expect(first.done()).rejects.toMatchObject({ code: 'ERR_UPLOAD_ADDRESS_REFUSED' })
    expect(rig.service.requestsOf('put')).toHaveLength(1)

    for (const sessions of night.isMended ? [2] : [2, 3]) {
      const second = secondLife(rig, journal, files)
      const upload = await second.resume(first.key)
      const end = await statusOrCode(upload)
      expect(end).toBe(night.end)
      expect(rig.service.requestsOf('create')).toHaveLength(sessions)
      await second.close()
    }
    expect(rig.service.requestsOf('put')).toHaveLength(night.isMended ? 3 : 5)
    if (night.isMended) expectStored(rig, files)
  })

  it('sends in another session what the storage says was ended there', async () => {
    const journal = memoryJournal()
    const action = { status: 404, body: '<Error><Code>NoSuchUpload</Code></Error>' }
    const faults = [1, 2].map((nth): Fault => ({ operation: 'put', nth, fileName: 'a.mp4', action }))
    const rig = await startRig({ faults }, { journal })
    const files = [sample('a.mp4', 1_000, 1), sample('b.mp4', 2_000, 2)]
    const first = rig.uplink.uploadVideos({ ...VIDEO, files })
    expect(await first.done()).toMatchObject({ status: 'partial' })

    const second = secondLife(rig, journal, files)
    const report = await (await second.resume(first.key)).done()

    expect(report.status).toBe('confirmed')
    expect(rig.service.requestsOf('create')).toHaveLength(2)
    expect(
      rig.service
        .requestsOf('put')
        .map((put) => put.fileName)
        .sort(),
    ).toEqual(['a.mp4', 'a.mp4', 'a.mp4', 'b.mp4'])
    expectStored(rig, files)
    await second.close()
  })

  it.each<[string, Omit<Fault, 'action'>]>([
    ['in the middle of a file', { operation: 'put', nth: 1, fileName: 'a.mp4', partNumber: 2 }],
    ['after its confirmation was refused', { operation: 'confirm', nth: 1 }],
  ])('needs one resume where the storage swept away what was sent: %s', async (_, where) => {
    const journal = memoryJournal()
    const rig = await startRig({ faults: [{ ...where, action: { status: 400 } }] }, { journal, concurrency: 1 })
    const files = [sample('a.mp4', 12 * MIB, 1)]
    const first = rig.uplink.uploadVideos({ ...VIDEO, files })
    await first.done().catch(() => undefined)
    await rig.uplink.client.videoUploads.cancel(rig.service.storedFiles()[0]!.sessionId)

    const second = secondLife(rig, journal, files)
    const report = await (await second.resume(first.key)).done()

    expect(report.status).toBe('confirmed')
    expect(rig.service.requestsOf('create')).toHaveLength(2)
    expectStored(rig, files)
    await second.close()
  })

  it('tries files again that had failed, and leaves the confirmed ones alone', async () => {
    const journal = memoryJournal()
    const refused: Fault = { operation: 'put', nth: 1, fileName: 'b.mp4', action: { status: 411 } }
    const rig = await startRig({ faults: [refused] }, { journal })
    const files = [sample('a.mp4', 1_000, 1), sample('b.mp4', 2_000, 2)]
    const first = await rig.uplink.uploadVideos({ ...VIDEO, files }).done()
    expect(first.status).toBe('partial')

    const second = secondLife(rig, journal, files)
    const report = await (await second.resume(first.key)).done()

    expect(report.status).toBe('confirmed')
    expect(rig.service.requestsOf('put').map((put) => put.fileName)).toEqual(['a.mp4', 'b.mp4', 'b.mp4'])
    expectStored(rig, files)
    await second.close()
  })

  it('stops a file alone whose sent parts are no longer what they were', async () => {
    const journal = memoryJournal()
    const rig = await startRig(
      { faults: [{ operation: 'confirm', nth: 1, action: { status: 401 } }] },
      { journal, concurrency: 1 },
    )
    const files = [sample('a.mp4', 1_000, 1), sample('b.mp4', 2_000, 2)]
    const first = rig.uplink.uploadVideos({ ...VIDEO, files })
    await expect(first.done()).rejects.toMatchObject({ code: 'ERR_UPLOAD_CREDENTIALS_REFUSED' })

    const changed = [sample('a.mp4', 1_000, 99), sample('b.mp4', 2_000, 2)]
    const second = secondLife(rig, journal, changed)
    const report = await (await second.resume(first.key)).done()

    expect(report.files.map((file) => [file.name, file.status, file.error?.code])).toEqual([
      ['a.mp4', 'failed', 'ERR_UPLOAD_SOURCE_CHANGED'],
      ['b.mp4', 'confirmed', undefined],
    ])
    await second.close()
  })

  it('tells the service of a cancel that a later life asks for', async () => {
    const journal = memoryJournal()
    const rig = await startRig({ faults: [{ operation: 'confirm', nth: 1, action: { status: 401 } }] }, { journal })
    const first = rig.uplink.uploadVideos({ ...VIDEO, files: [sample('a.mp4', 1_000, 1)] })
    await first.done().catch(() => undefined)

    const second = secondLife(rig, journal, [])
    const report = await second.cancelSession(first.key)

    expect([report.status, report.isServiceTold]).toEqual(['cancelled', true])
    expect(rig.service.records.cancelledSessionIds).toEqual([String(first.snapshot().sessionId)])
    await expect(second.resume(first.key)).rejects.toMatchObject({ code: 'ERR_UPLOAD_JOURNAL' })
    await second.close()
  })

  it('refuses a session that is unknown, and one that is being driven', async () => {
    // So slowly that it is still being driven when it is asked for.
    const rig = await startRig({}, { limitRate: 10_000 })
    const upload = rig.uplink.uploadVideos({ ...VIDEO, files: [sample('a.mp4', 4 * MIB, 1)] })
    await new Promise<void>((resolve) => upload.on('state', () => resolve()))

    await expect(rig.uplink.resume('video-nobody')).rejects.toMatchObject({ code: 'ERR_UPLOAD_JOURNAL' })
    await expect(rig.uplink.resume(upload.key)).rejects.toMatchObject({ code: 'ERR_UPLOAD_JOURNAL' })
    await upload.cancel()
  })

  it('registers captures again that it had registered, and nothing else with reprocess', async () => {
    const journal = memoryJournal()
    const faults: Fault[] = [2, 3].map((nth) => ({ operation: 'put', nth, action: { status: 411 } }))
    const rig = await startRig({ faults }, { journal, concurrency: 1 })
    const files = ['a', 'b', 'c'].map((name) => sample(`${name}.action`, 100))
    const first = await rig.uplink.uploadCaptures({ ...CAPTURE, files }).done()
    expect(first.files.map((file) => file.status)).toEqual(['confirmed', 'failed', 'failed'])

    const second = secondLife(rig, journal, files)
    const report = await (await second.resume(first.key)).done()

    expect(report.status).toBe('confirmed')
    expectStored(rig, files)
    expect(rig.service.requestsOf('register')).toHaveLength(1)
    await second.close()
  })

  it.each([
    ['its name was refused', 'ERR_UPLOAD_SERVICE_REFUSED', undefined],
    ['the credentials were refused', 'ERR_UPLOAD_CREDENTIALS_REFUSED', { status: 401 }],
  ])('overwrites no file that the session had before, though %s to this upload', async (_, code, action) => {
    const journal = memoryJournal()
    const faults: Fault[] = action === undefined ? [] : [{ operation: 'register', nth: 2, action }]
    const rig = await startRig({ faults }, { journal })
    const theirs = [sample('a.action', 100, 1)]
    const { sessionId = '' } = await rig.uplink.uploadCaptures({ ...CAPTURE, files: theirs }).done()
    const ours = [sample('a.action', 100, 2)]
    const first = rig.uplink.uploadCaptures({ mocapTypeId: 2, sessionId, files: ours })
    await expect(first.done()).rejects.toMatchObject({ code })

    const second = secondLife(rig, journal, ours)
    const again = (await second.resume(first.key)).done()

    await expect(again).rejects.toMatchObject({ report: { files: [{ error: { status: 409 } }] } })
    expectStored(rig, theirs)
    await second.close()
  })

  it('delivers a file whose name was refused by a session of its own: a line had delivered the call twice', async () => {
    const journal = memoryJournal()
    const faults: Fault[] = [{ operation: 'register', nth: 1, action: { status: 409 } }]
    const rig = await startRig({ faults }, { journal })
    const files = [sample('a.action', 100)]
    const first = rig.uplink.uploadCaptures({ ...CAPTURE, files })
    await expect(first.done()).rejects.toMatchObject({ code: 'ERR_UPLOAD_SERVICE_REFUSED' })
    const { sessionId = '' } = await rig.uplink.receipt(first.key)
    await rig.uplink.client.mocapSessionFiles.register({ sessionId, filenames: ['a.action'], reprocess: false })

    const second = secondLife(rig, journal, files)
    const report = await (await second.resume(first.key)).done()

    expect(report.status).toBe('confirmed')
    expectStored(rig, files)
    await second.close()
  })
})

describe('addresses that died', () => {
  it('are doubted while they should still live, so that no receipt is given up for one wrong answer', async () => {
    const rig = await startRig(
      { faults: [2, 3].map((nth) => ({ operation: 'put', nth, action: EXPIRED })) },
      { concurrency: 1 },
    )
    const files = [sample('a.mp4', 30 * MIB, 1)]

    const report = await rig.uplink.uploadVideos({ ...VIDEO, files }).done()

    expect(report.status).toBe('confirmed')
    expect(rig.service.requestsOf('create')).toHaveLength(1)
    expectStored(rig, files)
  })

  it('lead to a new session for the unfinished files alone, and one event says what that cost', async () => {
    const faults: Fault[] = [3, 4, 5, 6].map((nth) => ({ operation: 'put', nth, action: EXPIRED }))
    const rig = await startRig({ faults }, { concurrency: 1 })
    const files = [sample('small.mp4', 1_000, 1), sample('big.mp4', 30 * MIB, 2)]
    const replaced: SessionReplaced[] = []
    const [confirmed, keptBytes]: [number[], number[]] = [[], []]
    const upload = rig.uplink.uploadVideos({ ...VIDEO, files })
    upload.on('session.replaced', (event) => {
      replaced.push(event)
      keptBytes.push(upload.progress().confirmedBytes)
    })
    upload.on('progress', ({ confirmedBytes }) => confirmed.push(confirmedBytes))

    const report = await upload.done()

    expect(report.status).toBe('confirmed')
    const [created] = rig.service
      .requestsOf('create')
      .map((call) => (call.answer as { upload_session_id: string }).upload_session_id)
    expect(replaced).toEqual([
      { oldSessionId: created, newSessionId: report.sessionId, filesKept: 1, filesMoved: 1, bytesVoided: 5 * MIB },
    ])
    // What is void is confirmed no more: only the small file is.
    expect(keptBytes).toEqual([1_000])
    // The old session holds a confirmed file: it is not cancelled unasked.
    expect(rig.service.records.cancelledSessionIds).toEqual([])
    expect(
      rig.service
        .storedFiles()
        .filter((file) => file.isConfirmed)
        .map((file) => [file.fileName, file.sha256]),
    ).toEqual(files.map((file) => [file.source.name, file.sha256]))
    expect(confirmed.at(-1)).toBe(30 * MIB + 1_000)
  })

  it('lead to two sessions with files, and a cancel gives both up', async () => {
    const faults: Fault[] = [3, 4, 5, 6].map((nth) => ({ operation: 'put', nth, action: EXPIRED }))
    const rig = await startRig({ faults }, { concurrency: 1 })
    const files = [sample('small.mp4', 1_000, 1), sample('big.mp4', 30 * MIB, 2)]
    const upload = rig.uplink.uploadVideos({ ...VIDEO, files })
    const replaced = await new Promise<SessionReplaced>((resolve) => upload.on('session.replaced', resolve))

    const report = await upload.cancel()

    expect([report.status, report.isServiceTold]).toEqual(['cancelled', true])
    const { oldSessionId, newSessionId, filesKept } = replaced
    expect(filesKept).toBe(1)
    expect(rig.service.records.cancelledSessionIds.toSorted()).toEqual(
      [oldSessionId, newSessionId].map(String).toSorted(),
    )
  })

  it('are signed again by the host where it can, and no receipt is lost', async () => {
    const rig = await startRig({ faults: [{ operation: 'put', nth: 2, action: EXPIRED }] }, { concurrency: 1 })
    const files = [sample('a.mp4', 15 * MIB, 1)]
    const asked: unknown[] = []
    const upload = rig.uplink.uploadVideos({
      ...{ ...VIDEO, files },
      renewAddresses(request) {
        asked.push(request)
        const [call] = rig.service.requestsOf('create')
        const answer = call?.answer as { pre_signed_urls: { info: { url: string }[] }[] }
        const addresses = answer.pre_signed_urls[0]?.info.map((part) => part.url) ?? []
        // The same storage under another name, by which the new addresses are told from the old ones.
        const renewed = (address = '') => address.replace('127.0.0.1', 'localhost')
        return Promise.resolve(request.partNumbers.map((partNumber) => renewed(addresses[partNumber - 1])))
      },
    })

    const report = await upload.done()

    expect(report.status).toBe('confirmed')
    expect(asked).toMatchObject([{ sessionId: report.sessionId, fileName: 'a.mp4', partNumbers: [2, 3] }])
    const puts = rig.service.requestsOf('put')
    expect(puts.map((put) => [put.partNumber, put.headers.host?.replace(/:\d+$/, '')])).toEqual([
      [1, '127.0.0.1'],
      [2, '127.0.0.1'],
      [2, 'localhost'],
      [3, 'localhost'],
    ])
    expectStored(rig, files)
  })

  it('that can never be long enough fail the file with the rate and the life it would need', async () => {
    // Long enough for a part to begin in a session that comes late, and for the rate to be known by its end. Client and service
    // have one clock, for which next to no time passes while this process gets no processor.
    const clock = fastClock(4)
    const rig = await startRig(
      { addressLifetimeSeconds: 8, now: clock.wallNow },
      { concurrency: 1, limitRate: 4 * MIB, clock },
    )
    const files = [sample('long.mp4', 40 * MIB, 1)]

    const failure = rig.uplink.uploadVideos({ ...VIDEO, files }).done()

    await expect(failure).rejects.toMatchObject({
      code: 'ERR_UPLOAD_ADDRESS_EXPIRED',
      message: expect.stringMatching(
        /^long\.mp4: At .*\/s the file needs .*, and the service's addresses live 8 s\./,
      ) as string,
    })
  })
})

/** How it ended: its status, or the code of its error. */
function statusOrCode(upload: Upload): Promise<string> {
  return upload.done().then(
    ({ status }) => status,
    (error: unknown) => (error as UploadError).code,
  )
}
