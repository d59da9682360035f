// The body of an attempt: windows that are filled, sent, hashed and filled again, and never two of these at once.

import { createHash } from 'node:crypto'

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createBody, type AttemptBody, type BodyOptions } from '../../../src/core/attempt/body.ts'
import type { Hasher, Reader } from '../../../src/core/ports.ts'
import type { Slicer } from '../../../src/core/attempt/slices.ts'
import { createSimulatedClock } from '../../helpers/simulated-clock.ts'
import { slowHasher } from '../../simulation/slow-hasher.ts'
import { fill } from '../../simulation/world.ts'

const BYTES = fill(1_000, 1)

describe('the body of an attempt', () => {
  it('is the range of its unit, in windows, the last one shorter', async () => {
    const { body } = make({ unit: range(100, 350) })

    const pieces = await take(body)

    expect(pieces.map((piece) => piece.byteLength)).toEqual([100, 100, 50])
    expect(Buffer.concat(pieces)).toEqual(Buffer.from(BYTES.subarray(100, 350)))
  })

  it('is an empty sequence for an empty unit', async () => {
    const { body } = make({ unit: range(0, 0) })

    expect(await take(body)).toEqual([])
    expect(await body.digest()).toBe(undefined)
  })

  it('reads the next window while this one is on the line, and does not touch this one', async () => {
    const { body, reads } = make({ unit: range(0, 300) })
    const iterator = body.windows()[Symbol.asyncIterator]()

    const first = (await iterator.next()).value as Uint8Array
    const before = first.slice()
    await turn()

    expect(reads).toEqual([0, 100])
    expect(first).toEqual(before)
    const second = (await iterator.next()).value as Uint8Array
    await turn()
    expect(reads).toEqual([0, 100, 200])
    expect(second).toEqual(BYTES.slice(100, 200))
    await iterator.next()
    await turn()
    expect(reads).toEqual([0, 100, 200])
  })

  it('tells the slicer of every piece that the line was offered, and when it took it', async () => {
    const told: string[] = []
    const slicer = { size: () => 40, began: () => void told.push('began'), ended: () => void told.push('ended') }
    const { body } = make({ unit: range(0, 100), slicer })

    expect((await take(body)).map((piece) => piece.byteLength)).toEqual([40, 40, 20])
    expect(told).toEqual(['began', 'ended', 'began', 'ended', 'began', 'ended'])
  })

  it('reads a window only when it is asked for, from a source that answers at once', async () => {
    const reads: number[] = []
    const atOnce: Reader = {
      ...reader(() => undefined),
      read(into, at) {
        reads.push(at)
        into.set(BYTES.subarray(at, at + into.byteLength))
        return undefined
      },
    }
    const { body, log } = make({ unit: range(0, 250), reader: atOnce })
    const iterator = body.windows()[Symbol.asyncIterator]()

    expect((await iterator.next()).value).toEqual(BYTES.slice(0, 100))
    expect(reads).toEqual([0])
    expect((await iterator.next()).value).toEqual(BYTES.slice(100, 200))
    expect((await iterator.next()).value).toEqual(BYTES.slice(200, 250))
    expect(reads).toEqual([0, 100, 200])
    expect((await iterator.next()).done).toBe(true)
    expect(log).toEqual(['hold', 'ready', 'hold', 'ready', 'hold', 'ready', 'hold', 'ready'])
  })

  it('is given in steps without a promise, from a source that answers at once', () => {
    const atOnce: Reader = {
      ...reader(() => undefined),
      read(into, at) {
        into.set(BYTES.subarray(at, at + into.byteLength))
        return undefined
      },
    }
    const { body, log } = make({ unit: range(0, 250), reader: atOnce })
    const { step } = body.windows()

    const pieces = [1, 2, 3].map(() => (step?.() as IteratorYieldResult<Uint8Array>).value.slice())

    expect(Buffer.concat(pieces)).toEqual(Buffer.from(BYTES.subarray(0, 250)))
    expect(step?.()).toEqual({ value: undefined, done: true })
    expect(log).toEqual(['hold', 'ready', 'hold', 'ready', 'hold', 'ready', 'hold', 'ready'])
  })

  it('does not fill a window that is still hashed, from a source that answers at once', async () => {
    const atOnce: Reader = {
      ...reader(() => undefined),
      read(into, at) {
        into.set(BYTES.subarray(at, at + into.byteLength))
        return undefined
      },
    }
    const { body, clock, hasher } = make({ unit: range(0, 350), reader: atOnce, hashMs: 7 })

    const pieces = take(body)
    await clock.advance(100)

    expect(Buffer.concat(await pieces)).toEqual(Buffer.from(BYTES.subarray(0, 350)))
    expect(await body.digest()).toBe(md5(BYTES.subarray(0, 350)))
    expect(hasher.violations).toEqual([])
  })

  it('holds while it waits for the disk, for leave or for the hash, and is ready when it waits for the line', async () => {
    const gate = gates()
    const { body, log } = make({ unit: range(0, 200), reader: reader(() => gate.wait()), leave: () => gate.wait() })
    const iterator = body.windows()[Symbol.asyncIterator]()
    const first = iterator.next()
    await turn()
    expect(log).toEqual(['hold'])

    await gate.openAll()
    await first
    expect(log).toEqual(['hold', 'ready'])
    const second = iterator.next()
    await turn()
    expect(log).toEqual(['hold', 'ready', 'hold'])

    await gate.openAll()
    await second
    expect((await iterator.next()).done).toBe(true)
    expect(log.at(-1)).toBe('ready')
  })

  it('ends only when the read that was under way has ended', async () => {
    const gate = gates()
    const { body } = make({ unit: range(0, 300), reader: reader(() => gate.wait()) })
    void body.windows()[Symbol.asyncIterator]().next()
    await turn()

    const ended = body.end()

    expect(await isSettled(ended)).toBe(false)
    await gate.openAll()
    expect(await isSettled(ended)).toBe(true)
  })

  it('gives no window and reads nothing for a transport that asks after the end', async () => {
    const { body, reads } = make({ unit: range(0, 300) })
    const iterator = body.windows()[Symbol.asyncIterator]()
    await iterator.next()
    await body.end()
    const readsAtEnd = reads.length

    expect((await iterator.next()).done).toBe(true)
    expect((await body.windows()[Symbol.asyncIterator]().next()).done).toBe(true)
    expect(reads).toHaveLength(readsAtEnd)
  })

  it('hashes only the newest sequence when a transport begins anew', async () => {
    const { body, clock } = make({ unit: range(0, 250), hashMs: 5 })
    const stale = body.windows()[Symbol.asyncIterator]()
    const taken = stale.next()
    await clock.advance(10)
    expect((await taken).done).toBe(false)

    const pieces = take(body)
    await clock.advance(100)
    const digest = body.digest()

    expect(Buffer.concat(await pieces)).toEqual(Buffer.from(BYTES.subarray(0, 250)))
    expect(await digest).toBe(md5(BYTES.subarray(0, 250)))
    expect((await stale.next()).done).toBe(true)
  })

  it('begins anew only when no read touches the windows any more, and frees the hash of what was begun', async () => {
    const gate = gates()
    const reads: number[] = []
    const slow = reader((at) => (reads.push(at), reads.length === 1 ? gate.wait() : undefined))
    const hashes: { readonly lengthBytes: number | undefined; isFree: boolean }[] = []
    const start: Hasher['start'] = (lengthBytes) => {
      const told = { lengthBytes, isFree: false }
      hashes.push(told)
      const dispose = (): void => void (told.isFree = true)
      return { update: () => undefined, digest: () => Promise.resolve(''), dispose }
    }
    const { body } = make({ unit: range(100, 350), reader: slow, hasher: { start } })
    void body.windows()[Symbol.asyncIterator]().next()
    await turn()

    const pieces = take(body)
    await turn()
    expect(reads).toEqual([100])
    await gate.openAll()

    expect(Buffer.concat(await pieces)).toEqual(Buffer.from(BYTES.subarray(100, 350)))
    expect(hashes).toEqual([
      { lengthBytes: 250, isFree: true },
      { lengthBytes: 250, isFree: false },
    ])
    await body.end()
    expect(hashes[1]?.isFree).toBe(true)
  })

  it('gives the digest after the last update, also when nobody asked for more than the last window', async () => {
    const { body, clock, hasher } = make({ unit: range(0, 100), hashMs: 50 })
    await body.windows()[Symbol.asyncIterator]().next()

    const digest = body.digest()
    await clock.advance(50)

    expect(await digest).toBe(md5(BYTES.subarray(0, 100)))
    expect(hasher.violations).toEqual([])
  })

  it('keeps its windows until a hash that nobody waits for any more is done with them', async () => {
    const { body, clock, hasher } = make({ unit: range(0, 300), hashMs: 1_000 })
    const iterator = body.windows()[Symbol.asyncIterator]()
    await iterator.next()

    const ended = body.end()

    expect(await isSettled(ended)).toBe(false)
    await clock.advance(1_000)
    await ended
    expect(hasher.openCount).toBe(0)
  })

  it('fails the sequence with what reading failed with', async () => {
    const problem = new Error('the disk is gone')
    const { body } = make({
      unit: range(0, 300),
      reader: reader((at) => (at === 100 ? Promise.reject(problem) : undefined)),
    })
    const iterator = body.windows()[Symbol.asyncIterator]()
    await iterator.next()

    await expect(iterator.next()).rejects.toBe(problem)
    await body.end()
  })

  it('reads ahead from a source that takes time, until it answers at once', async () => {
    const reads: number[] = []
    const isSlow = (at: number): boolean => at < 400
    const mixed = mixedReader((at) => (reads.push(at), isSlow(at) ? turn() : undefined))
    const { body } = make({ unit: range(0, 900), reader: mixed, windows: [new Uint8Array(100), new Uint8Array(100)] })
    const iterator = body.windows()[Symbol.asyncIterator]()

    const sizes: number[] = []
    const readsOnTheLine: (readonly number[])[] = []
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
      const before = next.value.slice()
      await turn()
      expect(next.value).toEqual(before)
      sizes.push(next.value.byteLength)
      readsOnTheLine.push([...reads])
    }

    expect(sizes).toEqual(Array(9).fill(100))
    // Each was sent while the next was read, as far as the source took time.
    expect(readsOnTheLine.map((done) => done.length)).toEqual([2, 3, 4, 5, 5, 6, 7, 8, 9])
  })

  it('gives the bytes and their digest for any sizes, any speeds of disk and hash, in steps or not', async () => {
    const sizes = fc.record({ length: fc.integer({ min: 0, max: 999 }), windowBytes: fc.integer({ min: 1, max: 400 }) })
    const speeds = fc.record({
      readMs: fc.nat({ max: 9 }),
      hashMs: fc.nat({ max: 9 }),
      atOnce: fc.array(fc.boolean(), { minLength: 1, maxLength: 9 }),
    })
    await fc.assert(
      fc.asyncProperty(
        sizes,
        speeds,
        fc.boolean(),
        async ({ length, windowBytes }, { readMs, hashMs, atOnce }, inSteps) => {
          const clock = createSimulatedClock()
          const hasher = slowHasher(clock, () => hashMs)
          let reads = 0
          const mixed = mixedReader(() =>
            atOnce[reads++ % atOnce.length] === true
              ? undefined
              : new Promise<void>((resolve) => clock.setTimeout(resolve, readMs)),
          )
          const [one, other] = [new Uint8Array(windowBytes), new Uint8Array(windowBytes)]
          const options = {
            unit: range(0, length),
            reader: mixed,
            windows: length <= windowBytes ? [one] : [one, other],
            pace: UNPACED,
            slicer: WHOLE,
            hasher,
          }
          const body = createBody({ ...options, onHold() {}, onReady() {} })

          const copies = inSteps ? takeInSteps(body) : take(body)
          await clock.advance(20 * (Math.ceil(length / windowBytes) + 1))

          expect(Buffer.concat(await copies)).toEqual(Buffer.from(BYTES.subarray(0, length)))
          expect(await body.digest()).toBe(md5(BYTES.subarray(0, length)))
          expect(hasher.violations).toEqual([])
        },
      ),
      { numRuns: 80 },
    )
  })
})

