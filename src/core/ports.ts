// The contracts between the engine and the world. Everything that reads, sends, remembers, hashes, waits or rolls dice
// comes in through one of these; src/testing has one conformance suite per port.

export type * from './ports/clock.ts'
export type * from './ports/hasher.ts'
export type * from './ports/journal.ts'
export type * from './ports/protocol.ts'
export type * from './ports/source.ts'
export type * from './ports/transport.ts'
