// Files of a session that were moved: found again below a folder by name, size and time, and never mistaken for one another.

import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'

import { fileGone, fileProblem } from '../../src/adapters/node/file-problem.ts'
import { lostFiles } from '../../src/cli/lost-files.ts'
import { asItWas, movedFiles } from '../../src/cli/moved-files.ts'
import { resultOf } from '../../src/cli/upload-result.ts'
import { sayHowToGoOn } from '../../src/cli/views/how-to-go-on.ts'
import type { Output } from '../../src/cli/views/output.ts'
import type { SoughtFile } from '../../src/core/ports.ts'
import { createUplink, fileSource, memoryJournal, type UploadFailedError } from '../../src/node.ts'
import { canMount } from '../helpers/can-mount.ts'
import { startIndependentService } from '../helpers/independent-service.ts'

/** A folder with these files, which hold their names, all last written in the same second. */
async function folderOf(...names: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-moved-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const name of names) {
    const path = join(folder, name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, name)
    await utimes(path, 1_000, 1_000)
  }
  return folder
}

/** Looks below `folder` for files that were once at these places, and are now what is at `of`; gives what opens the first. */
async function seek(folder: string, of: string, ...locations: readonly string[]) {
  const identity = await fileSource(of).describe()
  return seekAll(
    folder,
    locations.map((location, fileIndex) => ({ name: 'sent.mp4', location, fileIndex, ...identity })),
  )
}

async function seekAll(folder: string, sought: readonly SoughtFile[]) {
  const { source, find } = await movedFiles(folder, sought)
  const [file] = sought
  const open = async (): Promise<string> => {
    const reader = await source(file!).open(file!)
    try {
      const bytes = new Uint8Array(file!.sizeBytes)
      await reader.read(bytes, 0)
      return new TextDecoder().decode(bytes)
    } finally {
      await reader.close()
    }
  }
  return Object.assign(open, { find: () => find(file!) })
}

it('finds a file below the folder by its name, size and time, and of some alike the one whose way there is alike', async () => {
  const folder = await folderOf('new/cam1/a.mp4', 'new/cam2/a.mp4', 'new/cam2/b.mp4')
  const names = ['cam1/a.mp4', 'cam2/a.mp4', 'cam2/B.MP4']
  const old = (name: string) => join(folder, 'old', name)

  for (const name of names) {
    const now = join('new', name.toLowerCase())
    const open = await seek(join(folder, 'new'), join(folder, now), old(name), ...names.map(old))
    expect(await open()).toBe(now)
    expect(await open.find()).toEqual({ path: join(folder, now) })
  }
})

it('takes a file from where it was while it is what it was, and else from the folder', async () => {
  const folder = await folderOf('old/a.mp4', 'new/a.mp4')
  const [old, moved] = [join(folder, 'old/a.mp4'), join(folder, 'new/a.mp4')]
  const open = await seek(join(folder, 'new'), old, old)

  expect([await open(), await open.find()]).toEqual(['old/a.mp4', { path: old }])
  // Another card is where the first one was.
  await writeFile(old, 'another clip')
  const other = await seek(join(folder, 'new'), moved, old)
  expect([await other(), await other.find()]).toEqual(['new/a.mp4', { path: moved }])
})

it('stays with the file that was opened first: a clip of another card that is like it, in the same place, was not proven', async () => {
  const folder = await folderOf('card/a.mp4', 'elsewhere/b.mp4')
  const path = join(folder, 'card', 'a.mp4')
  const put = async (): Promise<void> => {
    await writeFile(`${path}.new`, randomBytes(600_000))
    await utimes(`${path}.new`, 1_000, 1_000)
    await rename(`${path}.new`, path)
  }
  await put()
  const identity = await fileSource(path).describe()
  const sought = (location: string): SoughtFile => ({ name: 'a.mp4', fileIndex: 0, location, ...identity })
  for (const location of [path, join(folder, 'gone', 'a.mp4')]) {
    const source = (await movedFiles(join(folder, 'card'), [sought(location)])).source(sought(location))
    const reader = await source.open(identity)
    for (let at = 0; at < 400_000; at += 50_000) await reader.read(new Uint8Array(50_000), at)
    await reader.close()
    await (await source.open(identity)).close()
    await put()

    await expect(Promise.resolve(source.open(identity))).rejects.toMatchObject({
      code: 'ERR_UPLOAD_SOURCE_READ',
      message: expect.stringContaining('Resume the session: it goes on if it is the same file.') as string,
    })
  }
})

