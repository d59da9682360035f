// A start whose database cannot be used says why: nothing else tells an operator what to correct.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, inject, it, onTestFinished } from 'vitest'

import { startService } from '../../../src/service/index.ts'
import { refusingAddress } from '../../../src/testing/refusing-address.ts'
import { queryOnce } from '../../helpers/postgres-server.ts'

const server = inject('postgres')
const PASSWORD = 'word-that-nobody-sees'

async function startWith(databaseUrl: string): Promise<unknown> {
  const dataDir = await mkdtemp(join(tmpdir(), 'service-no-database-'))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  return startService({ port: 0, dataDir, databaseUrl }).catch((error: unknown) => error)
}

it('names the host that does not answer, and no password', async () => {
  const address = await refusingAddress()
  onTestFinished(() => address.close())

  const error = await startWith(`postgres://uplink:${PASSWORD}@127.0.0.1:${address.port}/records`)

  expect(error).toHaveProperty('code', 'ERR_SERVICE_DATABASE')
  expect(String(error)).toContain(
    `The service could not open its database: connect ECONNREFUSED 127.0.0.1:${address.port}.`,
  )
  expect(String(error)).not.toContain(PASSWORD)
})

it.skipIf(server === undefined)('tells what the database says, and no password', async () => {
  const url = new URL(server!)
  url.password = PASSWORD

  const error = await startWith(url.href)

  expect(String(error)).toMatch(
    /The service could not open its database: password authentication failed for user "\w+"\.$/,
  )
  expect(String(error)).not.toContain(PASSWORD)
})

it.skipIf(server === undefined)('refuses a new database whose encoding lacks letters', async () => {
  const name = `latin_${process.pid}`
  await queryOnce(server!, `create database ${name} encoding 'LATIN1' locale 'C' template template0`)

  const error = await startWith(server!.replace(/postgres$/, name))

  expect(error).toHaveProperty('code', 'ERR_SERVICE_DATABASE')
  expect(String(error)).toMatch(/: its encoding LATIN1 lacks letters\. Create it with the encoding UTF8\.$/)
})

it.skipIf(server === undefined)('tells a user who owns none of its tables what is missing', async () => {
  const name = `owned_${process.pid}`
  await queryOnce(server!, `create database ${name}`)
  const url = new URL(server!.replace(/postgres$/, name))
  const dataDir = await mkdtemp(join(tmpdir(), 'service-owned-'))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  await (await startService({ port: 0, dataDir, databaseUrl: url.href })).close()
  await queryOnce(url.href, `create role ${name} login password '${PASSWORD}'`)
  await queryOnce(url.href, `grant all on all tables in schema public to ${name}`)
  Object.assign(url, { username: name, password: PASSWORD })

  const error = await startService({ port: 0, dataDir, databaseUrl: url.href }).catch((caught: unknown) => caught)

  expect(error).toHaveProperty('code', 'ERR_SERVICE_DATABASE')
  expect(String(error)).toMatch(/could not go on with the ids of its database: permission denied for sequence \w+\.$/)
})