const UNPACED: BodyOptions['pace'] = { pieceBytes: () => Infinity, take: () => undefined }
/** Whole windows go to the line. */
const WHOLE: Slicer = { size: () => Infinity, began: () => undefined, ended: () => undefined }

interface MakeOptions extends Pick<BodyOptions, 'unit'> {
  readonly reader?: Reader
  readonly windows?: readonly Uint8Array[]
  readonly leave?: BodyOptions['pace']['take']
  readonly hashMs?: number
  readonly hasher?: Hasher
  readonly slicer?: Slicer
}

function make({ unit, reader: given, windows, leave, hashMs, hasher: own, slicer }: MakeOptions) {
  const clock = createSimulatedClock()
  const hasher = slowHasher(clock, () => hashMs ?? 0)
  const log: string[] = []
  const reads: number[] = []
  const body = createBody({
    unit,
    reader: given ?? reader((at) => void reads.push(at)),
    windows: windows ?? [new Uint8Array(100), new Uint8Array(100)],
    hasher: own ?? (hashMs === undefined ? undefined : hasher),
    slicer: slicer ?? WHOLE,
    pace: leave === undefined ? UNPACED : { ...UNPACED, take: leave },
    onHold: () => void log.push('hold'),
    onReady: () => void log.push('ready'),
  })
  return { body, clock, hasher, log, reads }
}