it('takes none where several are alike and the ways there do not tell them apart', async () => {
  const folder = await folderOf('new/1/x.trc', 'new/2/x.trc', 'one/x.trc')
  const old = (name: string) => join(folder, 'old', name, 'x.trc')
  const telling = {
    code: 'ERR_UPLOAD_SOURCE_READ',
    message: expect.stringContaining('nothing shows which one it is') as string,
  }

  // Two files of the session, two in the folder.
  const two = await seek(join(folder, 'new'), join(folder, 'new/1/x.trc'), old('A'), old('B'))
  await expect(two()).rejects.toMatchObject(telling)
  // One in the folder, which may be either.
  const one = await seek(join(folder, 'one'), join(folder, 'one/x.trc'), old('A'), old('B'))
  await expect(one()).rejects.toMatchObject(telling)
})

it('takes none that may be another file of which the time is not known', async () => {
  const folder = await folderOf('new/x.trc')
  const identity = await fileSource(join(folder, 'new/x.trc')).describe()
  const old = (name: string, fileIndex: number) => ({ name, fileIndex, location: join(folder, 'old', name, 'x.trc') })
  const open = await seekAll(join(folder, 'new'), [
    { ...old('A', 0), ...identity },
    { ...old('B', 1), sizeBytes: identity.sizeBytes },
  ])

  await expect(open()).rejects.toMatchObject({
    message: expect.stringContaining('nothing shows which one it is') as string,
  })
})

it('takes none of the same name that is another file, and says of the one that is wanted that it is missing', async () => {
  const folder = await folderOf('old/a.mp4', 'new/another/a.mp4')
  const old = join(folder, 'old/a.mp4')
  const open = await seek(join(folder, 'new'), old, old)
  await rename(join(folder, 'old'), join(folder, 'gone'))

  await expect(open()).rejects.toMatchObject({
    code: 'ERR_UPLOAD_SOURCE_READ',
    message: expect.stringContaining(`"${old}" is not there as it was, and no file below`) as string,
    cause: { code: 'ERR_UPLOAD_SOURCE_READ' },
  })
})

it('finds what is sought whatever it is called, and wherever, but for what was thrown away', async () => {
  const names = ['.hidden/~$take.tmp', '.Trashes/501/.hidden/~$take.tmp', '$RECYCLE.BIN/.hidden/~$take.tmp']
  const folder = await folderOf(...names.map((name) => `new/${name}`), 'new/take.mp4')
  const now = join(folder, 'new/.hidden/~$take.tmp')
  // What was thrown away is the same in all that is compared.
  for (const path of names.map((name) => join(folder, 'new', name))) {
    await writeFile(path, 'new/.hidden/~$take.tmp')
    await utimes(path, 1_000, 1_000)
  }
  const open = await seek(join(folder, 'new'), now, join(folder, 'old/.hidden/~$take.tmp'))

  expect([await open(), await open.find()]).toEqual(['new/.hidden/~$take.tmp', { path: now }])
})

it('says of every file that it is not found where there is none below the folder', async () => {
  const folder = await folderOf('old/a.mp4')
  await mkdir(join(folder, 'new'))
  const open = await seek(join(folder, 'new'), join(folder, 'old/a.mp4'), join(folder, 'gone/a.mp4'))

  expect(await open.find()).toEqual({ why: `no file below "${join(folder, 'new')}" has its name, size and time` })
})

// Elsewhere no file can have such a name.
it.skipIf(process.platform !== 'linux')('passes by what cannot be read below the folder', async () => {
  const folder = await folderOf('new/a.mp4')
  await writeFile(Buffer.concat([Buffer.from(join(folder, 'new/')), Buffer.from([0xff])]), '')
  const open = await seek(join(folder, 'new'), join(folder, 'new/a.mp4'), join(folder, 'old/a.mp4'))

  expect(await open()).toBe('new/a.mp4')
})

it.skipIf(!canMount())('waits for a file on a drive that is away, where it was or below the folder', async () => {
  const drive = await mkdtemp(join(tmpdir(), 'mocap-uplink-drive-'))
  const elsewhere = await folderOf('clips/other.mp4')
  const mount = async (): Promise<void> => {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', drive])
    for (const name of ['a.mp4', 'b.mp4']) {
      await writeFile(join(drive, name), 'bytes')
      await utimes(join(drive, name), 1_000, 1_000)
    }
  }
  const unmount = (): void => void execFileSync('umount', [drive])
  await mount()
  onTestFinished(async () => {
    unmount()
    await rm(drive, { recursive: true })
  })
  const path = join(drive, 'b.mp4')
  const whereItWas = await seek(elsewhere, path, path)
  const below = await seek(drive, path, '/gone/b.mp4')
  unmount()

  for (const open of [whereItWas, below]) {
    await expect(open()).rejects.toMatchObject({ code: 'ERR_UPLOAD_SOURCE_READ', isRetryable: true })
    expect(await open.find()).toMatchObject({ why: expect.any(String) as string })
  }
  await mount()
  for (const open of [whereItWas, below]) expect(await open()).toBe('bytes')
})

