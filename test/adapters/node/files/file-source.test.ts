import { execFileSync } from 'node:child_process'
import { randomFillSync } from 'node:crypto'
import { existsSync } from 'node:fs'
import {
  chmod,
  mkdir,
  mkdtemp,
  open,
  readdir,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  unlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { fileSource, fileSourceOn } from '../../../../src/adapters/node/files/file-source.ts'
import { isUploadError } from '../../../../src/core/errors.ts'
import type { Reader } from '../../../../src/core/ports.ts'
import { sourceContract } from '../../../../src/testing/source-contract.ts'
import { bytesOf, counting } from '../../../../src/testing/source/contents.ts'

const longAgo = new Date('2026-01-02T03:04:05.500Z')
const diskThat = (mayAskNow: boolean) => ({ mayAskNow: () => mayAskNow, askNow: <T>(work: () => T): T => work() })

sourceContract('fileSource', async (bytes) => {
  const folder = await mkdtemp(join(tmpdir(), 'file-source-'))
  const path = join(folder, 'take-7.mp4')
  await writeFile(path, bytes)
  await utimes(path, longAgo, longAgo)
  return {
    source: fileSource(path),
    changes: {
      'it became longer': () => writeFile(path, 'more', { flag: 'a' }).then(() => utimes(path, longAgo, longAgo)),
      'it became shorter': () => truncate(path, 9),
      'it was written over with as many bytes': () => writeFile(path, Buffer.alloc(10, 7)),
      'only its time changed': () => utimes(path, longAgo, new Date(longAgo.getTime() + 10)),
      'another file was moved over it': async () => {
        await writeFile(`${path}.new`, Buffer.alloc(11))
        await rename(`${path}.new`, path)
      },
    },
    losses: {
      'it was deleted': () => unlink(path),
      'its drive was taken out': () => rename(folder, `${folder}-gone`),
    },
    cleanUp: async () => {
      for (const place of [folder, `${folder}-gone`]) await rm(place, { recursive: true, force: true })
    },
  }
})

describe('fileSource', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'file-source-'))
    await chmod(folder, 0o755)
  })
  afterAll(() => rm(folder, { recursive: true }))

  async function fileOf(name: string, bytes: Uint8Array = counting(10)): Promise<string> {
    const path = join(folder, name)
    await writeFile(path, bytes)
    await utimes(path, longAgo, longAgo)
    return path
  }

  describe('name and place', () => {
    it('is named after the last part of its path, and located at its absolute path', async () => {
      const path = await fileOf('swing 01.mp4')

      const source = fileSource(relative(process.cwd(), path))

      expect(source.name).toBe('swing 01.mp4')
      expect(source.location).toBe(path)
      expect(await source.describe()).toEqual({ sizeBytes: 10, modifiedAtMs: 1_767_323_045_500 })
    })

    it('takes another name when it is given one', async () => {
      expect(fileSource(await fileOf('a.mp4'), { name: 'b.mp4' }).name).toBe('b.mp4')
    })

    it('follows a link to a file', async () => {
      const path = await fileOf('linked.mp4')
      await symlink(path, join(folder, 'link.mp4'))

      const source = fileSource(join(folder, 'link.mp4'))

      expect(source.name).toBe('link.mp4')
      expect((await source.describe()).sizeBytes).toBe(10)
    })

    it('refuses an empty path at once', () => {
      expect(() => fileSource('')).toThrow(expect.objectContaining({ code: 'ERR_UPLOAD_INVALID_ARGUMENT' }))
    })
  })

  describe('what cannot be read', () => {
    async function problemOf(path: string): Promise<{ code: string; message: string }> {
      try {
        await fileSource(path).describe()
      } catch (error) {
        if (isUploadError(error)) return { code: error.code, message: error.message }
        throw error
      }
      throw new Error(`"${path}" was described, and should not have been`)
    }

    const HAS_MADE_UP_FILES = existsSync('/proc/self/status')
    it.runIf(HAS_MADE_UP_FILES).each([true, false])(
      'does not believe a file system that calls a file empty which is not: asked at once %s',
      async (mayAskNow) => {
        await expect(fileSourceOn(diskThat(mayAskNow), '/proc/self/status').describe()).rejects.toMatchObject({
          code: 'ERR_UPLOAD_SOURCE_READ',
          message: expect.stringMatching(/does not say how long it is\. Copy it .*stream/) as string,
        })
        expect(
          (await fileSourceOn(diskThat(mayAskNow), await fileOf('empty.mp4', counting(0))).describe()).sizeBytes,
        ).toBe(0)
      },
    )

    it('says that there is nothing at the path', async () => {
      const path = join(folder, 'no such.mp4')

      expect(await problemOf(path)).toEqual({
        code: 'ERR_UPLOAD_SOURCE_READ',
        message: `"${path}" cannot be read: there is nothing at this path. Check the path.`,
      })
    })

    it('says that it is a folder', async () => {
      expect(await problemOf(folder)).toEqual({
        code: 'ERR_UPLOAD_SOURCE_READ',
        message: `"${folder}" cannot be read: it is a folder (name the files in it), not a regular file.`,
      })
    })

    it.skipIf(process.platform === 'win32')('says that it is a pipe, without waiting for its writer', async () => {
      const path = join(folder, 'pipe')
      execFileSync('mkfifo', [path])

      expect(await problemOf(path)).toEqual({
        code: 'ERR_UPLOAD_SOURCE_READ',
        message: `"${path}" cannot be read: it is a pipe (pass it as a stream, or save it to a file first), not a regular file.`,
      })
      await rm(path)
    })

    it.skipIf(process.platform === 'win32')('says that it is a device', async () => {
      expect((await problemOf('/dev/null')).message).toBe(
        '"/dev/null" cannot be read: it is a device or socket, not a regular file.',
      )
    })

    it.skipIf(process.platform === 'win32')('says that links lead in a circle', async () => {
      await symlink(join(folder, 'ring-b'), join(folder, 'ring-a'))
      await symlink(join(folder, 'ring-a'), join(folder, 'ring-b'))

      expect((await problemOf(join(folder, 'ring-a'))).message).toContain('its links lead in a circle')
    })

    it.skipIf(process.platform === 'win32')(
      'says that this user may not read it, before anything is sent',
      async () => {
        const path = await fileOf('private.mp4')
        await chmod(path, 0o000)

        const problem = await asOrdinaryUser(() => problemOf(path))

        expect(problem).toEqual({
          code: 'ERR_UPLOAD_SOURCE_READ',
          message: `"${path}" cannot be read: this user may not read it. Give read permission.`,
        })
      },
    )
  })

  describe('what has changed', () => {
    it('notices another file of the same size and time in its place, while the handle has the old bytes', async () => {
      const path = await fileOf('replaced.mp4', Buffer.from('old bytes!'))
      const source = fileSource(path)
      const reader = await source.open(await source.describe())
      const other = await fileOf('replacement.mp4', Buffer.from('new bytes!'))

      await rename(other, path)

      await expect(reader.verify()).rejects.toMatchObject({
        code: 'ERR_UPLOAD_SOURCE_CHANGED',
        message: expect.stringMatching(/replaced\.mp4" has changed.*another file was put in its place/) as string,
      })
      expect((await bytesOf(reader, 0, 10)).toString()).toBe('old bytes!')
      await reader.close()
    })

    it('says that a file is gone, and how its upload goes on, not that it has changed', async () => {
      const path = await fileOf('gone.mp4')
      const source = fileSource(path)
      const reader = await source.open(await source.describe())
      await unlink(path)

      await expect(reader.verify()).rejects.toMatchObject({
        code: 'ERR_UPLOAD_SOURCE_READ',
        message: `"${path}" is gone: it was moved or deleted, or its drive was taken out. Bring it back, then resume the session.`,
        details: { path, systemCode: 'ENOENT' },
      })
      await reader.close()
    })

    // Node 22.12 to 22.16 on Windows 11, whose fstat knows the device.
    it.each([
      ['is not told', () => 0n],
      ['has more bits than that of the open file', (device: bigint) => device + 2n ** 40n],
    ])('takes a file for the same where the device of its path %s', async (_how, told) => {
      const path = await fileOf('same.mp4')
      const { dev } = await stat(path, { bigint: true })
      const isOfPath = (answer: object): boolean => 'dev' in answer
      const source = fileSourceOn(switchedDisk(isOfPath, told(dev)), path)
      const identity = await source.describe()
      const reader = await source.open(identity)

      await reader.verify()
      await reader.close()
      await unlink(path)
      await expect(source.open(identity)).rejects.toMatchObject({ isRetryable: false })
    })

    /** A disk of which some answers come from another drive: of `stat`, or of all that is asked after it was switched. */
    function switchedDisk(isOther: (facts: object) => boolean, dev = -1n) {
      const askNow = <T>(work: () => T): T => {
        const answer = work()
        const isFacts = answer instanceof Object && ('dev' in answer || 'facts' in answer)
        if (isFacts && isOther(answer)) Object.assign('facts' in answer ? (answer.facts as object) : answer, { dev })
        return answer
      }
      return { mayAskNow: () => true, askNow }
    }

    it('does not take the same file for another one where its card was taken out and put back', async () => {
      const path = await fileOf('put-back.mp4')
      let isBack = false
      const disk = switchedDisk(() => isBack)
      const source = fileSourceOn(disk, path)
      const identity = await source.describe()
      const reader = await source.open(identity)
      isBack = true

      const other = {
        code: 'ERR_UPLOAD_SOURCE_READ',
        message: `"${path}" is on another drive, or its drive was taken out and put back. Resume the session: it goes on if it is the same file.`,
        details: { path },
      }
      await expect(reader.verify()).rejects.toMatchObject(other)
      await reader.close()
      const again = await source.open(identity)
      await again.verify()
      await again.close()
    })

    it('may come back where its drive is gone as well, but not where it alone is, nor where it was never seen', async () => {
      const path = await fileOf('unplugged.mp4')
      const identity = await fileSource(path).describe()
      const seen = fileSourceOn(
        switchedDisk(() => true),
        path,
      )
      await seen.describe()
      const alone = fileSource(path)
      await alone.describe()
      await unlink(path)

      await expect(seen.open(identity)).rejects.toMatchObject({
        code: 'ERR_UPLOAD_SOURCE_READ',
        message: `"${path}" is gone with its drive. Put that back.`,
        isRetryable: true,
        details: { path, systemCode: 'ENOENT' },
      })
      for (const source of [alone, fileSource(path)])
        await expect(source.open(identity)).rejects.toMatchObject({ isRetryable: false })
    })

    const LOOK_ALIKE_BYTES = 600_000
    const first = randomFillSync(new Uint8Array(LOOK_ALIKE_BYTES))
    const second = randomFillSync(new Uint8Array(LOOK_ALIKE_BYTES))
    /** Reads what has been sent of a file, in pieces as they are sent. */
    async function readUpTo(reader: Reader, end: number): Promise<void> {
      for (let at = 0; at < end; at += 65_536) await bytesOf(reader, at, Math.min(at + 65_536, end))
    }

    it.each<readonly [what: string, put: Uint8Array, readBytes: number, isTaken: boolean]>([
      ['goes on with the same file', first, 400_000, true],
      ['does not take another one for it', second, 400_000, false],
      ['leaves the same file to a resume if little was read of it', first, 100_000, false],
      ['takes another one of which nothing was sent', second, 0, true],
      ['takes another one where it is read as a whole', second, LOOK_ALIKE_BYTES, true],
    ])('%s, on a drive of another number', async (_, put, readBytes, isTaken) => {
      const path = await fileOf('alike.mp4', first)
      let isOther = false
      const source = fileSourceOn(
        switchedDisk(() => isOther),
        path,
      )
      const identity = await source.describe()
      const reader = await source.open(identity)
      if (readBytes === LOOK_ALIKE_BYTES) await bytesOf(reader, 0, readBytes)
      else await readUpTo(reader, readBytes)
      await fileOf('alike.mp4', put)
      isOther = true

      await expect(reader.verify()).rejects.toMatchObject({ code: 'ERR_UPLOAD_SOURCE_READ', isRetryable: true })
      await reader.close()
      const opening = Promise.resolve(source.open(identity))
      if (isTaken) {
        const again = await opening
        expect(await bytesOf(again, 0, LOOK_ALIKE_BYTES)).toEqual(Buffer.from(put))
        await again.close()
      } else {
        await expect(opening).rejects.toMatchObject({
          code: 'ERR_UPLOAD_SOURCE_READ',
          isRetryable: false,
          message: expect.stringContaining('Resume the session: it goes on if it is the same file.') as string,
        })
        // A resume that is given the same source proves what it holds.
        const proven = await source.open(identity)
        expect(await bytesOf(proven, 0, LOOK_ALIKE_BYTES)).toEqual(Buffer.from(put))
        await proven.close()
      }
    })

    it.each([
      ['another file where its card was changed in the same reader', second, false],
      ['the same one where it was moved', first, true],
    ])('is asked what it holds where it has another number: %s', async (_, put, isTaken) => {
      const path = await fileOf('renumbered.mp4', first)
      const source = fileSource(path)
      const identity = await source.describe()
      const reader = await source.open(identity)
      await readUpTo(reader, 400_000)
      await reader.close()
      await fileOf('renumbered.mp4.new', put)
      await rename(`${path}.new`, path)

      const handlesBefore = await countHandles()
      const opening = Promise.resolve(source.open(identity))
      if (isTaken) await (await opening).close()
      else await expect(opening).rejects.toMatchObject({ code: 'ERR_UPLOAD_SOURCE_READ', isRetryable: false })
      expect(await countHandles()).toBe(handlesBefore)
    })

    it('may be another one by the time that its source is used for another upload', async () => {
      const path = await fileOf('again.mp4', first)
      const source = fileSource(path)
      const reader = await source.open(await source.describe())
      await readUpTo(reader, 400_000)
      await reader.close()
      await fileOf('again.mp4.new', second)
      await rename(`${path}.new`, path)

      const again = await source.open(await source.describe())
      expect(await bytesOf(again, 0, 10)).toEqual(Buffer.from(second.subarray(0, 10)))
      await again.close()
    })

    it('is asked what it holds after a read that failed: its card may have been changed meanwhile', async () => {
      const path = await fileOf('failing.mp4', first)
      let isFailing = false
      const source = fileSourceOn(
        {
          mayAskNow: () => true,
          askNow(work, bytes) {
            if (isFailing && bytes) throw Object.assign(new Error('EIO'), { code: 'EIO' })
            return work()
          },
        },
        path,
      )
      const identity = await source.describe()
      const reader = await source.open(identity)
      await readUpTo(reader, 400_000)
      isFailing = true
      await expect(bytesOf(reader, 0, 100)).rejects.toMatchObject({ isRetryable: true })
      await reader.close()
      await expect(source.open(identity)).rejects.toMatchObject({ details: { systemCode: 'EIO' }, isRetryable: true })
      isFailing = false
      await (await source.open(identity)).close()
      await fileOf('failing.mp4', second)
      await (await source.open(identity)).close()
      isFailing = true
      const last = await source.open(identity)
      await expect(bytesOf(last, 0, 100)).rejects.toMatchObject({ isRetryable: true })
      await last.close()
      isFailing = false

      await expect(source.open(identity)).rejects.toMatchObject({ code: 'ERR_UPLOAD_SOURCE_READ', isRetryable: false })
    })

    it('notices a write within the same millisecond as the last one', async () => {
      const path = await fileOf('quick.mp4')
      const source = fileSource(path)
      const reader = await source.open(await source.describe())

      await utimes(path, longAgo, longAgo.getTime() / 1000 + 0.0005)

      expect((await source.describe()).modifiedAtMs).toBe(1_767_323_045_500)
      await expect(reader.verify()).rejects.toMatchObject({
        code: 'ERR_UPLOAD_SOURCE_CHANGED',
        message: expect.stringContaining('it was written to') as string,
      })
      await reader.close()
    })

    it('says where the bytes ended when the file was cut during a read', async () => {
      const path = await fileOf('cut.mp4', counting(100))
      const source = fileSource(path)
      const reader = await source.open(await source.describe())
      await truncate(path, 30)

      await expect(reader.read(new Uint8Array(50), 0)).rejects.toMatchObject({
        code: 'ERR_UPLOAD_SOURCE_CHANGED',
        message: expect.stringContaining('bytes 0 to 50 were expected and it ends at 30') as string,
      })
      await reader.close()
    })
  })

  it.skipIf(process.platform !== 'linux').each([true, false])(
    'holds one handle per opening, and none when closed or refused: asked at once %s',
    async (mayAskNow) => {
      const path = await fileOf(`handles-${mayAskNow}.mp4`)
      const source = fileSourceOn(diskThat(mayAskNow), path)
      const before = await countHandles()

      const identity = await source.describe()
      await expect(source.open({ sizeBytes: 11 })).rejects.toMatchObject({ code: 'ERR_UPLOAD_SOURCE_CHANGED' })
      expect(await countHandles()).toBe(before)
      const reader = await source.open(identity)
      await Promise.all([0, 1, 2].map((at) => bytesOf(reader, at, at + 5)))
      expect(await countHandles()).toBe(before + 1)

      await reader.close()
      await unlink(path)
      await mkdir(path)
      await expect(source.open(identity)).rejects.toMatchObject({ code: 'ERR_UPLOAD_SOURCE_READ' })
      expect(await countHandles()).toBe(before)
    },
  )

  it('reads beyond 4 GiB, on shared memory too', async () => {
    const path = join(folder, 'five-gib.mp4')
    const at = 5 * 2 ** 30 - 3
    const handle = await open(path, 'w')
    await handle.write(Buffer.from('end'), 0, 3, at)
    await handle.close()
    const source = fileSource(path)
    const identity = await source.describe()
    const reader = await source.open(identity)
    const shared = new Uint8Array(new SharedArrayBuffer(5))

    await reader.read(shared, at - 2)

    expect(identity.sizeBytes).toBe(5_368_709_120)
    expect(Buffer.from(shared)).toEqual(Buffer.from('\0\0end'))
    await expect(reader.read(new Uint8Array(4), at)).rejects.toMatchObject({ code: 'ERR_UPLOAD_SOURCE_CHANGED' })
    await reader.close()
    await unlink(path)
  })

  it('reads a file in a folder with a name of any script', async () => {
    await mkdir(join(folder, '試合 ⚾'))

    const source = fileSource(await fileOf(join('試合 ⚾', 'Schläge #7%.mp4')))

    expect(source.name).toBe('Schläge #7%.mp4')
    expect((await source.describe()).sizeBytes).toBe(10)
  })
})

/** The superuser may read everything, so for the length of `work` a process of his acts as nobody. */
async function asOrdinaryUser<T>(work: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return work()
  process.seteuid?.(65_534)
  try {
    return await work()
  } finally {
    process.seteuid?.(0)
  }
}

/** Open files of this process; 0 where the system does not list them. */
async function countHandles(): Promise<number> {
  return existsSync('/proc/self/fd') ? (await readdir('/proc/self/fd')).length : 0
}
