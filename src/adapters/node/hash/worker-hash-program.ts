// What a hashing thread runs, as source text: hosts bundle, rename and move this package, and a program that travels
// inside the module has no path that could be wrong. It is evaluated by the Worker itself, never by `eval`.

/** What is said to a hashing thread: a window of a body, that its digest is wanted, or that it never will be. */
export type HashMessage = readonly [hashId: number, step: Uint8Array | 'digest' | 'drop']

/** Its answer, one per message and in their order: the digest where one was asked for, else nothing. */
export type HashAnswer = string | null

/**
 * Keeps one MD5 state per body. `getBuiltinModule` is there in both module systems, so that a host's flag that makes
 * evaluated text a module changes nothing.
 */
export const HASH_PROGRAM = `
const { parentPort } = process.getBuiltinModule('node:worker_threads')
const { createHash } = process.getBuiltinModule('node:crypto')
const hashes = new Map()
parentPort.on('message', ([hashId, step]) => {
  let answer = null
  if (typeof step === 'string') {
    if (step === 'digest') answer = hashes.get(hashId).digest('hex')
    hashes.delete(hashId)
  } else {
    let hash = hashes.get(hashId)
    if (hash === undefined) hashes.set(hashId, (hash = createHash('md5')))
    hash.update(step)
  }
  parentPort.postMessage(answer)
})
`
