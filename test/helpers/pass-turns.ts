// Lets turns of the microtask queue pass. A test finds a gap between two awaits by trying every number of turns.

export async function passTurns(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await Promise.resolve()
}
