// Gives every property test one seed, prints it, and replays it: FC_SEED=123 npm test
import { configureGlobal } from 'fast-check'

const given = process.env['FC_SEED']
const seed = given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given)
configureGlobal({ seed, ...(process.env['FC_RUNS'] ? { numRuns: Number(process.env['FC_RUNS']) } : {}) })
if (!process.env['FC_QUIET'])
  process.stdout.write(`fast-check seed ${String(seed)} (replay: FC_SEED=${String(seed)})\n`)
