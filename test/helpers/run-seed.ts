// One seed for all random tests of a run, printed once and replayed with FC_SEED. The vitest configurations call this.

/** Leaves FC_SEED as the caller set it, or draws one and prints it. Each project reads the configuration, so only the first draws. */
export function settleRunSeed(): void {
  if (process.env['FC_SEED'] !== undefined) return
  process.env['FC_SEED'] = String(Math.floor(Math.random() * 2 ** 31))
  process.stdout.write(`Random tests use a seed; replay with FC_SEED=${process.env['FC_SEED']}\n`)
}
