// Attempts that were told to end and never do, because a drive is gone or a host's own part hangs: nobody waits for them for ever,
// and what they hold is given to nobody else.

import { describe, expect, it } from 'vitest'
import { createEngine } from '../../../src/core/adaptive-engine.ts'
import { leave, type Attempt } from '../../../src/core/attempt/attempt.ts'
import { wholeBodies } from '../../../src/core/attempt/whole-body.ts'
import type { EngineOptions } from '../../../src/core/engine.ts'
import { TransportError } from '../../../src/core/errors.ts'
import type { Hasher, Reader, Source, Transport } from '../../../src/core/ports.ts'
import { createWorld, type World } from '../../simulation/world.ts'
import type { WatchedSource } from '../../simulation/watched-source.ts'

const LATE = new TransportError('ERR_UPLOAD_TIMEOUT', 'Too late.', { ending: 'doubtful', phase: 'answer' })
const never = (): Promise<never> => new Promise(() => undefined)
const hashWith = (own: Partial<ReturnType<Hasher['start']>>): Partial<EngineOptions> => ({
  hasher: { start: () => ({ update: () => undefined, digest: () => '00', ...own }) },
})

/** What hangs: a part of the reader, of the hasher, or the transport. */
interface Hanging {
  readonly reader?: Partial<Reader>
  readonly options?: Partial<EngineOptions>
  readonly send?: Transport['send']
  readonly isBlob?: boolean
  /** What is on record of the part in the end. Default: that it is doubtful. */
  readonly record?: 'part.received'
}

const HANGING: readonly (readonly [what: string, hanging: Hanging])[] = [
  ['a read', { reader: { read: never } }],
  ['a read of a short part', { reader: { read: never }, options: { wholeBodies: wholeBodies() } }],
  ['a last look at the source', { reader: { verify: never } }],
  ['the close of a source', { reader: { close: never }, record: 'part.received' }],
  ['a transport', { send: never }],
  ['a transport of Blobs', { send: never, isBlob: true }],
  ['a hash', { options: hashWith({ update: never }) }],
  ['a hash of a short part', { options: { ...hashWith({ update: never }), wholeBodies: wholeBodies() } }],
  ['a digest', { options: hashWith({ digest: never }) }],
  ['the digest of a Blob', { options: { hasher: { start: never as never, digestBlob: never } }, isBlob: true }],
]

/** An engine of which something hangs for the first file of a session, and for no other. */
function hangingEngine({ reader, options, send, isBlob = false }: Hanging) {
  const world = createWorld()
  const isHanging = (url: string): boolean => new URL(url).pathname.startsWith('/0/')
  const transport: Transport = {
    ...world.store,
    send: (request) => (send && isHanging(request.url) ? send(request) : world.store.send(request)),
  }
  const engine = createEngine({
    ...{ clock: world.clock, random: () => 0.5, concurrency: 2, memoryBytes: 4 * 64 * 1024, transport, ...options },
  })
  const [first, second] = world.sources([1_500, 1_500], { isBlob })
  return { world, engine, first: withReader(first!, reader), second: second! }
}

function withReader(source: WatchedSource, own: Partial<Reader> | undefined): Source & { readonly bytes: Uint8Array } {
  return {
    ...source,
    async open(expected) {
      return { ...(await source.open(expected)), ...own }
    },
  }
}

/** Lets all that can go on without time go on. */
const settle = ({ clock }: World): Promise<void> => clock.advance(0)

describe.each(HANGING)('an attempt that %s holds up when it is to end', (_, hanging) => {
  it('holds up its session for a quarter of a minute, keeps no slot, and no timer runs on', async () => {
    const { world, engine, first } = hangingEngine(hanging)
    const stop = new AbortController()
    const job = world.job({ sources: [first] })
    const run = engine.run(job, stop.signal)
    await settle(world)

    stop.abort(new Error('paused'))

    await expect(world.until(run, 15_000)).rejects.toThrow('paused')
    expect(engine.stats().inFlight).toBe(0)
    expect(job.records.map(({ type }) => type)).toEqual(['session.created', hanging.record ?? 'part.doubtful'])
    await world.clock.advance(86_400_000)
    expect(world.clock.pending).toBe(0)
  })
})

