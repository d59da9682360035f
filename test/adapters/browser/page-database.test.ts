// The database of a page that cannot be opened, as when the disk is full: the next piece of work tries again.

import { afterEach, expect, test, vi } from 'vitest'
import { pageDatabase } from '../../../src/adapters/browser/page-database.ts'

afterEach(() => vi.unstubAllGlobals())

/** A question that the platform answers with an error. */
class FailingRequest extends EventTarget {
  readonly error = new DOMException('no room', 'QuotaExceededError')
  constructor() {
    super()
    queueMicrotask(() => this.dispatchEvent(new Event('error')))
  }
}

test('is opened anew after it could not be opened', async () => {
  const open = vi.fn(() => new FailingRequest())
  vi.stubGlobal('IDBRequest', FailingRequest)
  vi.stubGlobal('indexedDB', { open })
  const database = pageDatabase('uploads')

  for (const times of [1, 2]) {
    await expect(database.use(() => Promise.resolve('never'))).rejects.toMatchObject({
      code: 'ERR_UPLOAD_JOURNAL',
      message: expect.stringContaining('no more room') as string,
    })
    expect(open).toHaveBeenCalledTimes(times)
  }
})
