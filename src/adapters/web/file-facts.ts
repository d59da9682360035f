// Learns size and time of many files without holding the page up. A File that was picked has them from another process of the
// browser, which is asked when they are first needed while the page stands still: 0.2 ms each, ten times that on a busy machine.

/** After so long the page gets its turn, ms. */
const TURN_MS = 10

/** When the page last had its turn, as far as files are asked in it. */
let turnBeganAtMs: number | undefined

/** For pages that look at many files that were picked: their `size` and `lastModified` are there at once from then on. */
export async function learnFacts(files: Iterable<Blob>): Promise<void> {
  for (const file of files) {
    // Whoever else asks is asking in the same turn.
    while (isTurnOver()) await nextTask()
    Reflect.get(file, 'size')
  }
}

function isTurnOver(): boolean {
  const nowMs = performance.now()
  if (turnBeganAtMs === undefined) {
    turnBeganAtMs = nowMs
    void nextTask().then(() => (turnBeganAtMs = undefined))
  }
  return nowMs - turnBeganAtMs >= TURN_MS
}

/** By a message: timers are held back, in a hidden page for up to a minute. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(undefined)
  })
}
