// Gives every random test the run's seed, which vitest.config.ts prints. FC_RUNS sets how many cases each property tries.
import { configureGlobal } from 'fast-check'
import { compareBytesAtOnce } from './bytes-at-once.ts'

compareBytesAtOnce()

const runs = process.env['FC_RUNS']
configureGlobal({
  seed: Number(process.env['FC_SEED']),
  // Makes `maxLength: 500` mean 500. By default fast-check makes no list longer than ten, so that larger bounds are never reached.
  defaultSizeToMaxWhenMaxSpecified: true,
  ...(runs === undefined ? {} : { numRuns: Number(runs) }),
})
