// Somebody else's clients and the service on a real S3 store: Uppy in Chromium uploads by the addresses that the service
// gives, and the AWS command line reads back what is there.

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { build } from 'esbuild'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

import { allowOriginsOfBucket, startService, type RunningService } from '../../src/service/index.ts'
import { chromiumPath, launchChromium, openPage } from '../browser/rig/chromium.ts'
import { servePages, type PageServer } from '../browser/rig/page-server.ts'
import { bytesOfSeed } from '../../src/testing/protocol-run.ts'
import { presign, type SigV4Options } from '../helpers/sigv4.ts'
import { missingCephPackages, startCephGateway, type CephGateway } from './ceph-gateway.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')
const uppyFolder = join(root, 'bench', 'uppy-5')
const MIB = 1024 ** 2
const API_KEY = 'key-of-a-test'
const lacks = [
  ...(missingCephPackages().length === 0 ? [] : [`install ${missingCephPackages().join(' ')}`]),
  ...(chromiumPath === undefined ? ['install chromium'] : []),
  ...(existsSync(join(uppyFolder, 'node_modules/@uppy/aws-s3')) ? [] : ['run npm ci in bench/uppy-5']),
]
const lack = lacks.length === 0 ? undefined : `Uppy was not tried on a real S3 store: ${lacks.join(', ')}.`
if (lack !== undefined) process.stderr.write(`SKIPPED: ${lack}\n`)

/** What is used of Uppy, which only the benchmark's own folder has. */
interface UppyInPage {
  readonly Uppy: new () => {
    use(plugin: unknown, options: object): void
    addFiles(files: readonly { name: string; type: string; data: File }[]): void
    upload(): Promise<{ failed: readonly { error: string }[]; successful: readonly object[] }>
    cancelAll(): void
    on(event: string, heard: () => void): void
  }
  readonly AwsS3: unknown
}

