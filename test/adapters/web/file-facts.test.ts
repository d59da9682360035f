import { afterEach, expect, test, vi } from 'vitest'
import { learnFacts } from '../../../src/adapters/web/file-facts.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

test('gives the page its turn while another process answers for many files', async () => {
  let nowMs = 0
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  let isInTask = true
  const tasks: number[] = []
  const nextTask = (): void => {
    isInTask = false
    if (tasks.length < 99) setImmediate(nextTask)
  }
  class PickedFile extends Blob {
    override get size(): number {
      if (!isInTask || tasks.length === 0) tasks.push(0)
      isInTask = true
      tasks[tasks.length - 1]! += 1
      nowMs += 4
      return 7
    }
  }
  setImmediate(nextTask)

  await learnFacts(Array.from({ length: 10 }, () => new PickedFile()))

  expect(tasks).toEqual([3, 3, 3, 1])
})
