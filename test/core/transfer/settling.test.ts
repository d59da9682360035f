import { expect, test } from 'vitest'
import { createFixedEngine } from '../../../src/core/engine.ts'
import { createSettling } from '../../../src/core/transfer/settling.ts'
import { createWorld } from '../../simulation/world.ts'

/** An attempt in two steps: it is answered, and it has ended. */
function steps() {
  let end: (isTaken: boolean) => void = () => undefined
  const ended = new Promise<boolean>((resolve) => (end = resolve))
  let onFree: (isAnswered: boolean) => void = () => undefined
  return {
    begin: (of: (isAnswered: boolean) => void) => {
      onFree = of
      return ended
    },
    answer: () => onFree(true),
    hang: () => onFree(false),
    end: () => end(true),
  }
}

async function isSettled(promise: Promise<unknown> | undefined): Promise<boolean> {
  const pending = Symbol('pending')
  await new Promise((resolve) => setTimeout(resolve))
  return (await Promise.race([promise, Promise.resolve(pending)])) !== pending
}

test('frees a slot when its attempt says so', async () => {
  const settling = createSettling()
  const attempt = steps()

  const freed = settling(attempt.begin)
  expect(await isSettled(freed)).toBe(false)
  attempt.answer()
  expect(await isSettled(freed)).toBe(true)
})

test('frees a slot at the end of an attempt that never says so', async () => {
  const settling = createSettling()
  const attempt = steps()
  const freed = settling(attempt.begin)

  attempt.end()

  expect(await isSettled(freed)).toBe(true)
})

test('lets 64 be looked into without a slot, and the next when one of them has ended', async () => {
  const settling = createSettling()
  const first = Array.from({ length: 64 }, steps)
  for (const attempt of first) void settling(attempt.begin)
  for (const attempt of first) attempt.answer()
  const [late, later] = [steps(), steps()]

  const kept = settling(late.begin)
  late.answer()
  expect(await isSettled(kept)).toBe(false)
  first[0]?.end()
  await isSettled(kept)
  const freed = settling(later.begin)
  later.answer()

  expect(await isSettled(freed)).toBe(true)
  late.end()
  expect(await isSettled(kept)).toBe(true)
})

test('frees the slots of all whose sources hang, however many', async () => {
  const settling = createSettling()
  const hung = Array.from({ length: 100 }, steps)
  const slots = hung.map(({ begin }) => settling(begin))

  for (const { hang } of hung) hang()

  expect(await Promise.all(slots.map(async (slot) => slot))).toEqual(hung.map(() => false))
})

test('tells whether the storage took the part', async () => {
  const settling = createSettling()
  const [answered, ended] = [steps(), steps()]
  const slots = [answered, ended].map(({ begin }) => settling(begin))

  answered.answer()
  ended.end()

  expect(await Promise.all(slots.map(async (slot) => slot))).toEqual([true, true])
})

test('begins nothing where there is nothing', () => {
  expect(createSettling()(() => undefined)).toBeUndefined()
})

/** Eight parts of a Blob, two at once; a receipt takes so long to be written. */
function slowReceipts({
  writtenAfterMs,
  ...storeOptions
}: Parameters<typeof createWorld>[0] & { writtenAfterMs: number }) {
  const world = createWorld({ windowMs: 10, ...storeOptions })
  const { clock } = world
  const writing = { now: 0, most: 0 }
  const job = world.job({
    sources: world.sources([800], { isBlob: true }),
    partSizeBytes: 100,
    async onRecord({ type }) {
      if (type !== 'part.received') return
      writing.most = Math.max(writing.most, (writing.now += 1))
      await new Promise<void>((resolve) => clock.setTimeout(resolve, writtenAfterMs))
      writing.now -= 1
    },
  })
  const engine = createFixedEngine({ clock, transport: world.store, random: () => 0.5, concurrency: 2 })
  return { world, job, engine, writing }
}

test('an engine goes on with the next part while receipts are written, and never sends more at once', async () => {
  const { world, job, engine, writing } = slowReceipts({ writtenAfterMs: 10_000 })

  const result = await world.until(engine.run(job, new AbortController().signal))

  expect(result).toEqual({ confirmedCount: 1, failedCount: 0 })
  expect([world.store.requests.length, world.store.maxInFlight, world.store.violations]).toEqual([8, 2, []])
  expect(writing).toEqual({ now: 0, most: 8 })
  expect(world.clock.monotonicNow()).toBeLessThan(20_000)
})

test('a session that is stopped ends when the last receipt is written', async () => {
  const { world, job, engine, writing } = slowReceipts({ writtenAfterMs: 10_000 })
  const controller = new AbortController()
  world.clock.setTimeout(() => controller.abort(new Error('paused')), 5_000)

  await expect(world.until(engine.run(job, controller.signal))).rejects.toThrow('paused')

  expect(writing).toEqual({ now: 0, most: 8 })
  expect(world.clock.monotonicNow()).toBeGreaterThanOrEqual(10_000)
  expect([engine.stats().inFlight, world.clock.pending]).toEqual([0, 0])
})

test('a slot is kept by a part that was refused, so that a pause the storage asks for is known first', async () => {
  let refusals = 1
  const { world, job } = slowReceipts({ writtenAfterMs: 0 })
  const sent: number[] = []
  const transport = {
    ...world.store,
    send(request: Parameters<typeof world.store.send>[0]) {
      sent.push(world.clock.monotonicNow())
      refusals -= 1
      return refusals < 0
        ? world.store.send(request)
        : Promise.resolve({ status: 503, headers: { 'retry-after': '600' }, body: new Uint8Array(), isBodyCut: false })
    },
  }
  const engine = createFixedEngine({ clock: world.clock, transport, random: () => 0.5, concurrency: 1 })

  await world.until(engine.run(job, new AbortController().signal))

  expect(sent).toHaveLength(9)
  expect(sent[1]).toBeGreaterThanOrEqual(600_000)
})

test('counts each of the 64 once, and none that kept its slot to its end', async () => {
  const settling = createSettling()
  const first = Array.from({ length: 64 }, steps)
  for (const attempt of first) {
    void settling(attempt.begin)
    attempt.answer()
    attempt.answer()
  }
  const kept = steps()
  const keptSlot = settling(kept.begin)
  kept.answer()
  kept.end()
  expect(await isSettled(keptSlot)).toBe(true)
  first[0]?.end()
  await isSettled(undefined)

  const next = [steps(), steps()]
  const freed = next.map((attempt) => settling(attempt.begin))
  for (const attempt of next) attempt.answer()
  expect([await isSettled(freed[0]), await isSettled(freed[1])]).toEqual([true, false])
})
