// An offset protocol through the unchanged core, against a real tus server: one writer per file, units that are taken in
// pieces, and answers that are lost.

import { createHash } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import { undiciTransport } from '../../../src/adapters/node/http/undici-transport.ts'
import { bytesSource } from '../../../src/adapters/web/bytes-source.ts'
import { protocolContract } from '../../../src/testing/protocol-contract.ts'
import { bytesOfSeed, runProtocol, type ProtocolRunOptions } from '../../../src/testing/protocol-run.ts'
import { resumingTransport } from './resuming-transport.ts'
import { startTusFarEnd, type TusFault } from './tus-far-end.ts'
import { tusProtocol } from './tus-protocol.ts'

const KIB = 1024

protocolContract('tus', async () => {
  const farEnd = await startTusFarEnd()
  const transport = undiciTransport()
  return {
    protocol: tusProtocol({ endpoint: farEnd.endpoint, transport }),
    ...{ transport, over: resumingTransport, credentials: [], partSizeBytes: 1_000 },
    stored: (name) => farEnd.stored(name),
    isOpen: async () => (await farEnd.uploadCount()) > 0,
    async close() {
      await transport.close()
      await farEnd.close()
    },
  }
})

async function upload(faults: readonly TusFault[], options: Partial<ProtocolRunOptions> = {}) {
  const farEnd = await startTusFarEnd(faults)
  const network = undiciTransport()
  onTestFinished(async () => {
    await network.close()
    await farEnd.close()
  })
  const transport = resumingTransport(network)
  const bytes = bytesOfSeed(100 * KIB, 3)
  const run = await runProtocol({
    ...{ protocol: tusProtocol({ endpoint: farEnd.endpoint, transport }), transport },
    ...{ sources: [bytesSource('swing.mp4', bytes)], partSizeBytes: 40 * KIB, random: () => 0.5 },
    ...options,
  })
  return { ...run, farEnd, bytes, stored: await farEnd.stored('swing.mp4') }
}

describe('a server that takes a part of a unit', () => {
  it('gets the rest of it next, and nothing twice', async () => {
    const { result, farEnd, bytes, stored, events } = await upload([
      { nth: 1, takeBytes: 10 * KIB, then: 'answer' },
      { nth: 2, takeBytes: 1, then: 'answer' },
      { nth: 4, takeBytes: 33 * KIB, then: 'answer' },
    ])

    expect(result).toEqual({ confirmedCount: 1, failedCount: 0 })
    expect(Buffer.from(stored!).equals(bytes)).toBe(true)
    // 100 KiB are cut evenly into three units of 34,134, 34,134 and 34,132 bytes.
    expect(farEnd.patches).toEqual([
      { offset: 0, lengthBytes: 34_134 },
      { offset: 10_240, lengthBytes: 23_894 },
      { offset: 10_241, lengthBytes: 23_893 },
      { offset: 34_134, lengthBytes: 34_134 },
      { offset: 67_926, lengthBytes: 342 },
      { offset: 68_268, lengthBytes: 34_132 },
    ])
    expect(events.filter(({ type }) => type === 'retry')).toEqual([])
  })

  it('that takes nothing, again and again, is given up with a cause', async () => {
    const { result, record } = await upload([{ nth: 'every', takeBytes: 0, then: 'answer' }], { retries: 3 })

    expect(result).toEqual({ confirmedCount: 0, failedCount: 1 })
    expect(record.ledger().files[0]?.error).toEqual({
      code: 'ERR_UPLOAD_RETRIES_EXHAUSTED',
      message: 'swing.mp4: Gave up after 3 attempts. The last one: The storage accepted nothing of part 1.',
      ...{ file: 'swing.mp4', partNumber: 1, attempt: 3 },
    })
  })
})

describe('a lost answer', () => {
  it.each([
    ['nothing of the unit was stored', 0, 34_134],
    ['some of the unit was stored', 5_000, 29_134],
  ])('is followed by what is missing when %s', async (_name, takeBytes, missingBytes) => {
    const { result, farEnd, bytes, stored } = await upload([{ nth: 2, takeBytes, then: 'reset' }])

    expect(result).toEqual({ confirmedCount: 1, failedCount: 0 })
    expect(Buffer.from(stored!).equals(bytes)).toBe(true)
    expect(farEnd.patches.slice(1, 3)).toEqual([
      { offset: 34_134, lengthBytes: 34_134 },
      { offset: 34_134 + takeBytes, lengthBytes: missingBytes },
    ])
  })

  it('is followed by nothing when the whole unit was stored, and its receipt still has the digest of its bytes', async () => {
    const { result, farEnd, bytes, stored, record } = await upload([{ nth: 2, then: 'reset' }])

    expect(result).toEqual({ confirmedCount: 1, failedCount: 0 })
    expect(Buffer.from(stored!).equals(bytes)).toBe(true)
    expect(farEnd.patches.map(({ offset }) => offset)).toEqual([0, 34_134, 68_268])
    const md5 = createHash('md5').update(bytes.subarray(34_134, 68_268)).digest('hex')
    expect(record.ledger().files[0]?.parts[1]?.receipt).toEqual({ acceptedEnd: 68_268, md5, isVerified: false })
  })
})

it('sends one unit of a file at a time, and several files at once', async () => {
  const farEnd = await startTusFarEnd()
  const transport = undiciTransport()
  onTestFinished(async () => {
    await transport.close()
    await farEnd.close()
  })
  const sources = ['a', 'b', 'c'].map((name, seed) => bytesSource(name, bytesOfSeed(50 * KIB, seed)))
  const inFlight = new Map<string, number>()
  let most = 0
  let mostOfAll = 0
  const counting = {
    ...transport,
    async send(request: Parameters<typeof transport.send>[0]) {
      const { url } = request
      inFlight.set(url, (inFlight.get(url) ?? 0) + 1)
      most = Math.max(most, inFlight.get(url)!)
      mostOfAll = Math.max(
        mostOfAll,
        [...inFlight.values()].reduce((sum, count) => sum + count),
      )
      try {
        return await transport.send(request)
      } finally {
        inFlight.set(url, inFlight.get(url)! - 1)
      }
    },
  }

  const { result } = await runProtocol({
    ...{ protocol: tusProtocol({ endpoint: farEnd.endpoint, transport }), transport: counting, sources },
    partSizeBytes: 5 * KIB,
  })

  expect(result).toEqual({ confirmedCount: 3, failedCount: 0 })
  expect(most).toBe(1)
  expect(mostOfAll).toBeGreaterThanOrEqual(2)
})
