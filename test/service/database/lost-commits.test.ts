// A database whose connection breaks: a call that was surely not done is told from one that may have been.

import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { describe, expect, inject, it, onTestFinished, vi } from 'vitest'

import { newDatabase, queryOnce } from '../../helpers/postgres-server.ts'
import { openCaptureSession, put, register, startUnderTest, type ServiceUnderTest } from '../service-under-test.ts'

const server = inject('postgres')
/** So long may each statement wait for its answer, so that the time is over only where a test says so, ms. */
const PATIENCE_MS = 3_600_000

interface BadLine {
  readonly service: ServiceUnderTest
  readonly databaseUrl: string
  /** Breaks the connection at the next such statement, once the database has done it. */
  breakAt(statement: string): void
  /** Answers the next such statement, and in the same breath takes leave, as a server that is being stopped. */
  stopBehind(statement: string): void
  /** Lets nothing through on the connection of the next such statement. */
  holdAt(statement: string): HeldStatement
}

interface HeldStatement {
  /** Waits for the statement, and lets the time be over in which it may be answered. */
  runOut(): Promise<void>
  letThrough(): void
}

interface Hold {
  readonly at: string
  readonly held: (() => void)[]
  isOver: boolean
}

/** What PostgreSQL says to a connection that it ends: fields of an error, each with its letter. */
const FAREWELL = (() => {
  const fields = Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0')
  const head = Buffer.from('E....')
  head.writeInt32BE(4 + fields.length, 1)
  return Buffer.concat([head, fields])
})()

/** A service whose connection to its database is bad. */
async function startOnBadLine(): Promise<BadLine> {
  const timers = vi.spyOn(globalThis, 'setTimeout')
  const databaseUrl = await newDatabase(server!)
  const database = new URL(databaseUrl)
  let statement: string | undefined
  let last: string | undefined
  let next: Hold | undefined
  const line = createServer((near) => {
    const far = connect(Number(database.port), database.hostname)
    let isBreaking = false
    let isStopping = false
    let hold: Hold | undefined
    near.on('data', (bytes) => {
      isBreaking ||= statement !== undefined && bytes.includes(statement)
      if (isBreaking) statement = undefined
      isStopping ||= last !== undefined && bytes.includes(last)
      if (isStopping) last = undefined
      if (next !== undefined && bytes.includes(next.at)) {
        hold = next
        next = undefined
      }
      if (hold === undefined || hold.isOver) far.write(bytes)
      else hold.held.push(() => far.write(bytes))
    })
    // The answer is there, so the database has done it.
    far.on('data', (bytes) => {
      if (isBreaking) near.destroy()
      else if (isStopping) near.end(Buffer.concat([bytes, FAREWELL]))
      else near.write(bytes)
    })
    near.on('error', () => undefined).on('close', () => far.destroy())
    far.on('error', () => undefined).on('close', () => near.destroy())
  })
  await once(line.listen(0, '127.0.0.1'), 'listening')
  const dataDir = await mkdtemp(join(tmpdir(), 'service-lost-commits-'))
  const url = new URL(database)
  url.port = String((line.address() as AddressInfo).port)
  url.searchParams.set('query_timeout', String(PATIENCE_MS))
  const service = await startUnderTest({ dataDir, databaseUrl: url.href })
  onTestFinished(async () => {
    await service.close()
    line.close()
    await rm(dataDir, { recursive: true })
  })
  return {
    service,
    databaseUrl,
    breakAt: (text) => (statement = text),
    stopBehind: (text) => (last = text),
    holdAt: (at) => {
      const hold: Hold = { at, held: [], isOver: false }
      next = hold
      return {
        async runOut() {
          await expect.poll(() => hold.held).not.toHaveLength(0)
          const own = timers.mock.calls.findLastIndex(([, delayMs]) => Number(delayMs) === PATIENCE_MS)
          clearTimeout(timers.mock.results[own]!.value as NodeJS.Timeout)
          timers.mock.calls[own]![0]()
        },
        letThrough() {
          hold.isOver = true
          for (const pass of hold.held) pass()
        },
      }
    },
  }
}

describe.skipIf(server === undefined)('a call whose database is lost', () => {
  const session = { org_id: 'o', mocap_type_id: 2, session_date: '2026-11-20', session_type_id: 1 }
  const segment = { movement_type_id: 1, dom_hand: 'RHA' }

  it.each([
    ['POST', '/mocap_session', session],
    ['POST', '/player_group_segments', segment],
  ])('before its commit was not done, and is answered 503: %s %s', async (method, path, body) => {
    const { service, breakAt } = await startOnBadLine()

    breakAt('insert into')
    const answer = await service.call(method, path, body)

    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
    expect((await service.call('GET', '/sessions?limit=5')).json).toMatchObject({
      sessions: [{ id: 'sample-session' }],
    })
  })

  it('before a part was recorded has stored none of it, and the storage says when to send it again', async () => {
    const { service, breakAt } = await startOnBadLine()
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
    const { service, breakAt } = await startOnBadLine()

    breakAt('commit')
    const answer = await service.call(method, path, body)

    expect([answer.status, answer.headers.get('retry-after')]).toEqual([500, null])
    expect((await service.call(method, path, body)).status).toBe(200)
  })

  it('before its commit was sent was not done, and is answered 503: the server was stopped in the middle', async () => {
    const { service, databaseUrl, stopBehind } = await startOnBadLine()

    stopBehind('insert into')
    const answer = await service.call('POST', '/player_group_segments', segment)

    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await queryOnce(databaseUrl, 'select id from player_group_segments')).toEqual([])
    expect((await service.call('POST', '/player_group_segments', segment)).status).toBe(200)
  })

  it('before its transaction had begun leaves no connection in one: what others write there would be lost', async () => {
    const { service, databaseUrl, holdAt } = await startOnBadLine()
    const states = () =>
      queryOnce(
        databaseUrl,
        `select state from pg_stat_activity where application_name = 'mocap-uplink' and datname = current_database()`,
      )

    const held = holdAt('begin')
    const answering = service.call('POST', '/mocap_session', session)
    await held.runOut()
    const answer = await answering
    held.letThrough()

    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
    await service.call('GET', '/sessions')
    await expect.poll(states, { timeout: 20_000 }).not.toContainEqual({ state: 'idle in transaction' })
    expect((await service.call('POST', '/mocap_session', session)).status).toBe(200)
  })

  it('without a sound is given up with its connection: the next call has another one', async () => {
    const { service, holdAt } = await startOnBadLine()
    const list = () => service.call('GET', '/requested_analyses')
    expect((await list()).status).toBe(200)

    const held = holdAt('select')
    const answering = list()
    await held.runOut()

    expect((await answering).status).toBe(503)
    expect((await list()).status).toBe(200)
  })
})
