// What the hashing worker of a page runs: MD5 and SHA-256 of bodies that arrive in windows, or as Blobs, which it reads
// a mebibyte at a time. It is built as a file of its own with the WASM library inside, so it also runs without a
// bundler.

import { createMD5, createSHA256, type IHasher } from 'hash-wasm'
import type { HashCall, HashReply } from './adapters/browser/hash-messages.ts'

interface BodyUnderWay {
  /** Absent before the first byte. */
  state: Uint8Array | undefined
  /** The steps of one body run one after the other. */
  lastStep: Promise<unknown>
  isDropped: boolean
}

const SLICE_BYTES = 1024 * 1024

const page = globalThis as unknown as {
  onmessage: ((event: { readonly data: HashCall }) => void) | null
  postMessage(reply: HashReply): void
}
const underWay = new Map<number, BodyUnderWay>()

/** One of each serves all bodies in turn, because browsers give a page only some hundred WASM memories. */
const hashers: Promise<Readonly<Record<HashCall['algorithm'], IHasher>>> = Promise.all([
  createMD5(),
  createSHA256(),
]).then(([md5, sha256]) => ({ md5, sha256 }))

function begin(id: number): BodyUnderWay {
  const begun = { state: undefined, lastStep: Promise.resolve(), isDropped: false }
  underWay.set(id, begun)
  return begun
}

function turnTo(hasher: IHasher, { state }: BodyUnderWay): IHasher {
  return state === undefined ? hasher.init() : hasher.load(state)
}

/** Nothing else uses the hasher between turning to a body and the end of that step. */
async function take(body: BodyUnderWay, { body: id, algorithm, step }: HashCall): Promise<string | undefined> {
  const hasher = (await hashers)[algorithm]
  const update = (bytes: Uint8Array): void => {
    body.state = turnTo(hasher, body).update(bytes).save()
  }
  if (step === 'drop' || step === 'digest') {
    underWay.delete(id)
    return step === 'digest' ? turnTo(hasher, body).digest('hex') : undefined
  }
  if (step instanceof Uint8Array) update(step)
  else {
    for (let at = 0; at < step.size && !body.isDropped; at += SLICE_BYTES) {
      update(new Uint8Array(await step.slice(at, at + SLICE_BYTES).arrayBuffer()))
    }
  }
  return undefined
}

function answer(call: number, work: Promise<string | undefined>): Promise<void> {
  return work.then(
    (digest) => page.postMessage({ call, ...(digest === undefined ? {} : { digest }) }),
    (error: unknown) => page.postMessage({ call, problem: String(error) }),
  )
}

page.onmessage = ({ data }) => {
  const body = underWay.get(data.body) ?? begin(data.body)
  if (data.step === 'drop') body.isDropped = true
  const work = body.lastStep.then(() => take(body, data))
  body.lastStep = answer(data.call, work)
}

void answer(
  0,
  hashers.then(() => undefined),
)
