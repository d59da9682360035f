// Reading a source again, to prove it or for `verify: full`: what of it is read, what is computed, and what goes on beside what.

import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'

import { md5Hasher, sha256Hasher } from '../../src/adapters/node/hash/md5-hasher.ts'
import { bytesSource } from '../../src/adapters/web/bytes-source.ts'
import type { LedgerFile } from '../../src/core/journal/ledger.ts'
import type { Hasher, Source } from '../../src/core/ports.ts'
import { digestWhole, verifySource } from '../../src/flows/verify-source.ts'

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
    const hashers = { contentHasher: sha256Hasher(), hasher: md5Hasher(), signal }

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
    const hashers = { contentHasher: sha256Hasher(), hasher: md5Hasher(), signal }

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
    const hashers = { contentHasher: sha256Hasher(), hasher: md5Hasher(), signal }

    await expect(digestWhole(sent(MIB), bytesSource('a.mp4', changed), hashers)).rejects.toMatchObject({
      code: 'ERR_UPLOAD_SOURCE_CHANGED',
      message: expect.stringContaining('Part 3 is no longer what was sent.') as string,
    })
  })

  it('has both digests of a window computed beside each other, and reads the next one meanwhile', async () => {
    const steps: string[] = []
    const elsewhere = slowHasher(steps)
    const contentHasher: Hasher = { start: () => ({ update: () => void steps.push('sha256'), digest: () => 'whole' }) }

    const done = digestWhole(sent(5 * MIB), told(steps), { contentHasher, hasher: elsewhere.hasher, signal })
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
    const hashers = { contentHasher: sha256Hasher(), hasher: elsewhere.hasher, signal }
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
      hasher: elsewhere.hasher,
      signal,
    })
    await elsewhere.isBusy()
    elsewhere.answerAll()

    await expect(done).resolves.toBe(digestOf('sha256', bytes))
  })

  it('ends with the reason of an abort while a digest is computed elsewhere', async () => {
    const leaving = new AbortController()
    const elsewhere = slowHasher([])
    const hashers = { contentHasher: sha256Hasher(), hasher: elsewhere.hasher, signal: leaving.signal }
    const done = digestWhole(sent(5 * MIB), told([]), hashers)
    await elsewhere.isBusy()

    leaving.abort(new Error('It was left.'))
    elsewhere.answerAll()
    await expect(done).rejects.toThrow('It was left.')
  })
})

describe('a source that is read again', () => {
  /** Says what is begun and ended of a hasher that works elsewhere, and of the source. */
  function noted() {
    const notes: string[] = []
    const note = (hasher: Hasher, name: string): Hasher => ({
      start(bytesTold) {
        notes.push(`${name} begins ${String(bytesTold)}`)
        const hash = hasher.start(bytesTold)
        return {
          update: (piece) => hash.update(piece),
          async digest() {
            await new Promise((resolve) => setImmediate(resolve))
            notes.push(`${name} ends`)
            return hash.digest()
          },
          dispose: () => void notes.push(`${name} is freed`),
        }
      },
    })
    const source = bytesSource('a.mp4', bytes)
    const open: Source['open'] = async (expected) => {
      const reader = await source.open(expected)
      return { ...reader, close: () => (notes.push('closed'), reader.close()) }
    }
    return { notes, source: { ...source, open }, md5: note(md5Hasher(), 'md5'), sha256: note(sha256Hasher(), 'sha256') }
  }
  const wrong = (): LedgerFile => {
    const file = sent(5 * MIB)
    return { ...file, parts: file.parts.map((part) => ({ ...part, receipt: { ...part.receipt!, md5: '0' } })) }
  }
  const md5Notes = [`md5 begins ${String(bytes.length)}`, 'md5 ends', 'md5 is freed']

  it.each([
    ['is what was sent', () => sent(5 * MIB)],
    ['has changed', wrong],
  ])('is closed, and its digests are freed once they are known, where it %s', async (_, file) => {
    const [proof, digest] = [noted(), noted()]
    const options = { hasher: proof.md5, random: () => 0, provesAll: true, signal } as const

    await verifySource(file(), proof.source, options).catch(() => undefined)
    await digestWhole(file(), digest.source, { contentHasher: digest.sha256, hasher: digest.md5, signal }).catch(
      () => undefined,
    )
    await new Promise((resolve) => setImmediate(resolve))

    expect(proof.notes).toEqual([...md5Notes, 'closed'])
    expect(digest.notes.filter((each) => !each.startsWith('sha256'))).toEqual([...md5Notes, 'closed'])
    expect(digest.notes.filter((each) => each === 'sha256 is freed')).toHaveLength(1)
  })

  it('needs no digest of a part that had none: it is read for that of the whole', async () => {
    const { notes, source, md5 } = noted()
    const file = sent(2 * MIB)
    const parts = file.parts.map((part, index) => (index === 0 ? { ...part, receipt: undefined } : part))
    const hashers = { contentHasher: sha256Hasher(), hasher: md5, signal }

    await expect(digestWhole({ ...file, parts }, source, hashers)).resolves.toBe(digestOf('sha256', bytes))
    expect(notes.filter((each) => each.startsWith('md5 begins'))).toEqual([`md5 begins ${String(MIB + 17)}`])
  })

  it('takes half a MiB of memory for its proof, because many files may be proven at once', async () => {
    const memory = new Set<ArrayBufferLike>()
    const options = { hasher: md5Hasher(), random: () => 0, provesAll: true, signal } as const

    await verifySource(
      sent(3 * MIB),
      told([], (into) => memory.add(into.buffer)),
      options,
    )

    expect([...memory].map(({ byteLength }) => byteLength)).toEqual([MIB / 4, MIB / 4])
  })

  it.each([
    [9, [0, 0.5, 0.999], [1, 2, 5, 8, 9]],
    [9, [0.999, 0.999, 0.999], [1, 8, 9]],
    [6, [0, 0, 0.999], [1, 2, 5, 6]],
    [5, [], [1, 2, 3, 4, 5]],
  ])('is compared by a sample, of %i parts with the draws %j', async (count, draws, expected) => {
    const partBytes = Math.ceil(bytes.length / count)
    const steps: string[] = []
    const drawn = [...draws]

    await verifySource(sent(partBytes), told(steps), {
      ...{ hasher: md5Hasher(), provesAll: false, signal },
      random: () => drawn.shift() ?? expect.fail('no more than three are drawn'),
    })

    const parts = steps.map((step) => Math.floor(Number(step.slice('read '.length)) / partBytes) + 1)
    expect([...new Set(parts)].toSorted((a, b) => a - b)).toEqual(expected)
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
