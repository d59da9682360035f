// A far end that answers a request twice. On a kept connection, what came once too often would be read as the answer to the
// next request, and each later answer as that of its successor: a 200, or an ETag, of other bytes.

import { createHash } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Protocol } from '../../../../src/core/ports.ts'
import { bytesSource, createUplink } from '../../../../src/node.ts'
import { hastyClock } from '../../../../src/testing/hasty-clock.ts'
import { httpAnswer } from '../../../../src/testing/scripted-server.ts'
import { bodyOf, pattern, requestTo } from '../../../../src/testing/transport/requests.ts'
import { closeAfterEach, make, MIB, serve } from './undici-rig.ts'

closeAfterEach()

const answerWith = (etag: string): string => httpAnswer(200, { headers: [`etag: "${etag}"`] })

describe.each([false, true])('an answer that nobody asked for (TLS: %s)', (isTls) => {
  it('ends its connection if it is there before the next request is written', async () => {
    const server = await serve(
      async (connection) => {
        for (;;) {
          const { path } = await connection.readRequest()
          await connection.write(answerWith(path) + answerWith(path))
        }
      },
      { isTls },
    )
    const transport = make()

    for (const path of ['/1', '/2', '/3']) {
      const { headers } = await transport.send({ ...requestTo(server), url: server.origin + path })
      expect(headers['etag']).toBe(`"${path}"`)
    }
    expect(server.connections).toHaveLength(3)
  })

  it('ends its connection if it comes during the next body, and is seen to have come before its end', async () => {
    const server = await serve(
      async (connection) => {
        const { path } = await connection.readRequest()
        await connection.write(answerWith(path))
        await connection.readHead()
        await connection.write(answerWith(path))
        await connection.readToEnd()
      },
      { isTls },
    )
    const transport = make()
    let sentBytes = 0
    const body = bodyOf('windows', pattern(16 * MIB))

    await transport.send(requestTo(server))
    await transport.send(requestTo(server, { body, onSent: (bytes) => (sentBytes = bytes) }))
    await server.connections[0]!.ended

    expect(sentBytes).toBeLessThan(16 * MIB)
  })
})

describe('an answer that came once too often, behind the whole of the next file', () => {
  it('costs that file one attempt: its connection carries nothing more, so the others are not shifted', async () => {
    let requests = 0
    const server = await serve(async (connection, index) => {
      // On the first connection every answer arrives when the next request is on its way, as over a long line.
      let late: string | undefined
      for (let nth = 1; ; nth += 1) {
        const { body } = await connection.readRequest()
        requests += 1
        const answer = answerWith(createHash('md5').update(body).digest('hex'))
        if (late !== undefined) await connection.write(late)
        late = index === 0 && nth >= 3 ? answer : undefined
        if (nth === 3 || late === undefined) await connection.write(answer)
      }
    })
    const uplink = createUplink({
      ...{ baseUrl: 'https://service.example', credentials: { apiKey: 'unused-0123456789' } },
      ...{ clock: hastyClock(), concurrency: 1 },
    })
    onTestFinished(() => uplink.close())
    const files = Array.from({ length: 20 }, (_, index) => ({
      source: bytesSource(`${String(index)}.json`, pattern(1000 + index)),
    }))
    const upload = uplink.upload({ protocol: plainPuts(server.origin), files })
    const retries: string[] = []
    upload.on('retry', ({ name, error }) => retries.push(`${name} ${error.code}`))

    const report = await upload.done()

    expect(report.files.every(({ verified }) => verified)).toBe(true)
    expect(retries).toEqual(['3.json ERR_UPLOAD_DIGEST_MISMATCH'])
    expect([requests, server.connections.length]).toEqual([21, 2])
  })
})

function plainPuts(origin: string): Protocol {
  const units = { minBytes: 0, maxBytes: 16 * MIB, maxCount: 1, multipleOfBytes: 1 }
  return {
    traits: { units, order: 'any', addressing: 'session', batchSize: 1 },
    create: (files) =>
      Promise.resolve({
        sessionId: 'session',
        files: files.map(({ fileIndex }) => ({
          fileIndex,
          serverFileId: 'file',
          addresses: [`${origin}/${String(fileIndex)}`],
        })),
      }),
    request: () => ({ method: 'PUT', headers: {} }),
    judge: (reply, unit) => ({ kind: 'received', acceptedEnd: unit.end, etag: reply.headers['etag'] ?? '' }),
  }
}
