// A storage that lies, stalls, goes away or refuses too early, behind the independent service: the outcome is the right
// bytes, or an error that says exactly what is missing. Time runs ten times too fast.

import { describe, expect, it } from 'vitest'

import { UploadFailedError, type NodeUplinkOptions, type UploadEvents, type UploadReport } from '../../src/node.ts'
import type { Fault, FaultAction } from '../helpers/independent-records.ts'
import { fastClock } from '../helpers/fast-clock.ts'
import { expectStored, MIB, sample, startRig, VIDEO, type Rig, type Sample } from './rig.ts'

const SPEED = 10
const EXPIRED = '<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>'
const WRONG_SIGNATURE = '<Error><Code>SignatureDoesNotMatch</Code></Error>'

interface Run {
  readonly rig: Rig
  readonly files: readonly Sample[]
  readonly retries: UploadEvents['retry'][]
  readonly waits: UploadEvents['waiting'][]
  readonly outcome: Promise<unknown>
}

/** A file of three parts and one of one; the fault meets the second part of the first. */
async function run(
  fault: Pick<Fault, 'nth' | 'action'>,
  options: Partial<NodeUplinkOptions> = {},
  onWaiting: (rig: Rig, count: number) => void = () => undefined,
): Promise<Run> {
  const rig = await startRig(
    { faults: [{ operation: 'put', fileName: 'night.mp4', partNumber: 2, ...fault }] },
    {
      ...{ clock: fastClock(SPEED), timeouts: { connectMs: 10_000, stallMs: 10_000, answerMs: 10_000 } },
      ...options,
    },
  )
  const files = [sample('night.mp4', 12 * MIB, 1), sample('day.mp4', 300_000, 2)]
  const upload = rig.uplink.uploadVideos({ ...VIDEO, files })
  const [retries, waits]: [Run['retries'], Run['waits']] = [[], []]
  upload.on('retry', (retry) => retries.push(retry))
  upload.on('waiting', (wait) => {
    waits.push(wait)
    onWaiting(rig, waits.length)
  })
  const outcome = upload.done().catch((error: unknown) => error)
  await outcome
  return { rig, files, retries, waits, outcome }
}

const codesOf = (retries: Run['retries'], name: string, partNumber: number): string[] =>
  retries.filter((retry) => retry.name === name && retry.partNumber === partNumber).map(({ error }) => error.code)

describe('a storage that fails once', () => {
  const cases: [string, FaultAction, string][] = [
    ['an ETag of other bytes', 'wrongEtag', 'ERR_UPLOAD_DIGEST_MISMATCH'],
    ['a stall before the body', { stall: 'beforeBody' }, 'ERR_UPLOAD_TIMEOUT'],
    ['a stall in the body', { stall: 'midBody' }, 'ERR_UPLOAD_TIMEOUT'],
    ['a stall after the body', { stall: 'afterBody' }, 'ERR_UPLOAD_TIMEOUT'],
  ]
  it.each(cases)('%s costs one attempt, and all bytes are right', async (_what, action, code) => {
    const { rig, files, retries, outcome } = await run({ nth: 1, action })

    expect(await outcome).toMatchObject({ status: 'confirmed', files: [{ verified: true }, { verified: true }] })
    expect(codesOf(retries, 'night.mp4', 2)).toContain(code)
    expectStored(rig, files)
  })

  it('an early 403 that speaks of expiry and closes is doubted while the address lives: no session is replaced', async () => {
    const action: FaultAction = { status: 403, body: EXPIRED, early: 'close' }
    const { rig, files, outcome } = await run({ nth: 1, action })

    expect(await outcome).toMatchObject({ status: 'confirmed' })
    expect(rig.service.requestsOf('create')).toHaveLength(1)
    expectStored(rig, files)
  })
})

describe('a storage that fails for ever', () => {
  const cases: [string, FaultAction, string, RegExp][] = [
    [
      'with ETags of other bytes',
      'wrongEtag',
      'ERR_UPLOAD_RETRIES_EXHAUSTED',
      /^night\.mp4: Gave up after 2 attempts\. The last one: The storage's ETag of part 2 .* use verify: off \(--verify off\)\.$/,
    ],
    [
      'with stalls',
      { stall: 'midBody' },
      'ERR_UPLOAD_RETRIES_EXHAUSTED',
      /^night\.mp4: Gave up after 2 attempts\. The last one: Part 2 (got no|was interrupted)/,
    ],
    [
      'with an early 403 that closes',
      { status: 403, body: WRONG_SIGNATURE, early: 'close' },
      'ERR_UPLOAD_ADDRESS_REFUSED',
      /^night\.mp4: The storage refused part 2 \(403 SignatureDoesNotMatch\)\./,
    ],
  ]
  it.each(cases)('%s fails that file alone, by name and part', async (_what, action, code, message) => {
    const { rig, outcome } = await run({ nth: 'every', action }, { retries: 2 })

    const error = { code, message: expect.stringMatching(message) as string }
    expect(await outcome).toMatchObject({
      status: 'partial',
      files: [
        { name: 'night.mp4', status: 'failed', error },
        { name: 'day.mp4', status: 'confirmed', verified: true },
      ],
    })
    expect(rig.service.storedFiles().map((file) => [file.fileName, file.isConfirmed])).toEqual([
      ['night.mp4', false],
      ['day.mp4', true],
    ])
  })
})

describe('a storage that goes away', () => {
  it('and comes back has cost no attempt, and all bytes are right', async () => {
    const { rig, files, waits, outcome } = await run({ nth: 1, action: 'outage' }, { retries: 2 }, (rig, count) => {
      if (count === 4) void rig.service.endOutage()
    })

    expect(await outcome).toMatchObject({ status: 'confirmed', files: [{ verified: true }, { verified: true }] })
    expect(waits.length).toBeGreaterThanOrEqual(4)
    expectStored(rig, files)
  })

  it('for good is given up in time, and the report says what is missing', async () => {
    const options = { retries: 2, giveUpAfterMs: 30_000, concurrency: 1 }
    const { outcome } = await run({ nth: 1, action: 'outage' }, options)

    const ended = await outcome
    // The small file may have got through before.
    const report = ended instanceof UploadFailedError ? ended.report : ended
    const [night] = (report as UploadReport).files
    expect(report).toMatchObject({ error: { code: 'ERR_UPLOAD_HOST_UNREACHABLE' } })
    expect(night).toMatchObject({ name: 'night.mp4', status: 'unfinished' })
  })
})
