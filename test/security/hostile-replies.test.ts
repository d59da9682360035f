// A service or a storage that answers with too much, too deep, of the wrong kind or with addresses that lead elsewhere:
// one clear error in bounded time and memory, before any byte of a file goes out.

import { describe, expect, it, onTestFinished } from 'vitest'
import { bytesSource } from '../../src/adapters/web/bytes-source.ts'
import { undiciTransport } from '../../src/adapters/node/http/undici-transport.ts'
import { memoryJournal } from '../../src/adapters/web/memory-journal.ts'
import { scriptedServer } from '../../src/testing/scripted-server.ts'
import {
  CAPTURE,
  createFarEnd,
  endOf,
  expiredStorage,
  goodService,
  goodStorage,
  VIDEO,
  type Answer,
  type FarEndOptions,
} from './far-end.ts'

const MIB = 1024 * 1024
const isStorage = (url: string): boolean => !url.startsWith('https://service.example/')

/** How an upload ends against a service that answers everything like this, and what went to any storage. */
async function against(answer: Answer, kind: 'video' | 'capture', options: Partial<FarEndOptions> = {}) {
  const opened = goodService(() => 'https://store.example/k')
  const { uplink, settled, requests } = createFarEnd({
    storage: goodStorage,
    service: (request, body) =>
      kind === 'capture' && request.url.endsWith('/mocap_session') ? opened(request, body) : answer,
    ...options,
  })
  const files = [{ source: bytesSource('a.action', new Uint8Array([1, 2, 3])) }]
  const upload =
    kind === 'video'
      ? uplink.uploadVideos({ ...VIDEO, files })
      : uplink.uploadCaptures({ ...CAPTURE, kind: 'tracking', files })
  const { error } = await settled(endOf(upload))
  return { error: error as Error & { code: string }, puts: requests.filter(({ url }) => isStorage(url)).length }
}

const encode = (body: unknown): Uint8Array =>
  new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body))

const withAddress = (url: unknown): Answer => ({
  status: 200,
  body: { upload_session_id: 's', pre_signed_urls: [{ session_file_id: 'f', info: [{ url }] }], 'a.action': url },
})

describe('an address of the service', () => {
  it.each([
    ...['file:///etc/passwd', 'javascript:alert(1)', 'data:text/plain,x', 'ftp://store.example/k', 'blob:x', '//h/k'],
    ...['/relative', '', 'https://', 'https:///k', 'https:\\\\store.example\\k', 'https://user:pw@store.example/k'],
    ...[
      'https://store.example/k\r\nx-injected: 1',
      '\nhttps://store.example/k',
      'https://store.example/\0',
      'https://a b/',
    ],
    ...[`https://store.example/${'k'.repeat(20_000)}`, 7, null, true, {}, ['https://store.example/k']],
  ])('that is %j is refused in a video and in a capture', async (url) => {
    for (const kind of ['video', 'capture'] as const) {
      const { error, puts } = await against(withAddress(url), kind)

      expect(error.code).toBe('ERR_UPLOAD_SERVICE_REPLY')
      expect(error.message.length).toBeLessThan(600)
      expect(error.message).not.toMatch(/injected|\n/)
      expect(puts).toBe(0)
    }
  })

  it.each(['http://store.example/k', 'http://10.0.0.1/k', 'http://127.0.0.1.example/k'])(
    'that is %s is refused, and taken where plain HTTP is allowed',
    async (url) => {
      for (const kind of ['video', 'capture'] as const) {
        const { error, puts } = await against(withAddress(`${url}?sig=5ecret`), kind)

        expect(error.code).toBe('ERR_UPLOAD_INSECURE_URL')
        expect(error.message).toContain(new URL(url).host)
        expect(error.message).not.toContain('5ecret')
        expect(puts).toBe(0)
        expect((await against(withAddress(url), 'capture', { isHttpAllowed: true })).puts).toBe(1)
      }
    },
  )

  it.each(['https://10.0.0.1/k', 'https://169.254.169.254/latest', 'https://[::ffff:7f00:1]/k', 'https://localhost/k'])(
    'that is %s is refused by the policy public, and taken without it',
    async (url) => {
      for (const kind of ['video', 'capture'] as const) {
        const { error, puts } = await against(withAddress(url), kind, { addressPolicy: 'public' })

        expect([error.code, puts]).toEqual(['ERR_UPLOAD_INSECURE_URL', 0])
      }
      expect((await against(withAddress(url), 'capture')).puts).toBe(1)
    },
  )
})

