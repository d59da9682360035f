// How work grows with its size, as a ratio within one run: what a time bound would say, without a clock of the machine.

/**
 * Processor time of `work` at `large` over that at `small`, after a warm-up; each the best of three, because whatever
 * disturbs a run only adds to it. Linear work gives about large ÷ small, quadratic work its square; a bound between the
 * two finds the one and forgives a noisy machine.
 */
export async function growth(
  work: (size: number) => Promise<void> | void,
  small: number,
  large: number,
): Promise<number> {
  await work(small)
  return (await leastCost(work, large)) / Math.max(1, await leastCost(work, small))
}

async function leastCost(work: (size: number) => Promise<void> | void, size: number): Promise<number> {
  let least = Infinity
  for (let run = 0; run < 3; run += 1) {
    const began = process.cpuUsage()
    await work(size)
    const { user, system } = process.cpuUsage(began)
    least = Math.min(least, user + system)
  }
  return least
}
