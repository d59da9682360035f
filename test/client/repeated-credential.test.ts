// A service that repeats the credential in its answer, where ids and addresses would carry it into journals and receipts.

import { describe, expect, it } from 'vitest'
import { aMocapSession, answerNext, clientUnderTest, rejection, type ServiceClient } from './client-under-test.ts'

const secret = 'key-0123456789abcdef'
const url = `https://s.test/a?key=${secret}`
const createSession = (client: ServiceClient) => client.mocapSessions.create(aMocapSession)
const createVideo = (client: ServiceClient) =>
  client.videoUploads.create({
    files: [{ name: 'a.mp4', sizeBytes: 3, partCount: 1 }],
    ...{ movementTypeId: 1, playerId: 'p', sessionDate: '2026-11-20', sessionTypeId: 1 },
  })
const register = (client: ServiceClient) =>
  client.mocapSessionFiles.register({ sessionId: 's', filenames: ['a.action'] })

/** What becomes of a call that is answered with this. */
async function ended(
  body: unknown,
  call: (client: ServiceClient) => Promise<unknown> = createSession,
  apiKey = secret,
) {
  const subject = clientUnderTest({ credentials: { apiKey }, retries: 0 })
  const made = call(subject.client)
  made.catch(() => undefined)
  await answerNext(subject, { status: 200, body })
  return made
}

describe('a credential that the service repeats', () => {
  it.each<[string, (client: ServiceClient) => Promise<unknown>, unknown]>([
    ['as the id of a capture session', createSession, { id: secret, status: 'pending' }],
    ['in an address of a capture', register, { 'a.action': url }],
    ['as the id of a video session', createVideo, { upload_session_id: `x-${secret}`, pre_signed_urls: [] }],
    [
      'in an address of a video',
      createVideo,
      { upload_session_id: 'u', pre_signed_urls: [{ session_file_id: 1, info: [{ url }] }] },
    ],
    ['in the name of a field', createSession, { id: 's-1', [secret]: null }],
    ['deep in a field that nobody knows', createSession, { id: 's-1', none: null, logs: [{ of: [true, url] }] }],
    ['with a letter escaped', createSession, `{"id":"s-1","note":"${secret.replace('k', '\\u006b')}"}`],
  ])('%s is refused, and not shown', async (_where, call, body) => {
    const error = await rejection(ended(body, call))

    expect(error).toMatchObject({ code: 'ERR_UPLOAD_SERVICE_REPLY' })
    expect(error).toHaveProperty('details.operation')
    expect(String(error)).toMatch(/repeats the credential/)
    expect(JSON.stringify([String(error), error])).not.toContain(secret)
  })

  it('is refused also where it is a number there', async () => {
    expect(await rejection(ended({ id: 's-1', key: 1234567890 }, createSession, '1234567890'))).toMatchObject({
      code: 'ERR_UPLOAD_SERVICE_REPLY',
    })
  })

  it('is not looked for where it is so short that chance would find it', async () => {
    await expect(ended({ id: 'key-777' }, createSession, 'key-777')).resolves.toMatchObject({ id: 'key-777' })
  })

  it('is not suspected behind every escape', async () => {
    await expect(ended('{"id":"s-1","note":"caf\\u00e9","url":"https:\\/\\/s.test"}')).resolves.toMatchObject({
      note: 'café',
    })
  })
})
