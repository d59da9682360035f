// Reads of an object that somebody changes at the same moment.

import fs, { mkdtemp, readdir, readlink, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'

import {
  answerTo,
  openCaptureSession,
  put,
  register,
  startUnderTest,
  type ServiceUnderTest,
} from '../service-under-test.ts'

let dataDir: string
let stored: string
let service: ServiceUnderTest
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'service-reading-'))
  stored = join(dataDir, 'objects', 'stored')
  service = await startUnderTest({ dataDir })
})
afterAll(async () => {
  await service.close()
  await rm(dataDir, { recursive: true })
})

/** A capture with this content, and an address to read it. */
async function capture(content: string): Promise<{ write: string; read: string }> {
  const sessionId = await openCaptureSession(service)
  const { 'a.action': write = '' } = await register(service, sessionId, ['a.action'])
  await put(write, content)
  const { items } = (await service.call('GET', '/stored?limit=1000')).json as Stored
  return { write, read: items.find(({ session_id: id }) => id === sessionId)!.url }
}
interface Stored {
  readonly items: readonly { readonly session_id: string; readonly url: string }[]
}

/** Does this once, after the record of an object was read and before its file is opened. */
function beforeOpening(work: () => Promise<unknown>): void {
  const { open } = fs
  let isDone = false
  vi.spyOn(fs, 'open').mockImplementation(async (path, ...rest) => {
    if (!isDone && String(path).startsWith(stored) && rest[0] === 'r' && String(path) !== stored) {
      isDone = true
      await work()
    }
    return open(path, ...rest)
  })
  syncBuiltinESMExports()
  onTestFinished(() => {
    vi.restoreAllMocks()
    syncBuiltinESMExports()
  })
}

it('of a capture that is replaced meanwhile is one of what has taken its place', async () => {
  const { write, read } = await capture('before')
  beforeOpening(() => put(write, 'afterwards'))

  const answer = await answerTo(read, { method: 'GET' })

  expect([answer.status, answer.text]).toEqual([200, 'afterwards'])
  expect(answer.headers.get('etag')).toBe((await answerTo(read, { method: 'GET' })).headers.get('etag'))
})

it('by a caller who leaves meanwhile holds no file open', async () => {
  const { read } = await capture('unread')
  const caller = request(read)
  const gone = new Promise((resolve) => caller.once('error', resolve))
  const openFiles = async () => {
    const paths = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''))
    return (await Promise.all(paths)).filter((path) => path.startsWith(`${stored}/`))
  }
  let opened: () => void = () => undefined
  const isOpened = new Promise<void>((resolve) => (opened = resolve))
  beforeOpening(async () => {
    caller.destroy(new Error('The caller leaves.'))
    await gone
    opened()
  })
  caller.end()

  await isOpened
  await expect.poll(openFiles, { timeout: 20_000 }).toEqual([])
})

it('of a file that is lost is 500, again and again', async () => {
  const { read } = await capture('lost')
  for (const name of await readdir(stored)) await rm(join(stored, name))

  for (let count = 0; count < 2; count += 1) {
    const { status, text } = await answerTo(read, { method: 'GET' })
    expect([status, text.includes('<Code>InternalError</Code>')]).toEqual([500, true])
  }
})
