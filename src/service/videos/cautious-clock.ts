// The time by which sessions grow old. A wall clock that was wrong (a dead battery) jumps by years when it is put right, and by it
// every open session would have ended at once. This one is never ahead of the wall clock, and gains no more than really passes.

/** Both clocks in ms. `steadyMs` is monotonic; where it stands still while the machine sleeps, sessions live the longer. */
export function cautiousClock(wallMs: () => number, steadyMs = () => performance.now()): () => number {
  let shownMs = wallMs()
  let lookedAtMs = steadyMs()
  return () => {
    const steady = steadyMs()
    shownMs = Math.min(wallMs(), shownMs + steady - lookedAtMs)
    lookedAtMs = steady
    return shownMs
  }
}
