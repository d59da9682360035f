// The motion capture flow of the service, call by call.

import { createHash } from 'node:crypto'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { openCaptureSession, put, register, startUnderTest, type ServiceUnderTest } from './service-under-test.ts'

let service: ServiceUnderTest
beforeAll(async () => {
  service = await startUnderTest()
})
afterAll(() => service.close())

const valid = { org_id: 'org-4', mocap_type_id: 2, session_date: '2026-11-20', session_type_id: 1 }

describe('POST /mocap_session', () => {
  it('answers the whole session record', async () => {
    const { status, json } = await service.call('POST', '/mocap_session', valid)

    const { id } = json as { id: string }
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(status).toBe(200)
    expect(json).toEqual({
      id,
      session_id: id,
      org_id: 'org-4',
      mocap_type_id: 2,
      session_type_id: 1,
      session_date: '2026-11-20',
      num_movements: 0,
      num_players: 0,
      status: 'pending',
      created_at: '2026-11-20T12:00:00.000Z',
      updated_at: '2026-11-20T12:00:00.000Z',
    })
  })

  it.each([
    ['org_id', { ...valid, org_id: undefined }],
    ['session_date', { ...valid, session_date: '2026-02-30' }],
    ['session_date', { ...valid, session_date: '20-11-2026' }],
    ['mocap_type_id', { ...valid, mocap_type_id: '2' }],
    ['mocap_type_id', { ...valid, mocap_type_id: 2 ** 40 }],
    ['session_type_id', { ...valid, session_type_id: 1.5 }],
    ['org_id', { ...valid, org_id: 'a\0b' }],
    ['org_id', { ...valid, org_id: '\ud800' }],
  ])('refuses a wrong %s with 422 that names it', async (field, body) => {
    const { status, json } = await service.call('POST', '/mocap_session', body)

    expect(status).toBe(422)
    expect((json as { error: { fields: { field: string }[] } }).error.fields.map((one) => one.field)).toEqual([field])
  })
})

