// Long work of a storage stops when nobody waits for it: the addresses of ten thousand names or parts take a second of the one thread,
// in which others are answered, and what a sweep removes may be as much.

import { openAsBlob } from 'node:fs'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'

import type { FastifyInstance } from 'fastify'
import { expect, inject, it, onTestFinished, vi } from 'vitest'

import { createMetrics } from '../../../src/service/http/metrics.ts'
import { createServer } from '../../../src/service/http/server.ts'
import { diskStorage } from '../../../src/service/objects/disk-storage.ts'
import type { VideoObject } from '../../../src/service/objects/object-storage.ts'
import { openContext, type Undo } from '../../../src/service/open-context.ts'
import { s3Storage } from '../../../src/service/s3/s3-storage.ts'
import { resolveOptions } from '../../../src/service/settings.ts'
import { withKeptDatabases } from '../../helpers/kept-database.ts'
import { API_KEY } from '../service-under-test.ts'

const FILE: VideoObject = {
  ...{ key: { flow: 'videos', sessionId: 'session', fileId: 1 }, sizeBytes: 20, partCount: 20, uploadId: null },
}
const unused = undefined as never

/** As if everything took so long that there is a slice for every three addresses. */
function letTimePass(): void {
  let nowMs = performance.now()
  vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += 4))
}

it.each(['disk', 'bucket'])(
  'signs in slices on the %s, and no more addresses of parts when the caller has hung up',
  async (kind) => {
    letTimePass()
    const gone = new AbortController()
    let signed = 0
    const sign = (): string => {
      signed += 1
      gone.abort(new Error('gone'))
      return 'address'
    }
    const signer = { sign, verify: unused }
    const storage =
      kind === 'disk'
        ? diskStorage({ db: unused, store: unused, signer, publicUrl: () => '' })
        : s3Storage({ keys: () => Promise.resolve({}) } as never, sign, () => 0)

    await expect(storage.partAddresses([FILE], gone.signal)).rejects.toThrow('gone')
    expect(signed).toBeLessThan(FILE.partCount)
  },
)

it('signs no more addresses of a registration when its caller has hung up', async () => {
  const undo: Undo = []
  onTestFinished(async () => {
    for (const step of undo.reverse()) await step()
  })
  const preparedDatabase = await openAsBlob(inject('preparedDatabase'))
  const credentials = { apiKeys: [API_KEY], accessTokens: [] }
  const { context } = await withKeptDatabases(() =>
    openContext(resolveOptions({ preparedDatabase, credentials }), undo),
  )
  const session = { id: crypto.randomUUID(), owner: 'development', org_id: 'o', mocap_type_id: 2, session_type_id: 1 }
  const times = { session_date: '2026-11-20', status: 'pending', created_at: new Date(), updated_at: new Date() }
  await context.db
    .insertInto('mocap_sessions')
    .values({ ...session, ...times })
    .execute()
  let signed = 0
  const bucket = {
    ...diskStorage(context),
    captureSigner: () =>
      Promise.resolve(() => {
        signed += 1
        caller.destroy()
        return 'address'
      }),
  }
  let end: (how: unknown) => void
  const ended = new Promise((resolve) => (end = resolve))
  const lay = (server: FastifyInstance) => {
    server.addHook('onError', async (_request, _reply, error) => end(error))
    server.addHook('onSend', async () => end('answered'))
  }
  const { app } = createServer({ ...context, bucket }, { metrics: createMetrics(), lay })
  undo.push(() => app.close())
  await app.listen({ port: 0, host: '127.0.0.1' })
  const filenames = Array.from({ length: 10_000 }, (_, index) => `${index}.action`)
  letTimePass()
  const caller = request({
    ...{ port: (app.server.address() as AddressInfo).port, method: 'POST', path: '/mocap_session_file' },
    headers: { 'x-api-key': API_KEY, 'content-type': 'application/json' },
  })
  caller.on('error', () => undefined)
  caller.end(JSON.stringify({ session_id: session.id, filenames }))

  expect(await ended).toMatchObject({ status: 499 })
  expect(signed).toBeLessThan(filenames.length)
})

it('removes nothing more from the disk when a stop has come', async () => {
  const storage = diskStorage({ db: unused, store: unused, signer: unused, publicUrl: () => '' })

  await expect(storage.release([FILE], AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop')
})