describe('addresses that come another way', () => {
  const files = [{ source: bytesSource('a.mp4', new Uint8Array([1, 2, 3])) }]

  it('go by the policy: from renewAddresses', async () => {
    const { uplink, settled, requests } = createFarEnd({
      ...{ storage: expiredStorage, service: goodService(() => 'https://store.example/old') },
      addressPolicy: (host) => host === 'store.example',
    })
    const renewAddresses = (): Promise<string[]> => Promise.resolve(['https://10.0.0.1/k'])

    const { error } = await settled(endOf(uplink.uploadVideos({ ...VIDEO, files, renewAddresses })))

    expect(error).toMatchObject({ code: 'ERR_UPLOAD_INSECURE_URL' })
    expect(requests.map(({ url }) => url).filter(isStorage)).toEqual(['https://store.example/old'])
  })

  it('go by the policy: from the journal of an earlier life that had none', async () => {
    const journal = memoryJournal()
    const service = goodService(() => 'https://10.0.0.1/k')
    const first = createFarEnd({ journal, service, storage: () => undefined, retries: 1 })
    const upload = first.uplink.uploadVideos({ ...VIDEO, files })
    expect(await first.settled(endOf(upload))).toMatchObject({ error: { code: 'ERR_UPLOAD_RETRIES_EXHAUSTED' } })
    const second = createFarEnd({ journal, service, storage: goodStorage, addressPolicy: 'public' })

    const source = (): (typeof files)[0]['source'] => files[0]!.source
    await expect(second.uplink.resume(upload.key, { source })).rejects.toMatchObject({
      code: 'ERR_UPLOAD_INSECURE_URL',
    })
    expect(second.requests).toEqual([])
    // The lease was given back: a life without the policy can have it.
    const third = createFarEnd({ journal, service, storage: goodStorage })
    const resumed = await third.uplink.resume(upload.key, { source })
    expect(await third.settled(resumed.done())).toMatchObject({ status: 'confirmed' })
  })
})

describe('a base URL', () => {
  it.each([
    'http://service.example',
    'http://10.0.0.1',
    'http://localhost.example',
    'file:///x',
    'https://u:p@h.example',
  ])('that is %s is refused before any call', (baseUrl) => {
    const make = () => createFarEnd({ baseUrl, service: () => undefined, storage: () => undefined })
    expect(make).toThrow(
      expect.objectContaining({ code: expect.stringMatching(/INSECURE_URL|INVALID_ARGUMENT/) as string }) as Error,
    )
  })
})

