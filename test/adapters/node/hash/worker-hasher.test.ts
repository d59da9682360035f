import fc from 'fast-check'
import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { compileFunction } from 'node:vm'
import { Worker } from 'node:worker_threads'
import ts from 'typescript'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'

import { COPIES, copyAt, createHashMemory, type Place } from '../../../../src/adapters/node/hash/hash-memory.ts'
import { HASH_PROGRAM, hashWorkerData } from '../../../../src/adapters/node/hash/worker-hash-program.ts'
import {
  workerHasher,
  type WorkerHasher,
  type WorkerHasherOptions,
} from '../../../../src/adapters/node/hash/worker-hasher.ts'
import type { Hasher } from '../../../../src/core/ports.ts'
import { hasherContract } from '../../../../src/testing/hasher-contract.ts'

const KIB = 1024
const MIB = 1024 * KIB
/** MD5 of 64 KiB of zeros, of two such windows, and of `abc`. */
const ZEROS_64_KIB = 'fcd6bcb56c1689fcef28b57c22475bad'
const ZEROS_128_KIB = '0dfbe8aa4c20b52e1b8bf3cb6cbdf193'
const ABC = '900150983cd24fb0d6963f7d28e17f72'

hasherContract('workerHasher, every body on a thread', () => {
  const hasher = workerHasher({ smallBodyBytes: 0 })
  return { hasher, cleanUp: () => hasher.close() }
})
hasherContract('workerHasher, every body beside another', () => {
  const hasher = besideAnother(workerHasher({ smallBodyBytes: 0 }))
  return { hasher, cleanUp: () => hasher.close() }
})
hasherContract('workerHasher, as it comes', () => {
  const hasher = workerHasher()
  return { hasher, cleanUp: () => hasher.close() }
})

/** Every thread that was started, oldest first, as Node tells of them. */
const started: Worker[] = []
const remember = (worker: Worker): void => void started.push(worker)
const open: WorkerHasher[] = []

/** Shared memory that is no hasher's own. */
const sharedWindow = (bytes: number): Uint8Array => new Uint8Array(new SharedArrayBuffer(bytes))

function makeHasher(options: WorkerHasherOptions = {}): WorkerHasher {
  const hasher = workerHasher({ smallBodyBytes: 0, ...options })
  open.push(hasher)
  return hasher
}

beforeEach(() => {
  process.on('worker', remember)
})
afterEach(async () => {
  process.off('worker', remember)
  await Promise.all(open.splice(0).map((hasher) => hasher.close()))
  started.length = 0
})

