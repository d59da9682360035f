import { createWriteStream, existsSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { describe, expect, it } from 'vitest'

import { fileProblem } from '../../../src/adapters/node/file-problem.ts'

describe('fileProblem', () => {
  it.skipIf(!existsSync('/dev/full'))('says of a disk that is full what to do', async () => {
    // The device that is always full makes the platform say it.
    const said: unknown = await pipeline(Readable.from(['x']), createWriteStream('/dev/full')).catch((e: unknown) => e)

    const problem = fileProblem(said, '/spool', 'used as a temporary file')

    expect(problem.code).toBe('ERR_UPLOAD_SOURCE_READ')
    expect(problem.message).toBe(
      '"/spool" cannot be used as a temporary file: the disk is full. Free some space or name another folder.',
    )
    expect(problem.cause).toBe(said)
    expect(problem.details).toEqual({ path: '/spool', systemCode: 'ENOSPC' })
  })

  it.each([
    ['EMFILE', true],
    ['EBUSY', true],
    ['ESTALE', true],
    ['EIO', true],
    ['ETIMEDOUT', true],
    ['ENOTCONN', true],
    ['UNKNOWN', true],
    ['ENOENT', false],
    ['EACCES', false],
  ])('says whether trying again may help: %s, %s', (code, isRetryable) => {
    expect(fileProblem(Object.assign(new Error('x'), { code }), '/a', 'read').isRetryable).toBe(isRetryable)
  })

  it('names the path and the code of what it does not know', () => {
    const error = Object.assign(new Error('EXYZ: odd'), { code: 'EXYZ' })

    expect(fileProblem(error, '/a/b.mp4', 'read').message).toBe(
      '"/a/b.mp4" cannot be read: the system says EXYZ. Check the file and its disk.',
    )
  })

  it('copes with what is not an error of the system', () => {
    expect(fileProblem('odd', '/a/b.mp4', 'read').message).toBe(
      '"/a/b.mp4" cannot be read: the system says nothing more. Check the file and its disk.',
    )
  })
})