describe('a reply that is too much', () => {
  /** More than a function takes as arguments. */
  const MANY = 200_000
  const oneEntry = { session_file_id: 'f', info: [{ url: 'https://store.example/k' }] }
  const replies: readonly (readonly [string, () => Answer])[] = [
    ['64 MiB and a byte', () => ({ status: 200, body: new Uint8Array(64 * MIB + 1).fill(0x20) })],
    ['64 MiB of opening brackets', () => ({ status: 200, body: new Uint8Array(64 * MIB).fill(0x5b) })],
    ['a hundred thousand levels', () => ({ status: 200, body: `${'{"a":'.repeat(1e5)}1${'}'.repeat(1e5)}` })],
    [
      '200,000 addresses',
      () => ({ status: 200, body: { upload_session_id: 's', pre_signed_urls: Array(MANY).fill(oneEntry) } }),
    ],
    [
      '200,000 addresses for one part',
      () => {
        const info = Array.from({ length: MANY }, (_, at) => ({ url: `https://store.example/${String(at)}` }))
        return { status: 200, body: { upload_session_id: 's', pre_signed_urls: [{ session_file_id: 'f', info }] } }
      },
    ],
    [
      '200,000 names',
      () => ({ status: 200, body: `{${Array.from({ length: MANY }, (_, at) => `"n${String(at)}":"x"`).join()}}` }),
    ],
  ]

  it.each(replies)('%s: is one clear error', async (_name, make) => {
    const { status, body } = make()
    const answer = { status, body: body instanceof Uint8Array ? body : encode(body) }
    for (const kind of ['video', 'capture'] as const) {
      const { error, puts } = await against(answer, kind)

      expect(error.code).toBe('ERR_UPLOAD_SERVICE_REPLY')
      expect(error.message.length).toBeLessThan(600)
      expect(puts).toBe(0)
    }
  })

  it('from a socket that never stops is cut where it is read, and its connection reset', async () => {
    let written = 0
    const chunk = Buffer.alloc(MIB, 0x20)
    const server = await scriptedServer(async (connection) => {
      await connection.readHead()
      await connection.write('HTTP/1.1 200 OK\r\n\r\n')
      const state = { isOver: false }
      void connection.readToEnd().then(() => (state.isOver = true))
      while (!state.isOver && written < 4_096) {
        await connection.write(chunk)
        written += 1
      }
    })
    const transport = undiciTransport()
    onTestFinished(async () => {
      await transport.close()
      await server.close()
    })
    const request = { method: 'GET', url: server.origin, headers: {}, signal: new AbortController().signal }

    const reply = await transport.send({ ...request, maxReplyBytes: MIB })

    expect([reply.body.length, reply.isBodyCut]).toEqual([MIB, true])
    // What the kernel of this machine buffers on the way, and no more.
    expect(written).toBeLessThan(64)
  })
})

describe('a reply of the wrong kind', () => {
  const wrong: readonly unknown[] = [
    ...['', 'null', '7', 'true', '"text"', '[]', '[[]]', '{', '{"upload_session_id":', '\u0000', '<html>', '\ufeff{}'],
    ...[{}, { upload_session_id: {}, pre_signed_urls: [] }, { upload_session_id: 's', pre_signed_urls: {} }],
    { upload_session_id: 's', pre_signed_urls: [{ session_file_id: [], info: [{ url: 'https://h.example/' }] }] },
    { upload_session_id: 's', pre_signed_urls: [{ session_file_id: 1e300, info: [{ url: 'https://h.example/' }] }] },
    { upload_session_id: 's', pre_signed_urls: [{ session_file_id: 'f', info: 'https://h.example/' }] },
    { upload_session_id: 's', pre_signed_urls: [null] },
    '{"__proto__":{"upload_session_id":"s","pre_signed_urls":[]}}',
    '{"__proto__":{"a.action":"https://store.example/k"}}',
  ]

  it.each(wrong)('%j is one error', async (body) => {
    for (const kind of ['video', 'capture'] as const) {
      const { error, puts } = await against({ status: 200, body }, kind)

      expect([error.code, puts]).toEqual(['ERR_UPLOAD_SERVICE_REPLY', 0])
    }
    expect(({} as Record<string, unknown>)['upload_session_id']).toBeUndefined()
  })
})

describe('a storage that says too much', () => {
  it('is read no further than 64 KiB, and none of its words come through', async () => {
    const body = `<Error><Code>AccessDenied</Code><Message>${'x'.repeat(8 * MIB)}</Message></Error>`
    const { uplink, settled } = createFarEnd({
      service: goodService(() => 'https://store.example/k'),
      storage: () => ({ status: 403, headers: { server: 'x'.repeat(8_000) }, body }),
    })
    const files = [{ source: bytesSource('a.mp4', new Uint8Array(3)) }]

    const { error } = await settled(endOf(uplink.uploadVideos({ ...VIDEO, files })))

    expect((error as Error).message).toBe('a.mp4: The storage refused part 1 (403 AccessDenied).')
  })
})
