// A journal of the host's own, which fails as its database does: with errors of its own, at once or later.

import { describe, expect, it } from 'vitest'

import { bytesSource } from '../../src/adapters/web/bytes-source.ts'
import { createUplink as createPageUplink } from '../../src/browser.ts'
import { memoryJournal } from '../../src/adapters/web/memory-journal.ts'
import type { Journal, SessionJournal } from '../../src/core/ports.ts'
import type { UploadReport } from '../../src/flows/upload.ts'
import { BASE_URL, CAPTURE, createFarEnd, endOf, goodService, goodStorage, VIDEO } from '../security/far-end.ts'

const busy = Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' })
const ours = { code: 'ERR_UPLOAD_JOURNAL', message: 'The journal failed: database is locked', cause: busy }

const rigWith = (journal: Journal) =>
  createFarEnd({ service: goodService(() => 'https://store.example/k'), storage: goodStorage, journal })

/** A journal whose sessions append in another way. */
function appending(append: (session: SessionJournal, type: string) => Promise<void> | undefined): Journal {
  const journal = memoryJournal()
  const open = async (key: string): Promise<SessionJournal> => {
    const session = await journal.open(key)
    return { ...session, append: (records) => append(session, records[0]!.type) ?? session.append(records) }
  }
  return { ...journal, open }
}

/** The first record of each append by which a call of the service is announced. */
const INTENTS = ['session.begun', 'files.registering', 'file.confirming', 'session.cancelling']

it('a journal of the host that is slow has the intent of every call of the service before it is made', async () => {
  const pending: string[] = []
  const calls: unknown[] = []
  const good = goodService(() => 'https://store.example/k')
  const memory = memoryJournal()
  const journal: Journal = {
    ...memory,
    async open(key) {
      const session = await memory.open(key)
      const append = async (...[records]: Parameters<SessionJournal['append']>): Promise<void> => {
        const { type } = records[0]!
        pending.push(type)
        await new Promise((resolve) => rig.clock.setTimeout(() => resolve(undefined), 1_000))
        pending.splice(pending.indexOf(type), 1)
        await session.append(records)
      }
      return { ...session, append }
    },
  }
  const rig = createFarEnd({
    ...{ journal, storage: goodStorage },
    service(request, body) {
      const unwritten = pending.filter((type) => INTENTS.includes(type))
      calls.push([`${request.method} ${request.url.slice(BASE_URL.length).split('/', 2).join('/')}`, unwritten])
      return good(request, body)
    },
  })
  const files = [{ source: bytesSource('a.mp4', new Uint8Array(3)) }]
  await rig.settled(rig.uplink.uploadVideos({ files, ...VIDEO }).done())
  await rig.settled(rig.uplink.uploadCaptures({ files, ...CAPTURE, frameRate: 240 }).done())
  const cancelled = rig.uplink.uploadVideos({ files, ...VIDEO })
  cancelled.on('state', ({ state }) => void (state === 'uploading' && cancelled.cancel()))
  await rig.settled(endOf(cancelled))

  const create = ['POST /upload_videos', []]
  expect(calls).toEqual([
    ...[create, ['PATCH /upload_videos', []], ['POST /mocap_session', []], ['POST /mocap_session_file', []]],
    ...[create, ['DELETE /upload_videos', []]],
  ])
})

