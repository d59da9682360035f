// What a screen reader is told while uploads run: every turn once, and nothing between.

import { afterEach, expect, it, vi } from 'vitest'

import { bytesSource } from '../../src/adapters/web/bytes-source.ts'
import { createFormats } from '../../src/element/formats.ts'
import type { Job } from '../../src/element/items.ts'
import type { Phase } from '../../src/element/list-state.ts'
import { createNarration } from '../../src/element/narration.ts'
import { englishTexts } from '../../src/element/texts.ts'
import { createWords } from '../../src/element/words.ts'
import type { Outage, UploadFileStatus, UploadState } from '../../src/flows/upload.ts'
import { createFarEnd, goodStorage, VIDEO } from '../security/far-end.ts'

const WAIT = {
  who: 'storage',
  host: 'store.example:443',
  sinceMs: 0,
  untilMs: Date.UTC(2026, 10, 20, 20, 5, 30),
  giveUpAtMs: Date.UTC(2026, 10, 20, 21),
} as const
const OF_SERVICE = { ...WAIT, who: 'service', host: 'service.example:443', reason: 'no answer in time' } as const

afterEach(() => void vi.unstubAllGlobals())

function narrating(filesConfirmed = 6, phase: Phase = 'uploading', filesFailed = 0) {
  const said: string[] = []
  const told: (readonly [name: string, detail: unknown])[] = []
  const counts = { filesTotal: 20, filesConfirmed, filesFailed, sentBytes: 0, confirmedBytes: 0, totalBytes: 1 }
  const narration = createNarration(
    {
      region: undefined as never,
      say: (message) => said.push(message),
      takeBack: (message) => said.push(`(no more: ${message})`),
    },
    (name, detail) => void told.push([name, detail]),
    () => createWords(englishTexts, 'en'),
    { phase: () => phase, totals: () => ({ ...counts, bytesPerSecond: 0, remainingMs: undefined }) },
  )
  return { narration, said, told, counts }
}

/** Each wait is told three times, as at every try. */
function narrated(states: readonly UploadState[], told: Outage | 'untold' = WAIT, onLine = true): string[] {
  const outage = told === 'untold' ? undefined : told
  vi.stubGlobal('navigator', { onLine })
  const { narration, said } = narrating()
  const upload = { key: 'video-1', state: 'uploading' as UploadState }
  for (const state of states) {
    upload.state = state
    const job = { upload, items: [], outage } as unknown as Job
    narration.told(job, 'state')
    for (let turn = 0; turn < 3 && state === 'waiting'; turn += 1) narration.told(job, 'waiting')
  }
  return said
}

it('says that the network is gone, and that it is back', () => {
  expect(narrated(['uploading', 'waiting', 'uploading'], WAIT, false)).toEqual([
    'No connection. The upload goes on by itself when it is back.',
    'Uploading 14 files.',
  ])
})

it('says that the network is back also where it was gone before the session was created', () => {
  expect(narrated(['creating', 'waiting', 'creating', 'uploading'], WAIT, false)).toEqual([
    'No connection. The upload goes on by itself when it is back.',
    'Uploading 14 files.',
  ])
})

it('says that it is the other end that takes nothing, and when it is tried next; without a network it is that', () => {
  const time = createFormats('en').time(OF_SERVICE.untilMs)
  expect(narrated(['waiting', 'uploading', 'waiting'], OF_SERVICE)).toEqual([
    `The upload service is not available. The next try is at ${time}.`,
    'Uploading 14 files.',
    `The upload service is not available. The next try is at ${time}.`,
  ])
  expect(time).toMatch(/^\d+:05:30/)
  expect(narrated(['waiting'], OF_SERVICE, false)).toEqual([
    'No connection. The upload goes on by itself when it is back.',
  ])
})

it.each([
  ['storage', 'gives no answer', WAIT, 'The upload storage'],
  ['storage', 'takes nothing', { ...WAIT, reason: 'it answers 503' }, 'The upload storage'],
  ['service', 'gives no answer', OF_SERVICE, 'The upload service'],
])('says whose outage it is: the %s %s', (_who, _how, outage, who) => {
  const [said] = narrated(['waiting'], outage)
  expect(said).toMatch(new RegExp(`^${who} is not available\\. The next try is at `))
})

it('says no more than that it waits where nobody has told for whom yet', () => {
  expect(narrated(['waiting'], 'untold')).toEqual(['Waiting'])
})

it('says that the next try is now while it is, and no time', () => {
  expect(narrated(['waiting'], { ...OF_SERVICE, untilMs: undefined })).toEqual([
    'The upload service is not available. The next try is now.',
  ])
})

it('does not say what the person did anyway, nor an end of an outage that there was not', () => {
  expect(narrated(['creating', 'uploading', 'pausing', 'paused', 'uploading', 'settling'])).toEqual([
    'Paused. 6 of 20 files confirmed',
    '(no more: Paused. 6 of 20 files confirmed)',
  ])
})

