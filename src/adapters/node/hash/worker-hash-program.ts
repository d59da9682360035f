// What a hashing thread runs, as source text. Hosts bundle, rename and move this package, and a program inside the
// module has no path that could be wrong. The Worker itself evaluates it; `eval` is never used.

import type { Place } from './hash-memory.ts'
import { KERNEL_LANES, KERNEL_LAYOUT, md5Kernel } from './md5-kernel.ts'

/**
 * A message to a hashing thread: where bytes of a body are, that its digest is wanted, or that it will never be
 * finished.
 */
export type HashMessage = readonly [hashId: number, step: Place | 'digest' | 'drop']

/** The answer to each message, in the order of each body's messages: the digest if one was asked for, else null. */
export type HashAnswer = readonly [hashId: number, digest: string | null]

/** What a thread is started with. */
export interface HashWorkerData {
  /** Shared with the thread that sends. */
  readonly memory: WebAssembly.Memory
  readonly layout: typeof KERNEL_LAYOUT
  readonly lanes: number
  /** Undefined if the processor has no SIMD. */
  readonly wasm: Uint8Array<ArrayBuffer> | undefined
}

/** Written once, which takes some milliseconds. */
let written: Uint8Array<ArrayBuffer> | undefined

export function hashWorkerData(memory: WebAssembly.Memory): HashWorkerData {
  written ??= md5Kernel()
  const wasm = WebAssembly.validate(written) ? written : undefined
  return { memory, layout: KERNEL_LAYOUT, lanes: KERNEL_LANES, wasm }
}

/**
 * Keeps one MD5 state per body, and takes as many bodies at once as have bytes to hash: a pass takes as long for eight
 * as for one. So before each pass that is not full it waits a moment for bodies that have no bytes yet, but never for
 * the last blocks of a body. A body that begins alone goes through OpenSSL, whose single chain is quicker. Without a
 * kernel all bodies do. `getBuiltinModule` exists in both module systems, so a flag of the host that makes evaluated
 * text a module changes nothing. Nor may it declare what CommonJS gives by name (`module`), because Deno wraps the
 * text so.
 */
