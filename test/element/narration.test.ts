// What a screen reader is told while uploads run: every turn once, and nothing between.

import { expect, it } from 'vitest'

import { createFormats } from '../../src/element/formats.ts'
import type { Job } from '../../src/element/items.ts'
import { createNarration } from '../../src/element/narration.ts'
import { englishTexts } from '../../src/element/texts.ts'
import type { UploadState } from '../../src/flows/upload.ts'

function narrated(states: readonly UploadState[]): string[] {
  const said: string[] = []
  const upload = { key: 'video-1', state: 'uploading' as UploadState }
  const counts = { filesTotal: 20, filesConfirmed: 6, filesFailed: 0, sentBytes: 0, confirmedBytes: 0, totalBytes: 1 }
  const narration = createNarration({
    announcer: { region: undefined as never, say: (message) => said.push(message) },
    tell: () => undefined,
    words: () => ({ texts: englishTexts, formats: createFormats('en') }),
    totals: () => ({ ...counts, bytesPerSecond: 0, remainingMs: undefined }),
  })
  for (const state of states) {
    upload.state = state
    narration.told({ upload, items: [], report: undefined } as unknown as Job, 'state')
  }
  return said
}

it('says that the network is gone, and that it is back', () => {
  expect(narrated(['uploading', 'waiting', 'uploading'])).toEqual([
    'No connection. The upload goes on by itself when it is back.',
    'Uploading 14 files.',
  ])
})

it('does not say what the person did anyway, nor an end of an outage that there was not', () => {
  expect(narrated(['created', 'uploading', 'pausing', 'paused', 'uploading', 'settling'])).toEqual([
    'Paused. 6 of 20 files confirmed',
  ])
})
