// Motion capture: sessions, and names that get an address each.

import { createHash } from 'node:crypto'

import { describe, expect, it } from 'vitest'

import { put } from './plain-http.ts'
import { call, CAPTURE, isAbsent, openCapture, register, storedOf, target } from './service-calls.ts'

const valid = () => ({ ...CAPTURE, org_id: target().orgId })

describe.skipIf(isAbsent)('POST /mocap_session', () => {
  it('answers the whole session record', async () => {
    const { status, json } = await call('POST', '/mocap_session', valid())

    const { id, created_at: createdAt } = json as { id: string; created_at: string }
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(status).toBe(200)
    expect(createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(json).toEqual({
      id,
      session_id: id,
      org_id: target().orgId,
      mocap_type_id: 2,
      session_type_id: 1,
      session_date: '2026-11-20',
      num_movements: 0,
      num_players: 0,
      status: 'pending',
      created_at: createdAt,
      updated_at: createdAt,
    })
  })

  it('leaves fields alone that the interface does not show, whatever they hold', async () => {
    const further = { org_player_id: 'x'.repeat(2_000), note: 'a\0b', other_type_id: 2 ** 40, list: ['\ud800', null] }

    const { status, json } = await call('POST', '/mocap_session', { ...valid(), ...further })

    expect(status).toBe(200)
    expect(Object.keys(json as object)).not.toContain('note')
  })

  it.each([
    ['org_id', { org_id: undefined }],
    ['session_date', { session_date: '2026-02-30' }],
    ['session_date', { session_date: '20-11-2026' }],
    ['mocap_type_id', { mocap_type_id: '2' }],
    ['mocap_type_id', { mocap_type_id: 2 ** 40 }],
    ['session_type_id', { session_type_id: 1.5 }],
    ['org_id', { org_id: 'a\0b' }],
    ['org_id', { org_id: '\ud800' }],
  ])('refuses a wrong %s with 422 that names it', async (field, wrong) => {
    const { status, json } = await call('POST', '/mocap_session', { ...valid(), ...wrong })

    expect(status).toBe(422)
    expect((json as { error: { fields: { field: string }[] } }).error.fields.map((one) => one.field)).toEqual([field])
  })
})

describe.skipIf(isAbsent)('POST /mocap_session_file', () => {
  it('answers one address for each name, in the order asked, whatever the names are', async () => {
    const sessionId = await openCapture()
    const names = [
      '__proto__',
      'constructor',
      'take 1.action',
      'a#b%20?.action',
      '🏏.action',
      'é.action',
      'e\u0301.action',
      '\ufeffmarked.action',
      'marked.action',
    ]

    const { text, json } = await call('POST', '/mocap_session_file', { session_id: sessionId, filenames: names })

    expect(Object.keys(json as object)).toEqual(names)
    expect(text.startsWith('{"__proto__":"http')).toBe(true)
    const addresses = Object.values(json as Record<string, string>)
    expect(new Set(addresses).size).toBe(names.length)
    for (const address of addresses)
      expect(new URL(address).searchParams.get('X-Amz-Signature')).toMatch(/^[0-9a-f]{64}$/)
  })

  it('takes the bytes that are PUT there, and shows what was put alone', async () => {
    const sessionId = await openCapture()
    const addresses = await register(sessionId, ['conformance-1.action', 'conformance-2.action'])
    const stored = await put(addresses['conformance-1.action']!, 'some bytes')

    expect(stored.status).toBe(200)
    const items = await storedOf(sessionId, 'capture')
    expect(items.map(({ file_name: name, size_bytes: size }) => [name, size])).toEqual([['conformance-1.action', 10]])
    expect(await (await fetch(items[0]!.url)).text()).toBe('some bytes')
  })

  it('refuses a duplicate with 409 that names it, and registers nothing of that call', async () => {
    const sessionId = await openCapture()
    await register(sessionId, ['a.action'])

    const refused = await call('POST', '/mocap_session_file', {
      session_id: sessionId,
      filenames: ['b.action', 'a.action'],
    })

    expect(refused.status).toBe(409)
    expect(refused.json).toEqual({
      error: { code: 'duplicate_file', message: 'The session has the file "a.action" already.', filename: 'a.action' },
    })
    expect(Object.keys(await register(sessionId, ['b.action']))).toEqual(['b.action'])
  })

  it('refuses a name that one call holds twice', async () => {
    const body = { session_id: await openCapture(), filenames: ['a.action', 'a.action'], reprocess: true }

    expect((await call('POST', '/mocap_session_file', body)).status).toBe(409)
  })

  it('gives an address for a known name with reprocess, and each PUT replaces the file', async () => {
    const sessionId = await openCapture()
    const first = await register(sessionId, ['a.action'])
    await put(first['a.action']!, 'old bytes')

    const second = await register(sessionId, ['a.action', 'new.action'], { reprocess: true })
    expect(Object.keys(second)).toEqual(['a.action', 'new.action'])
    expect((await put(second['a.action']!, 'new')).status).toBe(200)

    const items = await storedOf(sessionId, 'capture')
    expect(items.map(({ file_name: name }) => name)).toEqual(['a.action'])
    expect(await (await fetch(items[0]!.url)).text()).toBe('new')
  })

  it.each([
    ['a tracking file in a video session', 67, ['swing.mp4', 'a.action'], 'a.action'],
    ['a video in a tracking session', 2, ['a.action', 'Swing.MOV'], 'Swing.MOV'],
    ['what only begins like a video', 67, ['swing.mp4', 'swing.mp4.action'], 'swing.mp4.action'],
  ])('refuses %s with 422', async (_what, mocapTypeId, filenames, stranger) => {
    const session_id = await openCapture(mocapTypeId)

    const { status, json } = await call('POST', '/mocap_session_file', { session_id, filenames, video_framerate: 240 })

    expect(status).toBe(422)
    expect(json).toMatchObject({ error: { code: 'wrong_file_kind', filename: stranger } })
  })

  it('needs video_framerate for plain video only', async () => {
    const body = { session_id: await openCapture(67), filenames: ['swing.mp4'] }

    const refused = await call('POST', '/mocap_session_file', body)

    expect(refused.status).toBe(422)
    expect(refused.json).toMatchObject({ error: { fields: [{ field: 'video_framerate' }] } })
    expect((await call('POST', '/mocap_session_file', { ...body, video_framerate: 239.76 })).status).toBe(200)
  })

  it.each([['a/b.action'], ['a\\b.action'], ['a\0b.action'], [''], ['..']])(
    'refuses the name %j with 422',
    async (name) => {
      const body = { session_id: await openCapture(), filenames: [name] }

      expect((await call('POST', '/mocap_session_file', body)).status).toBe(422)
    },
  )

  it('takes names of 1,024 bytes and refuses longer ones', async () => {
    const session_id = await openCapture()
    // Bytes that do not compress, since the database's index would squeeze a run of one letter.
    const digests = Array.from({ length: 16 }, (_, index) => createHash('sha256').update(String(index)).digest('hex'))
    const longest = digests.join('')

    expect(Object.keys(await register(session_id, [longest, 'é'.repeat(512)]))).toHaveLength(2)
    for (const name of [`${longest}x`, `${'é'.repeat(512)}x`])
      expect((await call('POST', '/mocap_session_file', { session_id, filenames: [name] })).status).toBe(422)
  })

  it('refuses an unknown session with 404 and no names with 422', async () => {
    const unknown = { session_id: 'nobody', filenames: ['a.action'] }
    const empty = { session_id: await openCapture(), filenames: [] }

    expect((await call('POST', '/mocap_session_file', unknown)).status).toBe(404)
    expect((await call('POST', '/mocap_session_file', empty)).status).toBe(422)
  })

  // Last, since the lists of the tests before would ask the store for each of them.
  it('registers ten thousand names in one call, or refuses them whole', async () => {
    const session_id = await openCapture()
    // Names stay: in a deployment a hundred are enough.
    const length = target().isThrownAway ? 10_000 : 100
    const filenames = Array.from({ length }, (_, index) => `conformance-${index}.action`)

    const { status, json } = await call('POST', '/mocap_session_file', { session_id, filenames })

    if (status === 422) expect(json).toMatchObject({ error: { code: 'too_many_names' } })
    else expect(Object.keys(json as object)).toEqual(filenames)
  })
})
