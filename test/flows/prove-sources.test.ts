// Before a session of an earlier life goes on: which of its sources are read again, and what that means for their files.

import { expect, it } from 'vitest'

import { md5Hasher } from '../../src/adapters/node/hash/md5-hasher.ts'
import { bytesSource } from '../../src/adapters/web/bytes-source.ts'
import { memoryJournal } from '../../src/adapters/web/memory-journal.ts'
import { UploadError } from '../../src/core/errors.ts'
import { JOURNAL_VERSION, type JournalRecord } from '../../src/core/journal/journal.ts'
import type { Hasher, Source } from '../../src/core/ports.ts'
import { createFarEnd, endOf, goodStorage, VIDEO, type FarEndOptions } from '../security/far-end.ts'

const { movementTypeId, playerId, sessionDate, sessionTypeId } = VIDEO
const begunWith = (partCount: number, names = ['a.mp4', 'b.mp4']): readonly JournalRecord[] => {
  const files = names.map((name, fileIndex) => {
    return { fileIndex, name, sizeBytes: 3 * partCount, partSizeBytes: 3, partCount }
  })
  return [
    {
      ...{ at: 1, type: 'session.begun', version: JOURNAL_VERSION, key: 'k', flow: 'video', files, locations: [] },
      params: { movementTypeId, playerId, sessionDate, sessionTypeId },
    },
    {
      ...{ at: 2, type: 'session.created', sessionId: 's' },
      files: files.map(({ fileIndex, name }) => ({
        ...{ fileIndex, serverFileId: name },
        addresses: Array.from({ length: partCount }, (_, index) => `https://store.example/${name}/${index + 1}`),
      })),
    },
  ]
}
const sent = (fileIndex: number, ...partNumbers: readonly number[]): JournalRecord[] =>
  partNumbers.map((partNumber) => ({
    ...{ at: 3, type: 'part.received', fileIndex, partNumber },
    receipt: { acceptedEnd: 3 * partNumber, etag: '"e"', md5: '900150983cd24fb0d6963f7d28e17f72', isVerified: true },
  }))
const never = (): Promise<never> => new Promise(() => undefined)
const asSent = (name: string, partCount = 2): Source =>
  bytesSource(name, new TextEncoder().encode('abc'.repeat(partCount)))
const changed = (name: string): Source => bytesSource(name, new TextEncoder().encode('xyzxyz'))

/** The session with these records goes on with the sources that this makes. */
async function resumed(
  records: readonly JournalRecord[],
  sourceOf: (name: string) => Source,
  hasher?: Hasher,
  storage: FarEndOptions['storage'] = goodStorage,
  service: FarEndOptions['service'] = () => ({ status: 200 }),
  partCount = 2,
  names?: string[],
) {
  const journal = memoryJournal()
  const session = await journal.open('k')
  await session.append([...begunWith(partCount, names), ...records])
  await session.close()
  const far = createFarEnd({
    ...{ journal, storage, service },
    ...(hasher && { hasher }),
  })
  const upload = await far.uplink.resume('k', { source: ({ name }) => sourceOf(name) })
  const asked = () => far.requests.map(({ method, url }) => `${method} ${url.split('/').slice(-2).join('/')}`)
  return { ...far, upload, asked, journal }
}

it('no file is looked at that is confirmed already, whatever has become of its source', async () => {
  const records = [...sent(0, 1, 2), { at: 4, type: 'file.confirmed', fileIndex: 0 } as const, ...sent(1, 1)]
  const sourceOf = (name: string) => (name === 'a.mp4' ? changed : asSent)(name)
  const { upload, settled, asked } = await resumed(records, sourceOf, md5Hasher())

  expect(await settled(upload.done())).toMatchObject({ status: 'confirmed' })
  expect(asked()).toEqual(['PUT b.mp4/2', 'PATCH api/upload_videos'])
})

it('no bytes are compared where nothing is verified', async () => {
  const { upload, settled, asked } = await resumed([...sent(0, 1), ...sent(1, 1)], changed)

  expect(await settled(upload.done())).toMatchObject({ status: 'confirmed' })
  expect(asked().filter((each) => each.startsWith('PUT'))).toEqual(['PUT a.mp4/2', 'PUT b.mp4/2'])
})

it('a file that has changed is not confirmed, though every byte of what it was is stored', async () => {
  const sourceOf = (name: string) => (name === 'a.mp4' ? changed : asSent)(name)
  const { upload, settled, asked } = await resumed([...sent(0, 1, 2), ...sent(1, 1, 2)], sourceOf, md5Hasher())
  const told: string[] = []
  upload.on('file', ({ name, state }) => told.push(`${name} ${state}`))

  expect(await settled(upload.done())).toMatchObject({
    status: 'partial',
    files: [{ status: 'failed', error: { code: 'ERR_UPLOAD_SOURCE_CHANGED' } }, { status: 'confirmed' }],
  })
  expect(asked()).toEqual(['PATCH api/upload_videos'])
  expect(told).toEqual(['a.mp4 failed', 'b.mp4 confirming', 'b.mp4 confirmed'])
})

