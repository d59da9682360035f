// Keeps V8's optimising compiler away from undici's parser of answers. The parser is WebAssembly, most of it one
// function of 34 kB. After some answers V8 would spend 0.1 s of processor time and 10 to 35 MiB on it, to parse an
// answer in 0.2 µs instead of 0.5: three hundred thousand answers would have to come before that pays. V8 decides when
// it compiles a module whether to optimise it later, if it compiles all of it at once. So these flags are changed for
// that moment only, and only if V8 is known to have them on, so that they can be restored.
//
// Flags belong to the process: WebAssembly that another thread of the host compiles in that moment, some 2 ms, is not
// optimised either. It still works. A host that minds starts Node with one of these flags, and then all are left alone.

import { setFlagsFromString } from 'node:v8'
import { ownV8, type ProcessFacts } from '../own-v8.ts'

const FLAGS = ['wasm-dynamic-tiering', 'wasm-tier-up', 'wasm-lazy-compilation'] as const
/** The V8 of Node 20, 22, 24 and 26. */
const KNOWN: ReadonlySet<string | undefined> = new Set(['11.3', '12.4', '13.6', '14.6'])

let isCompiled = false

/** Runs `connect` at once. undici compiles its parser in it, if it has not yet. Throws what `connect` throws. */
export function withBaselineParser(connect: () => void): void {
  const flags = isCompiled || !hasUsualFlags(process) ? [] : FLAGS
  isCompiled = true
  for (const flag of flags) setFlagsFromString(`--no-${flag}`)
  try {
    connect()
  } finally {
    for (const flag of flags) setFlagsFromString(`--${flag}`)
  }
}

/** Whether this V8 has the flags, and nobody has chosen them. */
export function hasUsualFlags(facts: ProcessFacts): boolean {
  return [...FLAGS, 'liftoff'].every((flag) => KNOWN.has(ownV8(flag, facts)))
}
