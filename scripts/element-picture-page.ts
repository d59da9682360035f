// The page of the picture: the element in light colours on a laptop and in dark colours on a phone, in the middle of an
// upload. The upload is simulated, so that every picture shows the same.

import '../src/element/define.ts'
import type { BrowserUplink } from '../src/browser.ts'
import type { Upload, UploadFileStatus, UploadProgress } from '../src/flows/upload.ts'

const LOOKS = [
  { width: '620px', scheme: 'light' },
  { width: '340px', scheme: 'dark' },
] as const

/** The clips, and how fast each uploads. When the picture is taken the first is confirmed and the others are under way. */
const CLIPS = [
  { name: 'swing-01.mp4', bytes: 4_100_000, bytesPerSecond: 4_100_000 },
  { name: 'swing-02.mp4', bytes: 24_600_000, bytesPerSecond: 700_000 },
  { name: 'swing-03.mp4', bytes: 19_800_000, bytesPerSecond: 1_800_000 },
]
const STEP_MS = 100
const startedAtMs = performance.now()

for (const { width, scheme } of LOOKS) {
  const element = document.createElement('mocap-uploader')
  Object.assign(element.style, { width, colorScheme: scheme })
  element.uplink = playedUplink()
  document.body.append(element)
  element.addFiles(CLIPS.map(({ name, bytes }) => new File([new Uint8Array(bytes)], name)))
  void element.start()
}

function playedUplink(): BrowserUplink {
  const files = (): UploadFileStatus[] =>
    CLIPS.map(({ name, bytes, bytesPerSecond }, fileIndex) => {
      const sentBytes = Math.min(bytes, ((performance.now() - startedAtMs) / 1_000) * bytesPerSecond)
      const state = sentBytes === bytes ? 'confirmed' : 'uploading'
      return { fileIndex, name, bytes, sentBytes, confirmedBytes: sentBytes, parts: 1, state }
    })
  const progress = (): UploadProgress => {
    const now = files()
    const moving = CLIPS.filter((_clip, index) => now[index]?.state === 'uploading')
    const [sentBytes, totalBytes] = [sum(now, 'sentBytes'), sum(now, 'bytes')]
    const bytesPerSecond = sum(moving, 'bytesPerSecond')
    const filesConfirmed = now.length - moving.length
    const counts = {
      sentBytes,
      confirmedBytes: sentBytes,
      totalBytes,
      filesTotal: now.length,
      filesConfirmed,
      filesFailed: 0,
    }
    return { ...counts, bytesPerSecond, remainingMs: ((totalBytes - sentBytes) / bytesPerSecond) * 1_000 }
  }
  const upload = {
    ...{ flow: 'video', key: 'picture', state: 'uploading', files, progress },
    on(event: string, handler: (given: unknown) => void) {
      if (event === 'progress') setInterval(() => handler(progress()), STEP_MS)
    },
    done: () => new Promise(() => undefined),
  }
  return {
    sessions: () => Promise.resolve([]),
    uploadVideos: () => upload as unknown as Upload,
  } as unknown as BrowserUplink
}

function sum<Field extends string>(of: readonly Readonly<Record<Field, number>>[], field: Field): number {
  return of.reduce((total, each) => total + each[field], 0)
}
