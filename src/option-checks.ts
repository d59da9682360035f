// What a program in plain JavaScript may pass to createUplink, checked before anything is made of it: a transport that cannot say
// how an attempt ended would be found out in the first outage, and the text 'false' would switch on what it denies. The entry
// point for browsers checks less, because a page has to load every check.

import { checkFields, optional, type Check } from './client/check-fields.ts'
import { checkBoolean, checkFunction, checkInteger, checkIs } from './client/checks.ts'
import { isWireObject } from './client/contract/fields.ts'
import { invalid } from './core/errors.ts'
import type { OwnPorts, UplinkOptions, UplinkPorts } from './uplink-options.ts'

/** Throws ERR_UPLOAD_INVALID_ARGUMENT for an option of the wrong kind. Those that are not here are checked where they are used. */
export function checkOptions(options: UplinkOptions): void {
  checkIs(options, 'options', isWireObject, ': give an object with baseUrl and credentials.')
  const { retries, partSizeBytes, memoryBytes, timeouts, isBackground, isFirstContactAwaited } = options
  checkFields(
    { retries, partSizeBytes, memoryBytes, timeouts, isBackground, isFirstContactAwaited },
    {
      retries: optional((value, label) => checkInteger(value, label, 1)),
      partSizeBytes: optional((value, label) => (typeof value === 'function' ? value : checkInteger(value, label, 1))),
      memoryBytes: optional(checkInteger),
      timeouts: optional(checkTimeouts),
      isBackground: optional(checkBoolean),
      isFirstContactAwaited: optional(checkBoolean),
    },
  )
}

/** Throws ERR_UPLOAD_INVALID_ARGUMENT for a port that lacks one of its methods. A port that is null counts as absent. */
export function checkPorts(ports: OwnPorts): void {
  for (const [name, methods] of Object.entries(METHODS)) {
    const port: unknown = ports[name as keyof UplinkPorts]
    if (port === undefined || port === null) continue
    // Methods may be inherited, so they are not looked for among a port's own fields.
    const missing = methods.filter((method) => typeof (port as Record<string, unknown>)[method] !== 'function')
    if (missing.length > 0) invalid(`${name} has no method ${missing.join(', ')}: give it.`, { field: name })
  }
  for (const name of FUNCTIONS) {
    const port: unknown = ports[name]
    if (port !== undefined && port !== null) checkFunction(port, name)
  }
}

const SENDS = ['send', 'endingOf', 'close'] as const
const HASHES = ['start'] as const

const METHODS = {
  transport: SENDS,
  storageTransport: SENDS,
  journal: ['open', 'read', 'list', 'remove'],
  clock: ['wallNow', 'monotonicNow', 'setTimeout', 'clearTimeout'],
  hasher: HASHES,
  contentHasher: HASHES,
} satisfies { readonly [Name in keyof UplinkPorts]?: readonly string[] }

const FUNCTIONS = ['random', 'sourceAt', 'allocate', 'wholeBodies', 'tuning', 'explain', 'isPublicHost'] as const

const checkTimeouts: Check = (value, label) => {
  const timeouts = checkIs(value, label, isWireObject, ': give { connectMs, stallMs, answerMs }.')
  for (const [name, ms] of Object.entries(timeouts)) {
    if (!['connectMs', 'stallMs', 'answerMs'].includes(name)) {
      invalid(`timeouts has no ${name}: give connectMs, stallMs or answerMs.`, { field: `${label}.${name}` })
    }
    if (ms !== undefined) checkInteger(ms, `${label}.${name}`)
  }
  return timeouts
}
