// Reading a whole file again for `verify: full`: what is computed of it, and what goes on beside what.

import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'

import { md5Hasher, sha256Hasher } from '../../src/adapters/node/hash/md5-hasher.ts'
import { bytesSource } from '../../src/adapters/web/bytes-source.ts'
import type { LedgerFile } from '../../src/core/journal/ledger.ts'
import type { Hasher, Source } from '../../src/core/ports.ts'
import { digestWhole } from '../../src/flows/verify-source.ts'

const MIB = 1_048_576
const { signal } = new AbortController()
const digestOf = (algorithm: string, bytes: Uint8Array): string => createHash(algorithm).update(bytes).digest('hex')

/** A file of three windows and a bit, no two of them alike. */
const bytes = Uint8Array.from({ length: 3 * MIB + 17 }, (_, at) => (at * 2_654_435_761) >>> 24)

/** As the ledger knows a file of which every part was sent. */
function sent(partBytes: number): LedgerFile {
  const parts = Array.from({ length: Math.ceil(bytes.length / partBytes) }, (_, index) => {
    const [start, end] = [index * partBytes, Math.min(bytes.length, (index + 1) * partBytes)]
    const receipt = { acceptedEnd: end, md5: digestOf('md5', bytes.subarray(start, end)), isVerified: true }
    return { partNumber: index + 1, start, end, receipt, isDoubtful: false }
  })
  const plan = {
    fileIndex: 0,
    name: 'a.mp4',
    sizeBytes: bytes.length,
    partCount: parts.length,
    partSizeBytes: partBytes,
  }
  return { plan, parts } as unknown as LedgerFile
}

describe('a file that is read again', () => {
  it.each([5 * MIB, 2 * MIB + 1, MIB, 100_000])('gives its SHA-256, in parts of %i bytes', async (partBytes) => {
    const hashers = { contentHasher: sha256Hasher(), partHasher: md5Hasher(), signal }

    await expect(digestWhole(sent(partBytes), bytesSource('a.mp4', bytes), hashers)).resolves.toBe(
      digestOf('sha256', bytes),
    )
  })

  it.each([
    [3 * MIB + 17, 2 * MIB],
    [MIB + 5, MIB + 5],
    [100_000, 100_000],
  ])('takes no more memory for many parts than for one, in parts of %i bytes', async (partBytes, memoryBytes) => {
    const memory = new Set<ArrayBufferLike>()
    const hashers = { contentHasher: sha256Hasher(), partHasher: md5Hasher(), signal }

    await digestWhole(
      sent(partBytes),
      told([], (into) => memory.add(into.buffer)),
      hashers,
    )

    expect([...memory].reduce((sum, { byteLength }) => sum + byteLength, 0)).toBe(memoryBytes)
  })

  it('fails when one byte of one part is not what was sent', async () => {
    const changed = bytes.slice()
    changed[2 * MIB + 5]! ^= 1
    const hashers = { contentHasher: sha256Hasher(), partHasher: md5Hasher(), signal }

    await expect(digestWhole(sent(MIB), bytesSource('a.mp4', changed), hashers)).rejects.toMatchObject({
      code: 'ERR_UPLOAD_SOURCE_CHANGED',
      message: expect.stringContaining('Part 3 of a.mp4') as string,
    })
  })

  it('has both digests of a window computed beside each other, and reads the next one meanwhile', async () => {
    const steps: string[] = []
    const elsewhere = slowHasher(steps)
    const contentHasher: Hasher = { start: () => ({ update: () => void steps.push('sha256'), digest: () => 'whole' }) }

    const done = digestWhole(sent(5 * MIB), told(steps), { contentHasher, partHasher: elsewhere.hasher, signal })
    await elsewhere.isBusy()
    expect(steps).toEqual(['read 0', 'md5 begins', 'sha256', `read ${String(MIB)}`])
    elsewhere.answer()
    await elsewhere.isBusy()
    expect(steps.slice(4)).toEqual(['md5 ends', 'md5 begins', 'sha256', `read ${String(2 * MIB)}`])

    elsewhere.answerAll()
    await expect(done).resolves.toBe('whole')
  })

  it('is read on from a part only when both digests have all of it', async () => {
    const steps: string[] = []
    const elsewhere = slowHasher(steps)
    const hashers = { contentHasher: sha256Hasher(), partHasher: elsewhere.hasher, signal }
    const done = digestWhole(sent(MIB), told(steps), hashers)
    await elsewhere.isBusy()
    expect(steps).toEqual(['read 0', 'md5 begins'])

    elsewhere.answerAll()
    await expect(done).resolves.toBe(digestOf('sha256', bytes))
  })

  it('leaves a window as it is until both digests have it', async () => {
    const elsewhere = slowHasher([])
    const done = digestWhole(sent(5 * MIB), told([]), {
      contentHasher: sha256Hasher(),
      partHasher: elsewhere.hasher,
      signal,
    })
    await elsewhere.isBusy()
    elsewhere.answerAll()

    await expect(done).resolves.toBe(digestOf('sha256', bytes))
  })

  it('ends with the reason of an abort while a digest is computed elsewhere', async () => {
    const leaving = new AbortController()
    const elsewhere = slowHasher([])
    const hashers = { contentHasher: sha256Hasher(), partHasher: elsewhere.hasher, signal: leaving.signal }
    const done = digestWhole(sent(5 * MIB), told([]), hashers)
    await elsewhere.isBusy()

    leaving.abort(new Error('It was left.'))
    elsewhere.answerAll()
    await expect(done).rejects.toThrow('It was left.')
  })
})

/** The file, which says when it is read. */
function told(steps: string[], onRead?: (into: Uint8Array) => void): Source {
  const source = bytesSource('a.mp4', bytes)
  return {
    ...source,
    async open(expected) {
      const reader = await source.open(expected)
      return {
        read(into, at) {
          steps.push(`read ${String(at)}`)
          onRead?.(into)
          return reader.read(into, at)
        },
        verify: () => reader.verify(),
        close: () => reader.close(),
      }
    },
  }
}

/** MD5 that looks at a window only when it is told to. */
function slowHasher(steps: string[]) {
  let answers: (() => void)[] = []
  let isQuick = false
  const answer = (): void => {
    const given = answers
    answers = []
    for (const each of given) each()
  }
  const hasher: Hasher = {
    start() {
      const hash = createHash('md5')
      const take = (window: Uint8Array): void => {
        hash.update(window)
        steps.push('md5 ends')
      }
      return {
        update(window) {
          steps.push('md5 begins')
          const looked = new Promise<void>((resolve) => {
            answers.push(() => {
              take(window)
              resolve()
            })
          })
          if (isQuick) answer()
          return looked
        },
        digest: () => hash.digest('hex'),
      }
    },
  }
  return {
    hasher,
    answer,
    answerAll() {
      isQuick = true
      answer()
    },
    /** Resolves when a window waits and everything else has come to a standstill. */
    async isBusy() {
      do await new Promise((resolve) => setImmediate(resolve))
      while (answers.length === 0)
    },
  }
}
