// What a row says of its rate and its time left, beside what is said of the whole: two numbers that a person holds together.

import { describe, expect, it } from 'vitest'

import { readJob, remainingOf } from '../../src/element/reading.ts'
import { newItem, type Item } from '../../src/element/items.ts'
import type { Upload, UploadFileStatus } from '../../src/flows/upload.ts'

const MB = 1_000_000

/** An upload of one file whose sent bytes the test sets. */
function oneFile(bytes: number) {
  const item = newItem({ fileName: 'swing-01.mp4', location: 'swing-01.mp4', bytes })
  const status = {
    fileIndex: 0,
    name: item.fileName,
    bytes,
    sentBytes: 0,
    confirmedBytes: 0,
    parts: 1,
    state: 'uploading',
  }
  const upload = { state: 'uploading', files: () => [status as UploadFileStatus] }
  const job = { upload: upload as unknown as Upload, items: [item] }
  return {
    ...{ item, status, upload },
    readAt(nowMs: number, sentBytes: number) {
      status.sentBytes = sentBytes
      readJob(job, nowMs)
    },
  }
}

describe("a row's rate", () => {
  it('is that of the line however often it is read', () => {
    const [often, seldom] = [oneFile(100 * MB), oneFile(100 * MB)]
    for (let ms = 0; ms <= 4000; ms += 20) often.readAt(ms, ms * 1000)
    for (let ms = 0; ms <= 4000; ms += 200) seldom.readAt(ms, ms * 1000)

    expect(often.item.bytesPerSecond / MB).toBeCloseTo(1, 1)
    expect(seldom.item.bytesPerSecond / MB).toBeCloseTo(1, 1)
  })

  it('is not told of the first bytes, which come at once out of a buffer', () => {
    const { item, readAt } = oneFile(100 * MB)
    readAt(0, MB)
    readAt(20, 5 * MB)

    expect(item.bytesPerSecond).toBe(0)
  })

  it.each(['paused', 'waiting'])('is nothing while the upload stands still (%s), and begins anew', (state) => {
    const { item, readAt, upload } = oneFile(100 * MB)
    for (let ms = 0; ms <= 2000; ms += 100) readAt(ms, ms * 1000)
    upload.state = state
    readAt(2100, 2 * MB)
    expect(item.bytesPerSecond).toBe(0)

    upload.state = 'uploading'
    for (let ms = 60_000; ms <= 62_000; ms += 100) readAt(ms, (ms - 58_000) * 1000)
    expect(item.bytesPerSecond / MB).toBeCloseTo(1, 1)
  })
})

describe("a row's time left", () => {
  const moving = (bytes: number, bytesPerSecond: number): Item => ({
    ...newItem({ fileName: 'swing-01.mp4', location: 'swing-01.mp4', bytes }),
    bytesPerSecond,
  })

  it('is what is left of the file at its own rate', () => {
    expect(remainingOf(moving(30 * MB, MB), 90_000)).toBe(30_000)
  })

  it('is never more than that of the whole: when the others are through, the line is its own', () => {
    expect(remainingOf(moving(30 * MB, MB / 10), 90_000)).toBe(90_000)
  })

  it('is not known before that of the whole is', () => {
    expect(remainingOf(moving(30 * MB, MB), undefined)).toBeUndefined()
    expect(remainingOf(moving(30 * MB, 0), 90_000)).toBeUndefined()
  })
})
