// When a thread is started, and what its death leaves.

import type { Worker } from 'node:worker_threads'
import { describe, expect, it, vi } from 'vitest'
import { workerHasher } from '../../../../src/adapters/node/hash/worker-hasher.ts'
import {
  KIB,
  MIB,
  ZEROS_64_KIB,
  ABC,
  started,
  open,
  sharedWindow,
  makeHasher,
  md5,
  watchThreads,
} from './worker-hasher-rig.ts'

watchThreads()

describe('the thread of workerHasher', () => {
  it('is not started for the first 4 MiB of bodies whose lengths are told, and then for all that are not small', async () => {
    const hasher = makeHasher({ smallBodyBytes: 64 * KIB })
    const hashAll = async (bodyBytes: number, ...told: [number?]): Promise<string> => {
      const hash = hasher.start(...told)
      for (let at = 0; at < bodyBytes; at += 64 * KIB) await hash.update(sharedWindow(64 * KIB))
      return hash.digest()
    }
    const expected = (bodyBytes: number): string => md5(Buffer.alloc(bodyBytes))

    expect(await hashAll(3 * MIB, 3 * MIB)).toBe(expected(3 * MIB))
    expect(await hashAll(MIB, MIB)).toBe(expected(MIB))
    expect(started).toHaveLength(0)
    expect(await hashAll(64 * KIB, 64 * KIB)).toBe(ZEROS_64_KIB)
    expect(started).toHaveLength(1)
  })

  it.each([
    ['not told', []],
    ['more than 4 MiB', [4 * MIB + 1]],
  ] as [string, [number?]][])('is started for a first body whose length is %s', async (_, told) => {
    const hash = makeHasher().start(...told)

    await hash.update(sharedWindow(64 * KIB))

    expect(started).toHaveLength(1)
  })

  it('is not started for small bodies, which are hashed at once', () => {
    const hasher = makeHasher({ smallBodyBytes: 64 * KIB })
    const hash = hasher.start()

    const returned = [hash.update(new Uint8Array()), hash.update(Buffer.from('ab')), hash.update(Buffer.from('c'))]

    expect(returned).toEqual([undefined, undefined, undefined])
    expect(hash.digest()).toBe(ABC)
    expect(started).toEqual([])
  })

  it('takes a body whose first piece with bytes is as large as the limit, which is 64 KiB when none is given', async () => {
    const hasher = workerHasher()
    open.push(hasher)
    const below = hasher.start()
    const large = hasher.start()

    const updatedBelow = below.update(sharedWindow(64 * KIB - 1))
    void large.update(new Uint8Array())
    const updated = large.update(sharedWindow(64 * KIB))
    await updated

    expect(updatedBelow).toBeUndefined()
    expect(updated).toBeInstanceOf(Promise)
    expect(await large.digest()).toBe(ZEROS_64_KIB)
    expect(started).toHaveLength(1)
  })

  it('is one, which is kept, however many bodies there are', async () => {
    const hasher = makeHasher()
    for (const atOnce of [1, 17, 40]) {
      const hashes = Array.from({ length: atOnce }, () => hasher.start())
      await Promise.all(hashes.map(async (hash) => hash.update(sharedWindow(64 * KIB))))
      for (const hash of hashes) expect(await hash.digest()).toBe(ZEROS_64_KIB)
    }

    expect(started).toHaveLength(1)
  })

  it('ends at close, which may be called again; later bodies are hashed by the calling thread', async () => {
    const hasher = makeHasher()
    const under = hasher.start()
    await under.update(sharedWindow(64 * KIB))

    await Promise.all([hasher.close(), hasher.close()])

    expect(started.map((worker) => worker.threadId)).toEqual([-1])
    await expect(under.digest()).rejects.toMatchObject({
      code: 'ERR_UPLOAD_INTERNAL',
      message: 'The hasher was closed while it hashed a body.',
    })
    const later = hasher.start()
    expect(later.update(Buffer.from('abc'))).toBeUndefined()
    expect(later.digest()).toBe(ABC)
    expect(started).toHaveLength(1)
  })

  it.each([-1, Number.NaN])('cannot be spared for bodies below %s bytes', (smallBodyBytes) => {
    expect(() => workerHasher({ smallBodyBytes })).toThrow(
      expect.objectContaining({ code: 'ERR_UPLOAD_INVALID_ARGUMENT' }) as Error,
    )
  })
})

describe('the death of a thread', () => {
  const lost = {
    code: 'ERR_UPLOAD_INTERNAL',
    isRetryable: true,
    message: expect.stringContaining('Send the part') as string,
  }

  it('rejects what it knew of a body, and the next body gets a new thread', async () => {
    const hasher = makeHasher()
    const [waiting, resting] = [hasher.start(), hasher.start()]
    for (const hash of [waiting, resting]) await hash.update(sharedWindow(64 * KIB))

    const dying = started[0]!.terminate()
    const update = waiting.update(sharedWindow(MIB))
    await expect(update).rejects.toMatchObject(lost)
    await dying

    await expect(waiting.update(Buffer.from('x'))).rejects.toMatchObject(lost)
    await expect(resting.digest()).rejects.toMatchObject(lost)
    const next = hasher.start()
    await next.update(sharedWindow(64 * KIB))
    expect(await next.digest()).toBe(ZEROS_64_KIB)
    expect(started).toHaveLength(2)
    waiting.dispose?.()
  })

  it('by a failure of its own is the cause of the rejection', async () => {
    const hash = makeHasher().start()
    await hash.update(sharedWindow(64 * KIB))
    // A message that no body sends, so that the thread fails by itself.
    started[0]!.postMessage(null)

    await expect(hash.digest()).rejects.toMatchObject({ ...lost, cause: expect.any(TypeError) as Error })
  })

  it('writes no copies between its failure and its end: their places are those of the next thread', async () => {
    const hasher = makeHasher()
    const hash = hasher.start()
    await hash.update(Buffer.from('a'))
    const [dying] = started as [Worker]
    const posts = vi.spyOn(dying, 'postMessage')
    dying.emit('error', new Error('The test says so.'))

    const update = hash.update(Buffer.from('b'))
    const next = hasher.start()
    await next.update(Buffer.from('abc'))

    expect(posts).not.toHaveBeenCalled()
    expect(started).toHaveLength(2)
    expect(await next.digest()).toBe(ABC)
    void dying.terminate()
    await expect(update).rejects.toMatchObject(lost)
  })

  it('loses nothing of bodies of which it had taken no window: the calling thread hashes them', async () => {
    const dieAtBirth = (worker: Worker): void => void worker.terminate()
    process.on('worker', dieAtBirth)
    const hasher = makeHasher()
    const hash = hasher.start()

    const updates = ['a', 'b', 'c'].map(async (text) => hash.update(Buffer.from(text)))
    const digest = hash.digest()
    await Promise.all(updates)

    expect(await digest).toBe(ABC)
    process.off('worker', dieAtBirth)
  })

  it('for the third time leaves the work to the calling thread', async () => {
    const hasher = makeHasher()
    for (let death = 0; death < 3; death += 1) {
      const hash = hasher.start()
      await hash.update(sharedWindow(64 * KIB))
      await started.at(-1)!.terminate()
      hash.dispose?.()
    }

    const hash = hasher.start()

    expect(hash.update(Buffer.from('abc'))).toBeUndefined()
    expect(hash.digest()).toBe(ABC)
    expect(started).toHaveLength(3)
  })
})
