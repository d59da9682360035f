// The suites of the ports, by which our own adapters are tested, for whoever writes one: docs/adapters.md. For test files of vitest
// in Node; nothing else of the package loads them.

export { clockContract, type ClockSubject } from './testing/clock-contract.ts'
export { hasherContract, type HasherSubject } from './testing/hasher-contract.ts'
export { journalContract, type JournalSubject } from './testing/journal-contract.ts'
export { protocolContract, type ProtocolSubject } from './testing/protocol-contract.ts'
export { sourceContract, type SourceSubject } from './testing/source-contract.ts'
export { transportContract, type TransportTraits } from './testing/transport-contract.ts'