describe('a journal of the host that throws what is no error of ours', () => {
  const input = () => ({ files: [{ source: bytesSource('a.mp4', new Uint8Array(3)) }], ...VIDEO })
  const fail = (): never => {
    throw busy
  }

  it.each([
    ['does not open', { ...memoryJournal(), open: () => Promise.reject(busy) }],
    ['throws at its first record', appending(fail)],
    ['rejects at its first record', appending(() => Promise.reject(busy))],
    ['throws at a receipt', appending((_, type) => (type === 'part.received' ? fail() : undefined))],
    ['rejects at a receipt', appending((_, type) => (type === 'part.received' ? Promise.reject(busy) : undefined))],
  ])('ends an upload as a journal of ours would, when it %s', async (_how, journal) => {
    const { uplink, settled } = rigWith(journal)
    const { error } = await settled(endOf(uplink.uploadVideos(input())))

    expect(error).toMatchObject({ code: ours.code, message: ours.message })
  })

  it.each([
    ['rejects', () => Promise.reject(busy)],
    ['throws', fail],
  ])('lists no session of which it kept the beginning only in part, when its first append %s', async (_how, refuse) => {
    let appends = 0
    const { uplink, settled } = rigWith(appending(() => (++appends === 1 ? refuse() : undefined)))
    const { error } = await settled(endOf(uplink.uploadVideos(input())))

    expect(error).toMatchObject({ code: ours.code, report: { status: 'failed', files: [] } })
    expect(await uplink.sessions()).toEqual([])
  })

  it.each([
    ['rejects', () => Promise.reject(busy)],
    ['throws', fail],
  ])('is told by every verb as one of ours is, with its own error as the cause, when it %s', async (_how, refuse) => {
    const { uplink } = rigWith({ open: refuse, read: refuse, list: refuse, remove: refuse })

    for (const asked of [
      () => uplink.sessions(),
      () => uplink.receipt('k'),
      () => uplink.resume('k'),
      () => uplink.cancelSession('k'),
      () => uplink.forgetSession('k'),
    ]) {
      await expect(asked()).rejects.toMatchObject(ours)
    }
  })

  it('is told so by a page as well, which looks for the files of an earlier life by itself', async () => {
    const journal: Journal = { open: fail, read: fail, list: fail, remove: fail }
    const page = createPageUplink({ baseUrl: 'https://service.example', credentials: { apiKey: 'k' }, journal })

    for (const asked of [() => page.resume('k'), () => page.missingFiles('k'), () => page.sessionFiles('k')]) {
      await expect(asked()).rejects.toMatchObject(ours)
    }
    await page.close()
  })

  it('takes no report away by failing to keep its end and to close', async () => {
    const journal = appending((_, type) => (type === 'session.settled' ? Promise.reject(busy) : undefined))
    const open = async (key: string) => ({ ...(await journal.open(key)), close: () => Promise.reject(busy) })
    const { uplink, settled } = rigWith({ ...journal, open })

    expect(await settled(uplink.uploadVideos(input()).done())).toMatchObject({
      status: 'confirmed',
      error: { code: ours.code, message: ours.message },
    })
  })

  it('says in the report that it could not be closed, which it is before the host hears of the end', async () => {
    const journal = memoryJournal()
    const states: string[] = []
    const open = async (key: string): Promise<SessionJournal> => {
      const close = async (): Promise<never> => {
        states.push('closed')
        return Promise.reject(busy)
      }
      return { ...(await journal.open(key)), close }
    }
    const { uplink, settled } = rigWith({ ...journal, open })
    const upload = uplink.uploadVideos(input())
    upload.on('state', ({ state }) => states.push(state))

    expect(await settled(upload.done())).toMatchObject({ status: 'confirmed', error: { message: ours.message } })
    expect(states.slice(-3)).toEqual(['settling', 'closed', 'confirmed'])
  })

  it('is what the report of a cancel names, whatever else failed: a later life does not know that it was given up', async () => {
    const isEnd = (type: string) => /^session\.(?:cancel|settled)/.test(type)
    const journal = appending((_, type) => (isEnd(type) ? Promise.reject(busy) : undefined))
    let given: Promise<UploadReport> | undefined
    const service = () => {
      given = upload.cancel()
      return { status: 400 }
    }
    const { uplink, settled } = createFarEnd({ service, storage: goodStorage, journal })
    const upload = uplink.uploadVideos(input())
    await settled(endOf(upload))

    expect(await given).toMatchObject({ status: 'cancelled', error: { code: ours.code } })
    expect(await uplink.sessions()).toMatchObject([{ status: 'open' }])
  })

  it('hides no reason of ours by failing to close', async () => {
    const journal = memoryJournal()
    const open = async (key: string) => ({ ...(await journal.open(key)), close: () => Promise.reject(busy) })

    await expect(rigWith({ ...journal, open }).uplink.resume('k')).rejects.toMatchObject({
      message: 'No session k is in the journal.',
    })
  })
})

it('holds no trace of an upload that is cancelled before it began', async () => {
  const journal = memoryJournal()
  const { uplink, settled } = rigWith(journal)
  const describe = () => new Promise<never>(() => undefined)
  const source = { name: 'a.mp4', describe, open: describe }
  const upload = uplink.uploadVideos({ files: [{ source }], ...VIDEO })

  expect(await settled(upload.cancel())).toMatchObject({ status: 'cancelled', isServiceTold: false })
  expect(await journal.read(upload.key)).toEqual([])
})

describe('a journal that has kept a new session only when its create was given up as too slow', () => {
  const begin = () => {
    const memory = memoryJournal()
    const open = async (key: string): Promise<SessionJournal> => {
      const session = await memory.open(key)
      const append: SessionJournal['append'] = async (records) => {
        if (records[0]!.type === 'session.created')
          await new Promise<void>((resolve) => far.clock.setTimeout(resolve, 61_000))
        await session.append(records)
      }
      return { ...session, append }
    }
    const service = goodService((fileIndex) => `https://store.example/${String(fileIndex)}`)
    const far = createFarEnd({ service, storage: goodStorage, journal: { ...memory, open } })
    const upload = far.uplink.uploadVideos({ files: [{ source: bytesSource('a.mp4', new Uint8Array(3)) }], ...VIDEO })
    const calls = () => far.requests.map(({ method, url }) => `${method} ${url.split('/').at(-1)!}`)
    return { ...far, upload, calls }
  }

  it('loses it to no second one when the upload goes on after a pause', async () => {
    const { clock, upload, calls, settled } = begin()
    await clock.advance(1)
    upload.pause()
    await clock.advance(62_000)
    expect(upload.state).toBe('paused')
    upload.resume()

    expect(await settled(upload.done())).toMatchObject({ status: 'confirmed', sessionId: 's-1' })
    expect(calls()).toEqual(['POST upload_videos', 'PUT 0', 'PATCH upload_videos'])
  })

  it('tells the service of it when the upload is cancelled', async () => {
    const { clock, upload, calls, settled } = begin()
    await clock.advance(1)

    expect(await settled(upload.cancel())).toMatchObject({ status: 'cancelled', isServiceTold: true })
    expect(calls()).toEqual(['POST upload_videos', 'DELETE s-1'])
  })
})
