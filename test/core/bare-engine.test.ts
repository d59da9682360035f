// A host drives the bare engine with nothing but what the package exports.

import { expect, it } from 'vitest'
import {
  applyRecord,
  blobSource,
  createFixedEngine,
  createLedger,
  ONE_PUT_LIMITS,
  planFile,
  systemClock,
  type JournalRecord,
  type TransferJob,
} from '../../src/index.ts'
import { createScriptedTransport } from '../helpers/scripted-transport.ts'

it('sends Blobs to addresses that the host has, by a job of its own', async () => {
  const sources = ['a.mp4', 'b.mp4'].map((name) => blobSource(name, new Blob([`the bytes of ${name}`])))
  const plans = await Promise.all(
    sources.map(async (source, fileIndex) => {
      const { name } = source
      const { sizeBytes } = await source.describe()
      return { fileIndex, name, sizeBytes, ...planFile({ name, sizeBytes, limits: ONE_PUT_LIMITS }) }
    }),
  )
  const ledger = createLedger(plans)
  const record = (body: object): undefined => {
    applyRecord(ledger, { ...body, at: Date.now() } as JournalRecord)
    return undefined
  }
  record({
    type: 'session.created',
    sessionId: 1,
    files: plans.map(({ fileIndex }) => ({ fileIndex, addresses: [`https://store.example/${String(fileIndex)}`] })),
  })
  const job: TransferJob = {
    ledger,
    protocol: {
      traits: {
        units: ONE_PUT_LIMITS,
        order: 'any',
        addressing: 'session',
        batchSize: 1,
      },
      request: () => ({ method: 'PUT', headers: {} }),
      judge: (_reply, unit) => ({ kind: 'received', acceptedEnd: unit.end }),
    },
    source: (fileIndex) => sources[fileIndex]!,
    record,
    replenish: () => Promise.resolve(),
    finish: ({ plan }) => record({ type: 'file.confirmed', fileIndex: plan.fileIndex }),
    renew: () => Promise.resolve(false),
    report: () => undefined,
  }
  const transport = createScriptedTransport()
  const engine = createFixedEngine({ transport, clock: systemClock(), random: Math.random, concurrency: 5 })

  const run = engine.run(job, new AbortController().signal)
  const puts = [await transport.next(), await transport.next()]
  const bodies = await Promise.all(puts.map((put) => put.bodyText()))
  puts.forEach(({ request, reply }) => {
    request.onSent?.('the bytes of a.mp4'.length)
    reply({ status: 200 })
  })

  expect(await run).toEqual({ confirmedCount: 2, failedCount: 0 })
  expect(puts.map(({ method, url }) => `${method} ${url}`)).toEqual([
    'PUT https://store.example/0',
    'PUT https://store.example/1',
  ])
  expect(bodies).toEqual(['the bytes of a.mp4', 'the bytes of b.mp4'])
})