it('goes on with a file whose card was taken out while it was uploaded: that is no change, and the last line says the way', async () => {
  const folder = await folderOf('card/a.mp4', 'card/b.mp4')
  const service = await startIndependentService()
  const journal = memoryJournal()
  const uplink = createUplink({
    baseUrl: service.url,
    credentials: { apiKey: service.apiKey },
    journal,
    concurrency: 1,
  })
  onTestFinished(async () => {
    await uplink.close()
    await service.close()
  })
  const files = ['a.mp4', 'b.mp4'].map((name) => ({ source: fileSource(join(folder, 'card', name)) }))
  const [{ source }] = files as [(typeof files)[0]]
  const open: typeof source.open = async (expected) => {
    const reader = await source.open(expected)
    const verify = async () => {
      await rename(join(folder, 'card'), join(folder, 'other name'))
      await reader.verify()
    }
    return { ...reader, verify }
  }
  const first = uplink.uploadVideos({
    ...{ movementTypeId: 1, playerId: 'p', sessionDate: '2026-11-20', sessionTypeId: 2 },
    files: [{ source: { ...source, open } }, files[1]!],
  })
  const failed: unknown = await first.done().catch((error: unknown) => error)
  expect(failed).toMatchObject({ code: 'ERR_UPLOAD_SOURCE_READ' })

  const complain = vi.fn()
  const { report: ended } = failed as UploadFailedError
  await sayHowToGoOn({ complain } as unknown as Output, resultOf(ended), { options: {}, env: {}, journal })
  const { source: moved } = await lostFiles(folder, await uplink.sessions(), journal)
  const report = await (await uplink.resume(first.key, { source: moved })).done()

  expect(complain.mock.calls).toEqual([
    [
      'Missing: 2 of 2 files, 20 B. To finish (with --files-in FOLDER where files were moved): ' +
        `mocap-uplink resume ${first.key}`,
    ],
  ])
  expect(report.status).toBe('confirmed')
})

const systemError = (code: string): Error => Object.assign(new Error(code), { code })

it.each([
  ['with its drive', (path: string) => fileGone(fileProblem(systemError('ENOENT'), path, 'read'), path, true)],
  ['in an answer of it', (path: string) => fileProblem(systemError('EIO'), path, 'read at byte 7')],
])('says the way also for files that were waited for in vain: gone %s', async (_, failure) => {
  const folder = await folderOf('card/a.mp4')
  const service = await startIndependentService()
  const uplink = createUplink({ baseUrl: service.url, credentials: { apiKey: service.apiKey }, retries: 1 })
  onTestFinished(async () => {
    await uplink.close()
    await service.close()
  })
  const path = join(folder, 'card', 'a.mp4')
  const upload = uplink.uploadVideos({
    ...{ movementTypeId: 1, playerId: 'p', sessionDate: '2026-11-20', sessionTypeId: 2 },
    files: [{ source: { ...fileSource(path), open: () => Promise.reject(failure(path)) } }],
  })
  const failed: unknown = await upload.done().catch((error: unknown) => error)
  expect(failed).toMatchObject({ code: 'ERR_UPLOAD_RETRIES_EXHAUSTED' })

  const complain = vi.fn()
  const { report } = failed as UploadFailedError
  const at = { options: {}, env: {}, journal: memoryJournal() }
  await sayHowToGoOn({ complain } as unknown as Output, resultOf(report), at)

  expect(complain.mock.calls).toEqual([
    [expect.stringContaining(' To finish (with --files-in FOLDER where files were moved): mocap-uplink resume ')],
  ])
})

it('takes no file of the working folder for what came from no path, whatever its size', async () => {
  const { sizeBytes } = await fileSource('package.json').describe()
  const file: SoughtFile = { fileIndex: 0, name: 'package.json', location: 'package.json', sizeBytes }
  const open = await seekAll(await folderOf(), [file])

  expect(await asItWas(file)).toEqual({ why: expect.stringContaining('came from no path') as string })
  expect(await open.find()).toHaveProperty('why')
  await expect(open()).rejects.toMatchObject({ code: 'ERR_UPLOAD_SOURCE_READ' })
})
