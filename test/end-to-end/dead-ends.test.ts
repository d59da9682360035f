// Far ends that go silent, over real sockets: connecting, before, in and after a body. Time runs twenty times too fast.

import { describe, expect, it, onTestFinished } from 'vitest'
import { createUplink, type NodeUplinkOptions, type Upload, type UploadEvents } from '../../src/node.ts'
import type { ScriptedConnection } from '../../src/testing/scripted-connection.ts'
import { answering, httpAnswer, scriptedServer } from '../../src/testing/scripted-server.ts'
import { fastClock } from '../helpers/fast-clock.ts'
import { MIB, sample, VIDEO } from './rig.ts'

const SPEED = 20
const FILE_BYTES = 12 * MIB

interface Run {
  readonly upload: Upload
  readonly retries: UploadEvents['retry'][]
  readonly waits: UploadEvents['waiting'][]
  readonly storage: { readonly connections: readonly ScriptedConnection[] }
}

/** One file of one part, against a storage that does this on each connection. */
async function begin(
  script: (connection: ScriptedConnection, index: number) => Promise<void>,
  options: Partial<NodeUplinkOptions> & { readonly scheme?: 'https' } = {},
): Promise<Run> {
  const storage = await scriptedServer(script)
  const { scheme = 'http', ...choices } = options
  const url = `${scheme}://127.0.0.1:${String(storage.port)}/k?sig=1`
  const opened = { upload_session_id: 's', pre_signed_urls: [{ session_file_id: 'f', info: [{ url }] }] }
  const service = await scriptedServer(answering(() => httpAnswer(200, { body: JSON.stringify(opened) })))
  const uplink = createUplink({
    ...{ baseUrl: service.origin, credentials: { apiKey: 'k' }, clock: fastClock(SPEED), proxy: null, verify: 'off' },
    timeouts: { connectMs: 10_000, stallMs: 10_000, answerMs: 10_000 },
    // A fixed number measures no round trips, so every connection of the storage is a part's.
    ...{ concurrency: 4, ...choices },
  })
  onTestFinished(async () => {
    await uplink.close()
    await storage.close()
    await service.close()
  })
  const files = [sample('night.mp4', FILE_BYTES)]
  const upload = uplink.uploadVideos({ ...VIDEO, files, partSizeBytes: FILE_BYTES })
  const [retries, waits]: [Run['retries'], Run['waits']] = [[], []]
  upload.on('retry', (retry) => retries.push(retry))
  upload.on('waiting', (wait) => waits.push(wait))
  return { upload, retries, waits, storage }
}

const good = answering(() => httpAnswer(200, { headers: ['etag: "x-1"'] }))
/** Open, and nothing more is read or written. */
const silence = (): Promise<void> => new Promise(() => {})

describe('a storage that goes silent', () => {
  it.each([
    ['before the body', (connection: ScriptedConnection) => connection.readHead().then(silence)],
    [
      'in the middle of the body',
      (connection: ScriptedConnection) =>
        connection
          .readHead()
          .then(() => connection.readBytes(MIB))
          .then(silence),
    ],
    ['after the body', (connection: ScriptedConnection) => connection.readRequest().then(silence)],
    [
      'in the middle of its answer',
      (connection: ScriptedConnection) =>
        connection
          .readRequest()
          .then(() => connection.write('HTTP/1.1 200 OK\r\n'))
          .then(silence),
    ],
  ])('%s costs one wait, and the part goes again on a fresh connection', async (_when, first) => {
    const { upload, retries, storage } = await begin((connection, index) =>
      index === 0 ? first(connection) : good(connection),
    )

    expect((await upload.done()).status).toBe('confirmed')

    expect(retries.map(({ name, partNumber, attempt, error }) => [name, partNumber, attempt, error.code])).toEqual([
      ['night.mp4', 1, 1, 'ERR_UPLOAD_TIMEOUT'],
    ])
    expect(storage.connections.length).toBe(2)
  })

  it('for ever fails the file after its attempts, naming file, part, attempts and what happened', async () => {
    const { upload } = await begin((connection) => connection.readRequest().then(silence), { retries: 2 })

    await expect(upload.done()).rejects.toMatchObject({
      code: 'ERR_UPLOAD_RETRIES_EXHAUSTED',
      message: expect.stringMatching(/^night\.mp4: Gave up after 2 attempts\. The last one: Part 1 .* 1\d s/) as string,
      report: { status: 'failed', files: [{ name: 'night.mp4', status: 'failed' }] },
    })
  })
})

describe('a storage with which no connection is made', () => {
  it('is waited for and then given up, using up no attempts', async () => {
    // A handshake that is never answered: TCP is there, TLS never is.
    const { upload, waits, retries } = await begin(silence, { scheme: 'https', giveUpAfterMs: 60_000, retries: 1 })

    await expect(upload.done()).rejects.toMatchObject({
      code: 'ERR_UPLOAD_HOST_UNREACHABLE',
      report: { status: 'failed', files: [{ name: 'night.mp4', status: 'unfinished' }] },
    })
    expect(waits[0]?.untilMs).toBeGreaterThan(waits[0]!.sinceMs)
    // While it is asked no time of a next try is told.
    for (const { sinceMs, untilMs } of waits) expect(untilMs ?? Infinity).toBeGreaterThan(sinceMs)
    expect(retries.length).toBeGreaterThan(1)
  })
})

describe('a storage that answers before it has read the body, and closes', () => {
  it('is heard: a refusal is final, and the pipe that breaks behind it is not taken for the cause', async () => {
    const { upload, retries } = await begin(async (connection) => {
      await connection.readHead()
      const body = '<Error><Code>SignatureDoesNotMatch</Code></Error>'
      await connection.write(httpAnswer(403, { headers: ['connection: close'], body }))
      connection.destroy()
    })

    await expect(upload.done()).rejects.toMatchObject({
      code: 'ERR_UPLOAD_ADDRESS_REFUSED',
      message: 'night.mp4: The storage refused part 1 (403 SignatureDoesNotMatch).',
    })
    expect(retries).toEqual([])
  })
})

describe('a service that goes silent', () => {
  it('lets no upload hang: done() settles, and cancel() too', async () => {
    const silent = await scriptedServer(silence)
    const uplink = createUplink({
      ...{ baseUrl: silent.origin, credentials: { apiKey: 'k' }, clock: fastClock(SPEED), proxy: null },
      ...{ callTimeoutMs: 2_000, giveUpAfterMs: 10_000 },
    })
    onTestFinished(async () => {
      await uplink.close()
      await silent.close()
    })
    const start = (): Upload => uplink.uploadVideos({ ...VIDEO, files: [sample('a.mp4', 10)] })

    await expect(start().done()).rejects.toMatchObject({
      code: 'ERR_UPLOAD_HOST_UNREACHABLE',
      message: `Could not reach 127.0.0.1:${String(silent.port)} (no answer in time). Gave up after 1 attempt to create the video session. Check the base URL and the network.`,
    })
    const second = start()
    const report = await second.cancel()
    expect(['cancelled', 'failed']).toContain(report.status)
    await expect(second.done()).rejects.toMatchObject({ code: expect.stringMatching(/^ERR_UPLOAD_/) as string })
  })
})
