// Whose fault it is that a body does not go on: its client's, or that of a disk that takes nothing.

import { EventEmitter } from 'node:events'

import type { FastifyReply, FastifyRequest } from 'fastify'
import { expect, it, onTestFinished, vi } from 'vitest'

import { watchBody } from '../../../src/service/objects/body-watch.ts'

it.each([
  ['blames nobody for the slowness of a disk', 5, false],
  ['ends a body of which nothing more has come', 0, true],
])('%s', (_, readableLength, isEnded) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const hijack = vi.fn()
  const request = { raw: Object.assign(new EventEmitter(), { readableLength }) } as unknown as FastifyRequest
  const reply = { hijack, getHeaders: () => ({}), raw: { writeHead: vi.fn(), end: vi.fn() } } as unknown as FastifyReply
  const watch = watchBody(request, reply, { bodyIdleMs: 60_000, leastBytesPerSecond: 100 })
  onTestFinished(() => watch.stop())
  watch.onBytes(1)

  vi.advanceTimersByTime(1_200_000)

  const more = () => watch.onBytes(1)
  if (isEnded) expect(more).toThrow('The body brought nothing for 60000 ms.')
  else expect(more).not.toThrow()
  expect(hijack).toHaveBeenCalledTimes(isEnded ? 1 : 0)
})
