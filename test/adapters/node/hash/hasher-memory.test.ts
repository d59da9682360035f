// The memory that a hasher shares with its thread.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { compileFunction } from 'node:vm'
import { Worker } from 'node:worker_threads'
import { describe, expect, it, vi } from 'vitest'
import { COPIES, copyAt, createHashMemory, type Place } from '../../../../src/adapters/node/hash/hash-memory.ts'
import { HASH_PROGRAM, hashWorkerData } from '../../../../src/adapters/node/hash/worker-hash-program.ts'
import {
  KIB,
  MIB,
  ZEROS_128_KIB,
  ABC,
  started,
  sharedWindow,
  makeHasher,
  md5,
  watchThreads,
} from './worker-hasher-rig.ts'

watchThreads()

describe('the memory of workerHasher', () => {
  it('leaves a plain window to its owner', async () => {
    const window = new Uint8Array(64 * KIB)
    const hash = makeHasher().start()

    await hash.update(window)
    await hash.update(window)

    expect(window.byteLength).toBe(64 * KIB)
    expect(await hash.digest()).toBe(ZEROS_128_KIB)
  })

  it('copies windows from elsewhere into memory that is used again, and has its own read where they are', async () => {
    const hasher = makeHasher()
    const hash = hasher.start()
    await hash.update(Buffer.from('a'))
    const posts = vi.spyOn(started[0]!, 'postMessage')
    const own = hasher.allocate(50)

    for (const window of [new Uint8Array(100), sharedWindow(90), new Uint8Array(100), own]) await hash.update(window)

    const lastCopy = copyAt(COPIES - 1)
    expect(posts.mock.calls.map(([message]) => (message as [number, Place])[1])).toEqual([
      ...[100, 90, 100].map((bytes) => [lastCopy, bytes]),
      [own.byteOffset, 50],
    ])
    expect(await hash.digest()).toBe(md5(Buffer.concat([Buffer.from('a'), new Uint8Array(340)])))
  })

  it('hands out windows of zeros, and plain ones when 49 MiB are used up', async () => {
    const hasher = makeHasher()
    const windows = Array.from({ length: 51 }, () => hasher.allocate(MIB))

    expect(windows[0]?.every((byte) => byte === 0)).toBe(true)
    expect(windows.map(({ buffer }) => buffer instanceof SharedArrayBuffer).lastIndexOf(true)).toBe(48)
    const digests = windows.map(async (window, index) => {
      const hash = hasher.start()
      await hash.update(window.fill(index))
      return hash.digest()
    })
    expect(await Promise.all(digests)).toEqual(windows.map((_, index) => md5(Buffer.alloc(MIB, index))))
  })

  it('copies at most 8 MiB ahead, in pieces', async () => {
    const hasher = makeHasher()
    const body = hasher.start()
    await body.update(Buffer.from('a'))
    const posts = vi.spyOn(started[0]!, 'postMessage')
    const large = randomBytes(9 * MIB + 1)
    const small = new Uint8Array(MIB)

    const bodies = Array.from({ length: 20 }, () => hasher.start())
    const updates = bodies.map(async (hash) => hash.update(small))
    const postedAtOnce = posts.mock.calls.length
    await Promise.all([...updates, body.update(large)])

    expect(postedAtOnce).toBe(32)
    expect(posts).toHaveBeenCalledTimes(20 * 4 + 37)
    expect(await body.digest()).toBe(md5(Buffer.concat([Buffer.from('a'), large])))
    for (const hash of bodies) expect(await hash.digest()).toBe('b6d81b360a5672d80c27430f39153e2c')
  })

  it('frees what a thread holds of a body that is let go', async () => {
    const hash = makeHasher().start()
    await hash.update(sharedWindow(64 * KIB))
    const posts = vi.spyOn(started[0]!, 'postMessage')

    hash.dispose?.()
    hash.dispose?.()

    expect(posts.mock.calls.map(([message]) => message as unknown)).toEqual([[1, 'drop']])
  })

  it('has a program that gives a digest at once, also while others have nothing to hash', async () => {
    const { memory, put } = programMemory()
    const endless = 'const { wait } = Atomics; Atomics.wait = (...[cell, at, value]) => wait(cell, at, value)'
    const worker = new Worker(`${endless}\n${HASH_PROGRAM}`, {
      eval: true,
      workerData: hashWorkerData(memory),
    })
    const answers: unknown[] = []
    worker.on('message', (answer) => answers.push(answer))
    for (const hashId of [1, 2, 3]) worker.postMessage([hashId, put('abc')])
    worker.postMessage([2, 'digest'])
    worker.postMessage([1, 'digest'])
    worker.postMessage([3, 'drop'])

    while (answers.length < 6) await once(worker, 'message')
    await worker.terminate()

    expect(answers).toEqual([
      [1, null],
      [2, null],
      [3, null],
      [2, ABC],
      [1, ABC],
      [3, null],
    ])
  })

  it('has a program that waits for bodies which have nothing to hash before it takes the others, and for no pass that is full', async () => {
    const { memory, put } = programMemory()
    // It begins when all three texts are there: with two it would wait for more before it takes the second.
    const gate = new Int32Array(new SharedArrayBuffer(4))
    const threads = "process.getBuiltinModule('node:worker_threads')"
    const held = `Atomics.wait(${threads}.workerData.gate, 0, 0)`
    const told = `Atomics.wait = () => ${threads}.parentPort.postMessage('waited')`
    const worker = new Worker(`${held}\n${told}\n${HASH_PROGRAM}`, {
      ...{ eval: true, workerData: { ...hashWorkerData(memory), gate } },
    })
    const answers: unknown[] = []
    worker.on('message', (answer) => answers.push(answer))
    const block = 'x'.repeat(64)
    // The first one, which begins alone, is no matter of passes.
    const texts = ['abc', block, block]
    texts.forEach((text, index) => worker.postMessage([index + 1, put(text)]))
    Atomics.store(gate, 0, 1)
    Atomics.notify(gate, 0)
    while (answers.length < 3) await once(worker, 'message')
    worker.postMessage([3, put(block)])
    while (answers.length < 5) await once(worker, 'message')
    await worker.terminate()

    expect(answers).toEqual([[1, null], [2, null], [3, null], 'waited', [3, null]])
  })

  it.each([
    ['alone', []],
    ['beside another', ['x']],
  ])('has a program that forgets a body %s when told to, and when its digest was taken', async (_, others) => {
    const { memory, put } = programMemory()
    const worker = new Worker(HASH_PROGRAM, { eval: true, workerData: hashWorkerData(memory) })
    const ask = async (step: unknown): Promise<unknown> => {
      const answer = once(worker, 'message')
      worker.postMessage([7, step])
      return ((await answer) as [[number, unknown]])[0][1]
    }
    for (const other of others) {
      const answer = once(worker, 'message')
      worker.postMessage([1, put(other)])
      await answer
    }

    const answers = []
    for (const step of [put('zzz'), 'drop', put('abc'), 'digest', put('abc'), 'digest']) {
      answers.push(await ask(step))
    }
    await worker.terminate()

    expect(answers).toEqual([null, null, null, ABC, null, ABC])
  })
  it('has a program that takes each message as it comes where the port cannot be asked for more, as in Deno', async () => {
    const { memory, put } = programMemory()
    const threads = "process.getBuiltinModule('node:worker_threads')"
    const refused = `${threads}.receiveMessageOnPort = () => { throw new TypeError('no MessagePort') }`
    const worker = new Worker(`${refused}\n${HASH_PROGRAM}`, { eval: true, workerData: hashWorkerData(memory) })
    const answers: unknown[] = []
    worker.on('message', (answer) => answers.push(answer))
    const block = 'x'.repeat(64)
    for (const hashId of [1, 2])
      for (const step of [put(block), put(block), 'digest']) worker.postMessage([hashId, step])
    while (answers.length < 6) await once(worker, 'message')
    await worker.terminate()

    const digest = md5(Buffer.from(block + block))
    for (const hashId of [1, 2]) {
      const own = (answers as [number, string | null][]).filter(([id]) => id === hashId)
      expect(own.map(([, given]) => given)).toEqual([null, null, digest])
    }
  })

  it('has a program that declares nothing that CommonJS gives by name, since Deno evaluates it in a function', () => {
    const given = ['exports', 'require', 'module', '__filename', '__dirname']

    expect(compileFunction(HASH_PROGRAM, given)).toBeTypeOf('function')
  })
})

/** Memory for the program alone, and a way to put text into it. */
function programMemory(): { memory: WebAssembly.Memory; put(text: string): Place } {
  const { memory, allocate, placeOf } = createHashMemory()
  return {
    memory,
    put(text) {
      const bytes = allocate(text.length)!
      bytes.set(Buffer.from(text))
      return placeOf(bytes)!
    },
  }
}
