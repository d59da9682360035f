// Keeps V8's optimising compiler from undici's parser of answers. The parser is WebAssembly, and most of it one function of 34 kB:
// after some answers V8 would take 0.1 s of processor time and 10 to 35 MiB for it, so that an answer is read in 0.2 µs instead of
// 0.5. Three hundred thousand answers would have to come before that has paid. Whether a module is optimised later is noted
// when it is compiled, if all of it is compiled at once; so these flags are changed for that moment alone, and only where V8
// is known to have them on, to put them back.
//
// Flags belong to the process: WebAssembly that another thread of the host compiles in that moment, some 2 ms, is not optimised
// either. It works all the same, and a host that minds starts Node with one of these flags: then they are left alone.

import { setFlagsFromString } from 'node:v8'
import { ownV8, type ProcessFacts } from '../own-v8.ts'

const FLAGS = ['wasm-dynamic-tiering', 'wasm-tier-up', 'wasm-lazy-compilation'] as const
/** V8 of Node 20, 22 and 24. */
const KNOWN: ReadonlySet<string | undefined> = new Set(['11.3', '12.4', '13.6'])

let isCompiled = false

/** Runs `connect` at once, in which undici compiles its parser if it has not yet. Throws what that throws. */
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
