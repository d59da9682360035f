// The service's credentials stay with the service: seen from a storage that writes down every header it gets, over real
// sockets, also where service and storage share a host, a port, a connection, or are led into each other by redirects.

import dns from 'node:dns'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createUplink, type Credentials, type NodeUplinkOptions, type Uplink } from '../../src/node.ts'
import type { ScriptedRequest } from '../../src/testing/scripted-connection.ts'
import { answering, httpAnswer, scriptedServer, type ScriptedServer } from '../../src/testing/scripted-server.ts'
import { hastyClock } from '../../src/testing/hasty-clock.ts'
import { sample, VIDEO } from './rig.ts'

const KEY = 'MARKkey51'
const TOKEN = 'MARKtoken62'
type Request = ScriptedRequest & { readonly body: Buffer }

async function serve(answer: (request: Request) => string): Promise<ScriptedServer> {
  const server = await scriptedServer(answering(answer))
  onTestFinished(() => server.close())
  return server
}

function connect(baseUrl: string, credentials: Credentials, options: Partial<NodeUplinkOptions> = {}): Uplink {
  const uplink = createUplink({ baseUrl, credentials, clock: hastyClock(), proxy: null, ...options })
  onTestFinished(() => uplink.close())
  return uplink
}

const json = (value: unknown): string => httpAnswer(200, { body: JSON.stringify(value) })
const isSecret = ({ head }: Request): boolean => head.includes(KEY) || head.includes(TOKEN)

/** A session with one file of one part, at this address. */
const session = (id: string, url: string): string =>
  json({ upload_session_id: id, pre_signed_urls: [{ session_file_id: 'f', info: [{ url }] }] })

it.each([
  ['an API key', { apiKey: KEY }, undefined],
  ['an access token', { accessToken: TOKEN }, undefined],
  ['an access token under the other header', { accessToken: () => TOKEN }, 'Authentication'],
] as const)(
  'of the kind %s are on no request to a storage on the same host and port',
  async (_kind, credentials, bearerHeader) => {
    // One server is both, so its connections are shared; parts fail, are sent again, and find their addresses expired.
    const calls: Request[] = []
    const puts: Request[] = []
    let sessions = 0
    const server: ScriptedServer = await serve((request) => {
      if (request.path.startsWith('/storage')) {
        puts.push(request)
        if (puts.length === 1) return httpAnswer(503)
        if (request.path.includes('/s1') || puts.length < 4) {
          return httpAnswer(403, {
            body: '<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>',
          })
        }
        return httpAnswer(200, { headers: ['etag: "x-1"'] })
      }
      calls.push(request)
      if (request.method !== 'POST') return json({})
      sessions += 1
      return session(`s${String(sessions)}`, `${server.origin}/storage/s${String(sessions)}?sig=1`)
    })
    const uplink = connect(`${server.origin}/api`, credentials, bearerHeader === undefined ? {} : { bearerHeader })

    const report = await uplink.uploadVideos({ ...VIDEO, files: [sample('a.mp4', 10_000)] }).done()

    expect(report.status).toBe('confirmed')
    expect(sessions).toBeGreaterThan(1)
    expect(puts.length).toBeGreaterThan(3)
    expect(puts.filter(isSecret)).toEqual([])
    expect(
      puts
        .flatMap(({ headers }) => [...headers.keys()])
        .filter((name) => !['host', 'connection', 'content-length'].includes(name)),
    ).toEqual([])
    expect(calls.filter((request) => !isSecret(request))).toEqual([])
    // The same sockets carried both.
    expect(server.connections.length).toBeLessThan(puts.length + calls.length)
  },
)

it('follow no redirect of the service, and bytes follow none of the storage', async () => {
  const elsewhere: Request[] = []
  const trap = await serve((request) => {
    elsewhere.push(request)
    return httpAnswer(200, { headers: ['etag: "x-1"'] })
  })
  for (const status of [301, 302, 303, 307, 308]) {
    const redirect = httpAnswer(status, { headers: [`location: ${trap.origin}/trap`] })
    const service = await serve(() => redirect)
    const storage = await serve(() => redirect)
    const honest = await serve(({ method }) => (method === 'POST' ? session('s', `${storage.origin}/k`) : json({})))
    const upload = (baseUrl: string) =>
      connect(baseUrl, { apiKey: KEY }).uploadVideos({ ...VIDEO, files: [sample('a.mp4', 10_000)] })

    await expect(upload(service.origin).done()).rejects.toMatchObject({ code: 'ERR_UPLOAD_REDIRECT_REFUSED' })
    await expect(upload(honest.origin).done()).rejects.toMatchObject({ code: 'ERR_UPLOAD_REDIRECT_REFUSED' })
  }
  expect(elsewhere).toEqual([])
})

it('need no private storage: under the policy public the service may be on a private host, its addresses may not', async () => {
  const puts: Request[] = []
  const storage = await serve((request) => {
    puts.push(request)
    return httpAnswer(200, { headers: ['etag: "x-1"'] })
  })
  const service = await serve(({ method }) => (method === 'POST' ? session('s', `${storage.origin}/k`) : json({})))
  const upload = (options: Partial<NodeUplinkOptions>) =>
    connect(service.origin, { apiKey: KEY }, options).uploadVideos({ ...VIDEO, files: [sample('a.mp4', 10)] })

  await expect(upload({ addressPolicy: 'public' }).done()).rejects.toMatchObject({ code: 'ERR_UPLOAD_INSECURE_URL' })
  expect(puts.length).toBe(0)

  expect((await upload({}).done()).status).toBe('confirmed')
  expect(puts.length).toBe(1)
})

it('go with no byte to a private host behind a name, under the policy public', async () => {
  const puts: Request[] = []
  const storage = await serve((request) => {
    puts.push(request)
    return httpAnswer(200, { headers: ['etag: "x-1"'] })
  })
  const url = `http://store.example:${String(storage.port)}/k`
  const service = await serve(({ method }) => (method === 'POST' ? session('s', url) : json({})))
  const lookUp = (_name: string, _options: object, callback: (...found: unknown[]) => void) =>
    callback(null, [{ address: '127.0.0.1', family: 4 }])
  vi.spyOn(dns, 'lookup').mockImplementation(lookUp as never)
  const upload = (options: Partial<NodeUplinkOptions>) =>
    connect(service.origin, { apiKey: KEY }, { isHttpAllowed: true, ...options }).uploadVideos({
      ...VIDEO,
      files: [sample('a.mp4', 10)],
    })

  // A program in plain JavaScript may give null for a port that it does not bring.
  for (const absent of [{}, { transport: null }, { storageTransport: null }]) {
    const refused = upload({ addressPolicy: 'public', ...(absent as object) }).done()
    await expect(refused).rejects.toMatchObject({ code: 'ERR_UPLOAD_INSECURE_URL' })
  }
  expect(puts.length).toBe(0)

  // The name leads there, so it was the policy that kept the bytes back.
  expect((await upload({}).done()).status).toBe('confirmed')
  expect(puts.length).toBe(1)
})
