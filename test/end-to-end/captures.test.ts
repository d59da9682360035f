// Captures against a service that was written from the interface alone: names, order, batches, duplicates, lost replies.

import { Readable } from 'node:stream'
import { describe, expect, it, onTestFinished } from 'vitest'
import { bytesSource, streamSource } from '../../src/node.ts'
import { bytesOf, CAPTURE, expectStored, MIB, sample, startRig, VIDEO } from './rig.ts'

interface Registration {
  readonly filenames: readonly string[]
  readonly reprocess: boolean
  readonly video_framerate?: number
}

const registrations = (rig: Awaited<ReturnType<typeof startRig>>): Registration[] =>
  rig.service.requestsOf('register').map((call) => call.body as Registration)

describe('digests', () => {
  it('are computed without a thread for a short upload, and on one thread for a long one', async () => {
    const rig = await startRig()
    const files = [MIB / 16, 3 * MIB, 5 * MIB].map((sizeBytes) => sample(`${sizeBytes}.action`, sizeBytes))
    let threads = 0
    const count = (): void => void (threads += 1)
    process.on('worker', count)
    onTestFinished(() => void process.off('worker', count))

    const report = await rig.uplink.uploadCaptures({ ...CAPTURE, files: files.slice(0, 2) }).done()
    expect([report.status, threads]).toEqual(['confirmed', 0])
    const further = await rig.uplink.uploadCaptures({ ...CAPTURE, files: files.slice(2) }).done()
    expect([further.status, threads]).toEqual(['confirmed', 1])

    expect([...report.files, ...further.files].map((file) => file.verified)).toEqual([true, true, true])
    expectStored(rig, files)
  })
})

describe('names', () => {
  it('carries every legal name, whatever it means elsewhere', async () => {
    const rig = await startRig({ entryOrder: 'reversed' })
    const names = [
      ...[
        '__proto__',
        'constructor',
        'toString',
        '0',
        '1',
        '10',
        '2',
        'with space.action',
        'a#b.action',
        '100%.action',
      ],
      ...[
        'caf\u00e9.action',
        'cafe\u0301-2.action',
        '\u{1F3CB}\u{FE0F}.action',
        '?x=1&y.action',
        '"quoted".action',
        "it's.action",
      ],
    ]
    const files = names.map((name, index) => sample(name, 1_000 + index, index))

    const report = await rig.uplink.uploadCaptures({ ...CAPTURE, files }).done()

    expect(report.status).toBe('confirmed')
    expectStored(rig, files)
    expect(registrations(rig).flatMap((call) => call.filenames)).toEqual(names)
  })

  it('finds the same base name from two folders before any call, and names both', async () => {
    const rig = await startRig()
    const files = ['cam1', 'cam2'].map((folder) => ({
      source: { ...bytesSource('a.action', bytesOf(10, 1)), location: `day/${folder}/a.action` },
    }))

    expect(() => rig.uplink.uploadCaptures({ ...CAPTURE, files })).toThrow(
      /day\/cam1\/a\.action and day\/cam2\/a\.action/,
    )
    expect(rig.service.records.requests).toEqual([])

    const report = await rig.uplink.uploadCaptures({ ...CAPTURE, files, rename: true }).done()
    expect(report.files.map((file) => file.name)).toEqual(['cam1_a.action', 'cam2_a.action'])
  })

  it('settles the kind by the names, and demands a frame rate for plain video', async () => {
    const rig = await startRig()
    const start =
      (names: string[], change: object = {}) =>
      () =>
        rig.uplink.uploadCaptures({ ...CAPTURE, files: names.map((name) => sample(name, 10)), ...change })

    expect(start(['a.mp4', 'b.action'])).toThrow(/two kinds/)
    expect(start(['a.mp4', 'b.MOV'])).toThrow(/frameRate/)
    expect(start(['a.mp4'], { kind: 'tracking' })).toThrow(/kind/)
    expect(start(['a.action'], { kind: 'video', frameRate: 240 })).toThrow(/kind/)
    expect(rig.service.records.requests).toEqual([])

    const report = await start(['a.mp4'], { mocapTypeId: 67, frameRate: 240 })().done()
    expect(report.status).toBe('confirmed')
    expect(registrations(rig)).toEqual([
      { session_id: report.sessionId, filenames: ['a.mp4'], video_framerate: 240, reprocess: false },
    ])
  })
})