describe('POST /mocap_session_file', () => {
  it('answers one address per name, in the order asked, whatever the names are', async () => {
    const sessionId = await openCaptureSession(service)
    const names = [
      '__proto__',
      'constructor',
      'take 1.action',
      'a#b%20?.action',
      '🏏.action',
      'é.action',
      'e\u0301.action',
    ]

    const { text, json } = await service.call('POST', '/mocap_session_file', {
      session_id: sessionId,
      filenames: names,
    })

    expect(Object.keys(json as object)).toEqual(names)
    expect(text.startsWith('{"__proto__":"http')).toBe(true)
    const addresses = Object.values(json as Record<string, string>)
    expect(new Set(addresses).size).toBe(7)
    for (const address of addresses) {
      expect(address).toMatch(
        new RegExp(
          `^${service.url}/objects/captures/${sessionId}/\\d+\\?X-Amz-Algorithm=AWS4-HMAC-SHA256` +
            '&X-Amz-Date=20261120T120000Z&X-Amz-Expires=3600&X-Amz-Signature=[0-9a-f]{64}$',
        ),
      )
    }
  })

  it('registers ten thousand names in one call', async () => {
    const sessionId = await openCaptureSession(service)
    const names = Array.from({ length: 10_000 }, (_, index) => `take-${index}.action`)

    expect(Object.keys(await register(service, sessionId, names))).toEqual(names)
  })

  it('refuses a duplicate with 409 that names it, and registers nothing of that call', async () => {
    const sessionId = await openCaptureSession(service)
    await register(service, sessionId, ['a.action'])

    const refused = await service.call('POST', '/mocap_session_file', {
      session_id: sessionId,
      filenames: ['b.action', 'a.action'],
    })

    expect(refused.status).toBe(409)
    expect(refused.json).toEqual({
      error: { code: 'duplicate_file', message: 'The session has the file "a.action" already.', filename: 'a.action' },
    })
    expect(Object.keys(await register(service, sessionId, ['b.action']))).toEqual(['b.action'])
  })

  it('lets one of two equal registrations win when they come at once', async () => {
    const sessionId = await openCaptureSession(service)
    const body = { session_id: sessionId, filenames: ['x.action'] }

    const answers = await Promise.all([1, 2, 3].map(() => service.call('POST', '/mocap_session_file', body)))

    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409])
  })

  it('refuses a name that one call holds twice', async () => {
    const sessionId = await openCaptureSession(service)

    const body = { session_id: sessionId, filenames: ['a.action', 'a.action'], reprocess: true }

    expect((await service.call('POST', '/mocap_session_file', body)).status).toBe(409)
  })

  it('gives a new address for a known name with reprocess, and each PUT replaces the file', async () => {
    const sessionId = await openCaptureSession(service)
    const first = await register(service, sessionId, ['a.action'])
    await put(first['a.action']!, 'old bytes')
    service.advance(1000)

    const second = await register(service, sessionId, ['a.action', 'new.action'], { reprocess: true })
    expect(second['a.action']).not.toBe(first['a.action'])
    expect((await put(second['a.action']!, 'new')).status).toBe(200)

    expect(await storedText(sessionId)).toEqual({ 'a.action': 'new' })
  })

  it.each([
    ['a tracking file in a video session', 67, ['swing.mp4', 'a.action'], 'a.action'],
    ['a video in a tracking session', 2, ['a.action', 'Swing.MOV'], 'Swing.MOV'],
  ])('refuses %s with 422', async (_what, mocapTypeId, filenames, stranger) => {
    const sessionId = await openCaptureSession(service, mocapTypeId)

    const { status, json } = await service.call('POST', '/mocap_session_file', {
      session_id: sessionId,
      filenames,
      video_framerate: 240,
    })

    expect(status).toBe(422)
    expect(json).toMatchObject({ error: { code: 'wrong_file_kind', filename: stranger } })
  })

  it('needs video_framerate for plain video only', async () => {
    const sessionId = await openCaptureSession(service, 67)
    const body = { session_id: sessionId, filenames: ['swing.mp4'] }

    const refused = await service.call('POST', '/mocap_session_file', body)

    expect(refused.status).toBe(422)
    expect(refused.json).toMatchObject({ error: { fields: [{ field: 'video_framerate' }] } })
    expect((await service.call('POST', '/mocap_session_file', { ...body, video_framerate: 239.76 })).status).toBe(200)
  })

  it.each([['a/b.action'], ['a\\b.action'], ['a\0b.action'], [''], ['..']])(
    'refuses the name %j with 422',
    async (name) => {
      const sessionId = await openCaptureSession(service)

      expect(
        (await service.call('POST', '/mocap_session_file', { session_id: sessionId, filenames: [name] })).status,
      ).toBe(422)
    },
  )

  it('takes names of 1,024 bytes and refuses longer ones', async () => {
    const sessionId = await openCaptureSession(service)
    // Bytes that do not compress, since the database's index would squeeze a run of one letter.
    const digests = Array.from({ length: 16 }, (_, index) => createHash('sha256').update(String(index)).digest('hex'))
    const longest = digests.join('')

    expect(Object.keys(await register(service, sessionId, [longest, 'é'.repeat(512)]))).toHaveLength(2)
    for (const name of [`${longest}x`, `${'é'.repeat(512)}x`]) {
      const body = { session_id: sessionId, filenames: [name] }
      expect((await service.call('POST', '/mocap_session_file', body)).status).toBe(422)
    }
  })

  it('refuses an unknown session with 404 and no names with 422', async () => {
    const unknown = { session_id: 'nobody', filenames: ['a.action'] }
    const empty = { session_id: await openCaptureSession(service), filenames: [] }

    expect((await service.call('POST', '/mocap_session_file', unknown)).status).toBe(404)
    expect((await service.call('POST', '/mocap_session_file', empty)).status).toBe(422)
  })
})

/** What is stored for a session, read back through GET /stored page by page. */
async function storedText(sessionId: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  let after: string | null = 'capture-0'
  while (after !== null) {
    const { json } = await service.call('GET', `/stored?limit=1&after=${after}`)
    const page = json as { items: { session_id: string; file_name: string; url: string }[]; next: string | null }
    for (const item of page.items) {
      if (item.session_id === sessionId) found[item.file_name] = await (await fetch(item.url)).text()
    }
    after = page.next
  }
  return found
}
