// What a page does with a hashing worker that is lost: no digest of half a body, and a new worker for the next. Hashing
// itself is tested in a real browser.

import { describe, expect, it } from 'vitest'
import type { HashCall, HashReply } from '../../../src/adapters/browser/hash-messages.ts'
import type { WorkerLike } from '../../../src/adapters/browser/hash-worker.ts'
import { createWorkerHashers } from '../../../src/adapters/browser/worker-hasher.ts'

interface ScriptedWorker extends WorkerLike {
  readonly calls: HashCall[]
  isTerminated: boolean
  reply(reply: HashReply): void
  die(message: string): void
}

/** Says that it is ready when it is listened to, unless it has a problem, and answers nothing by itself. */
function scriptedWorker(first: HashReply = { call: 0 }): ScriptedWorker {
  const worker: ScriptedWorker = {
    calls: [],
    isTerminated: false,
    onmessage: null,
    onerror: null,
    postMessage: (call: HashCall) => void worker.calls.push(call),
    terminate: () => void (worker.isTerminated = true),
    reply: (data) => void worker.onmessage?.call(worker as unknown as Worker, { data } as MessageEvent),
    die: (message) => void worker.onerror?.call(worker as unknown as Worker, { message } as ErrorEvent),
  }
  queueMicrotask(() => worker.reply(first))
  return worker
}

async function setUp() {
  const workers: ScriptedWorker[] = []
  const { hasher } = await createWorkerHashers(() => {
    const worker = scriptedWorker()
    workers.push(worker)
    return worker
  })
  return { hasher, workers }
}

describe('a hashing worker that is lost', () => {
  it('fails the bodies it had, retryable, at this step and at every later one', async () => {
    const { hasher, workers } = await setUp()
    const body = hasher.start()
    const update = body.update(new Uint8Array(3))

    workers[0]!.die('out of memory')

    await expect(update).rejects.toMatchObject({ code: 'ERR_UPLOAD_INTERNAL', isRetryable: true })
    await expect(body.digest()).rejects.toMatchObject({ code: 'ERR_UPLOAD_INTERNAL', isRetryable: true })
    expect([workers.length, workers[0]!.isTerminated]).toEqual([1, true])
  })

  it('is replaced at the next body', async () => {
    const { hasher, workers } = await setUp()
    workers[0]!.die('')

    const digest = hasher.start().digest()
    workers[1]!.reply({ call: 1, digest: 'd41d8cd98f00b204e9800998ecf8427e' })

    expect(await digest).toBe('d41d8cd98f00b204e9800998ecf8427e')
    expect(workers).toHaveLength(2)
  })
})

describe('a hashing worker that cannot start', () => {
  it.each([
    [
      'throws',
      () => {
        throw new Error('no Worker here')
      },
      'no Worker here',
    ],
    ['finds no WASM', () => scriptedWorker({ call: 0, problem: 'CompileError: refused' }), 'CompileError: refused'],
  ] as const)('is said: it %s', async (_how, start, words) => {
    await expect(createWorkerHashers(start)).rejects.toMatchObject({
      code: 'ERR_UPLOAD_INTERNAL',
      message: expect.stringContaining(words) as string,
    })
  })
})

describe('what a page says to the worker', () => {
  it('is a copy of the window alone, not the memory it is part of', async () => {
    const { hasher, workers } = await setUp()
    const memory = new Uint8Array(1024).fill(1)

    void hasher.start().update(memory.subarray(10, 13))
    memory.fill(9)

    const { step } = workers[0]!.calls[0]!
    expect([...(step as Uint8Array)]).toEqual([1, 1, 1])
    expect((step as Uint8Array).buffer.byteLength).toBe(3)
  })

  it('ends with a drop when a Blob is not to be read on, and says none after a digest', async () => {
    const { hasher, workers } = await setUp()
    const controller = new AbortController()
    const stopped = hasher.digestBlob(new Blob(['abc']), controller.signal)
    controller.abort(new Error('paused'))
    expect(workers[0]!.calls.map((call) => typeof call.step)).toEqual(['object', 'string'])
    workers[0]!.reply({ call: 1 })
    await expect(stopped).rejects.toThrow('paused')

    const done = hasher.digestBlob(new Blob(['abc']), new AbortController().signal)
    workers[0]!.reply({ call: 3 })
    await Promise.resolve()
    await new Promise((resolve) => setImmediate(resolve))
    workers[0]!.reply({ call: 4, digest: '900150983cd24fb0d6963f7d28e17f72' })

    expect(await done).toBe('900150983cd24fb0d6963f7d28e17f72')
    expect(workers[0]!.calls.slice(1).map((call) => call.step)).toEqual(['drop', expect.any(Blob), 'digest'])
  })
})