it('a file that never opens, on a drive that is gone, holds up no other file', async () => {
  const stuck = (name: string): Source => ({ ...asSent(name), ...(name === 'a.mp4' && { open: never }) })
  const { upload, clock, asked, settled } = await resumed([...sent(0, 1), ...sent(1, 1)], stuck, md5Hasher())
  await clock.advance(1_000)

  expect(asked()).toEqual(['PUT b.mp4/2', 'PATCH api/upload_videos'])
  expect(upload.files().map(({ state }) => state)).toEqual(['uploading', 'confirmed'])
  void upload.cancel()
  await clock.advance(15_000)
  expect(await settled(endOf(upload))).toMatchObject({ error: { report: { status: 'cancelled' } } })
})

it('a file whose hash is lost while it is proven is proven again, as a part whose hash is lost goes again', async () => {
  const { start, ...others } = md5Hasher()
  let losses = 1
  const losing: Hasher = {
    ...others,
    start() {
      const hash = start()
      const lost = new UploadError('ERR_UPLOAD_INTERNAL', 'The thread ended.', { isRetryable: true })
      return losses-- > 0 ? { ...hash, update: () => Promise.reject(lost) } : hash
    },
  }
  const { upload, settled } = await resumed([...sent(0, 1), ...sent(1, 1)], asSent, losing)

  expect((await settled(endOf(upload))).report).toMatchObject({ status: 'confirmed' })
})

it('an error of a host’s hasher while a file is proven is no error of its source', async () => {
  const broken: Hasher = {
    start: () => ({ update: () => Promise.reject(new TypeError('no such hash')), digest: () => '' }),
  }
  const { upload, settled } = await resumed([...sent(0, 1), ...sent(1, 1)], asSent, broken)

  expect((await settled(endOf(upload))).error).toMatchObject({
    report: { files: [{ error: { code: 'ERR_UPLOAD_INTERNAL', message: 'a.mp4: no such hash' } }, {}] },
  })
})

it('a file of many parts that does not open keeps one place, and goes on once it opens', async () => {
  let open: () => void = () => undefined
  const opening = new Promise<void>((resolve) => (open = resolve))
  const late = (name: string): Source => {
    const source = asSent(name, 40)
    return name === 'b.mp4' ? source : { ...source, open: (expected) => opening.then(() => source.open(expected)) }
  }
  // Less is left of the first, so that its parts go first.
  const records = [...sent(0, 1, 2, 3), ...sent(1, 1)]
  const { upload, clock, asked, settled } = await resumed(records, late, md5Hasher(), goodStorage, undefined, 40)
  await clock.advance(60_000)

  expect(asked()).toHaveLength(40)
  expect(asked().filter((each) => each.startsWith('PUT a.mp4'))).toEqual([])
  expect(upload.files().map(({ state }) => state)).toEqual(['uploading', 'confirmed'])
  open()
  expect(await settled(upload.done())).toMatchObject({ status: 'confirmed' })
  expect(asked()).toHaveLength(78)
})

it('a file of which all is stored and that never opens holds up no other file', async () => {
  const stuck = (name: string): Source => ({ ...asSent(name), ...(name === 'a.mp4' && { open: never }) })
  const { upload, clock, asked } = await resumed([...sent(0, 1, 2), ...sent(1, 1, 2)], stuck, md5Hasher())
  await clock.advance(1_000)

  expect(asked()).toEqual(['PATCH api/upload_videos'])
  expect(upload.files().map(({ state }) => state)).toEqual(['confirming', 'confirmed'])
})

it.each(['open', 'read', 'verify'] as const)(
  'files of which all is stored, on a drive that hangs, hold up no other, however many they are (%s)',
  async (step) => {
    const names = Array.from({ length: 50 }, (_, index) => (index < 49 ? `lost-${String(index)}.mp4` : 'here.mp4'))
    let back: () => void = () => undefined
    const isBack = new Promise<void>((resolve) => (back = resolve))
    const stuck = (name: string): Source => {
      const source = asSent(name)
      if (name === 'here.mp4') return source
      return {
        ...source,
        async open(expected) {
          if (step === 'open') await isBack
          const reader = await source.open(expected)
          return {
            ...reader,
            read: async (into, at, signal) => {
              if (step === 'read') await isBack
              await reader.read(into, at, signal)
            },
            verify: async () => {
              if (step === 'verify') await isBack
              await reader.verify()
            },
          }
        },
      }
    }
    const records = names.flatMap((_, fileIndex) => sent(fileIndex, 1, 2))
    const { upload, clock, asked, settled } = await resumed(
      ...([records, stuck, md5Hasher(), goodStorage, undefined, 2, names] as const),
    )

    await clock.advance(120_000)

    expect(asked()).toEqual(['PATCH api/upload_videos'])
    expect(upload.files().at(-1)?.state).toBe('confirmed')
    back()
    expect(await settled(upload.done())).toMatchObject({ status: 'confirmed' })
    expect(asked()).toHaveLength(50)
  },
)

