// Who may call: every operation asks for a credential before it reads anything, and answers without one as the interface shows.

import { describe, expect, it } from 'vitest'

import { call, isAbsent, target } from './service-calls.ts'

const CALLS: [number, string, string][] = [
  [401, 'POST', '/upload_videos'],
  [401, 'PATCH', '/upload_videos'],
  [401, 'DELETE', '/upload_videos/x'],
  [403, 'POST', '/mocap_session'],
  [403, 'POST', '/mocap_session_file'],
  [403, 'POST', '/player_group_segments'],
  [403, 'PATCH', '/player_group_segments/1'],
  [403, 'GET', '/requested_analyses'],
  [403, 'POST', '/requested_analyses'],
  [403, 'GET', '/requested_analyses/1'],
  [403, 'PATCH', '/requested_analyses/1'],
  [403, 'PATCH', '/requested_analyses/1/submit'],
  [403, 'GET', '/movement_types'],
  [403, 'GET', '/players'],
  [403, 'GET', '/sessions'],
  [403, 'GET', '/mocap_types'],
  [403, 'GET', '/session_types'],
  [403, 'GET', '/stored'],
]
const WRONG = 'no-credential-of-anybody'

describe.skipIf(isAbsent)('credentials', () => {
  it.each(CALLS)('are missing or improper: %i to %s %s', async (status, method, path) => {
    const improper: Record<string, string>[] = [
      {},
      { 'x-api-key': '' },
      { 'x-api-key': WRONG },
      { authorization: WRONG },
      { authorization: `Bearer ${WRONG}` },
      { authorization: `Basic ${WRONG}` },
      { authentication: 'Bearer' },
    ]
    for (const headers of improper) {
      const answer = await call(method, path, method === 'GET' ? undefined : '{ not even JSON', headers)
      expect(answer.status).toBe(status)
      expect(answer.json).toMatchObject({ error: { code: 'credentials_refused' } })
      expect(answer.text).not.toContain(WRONG)
    }
  })

  it('open every flow', async () => {
    expect((await call('GET', '/requested_analyses')).status).toBe(200)
    expect((await call('DELETE', '/upload_videos/nobody')).status).toBe(404)
  })

  it('are bearer tokens in either header that the interface shows', async ({ skip }) => {
    const { accessToken } = target()
    if (accessToken === undefined) return skip('No access token was given.')
    for (const headers of [
      { authorization: `Bearer ${accessToken}` },
      { authentication: `Bearer ${accessToken}` },
      { authorization: `bearer ${accessToken}` },
    ]) {
      const answer = await call('GET', '/requested_analyses', undefined, headers)
      expect(answer.status).toBe(200)
    }
    expect((await call('GET', '/players', undefined, { 'x-api-key': accessToken })).status).toBe(403)
  })
})