describe('the digests of workerHasher', () => {
  it('do not depend on cuts, offsets, the kind of memory, or other bodies on the way', async () => {
    const hasher = besideAnother(makeHasher())
    const piece = fc.record({
      offset: fc.integer({ min: 0, max: 65 }),
      bytes: fc.uint8Array({ maxLength: 5_000 }),
      kind: fc.constantFrom('own' as const, 'shared' as const, 'plain' as const),
    })
    const bodies = fc.array(fc.array(piece, { maxLength: 6 }), { minLength: 1, maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(bodies, async (given) => {
        const digests = given.map(async (pieces) => {
          const hash = hasher.start()
          for (const { offset, bytes, kind } of pieces) {
            const length = bytes.length + 99
            const allocate = { own: hasher.allocate, shared: sharedWindow, plain: (of: number) => new Uint8Array(of) }
            const memory = allocate[kind](length)
            memory.fill(255).set(bytes, offset)
            await hash.update(memory.subarray(offset, offset + bytes.length))
          }
          return hash.digest()
        })

        expect(await Promise.all(digests)).toEqual(
          given.map((pieces) => md5(Buffer.concat(pieces.map(({ bytes }) => bytes)))),
        )
      }),
      { numRuns: 100 },
    )
  })

  it('are right for a thousand bodies at once, each through one window that is used again', async () => {
    const hasher = makeHasher()
    const digests = Array.from({ length: 1_000 }, async (_, index) => {
      const window = hasher.allocate(4 * KIB)
      const hash = hasher.start()
      for (let round = 0; round < 3; round += 1) {
        window.fill(index + round)
        await hash.update(window)
      }
      return hash.digest()
    })

    expect(await Promise.all(digests)).toEqual(
      Array.from({ length: 1_000 }, (_, index) =>
        md5(Buffer.concat([0, 1, 2].map((round) => Buffer.alloc(4 * KIB, index + round)))),
      ),
    )
    expect(started).toHaveLength(1)
  })

  it('are right for bodies that end around a block, or around what is taken at once, all on the way together', async () => {
    const hasher = makeHasher()
    const lengths = [1, 64 * KIB, 128 * KIB].flatMap((whole) =>
      [-9, -8, -1, 0, 1, 55, 56, 64].map((more) => whole + more),
    )
    const bodies = lengths.filter((length) => length >= 0).map((length) => randomBytes(length))
    const windows = bodies.map((body, index) => {
      const window = hasher.allocate(body.length)
      window.set(body)
      return index % 2 === 0 ? window : body
    })

    const digests = windows.map(async (body) => {
      const hash = hasher.start()
      for (let at = 0; at < body.length; at += 100_000) await hash.update(body.subarray(at, at + 100_000))
      return hash.digest()
    })

    expect(await Promise.all(digests)).toEqual(bodies.map(md5))
  })

  it('are right where the processor has no SIMD', async () => {
    const validate = vi.spyOn(WebAssembly, 'validate').mockReturnValue(false)
    const hasher = makeHasher()
    const bodies = Array.from({ length: 20 }, (_, index) => randomBytes(64 * KIB + 1000 * index))

    const digests = bodies.map(async (body) => {
      const hash = hasher.start()
      await hash.update(body)
      return hash.digest()
    })

    expect(await Promise.all(digests)).toEqual(bodies.map(md5))
    expect(validate).toHaveBeenCalledTimes(1)
  })

  it('count more than 2 ** 32 bits', async () => {
    const hasher = besideAnother(makeHasher())
    const window = hasher.allocate(16 * MIB).fill(7)
    const hash = hasher.start()
    const expected = createHash('md5')

    for (let at = 0; at < 33; at += 1) {
      await hash.update(window)
      expected.update(window)
    }

    expect(await hash.digest()).toBe(expected.digest('hex'))
  })

  it('take updates in the order in which they were given, awaited or not', async () => {
    const hash = besideAnother(makeHasher()).start()

    await Promise.all(['a', 'b', 'c'].map(async (text) => hash.update(Buffer.from(text))))

    expect(await hash.digest()).toBe(ABC)
  })
})

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

describe('a process with a workerHasher', () => {
  const run = promisify(execFile)
  let folder = ''

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'worker-hasher-'))
    const inCore = ['core/errors', 'core/redact']
    const names = [
      ...inCore,
      ...[
        'hash-memory',
        'hash-thread',
        'md5-hasher',
        'md5-kernel',
        'md5-steps',
        'md5-words',
        'short-bodies',
        'wasm-code',
        'worker-hash-program',
        'worker-hasher',
      ].map(inNode),
      'adapters/node/window-memory',
    ]
    await Promise.all(names.map((name) => translate(name, folder)))
    await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  })
  afterAll(() => rm(folder, { recursive: true }))

  /** Runs a program in a process of its own; rejects when that does not end well by itself before the test is given up. */
  async function output(flags: readonly string[], program: string, env: Record<string, string> = {}): Promise<string> {
    const path = join(folder, 'program.js')
    await writeFile(path, `import { workerHasher } from './adapters/node/hash/worker-hasher.js'\n${program}`)
    const { stdout } = await run(process.execPath, [...flags, path], {
      timeout: 150_000,
      env: { ...process.env, ...env },
    })
    return stdout
  }

  const HASH_TWO_WINDOWS = `
    const hasher = workerHasher()
    const hash = hasher.start()
    for (const window of [hasher.allocate(65536), new Uint8Array(65536)]) await hash.update(window)
    console.log(await hash.digest())`

  it('gives back the memory of hashers that nobody holds any more, without other garbage', async () => {
    const program = `
      for (let left = 100; left > 0; left -= 1) {
        workerHasher().allocate(8 * 1024 * 1024).fill(1)
        await new Promise(setImmediate)
      }
      console.log(process.resourceUsage().maxRSS)`

    expect(Number(await output([], program)) / 1024).toBeLessThan(400)
  })

  it('waits for a digest, and then ends by itself though the hasher was never closed', async () => {
    expect(await output([], HASH_TWO_WINDOWS)).toBe(`${ZEROS_128_KIB}\n`)
  })

  it('does without threads where they are forbidden', async () => {
    const permission = process.allowedNodeEnvironmentFlags.has('--permission')
      ? '--permission'
      : '--experimental-permission'
    const program = `
      const hash = workerHasher().start()
      console.log(hash.update(new Uint8Array(65536)), await hash.digest())`

    expect(await output([permission, '--allow-fs-read=*', '--no-warnings'], program)).toBe(
      `undefined ${ZEROS_64_KIB}\n`,
    )
  })

  it('does without threads where there is no WebAssembly', async () => {
    // Not every Node has a flag for it.
    const preload = join(folder, 'no-wasm.cjs')
    await writeFile(preload, 'delete globalThis.WebAssembly')
    const program = `
      process.on('worker', () => console.log('thread'))
      const hasher = workerHasher()
      const hash = hasher.start()
      console.log(typeof WebAssembly, hash.update(hasher.allocate(65536)), await hash.digest())`

    expect(await output(['-r', preload], program)).toBe(`undefined undefined ${ZEROS_64_KIB}\n`)
  })

  it('has threads under the flags of its host, and runs none of its preloads in them', async () => {
    const preload = join(folder, 'preload.cjs')
    // Written to the descriptor at once: what a thread says otherwise may come after the end of the process.
    const say = `require('node:fs').writeSync(1, 'preloaded')`
    await writeFile(preload, `if (!require('node:worker_threads').isMainThread) ${say}`)
    const flags = ['--disallow-code-generation-from-strings', '--frozen-intrinsics', '--no-warnings', '-r', preload]
    const program = `
      process.on('worker', (worker) => console.log('thread') ?? worker.on('error', console.log))
      ${HASH_TWO_WINDOWS}`

    const said = await output(flags, program, { NODE_OPTIONS: `--require=${preload}` })

    expect(said).toBe(`thread\n${ZEROS_128_KIB}\n`)
  })
})

/** A body that begins alone goes another way: one is begun, and stays, before each of the others begins. */
function besideAnother<T extends Hasher>(hasher: T): T {
  let other: Promise<void> | void
  return {
    ...hasher,
    start() {
      other ??= hasher.start().update(Buffer.from('x'))
      void other
      return hasher.start()
    },
  }
}

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

function md5(bytes: Uint8Array): string {
  return createHash('md5').update(bytes).digest('hex')
}

function inNode(name: string): string {
  return `adapters/node/hash/${name}`
}

/** One source file as JavaScript, so that a plain Node of any version can run it. */
async function translate(name: string, folder: string): Promise<void> {
  const source = await readFile(join(import.meta.dirname, '../../../../src', `${name}.ts`), 'utf8')
  const compilerOptions = {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.ESNext,
    verbatimModuleSyntax: true,
    rewriteRelativeImportExtensions: true,
  }
  const { outputText } = ts.transpileModule(source, { compilerOptions, fileName: `${name}.ts` })
  await mkdir(dirname(join(folder, name)), { recursive: true })
  await writeFile(join(folder, `${name}.js`), outputText)
}
