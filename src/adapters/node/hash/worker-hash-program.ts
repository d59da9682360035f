// What a hashing thread runs, as source text: hosts bundle, rename and move this package, and a program that travels
// inside the module has no path that could be wrong. It is evaluated by the Worker itself, never by `eval`.

import { KERNEL_WIDTHS, LANE_BYTES, LANES_AT, md5Kernel } from './md5-kernel.ts'

/** What is said to a hashing thread: a window of a body, that its digest is wanted, or that it never will be. */
export type HashMessage = readonly [hashId: number, step: Uint8Array | 'digest' | 'drop']

/** Its answer, one per message, for each body in their order: the digest where one was asked for, else nothing. */
export type HashAnswer = readonly [hashId: number, digest: string | null]

/** What a thread is started with. */
export interface HashWorkerData {
  readonly laneBytes: number
  readonly lanesAt: number
  /** By the bodies that it takes at once, the narrowest first. */
  readonly kernels: readonly (readonly [width: number, module: Uint8Array<ArrayBuffer>])[]
}

/** Written once, in some milliseconds. */
let written: HashWorkerData['kernels'] | undefined

/** Without the kernel for which the processor lacks SIMD. Throws where the process has no WebAssembly. */
export function hashWorkerData(): HashWorkerData {
  written ??= KERNEL_WIDTHS.map((width) => [width, md5Kernel(width)])
  const kernels = written.filter(([, module]) => WebAssembly.validate(module))
  return { laneBytes: LANE_BYTES, lanesAt: LANES_AT, kernels }
}

/**
 * Keeps one MD5 state per body, and takes as many bodies at once as have bytes to hash: four cost little more than one. While
 * some have none it waits a millisecond for them, but not when all are there, nor for the last blocks of a body. One that
 * begins alone goes through OpenSSL, whose single chain is quicker. `getBuiltinModule` is in both module systems, so that a
 * host's flag that makes evaluated text a module changes nothing.
 */
export const HASH_PROGRAM = `
const { parentPort, receiveMessageOnPort, workerData } = process.getBuiltinModule('node:worker_threads')
const { createHash } = process.getBuiltinModule('node:crypto')
const { laneBytes, lanesAt, kernels } = workerData
const BLOCK = 64
const WAIT_MS = 1
const widest = kernels.at(-1)[0]
const narrower = kernels.at(-2)[0]
const memory = new WebAssembly.Memory({ initial: Math.ceil((lanesAt + widest * laneBytes) / 65536) })
const instances = kernels.map(([width, module]) => {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module), { md5: { memory } })
  return { width, kernel: exports.take }
})
const bytes = new Uint8Array(memory.buffer)
/** WebAssembly's words are little-endian, whatever the processor is. */
const words = new DataView(memory.buffer)
const wordAt = (lane, r) => 64 * (lane >> 2) + 16 * r + 4 * (lane & 3)

/** All but the one that began alone. */
const bodies = new Map()
let alone
/** Those that have a whole block to hash. */
const ready = new Set()

const begin = (hashId) => {
  const state = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476]
  const body = { hashId, state, length: 0, rest: new Uint8Array(BLOCK), restLength: 0, steps: [], at: 0 }
  bodies.set(hashId, body)
  return body
}
/** Whether it was a step of the body that is, or now begins, alone. */
const acceptAlone = (hashId, step) => {
  if (alone === undefined && bodies.size === 0) alone = { hashId, hash: createHash('md5') }
  if (alone?.hashId !== hashId) return false
  const { hash } = alone
  if (typeof step === 'string') alone = undefined
  else hash.update(step)
  parentPort.postMessage([hashId, step === 'digest' ? hash.digest('hex') : null])
  return true
}
const accept = ([hashId, step]) => {
  if (acceptAlone(hashId, step)) return
  const body = bodies.get(hashId) ?? begin(hashId)
  body.steps.push(step)
  if (body.steps.length === 1) advance(body)
}
const answer = (body, digest) => {
  body.steps.shift()
  body.at = 0
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
    const left = step.length - body.at
    if (step === 'drop') end(body, null)
    else if (step === 'digest') {
      // It waits for no other: a block or two, and a part or a file is done.
      body.steps[0] = padding(body.length)
      take([body], body.restLength + body.steps[0].length)
      end(body, hex(body.state))
    } else if (body.restLength + left >= BLOCK) {
      ready.add(body)
      return
    } else {
      body.rest.set(step.subarray(body.at), body.restLength)
      body.restLength += left
      body.length += step.length
      answer(body, null)
    }
  }
}
/** A one, zeros up to the end of a block, and the length in bits. */
const padding = (length) => {
  const view = new DataView(new ArrayBuffer(((119 - (length % BLOCK)) % BLOCK) + 9))
  view.setUint8(0, 0x80)
  view.setUint32(view.byteLength - 8, length * 8, true)
  view.setUint32(view.byteLength - 4, length / 0x20000000, true)
  return new Uint8Array(view.buffer)
}
const hex = (state) => {
  const digest = Buffer.alloc(16)
  state.forEach((word, r) => digest.writeUInt32LE(word, 4 * r))
  return digest.toString('hex')
}
/** The same number of blocks of as many bodies as there are lanes. */
const round = () => {
  const lanes = []
  let length = laneBytes
  // Half of the lanes in the widest kernel take as long as all of them, and as long as two turns of the next.
  const most = ready.size > widest / 2 ? widest : narrower
  for (const body of ready) {
    lanes.push(body)
    const whole = body.restLength + body.steps[0].length - body.at
    length = Math.min(length, whole - (whole % BLOCK))
    if (lanes.length === most) break
  }
  take(lanes, length)
  for (const body of lanes) if (body.restLength + body.steps[0].length - body.at < BLOCK) advance(body)
}
/** So many bytes, whole blocks, of each of these bodies. */
const take = (lanes, length) => {
  lanes.forEach((body, lane) => {
    const { rest, restLength, steps, at, state } = body
    const to = lanesAt + lane * laneBytes
    if (restLength > 0) bytes.set(rest.subarray(0, restLength), to)
    body.at = at + length - restLength
    bytes.set(steps[0].subarray(at, body.at), to + restLength)
    body.restLength = 0
    for (let r = 0; r < 4; r += 1) words.setUint32(wordAt(lane, r), state[r], true)
  })
  instances.find(({ width }) => width >= lanes.length).kernel(length)
  lanes.forEach((body, lane) => {
    for (let r = 0; r < 4; r += 1) body.state[r] = words.getUint32(wordAt(lane, r), true)
  })
}
const drain = () => {
  for (let next = receiveMessageOnPort(parentPort); next !== undefined; next = receiveMessageOnPort(parentPort)) {
    accept(next.message)
  }
}
let timer
const work = () => {
  clearTimeout(timer)
  timer = undefined
  for (drain(); ready.size > 0; drain()) round()
}
parentPort.on('message', (message) => {
  accept(message)
  drain()
  if (ready.size >= Math.min(widest, bodies.size)) work()
  else if (ready.size > 0) timer ??= setTimeout(work, WAIT_MS)
})
`
