// The database of a page that cannot be opened, as when the disk is full: the next piece of work tries again. And one whose
// opening nobody answers, as when an older tab is frozen.

import { afterEach, expect, test, vi } from 'vitest'
import { pageDatabase } from '../../../src/adapters/browser/page-database.ts'
import { createSimulatedClock } from '../../helpers/simulated-clock.ts'

afterEach(() => vi.unstubAllGlobals())

/** A question that the platform answers with an error. */
class FailingRequest extends EventTarget {
  readonly error = new DOMException('no room', 'QuotaExceededError')
  constructor() {
    super()
    queueMicrotask(() => this.dispatchEvent(new Event('error')))
  }
}

test('is opened anew after it could not be opened, twice for each piece of work', async () => {
  const open = vi.fn(() => new FailingRequest())
  vi.stubGlobal('IDBRequest', FailingRequest)
  vi.stubGlobal('indexedDB', { open })
  const database = pageDatabase('uploads')

  for (const times of [2, 4]) {
    await expect(database.use(() => Promise.resolve('never'))).rejects.toMatchObject({
      code: 'ERR_UPLOAD_JOURNAL',
      message: expect.stringContaining('no more room') as string,
    })
    expect(open).toHaveBeenCalledTimes(times)
  }
})

test('is not waited for without end where the browser never says that it is blocked, and is used once it is open', async () => {
  const clock = createSimulatedClock()
  class SilentRequest extends EventTarget {
    readonly result = {}
  }
  const request = new SilentRequest()
  vi.stubGlobal('IDBRequest', SilentRequest)
  for (const name of ['Database', 'ObjectStore', 'Index', 'Cursor', 'Transaction']) {
    vi.stubGlobal(`IDB${name}`, Map)
  }
  vi.stubGlobal('indexedDB', { open: vi.fn(() => request) })
  const database = pageDatabase('frozen', clock)
  const work = () => database.use(() => Promise.resolve('used'))

  const first = expect(work()).rejects.toMatchObject({
    code: 'ERR_UPLOAD_JOURNAL',
    message: expect.stringContaining('Reload the other tabs of this page') as string,
  })
  await clock.advance(15_000)
  await first
  await expect(work()).rejects.toMatchObject({ code: 'ERR_UPLOAD_JOURNAL' })

  request.dispatchEvent(new Event('success'))
  await expect.poll(work).toBe('used')
  expect(indexedDB.open).toHaveBeenCalledTimes(1)
  expect(clock.pending).toBe(0)
})
