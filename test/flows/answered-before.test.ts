// A service that does not answer when a session is resumed: it is waited for if the journal shows that it has answered at this
// host, and tried only a few times if it may be misspelt.

import { expect, it } from 'vitest'

import { bytesSource } from '../../src/adapters/web/bytes-source.ts'
import { memoryJournal } from '../../src/adapters/web/memory-journal.ts'
import { TransportError } from '../../src/core/errors.ts'
import type { JournalRecord } from '../../src/core/journal/journal.ts'
import type { Journal } from '../../src/core/ports.ts'
import type { Upload } from '../../src/flows/upload.ts'
import { CAPTURE, createFarEnd, endOf, goodService, goodStorage, VIDEO, type FarEnd } from '../security/far-end.ts'

const MINUTE_MS = 60_000
const clip = bytesSource('a.mp4', new Uint8Array([1, 2, 3]))
const takes = ['1.action', '2.action'].map((name) => ({ source: bytesSource(name, new Uint8Array([1])) }))
let addresses = 0
const good = goodService(() => `https://store.example/${String((addresses += 1))}`)
const refused = (): Error =>
  new TransportError('ERR_UPLOAD_NETWORK', 'No connection', {
    ...{ phase: 'connect', ending: 'neverWhole', cause: Object.assign(new Error('no'), { code: 'ECONNREFUSED' }) },
  })

const asVideo = ({ uplink }: FarEnd): Upload => uplink.uploadVideos({ ...VIDEO, files: [{ source: clip }] })
const asCapture = ({ uplink }: FarEnd): Upload =>
  uplink.uploadCaptures({ ...CAPTURE, files: takes, kind: 'tracking', batchSize: 1 })
/** Adds to a session that the caller knows, so that its id proves nothing. */
const asMoreOf = ({ uplink }: FarEnd): Upload =>
  uplink.uploadCaptures({ sessionId: 'c-9', mocapTypeId: 2, files: takes, kind: 'tracking', batchSize: 1 })

/** An upload whose process ends at its first call after `answers` answers. */
async function begun(start: (rig: FarEnd) => Upload, answers: number): Promise<{ key: string; journal: Journal }> {
  const journal = memoryJournal()
  let calls = 0
  const rig = createFarEnd({
    journal,
    storage: goodStorage,
    service: (request, body) => {
      if (calls++ < answers) return good(request, body)
      void rig.uplink.close()
      return refused()
    },
  })
  const upload = start(rig)
  await rig.settled(endOf(upload))
  return { key: upload.key, journal }
}

/** The same journal in a process to which the service is back only after ten minutes. */
function later(journal: Journal, baseUrl?: string): FarEnd & { resume(key: string): ReturnType<typeof endOf> } {
  const isBack = (): boolean => rig.clock.monotonicNow() > 10 * MINUTE_MS
  const rig: FarEnd = createFarEnd({
    journal,
    service: (request, body) => (isBack() ? good(request, body) : refused()),
    storage: baseUrl === undefined ? goodStorage : refused,
    ...(baseUrl === undefined ? {} : { baseUrl }),
  })
  const sources = new Map([{ source: clip }, ...takes].map(({ source }) => [source.name, source]))
  return {
    ...rig,
    async resume(key) {
      const upload = rig.uplink.resume(key, { source: ({ name }) => sources.get(name)! })
      return rig.settled(upload.then(endOf))
    },
  }
}

it.each<[string, typeof asVideo, number]>([
  ['videos, all of them sent', asVideo, 1],
  ['captures of a session that was made', asCapture, 1],
  ['captures of which some are registered', asCapture, 2],
  ['captures that were added to a known session', asMoreOf, 1],
])('is waited for at a resume of %s', async (_, start, answers) => {
  const { key, journal } = await begun(start, answers)
  const rig = later(journal)

  expect((await rig.resume(key)).report).toMatchObject({ status: 'confirmed' })
  expect(rig.clock.monotonicNow()).toBeGreaterThan(10 * MINUTE_MS)
})

it('is waited for by every session of the journal once one has shown that it has answered', async () => {
  const { key, journal } = await begun(asVideo, 1)
  const rig = later(journal)
  const other = asCapture(rig)
  const ends = Promise.all([rig.uplink.resume(key, { source: () => clip }).then(endOf), endOf(other)])

  expect(await rig.settled(ends)).toMatchObject([
    { report: { status: 'confirmed' } },
    { report: { status: 'confirmed' } },
  ])
})

/** The same journal as a build kept it that did not write down which host it asked. */
async function ofEarlierBuild(key: string, journal: Journal): Promise<Journal> {
  const records = (await journal.read(key)).map((record) => ({ ...record, host: undefined }))
  const old = memoryJournal()
  const session = await old.open(key)
  await session.append(JSON.parse(JSON.stringify(records)) as JournalRecord[])
  await session.close()
  return old
}

it.each([
  ['is another one', asVideo, 1, 'https://other.example/api'],
  ['has another port', asVideo, 1, 'https://service.example:8443/api'],
  ['has never answered a video session', asVideo, 0, undefined],
  ['has never answered a capture that adds to a known session', asMoreOf, 0, undefined],
  ['was not written down by an earlier build', asCapture, 1, undefined],
] as const)('is tried three times at a resume if the host %s', async (_, start, answers, baseUrl) => {
  const { key, journal } = await begun(start, answers)
  const isOld = start === asCapture
  const rig = later(isOld ? await ofEarlierBuild(key, journal) : journal, baseUrl)

  const { error } = await rig.resume(key)

  expect(error).toMatchObject({
    code: 'ERR_UPLOAD_HOST_UNREACHABLE',
    message: expect.stringMatching(/Gave up after 3 attempts to .*\. Check the base URL and the network\.$/) as string,
  })
  expect(rig.requests).toHaveLength(3)
})

it('keeps the host, and of the base URL nothing else, in the journal', async () => {
  const { key, journal } = await begun(asCapture, 1)
  const text = JSON.stringify(await journal.read(key))

  expect(text).toContain('"host":"service.example:443"')
  expect(text).not.toContain('service.example/')
})
