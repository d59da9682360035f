// The session id of an S3 session: what is written comes back, and nothing else is taken for one.

import { expect, it } from 'vitest'
import { formatS3Session, readS3Session } from '../../src/protocols/s3-session.ts'

it('lists the uploads in the order of their files, whatever the order in which they were created', () => {
  const uploads = [2, 0, 1].map((fileIndex) => ({
    fileIndex,
    key: `k${String(fileIndex)}`,
    uploadId: 'u',
    createdAtMs: 7,
  }))

  expect(readS3Session(formatS3Session(uploads))).toStrictEqual([uploads[1], uploads[2], uploads[0]])
})

it('says no time of creation where none is known', () => {
  const text = formatS3Session([{ fileIndex: 0, key: 'k', uploadId: 'u' }])

  expect(readS3Session(text)).toStrictEqual([{ fileIndex: 0, key: 'k', uploadId: 'u' }])
})

it.each(['x', '{}', '7', '[null]', '[7]', '[["0","k","u"]]', '[[0,1,"u"]]', '[[0,"k",1]]', '[[0,"k"]]'])(
  'is refused where it reads %s',
  (text) => {
    expect(() => readS3Session(text)).toThrow('This is not the id of an S3 session.')
  },
)