it.each([
  [20, 0, 'settled', ['All 20 files are uploaded and confirmed']],
  [6, 14, 'settled', ['14 files not finished', '6 of 20 files confirmed']],
  [6, 14, 'ready', ['14 files not finished', '6 of 20 files confirmed']],
  [0, 20, 'settled', ['20 files not finished']],
  // What did not fail was cancelled.
  [6, 1, 'settled', ['1 file not finished', '6 of 20 files confirmed']],
  [6, 0, 'settled', ['The upload was cancelled', '6 of 20 files confirmed']],
  [0, 0, 'settled', ['The upload was cancelled']],
  // Another upload runs on: what it has not done yet is not lost.
  [6, 1, 'uploading', ['6 of 20 files confirmed']],
] as const)('says of %i of 20 files, %i failed and %s, what the heading says', (done, failed, phase, expected) => {
  const { narration, said } = narrating(done, phase, failed)

  narration.sayEnd({ items: [] } as unknown as Job)

  expect(said).toEqual(expected)
})

it('says nothing of the end of an upload whose files were all chosen again', () => {
  const { narration, said, counts } = narrating(0, 'ready')
  Object.assign(counts, { filesTotal: 0 })

  narration.sayEnd({ items: [] } as unknown as Job)

  expect(said).toEqual([])
})

it('asks nobody to choose a file again that was chosen again', () => {
  const { narration, said } = narrating(6, 'uploading')
  const error = { code: 'ERR_UPLOAD_SOURCE_CHANGED', message: '' }
  const items = [
    { location: 'swing-01.mp4', state: 'failed', error, replacedBy: {} },
    { location: 'cam1/swing-02.mp4', state: 'failed', error },
  ]

  narration.sayEnd({ items: items.slice(0, 1) } as unknown as Job)
  narration.sayEnd({ items } as unknown as Job)

  expect(said).toEqual([
    '6 of 20 files confirmed',
    'cam1/swing-02.mp4: The file has changed or cannot be read. Choose it again.',
    '6 of 20 files confirmed',
  ])
})

it('says quarters as they are reached, and anew where files that were added have made the whole larger', () => {
  const { narration, said, counts } = narrating()
  const reach = (confirmedBytes: number, totalBytes: number): void => {
    Object.assign(counts, { confirmedBytes, totalBytes })
    narration.told({ upload: { key: 'video-1' }, items: [] } as unknown as Job, 'progress')
  }

  for (const bytes of [10, 25, 30, 55]) reach(bytes, 100)
  reach(60, 200)
  reach(100, 200)
  reach(200, 200)

  expect(said).toEqual(['25% stored.', '50% stored.', '50% stored.'])
})

it.each(['waiting', 'paused', 'cancelling'] as const)(
  'says no quarter while it is %s, in place of which that would not be heard',
  (phase) => {
    const { narration, said, counts } = narrating(6, phase)
    Object.assign(counts, { confirmedBytes: 60, totalBytes: 100 })

    narration.told({ upload: { key: 'video-1' }, items: [] } as unknown as Job, 'progress')

    expect(said).toEqual([])
  },
)

it('tells the page of each turn, with the totals as they are then', () => {
  const { narration, told } = narrating()
  const file = { name: 'swing-01.mp4', state: 'confirmed' } as UploadFileStatus
  const upload = { key: 'video-1', state: 'uploading', files: () => [file] }
  const job = { upload, items: [{ fileName: 'clip (1).mp4' }] } as unknown as Job

  narration.told(job, 'start')
  narration.told(job, 'state')
  narration.told(job, 'progress')
  narration.told(job, 'file', file)

  expect(told).toEqual([
    ['mocap-upload-start', { key: 'video-1', names: ['swing-01.mp4'] }],
    ['mocap-upload-state', { key: 'video-1', state: 'uploading' }],
    ['mocap-upload-progress', expect.objectContaining({ filesTotal: 20, filesConfirmed: 6 })],
    ['mocap-upload-file', { key: 'video-1', file }],
  ])
})

it('tells the page the names of an upload that has just begun, of whose files the flow has yet to look at any', async () => {
  const { uplink } = createFarEnd({ service: () => ({ status: 500 }), storage: goodStorage })
  const upload = uplink.uploadVideos({ ...VIDEO, files: [{ source: bytesSource('swing-01.mp4', new Uint8Array(1)) }] })
  const { narration, told } = narrating()

  narration.told({ upload, items: [{ fileName: 'swing-01.mp4' }] } as unknown as Job, 'start')
  await uplink.close()

  expect(told).toEqual([['mocap-upload-start', { key: upload.key, names: ['swing-01.mp4'] }]])
})