function reader(before: (at: number) => unknown): Reader {
  return {
    async read(into, at) {
      await before(at)
      into.set(BYTES.subarray(at, at + into.byteLength))
    },
    verify: () => Promise.resolve(),
    close: () => Promise.resolve(),
  }
}

/** Waits for what `before` returns; answers at once where that is nothing. */
function mixedReader(before: (at: number) => Promise<void> | undefined): Reader {
  return {
    ...reader(() => undefined),
    read(into, at) {
      const wait = before(at)
      const answer = (): void => into.set(BYTES.subarray(at, at + into.byteLength))
      if (wait !== undefined) return wait.then(answer)
      answer()
      return undefined
    },
  }
}

function range(start: number, end: number) {
  return { fileIndex: 0, partNumber: 1, start, end }
}

async function take(body: AttemptBody): Promise<Uint8Array[]> {
  const copies: Uint8Array[] = []
  for await (const piece of body.windows()) copies.push(piece.slice())
  return copies
}

async function takeInSteps(body: AttemptBody): Promise<Uint8Array[]> {
  const copies: Uint8Array[] = []
  const sequence = body.windows()
  for (;;) {
    const found = sequence.step?.()
    if (found instanceof Promise) await found
    else if (found?.done === false) copies.push(found.value.slice())
    else return copies
  }
}

function md5(bytes: Uint8Array): string {
  return createHash('md5').update(bytes).digest('hex')
}

/** Waits that the test opens all at once. */
function gates(): { wait(): Promise<void>; openAll(): Promise<void> } {
  const waiting: (() => void)[] = []
  return {
    wait: () => new Promise((resolve) => waiting.push(resolve)),
    async openAll() {
      for (let round = 0; round < 5; round += 1) {
        for (const open of waiting.splice(0)) open()
        await turn()
      }
    },
  }
}

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let isOver = false
  const note = (): void => void (isOver = true)
  promise.then(note, note)
  await turn()
  return isOver
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
