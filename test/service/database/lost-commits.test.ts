// A database whose connection breaks: a call that was surely not done is told from one that may have been.

import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { describe, expect, inject, it, onTestFinished } from 'vitest'

import { newDatabase } from '../../helpers/postgres-server.ts'
import { openCaptureSession, put, register, startUnderTest, type ServiceUnderTest } from '../service-under-test.ts'

const server = inject('postgres')

/** A service whose connection to its database breaks at the next such statement, before or after the database has done it. */
async function startOnBreakingLine(): Promise<{ service: ServiceUnderTest; breakAt: (statement: string) => void }> {
  const database = new URL(await newDatabase(server!))
  let statement: string | undefined
  const line = createServer((near) => {
    const far = connect(Number(database.port), database.hostname)
    let isBreaking = false
    near.on('data', (bytes) => {
      isBreaking ||= statement !== undefined && bytes.includes(statement)
      if (isBreaking) statement = undefined
      far.write(bytes)
    })
    // The answer is there, so the database has done it.
    far.on('data', (bytes) => (isBreaking ? near.destroy() : near.write(bytes)))
    near.on('error', () => undefined).on('close', () => far.destroy())
    far.on('error', () => undefined).on('close', () => near.destroy())
  })
  await once(line.listen(0, '127.0.0.1'), 'listening')
  const dataDir = await mkdtemp(join(tmpdir(), 'service-lost-commits-'))
  const url = new URL(database)
  url.port = String((line.address() as AddressInfo).port)
  const service = await startUnderTest({ dataDir, databaseUrl: url.href })
  onTestFinished(async () => {
    await service.close()
    line.close()
    await rm(dataDir, { recursive: true })
  })
  return { service, breakAt: (text) => (statement = text) }
}

describe.skipIf(server === undefined)('a call whose database is lost', () => {
  const session = { org_id: 'o', mocap_type_id: 2, session_date: '2026-11-20', session_type_id: 1 }
  const segment = { movement_type_id: 1, dom_hand: 'RHA' }

  it.each([
    ['POST', '/mocap_session', session],
    ['POST', '/player_group_segments', segment],
  ])('before its commit was not done, and is answered 503: %s %s', async (method, path, body) => {
    const { service, breakAt } = await startOnBreakingLine()

    breakAt('insert into')
    const answer = await service.call(method, path, body)

    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
    expect((await service.call('GET', '/sessions?limit=5')).json).toMatchObject({
      sessions: [{ id: 'sample-session' }],
    })
  })

  it('before a part was recorded has stored none of it, and the storage says when to send it again', async () => {
    const { service, breakAt } = await startOnBreakingLine()
    const address = (await register(service, await openCaptureSession(service), ['a.action']))['a.action']!

    breakAt('insert into "objects"')
    const answer = await put(address, 'hello')

    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
    expect(answer.text).toContain('<Code>SlowDown</Code>')
    expect((await service.call('GET', '/stored')).json).toMatchObject({ items: [] })
    expect((await put(address, 'hello')).status).toBe(200)
  })

  it.each([
    ['POST', '/mocap_session', session],
    ['POST', '/player_group_segments', segment],
  ])('while it commits may have been done, and is answered 500: %s %s', async (method, path, body) => {
    const { service, breakAt } = await startOnBreakingLine()

    breakAt('commit')
    const answer = await service.call(method, path, body)

    expect([answer.status, answer.headers.get('retry-after')]).toEqual([500, null])
    expect((await service.call(method, path, body)).status).toBe(200)
  })
})
