// A host that cannot be reached, seen from its parts.

import { describe, expect, it } from 'vitest'
import { UploadError } from '../../../src/core/errors.ts'
import { createWorld } from '../../simulation/world.ts'
import { signal, nth, delays } from './transfer-rig.ts'

describe('a host that cannot be reached', () => {
  it('costs no attempt where not even a connection was made', async () => {
    const world = createWorld({ engine: { retries: 1 }, fault: nth([{ kind: 'connect' }, { kind: 'connect' }]) })

    const run = world.engine.run(world.job({ sources: world.sources([100]) }), signal())

    expect(await world.until(run)).toEqual({ confirmedCount: 1, failedCount: 0 })
  })

  it('uses up no attempts, is told with wall times, probed with one part at growing intervals, and told when back', async () => {
    const world = createWorld({
      engine: { retries: 2, concurrency: 3 },
      fault: ({ atMs }) => (atMs < 20_000 ? { kind: 'connect' } : undefined),
    })
    const startMs = world.clock.wallNow()
    const job = world.job({ sources: world.sources([100, 100, 100, 100]) })

    expect(await world.until(world.engine.run(job, signal()))).toEqual({ confirmedCount: 4, failedCount: 0 })

    const told = job.events.filter(({ type }) => type === 'unreachable' || type === 'reachable')
    // Probes at 0.9 of 1, 2, 4, 8, 16 s after one another, with chance at one half.
    const away = {
      type: 'unreachable',
      who: 'storage',
      host: 'store.test:443',
      sinceMs: startMs,
      giveUpAtMs: startMs + 3_600_000,
    }
    expect(told).toEqual([
      { ...away, untilMs: startMs + 900 },
      { ...away, untilMs: startMs + 2_700 },
      { ...away, untilMs: startMs + 6_300 },
      { ...away, untilMs: startMs + 13_500 },
      { ...away, untilMs: startMs + 27_900 },
      { type: 'reachable' },
    ])
    const probes = world.store.requests.slice(3).map(({ atMs }) => atMs)
    expect(probes).toEqual([900, 2_700, 6_300, 13_500, 27_900, 27_900, 27_900, 27_900])
  })

  it('is not there because a thread of ours lost a digest: that uses up an attempt and says nothing of the host', async () => {
    const noConnection = { kind: 'connect' } as const
    let updates = 0
    const world = createWorld({
      fault: nth([noConnection, noConnection, undefined, noConnection]),
      engine: {
        hasher: {
          start: () => ({
            update() {
              updates += 1
              const error = new UploadError('ERR_UPLOAD_INTERNAL', 'The thread ended.', { isRetryable: true })
              return updates === 1 ? Promise.reject(error) : undefined
            },
            digest: () => Promise.resolve(undefined as never),
          }),
        },
      },
    })
    const job = world.job({ sources: world.sources([100]) })

    expect(await world.until(world.engine.run(job, signal()))).toEqual({ confirmedCount: 1, failedCount: 0 })

    const told = job.events.flatMap(({ type }) => (type === 'retry' || type === 'unreachable' ? [type] : []))
    expect(updates).toBe(2)
    expect(told).toEqual(['retry', 'retry', 'retry', 'unreachable', 'retry'])
  })

  it('ends the session after the time that the host was given, and only a probe may say so', async () => {
    const world = createWorld({ engine: { giveUpAfterMs: 60_000 }, fault: () => ({ kind: 'connect' }) })
    const job = world.job({ sources: world.sources([100, 100]) })

    const run = world.engine.run(job, signal())

    await expect(world.until(run)).rejects.toMatchObject({
      code: 'ERR_UPLOAD_HOST_UNREACHABLE',
      message:
        'The storage store.test:443 could not be reached for 60 s. Check the network, then resume the upload. ' +
        'The last failure: The connection broke.',
      cause: { code: 'ERR_UPLOAD_NETWORK' },
    })
    expect(job.ledger.files.map(({ state }) => state)).toEqual(['ready', 'ready'])
    expect(job.events.filter(({ type }) => type === 'reachable')).toEqual([])
    expect(world.clock.pending).toBe(0)
  })

  it('is not said to be out of reach where it takes connections and answers nothing', async () => {
    const world = createWorld({
      engine: { giveUpAfterMs: 60_000 },
      fault: () => ({ kind: 'lostAnswer', isStored: false }),
    })
    const job = world.job({ sources: world.sources([100, 100]) })

    await expect(world.until(world.engine.run(job, signal()))).rejects.toMatchObject({
      code: 'ERR_UPLOAD_HOST_UNREACHABLE',
      message: expect.stringMatching(/^The storage store\.test:443 gave no answer for 60 s\./) as string,
    })
  })

  it('is there when its answer cannot be read: that uses up attempts, and no time of waiting for it', async () => {
    const world = createWorld({ engine: { retries: 3 }, fault: () => ({ kind: 'unreadable' }) })
    const job = world.job({ sources: world.sources([100, 100, 100, 100]) })

    await world.until(world.engine.run(job, signal()))

    expect(job.events.filter(({ type }) => type === 'unreachable')).toEqual([])
    expect(job.ledger.files.map(({ error }) => error)).toMatchObject(
      Array.from({ length: 4 }, () => ({ code: 'ERR_UPLOAD_RETRIES_EXHAUSTED', partNumber: 1, attempt: 3 })),
    )
  })

  it('gets the pause that it asks for when that is longer than a part waits, and answers meanwhile do not end it', async () => {
    const world = createWorld({
      answerMs: 100,
      fault: ({ fileIndex, atMs }) =>
        fileIndex === 0 && atMs === 0 ? { kind: 'status', status: 503, headers: { 'retry-after': '600' } } : undefined,
      engine: { concurrency: 2 },
      windowMs: 0,
    })
    const job = world.job({ sources: world.sources([100, 100, 100]), partSizeBytes: 50 })

    await world.until(world.engine.run(job, signal()))

    const later = world.store.requests.filter(({ atMs }) => atMs > 0)
    expect(later.length).toBeGreaterThan(0)
    expect(Math.min(...later.map(({ atMs }) => atMs))).toBeGreaterThanOrEqual(630_000)
    expect(job.events.map(({ type }) => type).filter((type) => type.endsWith('reachable'))).toEqual([
      'unreachable',
      'reachable',
    ])
  })

  it('is asked again when one would give it up, also where it asked for more, and that is the time that is told', async () => {
    const world = createWorld({
      engine: { giveUpAfterMs: 60_000 },
      fault: nth([{ kind: 'status', status: 503, headers: { 'retry-after': '1200' } }]),
    })
    const job = world.job({ sources: world.sources([100]) })

    await world.until(world.engine.run(job, signal()))

    expect(world.store.requests.map(({ atMs }) => atMs)).toEqual([0, 60_000])
    const told = job.events.flatMap((event) => (event.type === 'unreachable' ? [event.untilMs - event.sinceMs] : []))
    expect(told).toEqual([60_000])
    expect(delays(job.events)).toEqual([60_000])
  })
})
