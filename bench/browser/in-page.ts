// Runs in the page: one function for each contestant that sends the files, timed, while every task of the main thread
// above 50 ms is recorded. The contestant's own library is in the global `rival`, loaded before.

import type * as face from '../../src/browser.ts'

export interface PageSite {
  readonly storageOrigin: string
  readonly serviceOrigin: string
}

type Contest = (files: readonly File[], site: PageSite) => Promise<void>

/** The parts that we use of the rivals' packages, which are installed only in the benchmark's own folders. */
interface UppyRival {
  readonly Uppy: new () => {
    use(plugin: unknown, options: unknown): void
    addFiles(files: readonly { name: string; type: string; data: File }[]): void
    upload(): Promise<{ failed: readonly unknown[] }>
  }
  readonly AwsS3: unknown
}
interface TusRival {
  readonly Upload: new (
    file: File,
    options: { endpoint: string; onSuccess: () => void; onError: (error: Error) => void },
  ) => { start(): void }
}

declare global {
  var rival: unknown
  var contest: (name: string, site: PageSite) => Promise<Record<string, number>>
}

/** How many connections browsers open to one HTTP/1 host. */
const CONNECTIONS = 6
const SLICE_BYTES = 16 << 20

const contests: Readonly<Record<string, Contest>> = {
  async uplink(files, { serviceOrigin }) {
    const { blobSource, createUplink } = globalThis.rival as typeof face
    const uplink = createUplink({ baseUrl: serviceOrigin, credentials: { apiKey: 'bench' } })
    const sources = files.map((file) => ({ source: blobSource(file) }))
    const upload =
      files.length === 1
        ? uplink.uploadVideos({
            files: sources,
            ...{ movementTypeId: 1, playerId: 'p-17', sessionDate: '2026-11-20', sessionTypeId: 2 },
          })
        : uplink.uploadCaptures({
            files: sources,
            ...{ orgId: 'org-1', mocapTypeId: 2, sessionTypeId: 1, sessionDate: '2026-11-19' },
          })
    upload.on('progress', () => undefined)
    const { status } = await upload.done()
    if (status !== 'confirmed') throw new Error(`The upload ended ${status}.`)
  },
  xhr: (files, { storageOrigin }) =>
    someAtOnce(files, CONNECTIONS, (file, index) => put(`${storageOrigin}/bare/${index}`, file)),
  slices: (files, { storageOrigin }) =>
    someAtOnce(files.flatMap(slicesOf), CONNECTIONS - 1, (slice, index) =>
      put(`${storageOrigin}/bare/${index}`, slice),
    ),
  tus: (files, { storageOrigin }) =>
    someAtOnce(files, CONNECTIONS, (file) => {
      const { Upload } = globalThis.rival as TusRival
      return new Promise((onSuccess, onError) => {
        new Upload(file, { endpoint: `${storageOrigin}/tus/`, onSuccess, onError }).start()
      })
    }),
  uppy: (files, { storageOrigin }) =>
    throughUppy(files, {
      signRequest: ({ key, uploadId, partNumber }: { key: string; uploadId?: string; partNumber?: number }) => {
        const query =
          uploadId === undefined ? (key === '' ? '' : '?uploads') : `?uploadId=u&partNumber=${partNumber ?? ''}`
        return { url: `${storageOrigin}/b/${encodeURIComponent(key)}${query}` }
      },
    }),
  uppy5: (files, { storageOrigin }) =>
    throughUppy(files, {
      getUploadParameters: ({ name }: { name: string }) => ({
        method: 'PUT',
        url: `${storageOrigin}/b/${name}`,
        headers: {},
      }),
      createMultipartUpload: () => ({ uploadId: 'u', key: 'k' }),
      signPart: (_file: unknown, { partNumber }: { partNumber: number }) => ({
        url: `${storageOrigin}/b/k?partNumber=${partNumber}`,
      }),
      listParts: () => [],
      completeMultipartUpload: () => ({ location: `${storageOrigin}/b/k` }),
      abortMultipartUpload: () => undefined,
    }),
}

async function throughUppy(files: readonly File[], options: Readonly<Record<string, unknown>>): Promise<void> {
  const { Uppy, AwsS3 } = globalThis.rival as UppyRival
  const uppy = new Uppy()
  uppy.use(AwsS3, options)
  uppy.addFiles(files.map((data) => ({ name: data.name, type: 'application/octet-stream', data })))
  const { failed } = await uppy.upload()
  if (failed.length > 0) throw new Error(`${failed.length} files failed.`)
}

function put(url: string, body: Blob): Promise<void> {
  const xhr = new XMLHttpRequest()
  xhr.open('PUT', url)
  xhr.upload.onprogress = () => undefined
  return new Promise((resolve, reject) => {
    xhr.onload = () => (xhr.status === 200 ? resolve() : reject(new Error(`status ${xhr.status}`)))
    xhr.onerror = () => reject(new Error('no answer'))
    xhr.send(body)
  })
}

/** A File that fits into one part goes out whole, as ours do. A slice, even of the whole file, would take the slower way. */
function slicesOf(file: File): Blob[] {
  if (file.size <= SLICE_BYTES) return [file]
  const count = Math.ceil(file.size / SLICE_BYTES)
  return Array.from({ length: count }, (_, at) => file.slice(at * SLICE_BYTES, (at + 1) * SLICE_BYTES))
}

async function someAtOnce<Item>(
  files: readonly Item[],
  atOnce: number,
  send: (file: Item, index: number) => Promise<void>,
): Promise<void> {
  const waiting = files.entries()
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const [index, file] of waiting) await send(file, index)
    }),
  )
}

/** Sends the files that were picked in the page. */
globalThis.contest = async (name, site) => {
  const files = [...document.querySelector('input')!.files!]
  const tasks: number[] = []
  const watching = new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration)))
  watching.observe({ type: 'longtask' })
  const startedAt = performance.now()
  await contests[name]!(files, site)
  const wallMs = performance.now() - startedAt
  // A long task is reported only after it has ended.
  await new Promise((resolve) => setTimeout(resolve, 100))
  watching.disconnect()
  return { wallMs, longTasks: tasks.length, longestTaskMs: Math.max(0, ...tasks) }
}