describe('registration', () => {
  it('goes in batches, in capture order, one after another', async () => {
    const rig = await startRig()
    const files = Array.from({ length: 25 }, (_, index) => sample(`play-${String(index)}.action`, 500, index))

    const report = await rig.uplink.uploadCaptures({ ...CAPTURE, files, batchSize: 10 }).done()

    expect(report.status).toBe('confirmed')
    expect(registrations(rig).map((call) => call.filenames.length)).toEqual([10, 10, 5])
    expect(registrations(rig).flatMap((call) => call.filenames)).toEqual(files.map((file) => file.source.name))
    const calls = rig.service.requestsOf('register')
    calls
      .slice(1)
      .forEach((call, index) => expect(call.startedAtMs).toBeGreaterThan(calls[index]?.endedAtMs ?? Infinity))
  })

  it('fails only the names that are there already, and sends them with reprocess', async () => {
    const rig = await startRig()
    const files = ['a', 'b', 'c'].map((name) => sample(`${name}.action`, 100))
    const first = await rig.uplink.uploadCaptures({ ...CAPTURE, files: files.slice(1, 2) }).done()
    const known = { mocapTypeId: 2, sessionId: first.sessionId ?? '' }

    const report = await rig.uplink.uploadCaptures({ ...known, files }).done()
    expect(report.status).toBe('partial')
    expect(report.files.map((file) => file.status)).toEqual(['confirmed', 'failed', 'confirmed'])
    expect(report.files[1]?.error?.code).toBe('ERR_UPLOAD_SERVICE_REFUSED')

    const again = await rig.uplink.uploadCaptures({ ...known, files: files.slice(1, 2), reprocess: true }).done()
    expect(again.status).toBe('confirmed')
    expectStored(rig, files)
  })

  it('says reprocess by itself only for names whose registration was its own', async () => {
    const rig = await startRig({ faults: [{ operation: 'register', nth: 1, action: 'loseReply' }] })
    const files = [sample('a.action', 100), sample('b.action', 100)]

    const report = await rig.uplink.uploadCaptures({ ...CAPTURE, files }).done()

    expect(report.status).toBe('confirmed')
    expectStored(rig, files)
    expect(registrations(rig).map((call) => call.reprocess)).toEqual([false, false, true])
  })

  it('renews an address that is refused', async () => {
    const expired = {
      status: 403,
      body: '<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>',
    }
    const rig = await startRig({ faults: [{ operation: 'put', nth: 1, fileName: 'a.action', action: expired }] })
    const files = [sample('a.action', 100)]

    const report = await rig.uplink.uploadCaptures({ ...CAPTURE, files }).done()

    expect(report.status).toBe('confirmed')
    expectStored(rig, files)
  })

  it('says that captures have no cancel call', async () => {
    const rig = await startRig({}, { limitRate: 2_000_000 })
    const upload = rig.uplink.uploadCaptures({ ...CAPTURE, files: [sample('a.action', 4_000_000)] })

    const report = await upload.cancel()

    expect([report.status, report.isServiceTold]).toEqual(['cancelled', false])
    expect(rig.service.requestsOf('cancel')).toEqual([])
  })
})

describe('streams', () => {
  it('sends a stream of unknown size, and again when a part has to be repeated', async () => {
    const rig = await startRig({ faults: [{ operation: 'put', nth: 1, action: 'resetMidBody' }] })
    const bytes = bytesOf(3_000_000, 5)
    const pieces = Array.from({ length: 30 }, (_, index) => bytes.subarray(index * 100_000, (index + 1) * 100_000))
    const source = streamSource('live.mp4', Readable.from(pieces))

    const report = await rig.uplink.uploadVideos({ ...VIDEO, files: [{ source }] }).done()

    expect(report.status).toBe('confirmed')
    expect(rig.service.contentOf('live.mp4').equals(bytes)).toBe(true)
  })
})
