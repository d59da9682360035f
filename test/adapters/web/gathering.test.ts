import { afterEach, expect, test, vi } from 'vitest'
import { createGathering } from '../../../src/adapters/web/gathering.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

/** What was worked on, group by group, under a clock that stands still until it is moved. */
function begin(work: (items: readonly string[]) => Promise<unknown> = () => Promise.resolve()) {
  vi.useFakeTimers()
  vi.advanceTimersByTime(1_000)
  vi.stubGlobal('document', { visibilityState: 'visible' })
  const groups: string[][] = []
  const add = createGathering((items: readonly string[]) => {
    groups.push([...items])
    return work(items)
  })
  return { groups, add }
}

test('begins at once, with all that came in the same task', async () => {
  const { groups, add } = begin()

  await Promise.all([add('a', false), add('b', false)])

  expect(groups).toEqual([['a', 'b']])
})

test('gathers what comes soon after a piece of work', async () => {
  const { groups, add } = begin()
  await add('a', false)

  const later = [add('b', false), add('c', false)]
  await vi.advanceTimersByTimeAsync(50)
  expect(groups).toHaveLength(1)
  later.push(add('d', false))
  await vi.advanceTimersByTimeAsync(50)
  await Promise.all(later)

  expect(groups).toEqual([['a'], ['b', 'c', 'd']])
})

test('waits for nothing more when something urgent comes, and keeps the order', async () => {
  const { groups, add } = begin()
  await add('a', false)

  await Promise.all([add('b', false), add('now', true)])

  expect(groups).toEqual([['a'], ['b', 'now']])
})

test('waits no longer when something urgent comes meanwhile', async () => {
  const { groups, add } = begin()
  await add('a', false)
  const waiting = add('b', false)
  await vi.advanceTimersByTimeAsync(50)
  expect(groups).toEqual([['a']])

  const urgent = add('now', true)
  await vi.advanceTimersByTimeAsync(0)

  expect(groups).toEqual([['a'], ['b', 'now']])
  await Promise.all([waiting, urgent])
})

test('waits for nothing in a hidden page, whose timers are held back', async () => {
  const { groups, add } = begin()
  vi.stubGlobal('document', { visibilityState: 'hidden' })
  await add('a', false)

  await add('b', false)

  expect(groups).toEqual([['a'], ['b']])
})

test('does one piece of work at a time', async () => {
  const ends: (() => void)[] = []
  const { groups, add } = begin(() => new Promise<void>((resolve) => ends.push(resolve)))
  const first = add('a', true)
  await vi.advanceTimersByTimeAsync(0)

  const second = add('b', true)
  await vi.advanceTimersByTimeAsync(100)
  expect(groups).toEqual([['a']])
  ends[0]?.()
  await first
  await vi.advanceTimersByTimeAsync(0)
  ends[1]?.()
  await second

  expect(groups).toEqual([['a'], ['b']])
})

test('fails those of the group that failed, and goes on with the next', async () => {
  const { add } = begin((items) => (items.includes('bad') ? Promise.reject(new Error('no')) : Promise.resolve()))

  const failed = await Promise.allSettled([add('bad', false), add('beside it', false)])
  const next = add('good', true)

  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await expect(next).resolves.toBeUndefined()
})