describe('the service on a real S3 store, used by others', () => {
  let gateway: CephGateway | undefined
  let keys: SigV4Options
  let service: RunningService | undefined
  let pages: PageServer | undefined
  let browser: Browser | undefined
  let folder: string

  beforeAll(async () => {
    if (lack !== undefined) return
    folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-uppy-'))
    gateway = await startCephGateway()
    keys = { bucket: 'mocap-uplink-uppy', ...gateway }
    expect((await fetch(presign(keys, 'PUT', ''), { method: 'PUT' })).status).toBe(200)
    const s3 = {
      ...{ endpoint: keys.endpoint, bucket: keys.bucket },
      keys: { accessKeyId: keys.accessKey, secretAccessKey: keys.secretKey },
    }
    service = await startService({ port: 0, s3, credentials: { apiKeys: [API_KEY], accessTokens: [] } })
    const { outputFiles } = await build({
      stdin: {
        contents: `import { Uppy } from '@uppy/core'; import AwsS3 from '@uppy/aws-s3'; globalThis.uppy = { Uppy, AwsS3 }`,
        resolveDir: uppyFolder,
      },
      ...{ bundle: true, format: 'esm', platform: 'browser', write: false, logLevel: 'error' },
    })
    pages = await servePages(new Map([['page.js', outputFiles[0]!.contents]]))
    await allowOriginsOfBucket(s3, [new URL(pages.url).origin])
    browser = await launchChromium()
  })
  beforeEach(({ skip }) => skip(lack !== undefined, lack))
  afterAll(async () => {
    await browser?.close()
    await pages?.close()
    await service?.close()
    await gateway?.stop()
    if (lack === undefined) await rm(folder, { recursive: true })
  })

  /** Uploads files by Uppy as a host would write it: a session for each file, its parts signed by the service. */
  async function throughUppy(paths: readonly string[], isCancelled = false) {
    const page = await openPage(browser!, pages!.url)
    await page.setInputFiles('#files', [...paths])
    return page.evaluate(
      async ({ baseUrl, apiKey, isCancelled }) => {
        const { Uppy, AwsS3 } = (globalThis as unknown as { uppy: UppyInPage }).uppy
        const call = async (method: string, path: string, body?: object) => {
          const reply = await fetch(baseUrl + path, {
            method,
            headers: { 'x-api-key': apiKey, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
            ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          })
          if (reply.status !== 200) throw new Error(`${method} ${path}: ${reply.status}`)
          return (await reply.json()) as {
            upload_session_id: string
            pre_signed_urls: { session_file_id: number; info: { url: string }[] }[]
          }
        }
        const chunk = 5 * 1024 * 1024
        const sessions = new Map<string, Awaited<ReturnType<typeof call>>>()
        const fileOf = (uploadId: string) => sessions.get(uploadId)!.pre_signed_urls[0]!
        const uppy = new Uppy()
        const aborted: string[] = []
        uppy.use(AwsS3, {
          shouldUseMultipart: true,
          getChunkSize: () => chunk,
          async createMultipartUpload({ name, size }: { name: string; size: number }) {
            const files = [
              { raw_file_name: name, file_size_bytes: size, number_of_chunks: Math.max(1, Math.ceil(size / chunk)) },
            ]
            const session = await call('POST', '/upload_videos', {
              ...{ files, movement_type_id: 1, player_id: 'p-17', session_date: '2026-11-20', session_type_id: 2 },
            })
            sessions.set(session.upload_session_id, session)
            return { uploadId: session.upload_session_id, key: name }
          },
          signPart: (_file: unknown, { uploadId, partNumber }: { uploadId: string; partNumber: number }) => ({
            url: fileOf(uploadId).info[partNumber - 1]!.url,
          }),
          listParts: () => [],
          async completeMultipartUpload(
            _file: unknown,
            { uploadId, parts }: { uploadId: string; parts: { PartNumber: number; ETag: string }[] },
          ) {
            await call('PATCH', '/upload_videos', {
              upload_session_id: uploadId,
              affected_file_id: fileOf(uploadId).session_file_id,
              file_part_info: parts.map(({ PartNumber, ETag }) => ({ etag: ETag, part_number: PartNumber })),
              upload_successful: true,
            })
            return {}
          },
          async abortMultipartUpload(_file: unknown, { uploadId }: { uploadId: string }) {
            await call('DELETE', `/upload_videos/${uploadId}`)
            aborted.push(uploadId)
          },
        })
        const files = [...document.querySelector<HTMLInputElement>('#files')!.files!]
        uppy.addFiles(files.map((data) => ({ name: data.name, type: data.type, data })))
        if (isCancelled) {
          const told = new Promise<void>((resolve) => {
            uppy.on('s3-multipart:part-uploaded', () => {
              uppy.cancelAll()
              resolve()
            })
          })
          void uppy.upload().catch(() => undefined)
          await told
          while (aborted.length === 0) await new Promise((resolve) => requestAnimationFrame(resolve))
          return { failed: [], successful: 0, sessions: [...sessions.keys()] }
        }
        const { failed, successful } = await uppy.upload()
        return {
          failed: failed.map(({ error }) => error),
          successful: successful.length,
          sessions: [...sessions.keys()],
        }
      },
      { baseUrl: service!.url, apiKey: API_KEY, isCancelled },
    )
  }

  const fetchStored = async () =>
    (
      (await (await fetch(`${service!.url}/stored?limit=1000`, { headers: { 'x-api-key': API_KEY } })).json()) as {
        items: { file_name: string; session_id: string; url: string }[]
      }
    ).items
  const uploadsLeft = async () => {
    const listed = await (await fetch(presign(keys, 'GET', '', new Map([['uploads', '']])))).text()
    return listed.match(/<UploadId>/g)?.length ?? 0
  }

  it('takes from Uppy what the AWS command line then reads back, byte for byte', async () => {
    const files = new Map([
      ['big.mp4', bytesOfSeed(23 * MIB + 7, 1)],
      ['exact.mp4', bytesOfSeed(10 * MIB, 2)],
      ['small.mp4', bytesOfSeed(4_321, 3)],
    ])
    for (const [name, bytes] of files) await writeFile(join(folder, name), bytes)

    const outcome = await throughUppy([...files.keys()].map((name) => join(folder, name)))

    expect(outcome).toMatchObject({ failed: [], successful: 3 })
    const stored = await fetchStored()
    expect(stored.map((item) => item.file_name).sort()).toEqual([...files.keys()].sort())
    const hasAws = await run('aws', ['--version']).then(
      () => true,
      () => false,
    )
    if (!hasAws) process.stderr.write('NOT TRIED: the AWS command line is not installed; read by address alone.\n')
    const env = {
      ...process.env,
      ...{ AWS_ENDPOINT_URL: keys.endpoint, AWS_REGION: 'us-east-1', AWS_CONFIG_FILE: join(folder, 'none') },
      ...{ AWS_ACCESS_KEY_ID: keys.accessKey, AWS_SECRET_ACCESS_KEY: keys.secretKey },
    }
    for (const { file_name: name, url } of stored) {
      const byAddress = new Uint8Array(await (await fetch(url)).arrayBuffer())
      expect(digest(byAddress)).toBe(digest(files.get(name)!))
      if (!hasAws) continue
      const key = decodeURIComponent(new URL(url).pathname).slice(`/${keys.bucket}/`.length)
      const copy = join(folder, `back-${name}`)
      await run('aws', ['s3', 'cp', `s3://${keys.bucket}/${key}`, copy, '--only-show-errors'], { env })
      expect(digest(await readFile(copy))).toBe(digest(files.get(name)!))
    }
    expect(await uploadsLeft()).toBe(0)
  })

  it('leaves nothing of what Uppy cancels', async () => {
    await writeFile(join(folder, 'cancelled.mp4'), bytesOfSeed(30 * MIB, 4))

    const { sessions } = await throughUppy([join(folder, 'cancelled.mp4')], true)

    expect(sessions).toHaveLength(1)
    expect((await fetchStored()).map((item) => item.session_id)).not.toContain(sessions[0])
    expect(await uploadsLeft()).toBe(0)
  })
})

function digest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
