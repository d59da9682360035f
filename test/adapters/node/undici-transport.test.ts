import { describe } from 'vitest'
import { undiciTransport } from '../../../src/adapters/node/undici-transport.ts'
import { transportContract } from '../../contracts/transport.ts'

describe('undiciTransport', () => {
  transportContract(() => undiciTransport(), { hasReset: true, isProgressLive: true })
})
