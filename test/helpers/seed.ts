// Gives every random test the run's seed, which vitest.config.ts prints. FC_RUNS sets how many cases a property tries.
import { configureGlobal } from 'fast-check'

const runs = process.env['FC_RUNS']
configureGlobal({ seed: Number(process.env['FC_SEED']), ...(runs === undefined ? {} : { numRuns: Number(runs) }) })