describe('an attempt that was left', () => {
  it('keeps its memory until nothing touches it any more, and then gives it back', async () => {
    const lent: Uint8Array[] = []
    let endRead: () => void = () => undefined
    const read = (into: Uint8Array): Promise<void> => {
      lent.push(into)
      return new Promise((resolve) => (endRead = resolve))
    }
    const { world, engine, first, second } = hangingEngine({ reader: { read } })
    const later: ArrayBufferLike[] = []
    const noted = {
      ...second,
      async open(expected: { readonly sizeBytes: number }) {
        const reader = await second.open(expected)
        return {
          ...reader,
          read(into: Uint8Array, at: number) {
            later.push(into.buffer)
            return reader.read(into, at)
          },
        }
      },
    }
    const stop = new AbortController()
    const run = engine.run(world.job({ sources: [first] }), stop.signal)
    await settle(world)
    stop.abort(new Error('paused'))
    await expect(world.until(run)).rejects.toThrow('paused')
    const sendAnother = () => world.until(engine.run(world.job({ sources: [noted] }), new AbortController().signal))

    expect(await sendAnother()).toMatchObject({ confirmedCount: 1 })
    expect(later).not.toContain(lent[0]?.buffer)
    endRead()
    await settle(world)
    await sendAnother()

    expect([lent.length, later.at(-1)]).toEqual([1, lent[0]?.buffer])
  })

  it('starves nobody in silence: once too many hold the memory, a session fails at once and says what to do', async () => {
    const { world, engine, first, second } = hangingEngine({ reader: { read: never } })
    for (let left = 0; left < 4; left += 1) {
      const stop = new AbortController()
      const run = engine.run(world.job({ sources: [first] }), stop.signal)
      await settle(world)
      stop.abort(new Error('paused'))
      await expect(world.until(run)).rejects.toThrow('paused')
    }
    const job = world.job({ sources: [second] })

    const result = await world.until(engine.run(job, new AbortController().signal), 60_000)

    expect(result).toMatchObject({ failedCount: 1 })
    expect(job.records.at(-1)).toMatchObject({
      type: 'file.failed',
      error: { code: 'ERR_UPLOAD_SOURCE_READ', message: expect.stringContaining('restart the program') as string },
    })
    expect(world.clock.pending).toBe(0)
  })

  it.each([
    ['and nothing more', undefined],
    ['and whose watch ran out after that', LATE],
  ])('because of a pause %s was aborted', (_, expiry) => {
    const controller = new AbortController()
    controller.abort(new Error('paused'))
    const attempt = { controller, isSending: true, expiry } as Attempt

    expect(leave(attempt)).toEqual({ kind: 'aborted', ending: 'doubtful' })
    expect(attempt.isSending).toBe(false)
  })

  it('is not heard of any more, and its part goes again where only its watch had ended it', async () => {
    const told: (((sentBytes: number) => void) | undefined)[] = []
    const { world, engine, first } = hangingEngine({
      send(request) {
        told.push(request.onSent)
        return never()
      },
    })
    const job = world.job({ sources: [first] })
    const stop = new AbortController()
    const run = engine.run(job, stop.signal)
    await world.clock.advance(29_999)
    expect(told).toHaveLength(1)

    await world.clock.advance(1_001)
    told[0]?.(1_500)

    expect(told.length).toBeGreaterThan(1)
    expect(job.events.map(({ type }) => type)).toEqual(['attemptEnded', 'retry'])
    expect(job.records.at(-1)?.type).toBe('part.doubtful')
    stop.abort(new Error('paused'))
    await expect(world.until(run)).rejects.toThrow('paused')
  })
})
