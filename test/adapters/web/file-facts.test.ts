import { afterEach, expect, test, vi } from 'vitest'
import { blobSource } from '../../../src/adapters/web/blob-source.ts'
import { learnFacts } from '../../../src/adapters/web/file-facts.ts'

let endTasks: () => void = () => undefined

afterEach(async () => {
  endTasks()
  // The turn of the test before is over.
  await new Promise((resolve) => setImmediate(resolve))
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

/** Its messages come in the order of other tasks, which the platform does not promise. */
class OrderedChannel {
  readonly port1 = { onmessage: (): void => undefined, close: (): void => undefined }
  readonly port2 = { postMessage: (): unknown => setImmediate(() => this.port1.onmessage()) }
}

/** Files whose size takes 4 ms to learn the first time, and how many were learned in each task that learned any. */
function pickedFiles(count: number) {
  let nowMs = 0
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  vi.stubGlobal('MessageChannel', OrderedChannel)
  const tasks: number[] = []
  let isNewTask = true
  const tick = (): void => {
    isNewTask = true
    ticker = setImmediate(tick)
  }
  let ticker = setImmediate(tick)
  endTasks = () => clearImmediate(ticker)
  class PickedFile extends Blob {
    #isKnown = false

    override get size(): number {
      if (!this.#isKnown) {
        this.#isKnown = true
        nowMs += 4
        if (isNewTask) tasks.push(0)
        isNewTask = false
        tasks[tasks.length - 1]! += 1
      }
      return super.size
    }
  }
  return { tasks, files: Array.from({ length: count }, () => new PickedFile(['a'])) }
}

test('gives the page its turn while another process answers for many files', async () => {
  const { files, tasks } = pickedFiles(10)

  await learnFacts(files)

  expect(tasks).toEqual([3, 3, 3, 1])
})

test('so do sources that are described together', async () => {
  const { files, tasks } = pickedFiles(10)

  await Promise.all(files.map((file, index) => blobSource(`${String(index)}.mp4`, file).describe()))

  expect(tasks).toEqual([3, 3, 3, 1])
})

test('so do sources that are described a few at a time, as an upload does', async () => {
  const { files, tasks } = pickedFiles(10)
  const sources = files.map((file, index) => blobSource(`${String(index)}.mp4`, file))

  for (let from = 0; from < sources.length; from += 2) {
    await Promise.all(sources.slice(from, from + 2).map((source) => source.describe()))
  }

  expect(tasks).toEqual([3, 3, 3, 1])
})
