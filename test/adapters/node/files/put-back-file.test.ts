// A file whose drive was away, as far as it can be told whether the same one is back.

import { randomFillSync } from 'node:crypto'
import { copyFile, mkdtemp, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

import { diskThreads } from '../../../../src/adapters/node/files/disk-threads.ts'
import { fileSourceOn } from '../../../../src/adapters/node/files/file-source.ts'
import type { Reader, Source } from '../../../../src/core/ports.ts'

const BYTES = 600_000
/** So little that other files may have the same in these places, as far as anybody knows, and so much that none has. */
const [LITTLE, ENOUGH] = [100_000, 400_000]

/** On a drive whose number is not that of the folder above: what is nowhere is then gone with its drive. */
const ownDrive = {
  mayAskNow: () => true,
  askNow<T>(work: () => T): T {
    const answer = work()
    if (answer instanceof Object && 'facts' in answer) Object.assign(answer.facts as object, { dev: 77n })
    return answer
  },
}

async function written(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-put-back-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'clip.mp4')
  await writeFile(path, randomFillSync(new Uint8Array(BYTES)))
  return path
}

/** As an upload opens it that sends its first bytes. */
async function sending(source: Source, path: string, bytes: number): Promise<Reader> {
  const reader = await source.open(await identityOf(path))
  for (let at = 0; at < bytes; at += 50_000) await reader.read(new Uint8Array(50_000), at)
  return reader
}

async function sent(source: Source, path: string, bytes: number): Promise<void> {
  await (await sending(source, path, bytes)).close()
}

async function identityOf(path: string) {
  const { size: sizeBytes, mtimeMs } = await stat(path)
  return { sizeBytes, modifiedAtMs: Math.floor(mtimeMs) }
}

it.each([
  ['is left to a resume where little was sent of it', LITTLE, false],
  ['goes on where enough was sent of it to know it', ENOUGH, true],
])('%s, although drive and file have the numbers of before', async (_, bytes, isTaken) => {
  const path = await written()
  const source = fileSourceOn(ownDrive, path)
  await sent(source, path, bytes)
  const identity = await identityOf(path)
  await rename(path, `${path}.away`)
  await expect(source.open(identity)).rejects.toMatchObject({ isRetryable: true, details: { systemCode: 'ENOENT' } })
  await rename(`${path}.away`, path)

  const opening = Promise.resolve(source.open(identity))
  if (isTaken) await (await opening).close()
  else await expect(opening).rejects.toMatchObject({ code: 'ERR_UPLOAD_SOURCE_READ', isRetryable: false })
})

it('goes on where little was sent of it if only the file has another number: its drive was there all the time', async () => {
  const path = await written()
  const source = fileSourceOn(ownDrive, path)
  await sent(source, path, LITTLE)
  const { atime, mtime } = await stat(path)
  await copyFile(path, `${path}.copy`)
  await utimes(`${path}.copy`, atime, mtime)
  const identity = await identityOf(`${path}.copy`)
  await rename(`${path}.copy`, path)

  await (await source.open(identity)).close()
})

it('is left to a resume also where the end of its upload found it gone', async () => {
  const path = await written()
  const source = fileSourceOn(ownDrive, path)
  const reader = await sending(source, path, LITTLE)
  await rename(path, `${path}.away`)
  await expect(reader.verify()).rejects.toMatchObject({ isRetryable: true, details: { systemCode: 'ENOENT' } })
  await reader.close()
  await rename(`${path}.away`, path)

  const opening = Promise.resolve(source.open(await identityOf(path)))
  await expect(opening).rejects.toMatchObject({ code: 'ERR_UPLOAD_SOURCE_READ', isRetryable: false })
})

it('goes on where little was sent of it if a read of it failed on a drive that was there', async () => {
  const path = await written()
  let isFailing = false
  const failing: typeof ownDrive = {
    mayAskNow: () => true,
    askNow(work) {
      if (isFailing) throw Object.assign(new Error('EIO'), { code: 'EIO' })
      return ownDrive.askNow(work)
    },
  }
  const source = fileSourceOn(failing, path)
  const reader = await sending(source, path, LITTLE)
  isFailing = true
  await expect(reader.read(new Uint8Array(50_000), LITTLE)).rejects.toMatchObject({ isRetryable: true })
  isFailing = false
  await reader.close()

  await (await source.open(await identityOf(path))).close()
})

it('tells a read that was ended while it waited for a thread by the reason of that, and by none of its own', async () => {
  const path = await written()
  let mayAskNow = true
  const source = fileSourceOn({ ...ownDrive, mayAskNow: () => mayAskNow }, path)
  const reader = await source.open(await identityOf(path))
  mayAskNow = false
  const drives = Array.from({ length: 200 }, (_, index) => `drive ${String(index)}`)
  for (const drive of drives) diskThreads.begin(drive, () => undefined)
  const stopping = new AbortController()
  const reason = new Error('stopped')

  const reading = reader.read(new Uint8Array(50_000), 0, stopping.signal)
  stopping.abort(reason)
  await expect(reading).rejects.toBe(reason)

  for (const drive of drives) diskThreads.end(drive)
  await reader.close()
})