export const HASH_PROGRAM = `
const { parentPort, receiveMessageOnPort, workerData } = process.getBuiltinModule('node:worker_threads')
const { createHash } = process.getBuiltinModule('node:crypto')
const { memory, layout, lanes: laneCount, wasm } = workerData
const { statesAt, lanesAt, tailAt } = layout
const BLOCK = 64
/** Bytes of each body that are taken at once at most: one that comes meanwhile waits so long. */
const ROUND_BYTES = 65536
/** A pass over all of them takes as long. */
const WAIT_MS = 0.25
/** Nobody ever wakes who waits for it. */
const nothing = new Int32Array(new SharedArrayBuffer(4))
const kernel = wasm && new WebAssembly.Instance(new WebAssembly.Module(wasm), { md5: { memory } }).exports.take
const bytes = new Uint8Array(memory.buffer)
/** WebAssembly's words are little-endian, whatever the processor is. */
const words = new DataView(memory.buffer)
const wordAt = (lane, r) => statesAt + 64 * (lane >> 2) + 16 * r + 4 * (lane & 3)

/** Those that go through OpenSSL. */
const singles = new Map()
/** All others. */
const bodies = new Map()
/** Those that have a whole block to hash. */
const ready = new Set()

const begin = (hashId) => {
  const state = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476]
  const body = { hashId, state, length: 0, rest: new Uint8Array(2 * BLOCK), restLength: 0, steps: [] }
  bodies.set(hashId, body)
  return body
}
/** Whether it was a step of a body that goes, or now begins to go, through OpenSSL. */
const acceptSingle = (hashId, step) => {
  if (bodies.size === 0 && (singles.size === 0 || !kernel) && !singles.has(hashId)) singles.set(hashId, createHash('md5'))
  const hash = singles.get(hashId)
  if (hash === undefined) return false
  if (typeof step === 'string') singles.delete(hashId)
  else hash.update(bytes.subarray(step[0], step[0] + step[1]))
  parentPort.postMessage([hashId, step === 'digest' ? hash.digest('hex') : null])
  return true
}
const accept = ([hashId, step]) => {
  if (acceptSingle(hashId, step)) return
  const body = bodies.get(hashId) ?? begin(hashId)
  body.steps.push(step)
  if (typeof step !== 'string') body.length += step[1]
  if (body.steps.length === 1) advance(body)
}
const answer = (body, digest) => {
  body.steps.shift()
  parentPort.postMessage([body.hashId, digest])
}
const end = (body, digest) => {
  bodies.delete(body.hashId)
  answer(body, digest)
}
/** Does the steps of a body up to one that has a whole block, and answers them. */
const advance = (body) => {
  ready.delete(body)
  for (let step = body.steps[0]; step !== undefined; step = body.steps[0]) {
    if (step === 'drop') end(body, null)
    else if (step === 'digest') {
      // It waits for no other: a block or two, and a part or a file is done.
      takeRest(body, pad(body))
      end(body, hex(body.state))
    } else {
      if (body.restLength > 0) gather(body, step)
      if (body.restLength === BLOCK) takeRest(body, BLOCK)
      if (step[1] >= BLOCK) {
        ready.add(body)
        return
      }
      gather(body, step)
      answer(body, null)
    }
  }
}
const skip = (step, count) => {
  step[0] += count
  step[1] -= count
}
/** Bytes of a step to those that are no whole block yet. */
const gather = (body, step) => {
  const count = Math.min(step[1], BLOCK - body.restLength)
  body.rest.set(bytes.subarray(step[0], step[0] + count), body.restLength)
  body.restLength += count
  skip(step, count)
}
/** A one, zeros up to the end of a block, and the length in bits. Returns where that is. */
const pad = ({ rest, restLength, length }) => {
  const end = restLength < BLOCK - 8 ? BLOCK : 2 * BLOCK
  const view = new DataView(rest.buffer)
  rest.fill(0, restLength)
  rest[restLength] = 0x80
  view.setUint32(end - 8, length * 8, true)
  view.setUint32(end - 4, length / 0x20000000, true)
  return end
}
/** The block, or two, that a body has put together. */
const takeRest = (body, length) => {
  bytes.set(body.rest.subarray(0, length), tailAt)
  body.restLength = 0
  take([{ state: body.state, at: tailAt }], length)
}
const hex = (state) => {
  const digest = Buffer.alloc(16)
  state.forEach((word, r) => digest.writeUInt32LE(word, 4 * r))
  return digest.toString('hex')
}
/** The same number of blocks of as many bodies as there are lanes. */
const round = () => {
  const bodies = [...ready].slice(0, laneCount)
  const most = Math.min(ROUND_BYTES, ...bodies.map(({ steps }) => steps[0][1]))
  const length = most - (most % BLOCK)
  take(bodies.map(({ state, steps }) => ({ state, at: steps[0][0] })), length)
  for (const body of bodies) {
    skip(body.steps[0], length)
    if (body.steps[0][1] < BLOCK) advance(body)
  }
}
/** So many bytes, whole blocks, from these places into these states. */
const take = (lanes, length) => {
  for (let lane = 0; lane < laneCount; lane += 1) words.setUint32(lanesAt + 4 * lane, (lanes[lane] ?? lanes[0]).at, true)
  lanes.forEach(({ state }, lane) => {
    for (let r = 0; r < 4; r += 1) words.setUint32(wordAt(lane, r), state[r], true)
  })
  kernel(length)
  lanes.forEach(({ state }, lane) => {
    for (let r = 0; r < 4; r += 1) state[r] = words.getUint32(wordAt(lane, r), true)
  })
}
/** Undefined if there is none yet, and in Deno, whose parentPort is no MessagePort: there each comes as an event. */
const nextMessage = () => {
  try {
    return receiveMessageOnPort(parentPort)
  } catch {
    return undefined
  }
}
const drain = () => {
  for (let next = nextMessage(); next !== undefined; next = nextMessage()) accept(next.message)
}
const isFull = () => ready.size >= Math.min(laneCount, bodies.size)
parentPort.on('message', (message) => {
  accept(message)
  for (drain(); ready.size > 0; drain()) {
    if (!isFull()) {
      Atomics.wait(nothing, 0, 0, WAIT_MS)
      drain()
    }
    round()
  }
})
`
