// Turns of the microtask queue: a gap between two awaits is found by trying every number of them.

export async function passTurns(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await Promise.resolve()
}
