// Gives every random test the run's seed, which vitest.config.ts prints. FC_RUNS sets how many cases a property tries.
import { configureGlobal } from 'fast-check'

const runs = process.env['FC_RUNS']
configureGlobal({
  seed: Number(process.env['FC_SEED']),
  // A property that says `maxLength: 500` means it: else no list is longer than ten, and a bound of ten is never reached.
  defaultSizeToMaxWhenMaxSpecified: true,
  ...(runs === undefined ? {} : { numRuns: Number(runs) }),
})
