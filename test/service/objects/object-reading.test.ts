// Reads of an object that somebody changes at the same moment.

import diagnostics from 'node:diagnostics_channel'
import fs, { mkdtemp, readdir, readlink, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'

import {
  answerTo,
  openCaptureSession,
  put,
  register,
  startWithObjectsIn,
  type ServiceUnderTest,
} from '../service-under-test.ts'

let dataDir: string
let stored: string
let service: ServiceUnderTest
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'service-reading-'))
  stored = join(dataDir, 'objects', 'stored')
  service = await startWithObjectsIn(dataDir)
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

/**
 * Does this after the record of an object was read and before its file is opened, at the nth such file. Resolves when that is open, or
 * is not there.
 */
function beforeOpening(work: () => Promise<unknown>, nth = 1): Promise<void> {
  const { open } = fs
  let count = 0
  onTestFinished(() => {
    vi.restoreAllMocks()
    syncBuiltinESMExports()
  })
  return new Promise((resolve) => {
    vi.spyOn(fs, 'open').mockImplementation(async (path, ...rest) => {
      const isObject = String(path).startsWith(stored) && rest[0] === 'r' && String(path) !== stored
      if (!isObject || (count += 1) !== nth) return open(path, ...rest)
      await work()
      return open(path, ...rest).finally(resolve)
    })
    syncBuiltinESMExports()
  })
}

it('of a capture that is replaced meanwhile is one of what has taken its place', async () => {
  const { write, read } = await capture('before')
  void beforeOpening(() => put(write, 'afterwards'))

  const answer = await answerTo(read, { method: 'GET' })

  expect([answer.status, answer.text]).toEqual([200, 'afterwards'])
  expect(answer.headers.get('etag')).toBe((await answerTo(read, { method: 'GET' })).headers.get('etag'))
})

it.each([
  ['alone', 1],
  ['behind another one', 2],
])('by a caller who leaves meanwhile holds no file open: %s', async (_, nth) => {
  // More than the system keeps for a caller who does not read.
  const { pathname, search, host, port } = new URL((await capture('unread'.repeat(1_000_000))).read)
  const openFiles = async () => {
    const paths = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''))
    return (await Promise.all(paths)).filter((path) => path.startsWith(`${stored}/`))
  }
  const heard = endOfNextRequest()
  const socket = connect(Number(port), '127.0.0.1')
  const opened = beforeOpening(() => {
    socket.destroy()
    return heard
  }, nth)
  socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\n\r\n`.repeat(nth))

  await opened
  await expect.poll(openFiles, { timeout: 20_000 }).toEqual([])
})

/** Settles when the service has seen the connection of the next request end. */
function endOfNextRequest(): Promise<void> {
  return new Promise((resolve) => {
    const watch = (message: unknown): void => {
      diagnostics.unsubscribe('http.server.request.start', watch)
      const { request } = message as { readonly request: IncomingMessage }
      request.socket.once('close', resolve)
    }
    diagnostics.subscribe('http.server.request.start', watch)
  })
}

it('of a file that is lost is 500, again and again', async () => {
  const { read } = await capture('lost')
  for (const name of await readdir(stored)) await rm(join(stored, name))

  for (let count = 0; count < 2; count += 1) {
    const { status, text } = await answerTo(read, { method: 'GET' })
    expect([status, text.includes('<Code>InternalError</Code>')]).toEqual([500, true])
  }
})
