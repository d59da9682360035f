// Headers of the host on each request, and what became of an attempt is still known by the request that was given.

import { expect, it } from 'vitest'

import { withHeaders } from '../../../src/adapters/web/with-headers.ts'
import type { Transport, TransportRequest } from '../../../src/core/ports.ts'

const REQUEST: TransportRequest = {
  method: 'PATCH',
  url: 'https://service.test/upload_videos',
  headers: { 'x-api-key': 'key' },
  signal: new AbortController().signal,
}

/** Refuses everything, and knows how each attempt ended by the very request that it was handed. */
function recording() {
  const sent: TransportRequest[] = []
  const transport: Transport = {
    isResetByAbort: true,
    send(request) {
      sent.push(request)
      return Promise.reject(new Error('reset'))
    },
    endingOf: (request) => (sent.includes(request) ? 'doubtful' : 'neverWhole'),
    close: () => Promise.resolve(),
  }
  return { sent, transport }
}

it('adds them, asked anew for each request, and hands on how its attempt ended', async () => {
  const { sent, transport } = recording()
  let trace = 0
  const traced = withHeaders(transport, () => ({ 'x-trace': String((trace += 1)) }))

  await expect(traced.send(REQUEST)).rejects.toThrow('reset')
  await expect(traced.send({ ...REQUEST })).rejects.toThrow('reset')

  expect(sent).toEqual([
    { ...REQUEST, headers: { 'x-api-key': 'key', 'x-trace': '1' } },
    { ...REQUEST, headers: { 'x-api-key': 'key', 'x-trace': '2' } },
  ])
  expect(traced.endingOf(REQUEST)).toBe('doubtful')
  expect(traced.isResetByAbort).toBe(true)
})

it('waits for an async function, but not when nobody wants the request any more', async () => {
  const { sent, transport } = recording()
  const controller = new AbortController()
  const given = withHeaders(transport, async () => Promise.resolve({ 'x-trace': 'late' }))
  const hanging = withHeaders(transport, () => new Promise(() => undefined))

  await expect(given.send(REQUEST)).rejects.toThrow('reset')
  const stopped = hanging.send({ ...REQUEST, signal: controller.signal })
  controller.abort(new Error('stopped'))

  await expect(stopped).rejects.toThrow('stopped')
  expect(sent.map(({ headers }) => headers['x-trace'])).toEqual(['late'])
})

it('replaces none that the request has, the credential least of all', async () => {
  const { sent, transport } = recording()

  const refused = withHeaders(transport, () => ({ 'X-Api-Key': 'other' })).send(REQUEST)

  await expect(refused).rejects.toMatchObject({ code: 'ERR_UPLOAD_INVALID_ARGUMENT' })
  expect(sent).toEqual([])
})