it('each file is proven once, however often a pause comes between', async () => {
  let reads = 0
  const counted = (name: string): Source => {
    const source = asSent(name)
    return {
      ...source,
      async open(expected) {
        const reader = await source.open(expected)
        return {
          ...reader,
          read(into, at, signal) {
            reads += at === 0 ? 1 : 0
            return reader.read(into, at, signal)
          },
        }
      },
    }
  }
  const { upload, clock, settled } = await resumed([...sent(0, 1), ...sent(1, 1)], counted, md5Hasher(), never)
  await clock.advance(1_000)
  expect(reads).toBe(2)
  upload.pause()
  await clock.advance(60_000)
  expect(upload.state).toBe('paused')
  upload.resume()
  await clock.advance(1_000)

  expect(reads).toBe(2)
  void upload.cancel()
  await clock.advance(60_000)
  await settled(endOf(upload))
})

it('a pause fails no file whose source says for itself that its read was given up', async () => {
  let reads = 0
  const stuck = (name: string): Source => {
    const source = asSent(name)
    const open: Source['open'] = async (expected) => {
      const reader = await source.open(expected)
      return {
        ...reader,
        read: (into, at, signal) =>
          ++reads > 1
            ? reader.read(into, at, signal)
            : new Promise((_, reject) => {
                const given = new UploadError('ERR_UPLOAD_SOURCE_READ', 'The read was given up.')
                signal?.addEventListener('abort', () => reject(given))
              }),
      }
    }
    return { ...source, open }
  }
  const { upload, settled, clock, journal } = await resumed([...sent(0, 1), ...sent(1, 1)], stuck, md5Hasher())
  await clock.advance(1_000)
  upload.pause()
  await clock.advance(1_000)
  expect(upload.state).toBe('paused')
  upload.resume()

  expect((await settled(endOf(upload))).report).toMatchObject({ status: 'confirmed' })
  expect((await journal.read('k')).filter(({ type }) => type === 'file.failed')).toEqual([])
})

it('nothing more is read of a file once the upload has ended while that file was proven', async () => {
  const signals: AbortSignal[] = []
  const slow = (name: string): Source => {
    const source = asSent(name)
    const open: Source['open'] = async (expected) => {
      const reader = await source.open(expected)
      const read = (_: Uint8Array, __: number, signal?: AbortSignal) => {
        if (signal) signals.push(signal)
        return never()
      }
      return { ...reader, read }
    }
    return name === 'b.mp4' ? { ...source, open } : source
  }
  const records = [...sent(0, 1, 2), ...sent(1, 1)]
  const { upload, settled } = await resumed(records, slow, md5Hasher(), goodStorage, () => ({ status: 401 }))

  expect(await settled(endOf(upload))).toMatchObject({ error: { code: 'ERR_UPLOAD_CREDENTIALS_REFUSED' } })
  expect(signals.map(({ aborted }) => aborted)).toEqual([true])
})

it('nothing is open any more once a pause has ended, though a read takes its time to end', async () => {
  let openCount = 0
  let finish: () => void = () => undefined
  const unhurried = (name: string): Source => {
    const source = asSent(name)
    const open: Source['open'] = async (expected) => {
      const reader = await source.open(expected)
      openCount += 1
      return {
        ...reader,
        read: () => new Promise<void>((resolve) => (finish = resolve)),
        async close() {
          await reader.close()
          openCount -= 1
        },
      }
    }
    return name === 'a.mp4' ? { ...source, open } : source
  }
  const { upload, clock, uplink } = await resumed([...sent(0, 1), ...sent(1, 1, 2)], unhurried, md5Hasher())
  const ended = endOf(upload)
  await clock.advance(1_000)
  upload.pause()
  await clock.advance(1_000)
  expect([upload.state, openCount]).toEqual(['pausing', 1])

  finish()
  await clock.advance(1_000)
  expect([upload.state, openCount]).toEqual(['paused', 0])
  await uplink.close()
  await ended
})
